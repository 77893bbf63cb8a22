#include "taeda/log/chart_scene.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::logging {

std::vector<double> round_ticks(double low, double high) {
  TAEDA_CHECK_VALUE(std::isfinite(low) && std::isfinite(high),
                    "round_ticks expects two numbers, got ", low, " and ", high);
  if (!(high > low)) {
    const double room = low == 0 ? 1 : std::abs(low) * 0.1;
    return {low - room, low, low + room};
  }
  const double rough = high / 5 - low / 5, unit = std::pow(10, std::floor(std::log10(rough)));
  const double ratio = rough / unit;
  const double step = unit * (ratio < 1.41 ? 1 : ratio < 3.16 ? 2 : ratio < 7.07 ? 5 : 10);
  const double first = std::floor(low / step), count = std::ceil(high / step - 1e-9) - first;
  // Steps may be smaller than doubles of this size or of any size can be apart.
  if (!(count >= 1 && count < 16)) return {low, low / 2 + high / 2, high};
  std::vector<double> out;
  for (double k = 0; k <= count; ++k) out.push_back((first + k) * step);
  return out;
}

namespace detail {

namespace {

/// Colours that differ for most eyes: Okabe and Ito's but for yellow, which white swallows, and
/// Tol's wine in its place.
constexpr std::array<vision::Color, 8> kColors = {{{0, 114, 178},
                                                   {213, 94, 0},
                                                   {0, 158, 115},
                                                   {204, 121, 167},
                                                   {230, 159, 0},
                                                   {86, 180, 233},
                                                   {60, 60, 60},
                                                   {136, 34, 85}}};
constexpr vision::Color kGrey{215, 215, 215}, kDark{110, 110, 110};
constexpr double kLetter = 6.8, kLine = 18;  ///< pixels of a letter of size 12, and of a line

double text_width(const std::string& text) {
  return kLetter * static_cast<double>(display_width(text));
}

/// The rectangle that the curves have for themselves.
struct Frame {
  double left, top, width, height;
};

/// Draws one chart into one scene.
class Drawing {
 public:
  Drawing(const Chart& chart, double width, double height)
      : chart_(chart), axes_(chart), scene_{width, height} {}

  Scene take() {
    if (axes_.bars)
      draw_bars();
    else
      draw_curves();
    return std::move(scene_);
  }

 private:
  void line(double x0, double y0, double x1, double y1, vision::Color color) {
    scene_.strokes.push_back({.points = {{x0, y0}, {x1, y1}}, .color = color});
  }
  void text(double x, double y, std::string words, Anchor anchor = Anchor::kStart) {
    scene_.labels.push_back({.x = x, .y = y, .text = std::move(words), .anchor = anchor});
  }
  void title() { scene_.labels.push_back({.x = 16, .y = 24, .text = chart_.title, .size = 15}); }

  /// Names below each other in as many columns as fit.
  size_t legend_columns() const {
    double widest = 0;
    for (const Curve& c : chart_.curves) widest = std::max(widest, text_width(c.name) + 44);
    return std::clamp<size_t>(static_cast<size_t>((scene_.width - 32) / std::max(widest, 1.0)), 1,
                              std::max<size_t>(chart_.curves.size(), 1));
  }
  size_t legend_rows() const {
    const size_t columns = legend_columns();
    return (chart_.curves.size() + columns - 1) / columns;
  }

  Frame frame() const {
    double label = 0;
    for (double tick : axes_.y_ticks) label = std::max(label, text_width(axes_.y_name(tick)));
    const double left = 16 + label + 8 + (chart_.y_label.empty() ? 0 : kLine);
    const double top = chart_.title.empty() ? 16 : 40;
    const double below =
        26 + (chart_.x_label.empty() ? 0 : kLine) + kLine * static_cast<double>(legend_rows()) + 12;
    return {left, top, std::max(40.0, scene_.width - left - 24),
            std::max(30.0, scene_.height - top - below)};
  }

  void grid(const Frame& f) {
    for (double tick : axes_.y_ticks) {
      const double y = f.top + (1 - axes_.y.part(tick)) * f.height;
      line(f.left, y, f.left + f.width, y, kGrey);
      text(f.left - 8, y + 4, axes_.y_name(tick), Anchor::kEnd);
    }
    double end = -INFINITY;  // of the last name: the next one must not touch it
    for (double tick : axes_.x_ticks) {
      const double part = axes_.x.part(tick);
      if (part < -1e-9 || part > 1 + 1e-9) continue;
      const double x = f.left + part * f.width, half = text_width(short_text(tick)) / 2;
      line(x, f.top, x, f.top + f.height, kGrey);
      if (x - half < end + 6) continue;
      text(x, f.top + f.height + 18, short_text(tick), Anchor::kMiddle);
      end = x + half;
    }
    line(f.left, f.top + f.height, f.left + f.width, f.top + f.height, kDark);
    line(f.left, f.top, f.left, f.top + f.height, kDark);
  }

  void draw_curves() {
    const Frame f = frame();
    title();
    grid(f);
    for (size_t i = 0; i < chart_.curves.size(); ++i)
      for (auto& piece : pieces(chart_.curves[i], axes_)) {
        for (auto& [x, y] : piece) {
          x = f.left + x * f.width;
          y = f.top + (1 - y) * f.height;
        }
        const double width = piece.size() == 1 ? 6 : 2;
        scene_.strokes.push_back({std::move(piece), color(i), width, dashed(i)});
      }
    double y = f.top + f.height + 26;
    if (!chart_.x_label.empty())
      text(f.left + f.width / 2, (y += kLine) - 4, chart_.x_label, Anchor::kMiddle);
    if (!chart_.y_label.empty())
      scene_.labels.push_back({.x = 20,
                               .y = f.top + f.height / 2,
                               .text = chart_.y_label,
                               .anchor = Anchor::kMiddle,
                               .upright = true});
    legend(y + kLine);
  }

  void legend(double top) {
    const size_t columns = legend_columns(), rows = legend_rows();
    const double width = (scene_.width - 32) / static_cast<double>(columns);
    for (size_t i = 0; i < chart_.curves.size(); ++i) {
      const double x = 16 + width * static_cast<double>(i / rows);
      const double y = top + kLine * static_cast<double>(i % rows);
      scene_.strokes.push_back({{{x, y - 4}, {x + 20, y - 4}}, color(i), 3, dashed(i)});
      text(x + 28, y, chart_.curves[i].name);
    }
  }

  /// One below the other, because names are longer than bars are wide.
  void draw_bars() {
    title();
    double names = 0, values = 0;
    for (const Curve& c : chart_.curves) {
      names = std::max(names, text_width(c.name));
      values = std::max(values, text_width(short_text(axes_.only_value(c))));
    }
    names = std::min(names, scene_.width * 0.5);
    const double left = 16 + names + 8, width = std::max(40.0, scene_.width - left - values - 28);
    const double top = chart_.title.empty() ? 16 : 40;
    const double below = chart_.y_label.empty() ? 12 : kLine + 12;
    const double pitch = std::min(
        36.0,
        std::max(4.0, (scene_.height - top - below) / static_cast<double>(chart_.curves.size())));
    for (size_t i = 0; i < chart_.curves.size(); ++i) {
      const double y = top + pitch * static_cast<double>(i), v = axes_.only_value(chart_.curves[i]);
      text(left - 8, y + pitch / 2 + 4, chart_.curves[i].name, Anchor::kEnd);
      if (std::isnan(v)) continue;
      const double length = std::max(1.0, axes_.part_of(v) * width);
      scene_.boxes.push_back({left, y + pitch * 0.15, length, pitch * 0.7, color(0)});
      text(left + length + 6, y + pitch / 2 + 4, short_text(v));
    }
    const double end = top + pitch * static_cast<double>(chart_.curves.size());
    line(left, top, left, end, kDark);
    if (!chart_.y_label.empty())
      text(left + width / 2, end + kLine, chart_.y_label, Anchor::kMiddle);
  }

  static vision::Color color(size_t i) { return kColors[i % kColors.size()]; }
  static bool dashed(size_t i) { return i / kColors.size() % 2 == 1; }

  const Chart& chart_;
  Axes axes_;
  Scene scene_;
};

/// The ticks that are whole numbers, where the values are: there is no epoch 1.5.
std::vector<double> whole(std::vector<double> ticks) {
  std::erase_if(ticks, [](double t) { return t != std::floor(t); });
  return ticks;
}

/// Logarithms of round numbers that cover [low, high]: of 1, 2 and 5 times a power of ten, or, over
/// many of these, of every power or every n-th.
std::vector<double> log_ticks(double low, double high) {
  const double first = std::floor(low), decades = std::max(1.0, std::ceil(high) - first);
  std::vector<double> out;
  if (decades > 3) {
    const double every = std::ceil(decades / 8);
    for (double k = first; k < high + every; k += every) out.push_back(k);
    return out;
  }
  for (double k = first; k <= first + decades; ++k)
    for (double digit : {1, 2, 5}) out.push_back(k + std::log10(digit));
  // One at or below the lowest value, one at or above the highest.
  while (out.size() > 2 && out[1] <= low) out.erase(out.begin());
  while (out.size() > 2 && out[out.size() - 2] >= high) out.pop_back();
  return out;
}

}  // namespace

void Range::add(double v) {
  low = std::min(low, v);
  high = std::max(high, v);
}

std::string short_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

Axes::Axes(const Chart& chart)
    : x{INFINITY, -INFINITY}, y{INFINITY, -INFINITY}, log_y(chart.log_y), bars(true) {
  bool integers = true;
  for (const Curve& c : chart.curves) {
    TAEDA_CHECK_VALUE(c.x.size() == c.y.size(), "Chart: curve '", c.name, "' has ", c.x.size(),
                      " numbers as x and ", c.y.size(), " as y");
    bars = bars && c.x.size() <= 1;
    for (size_t i = 0; i < c.x.size(); ++i) {
      if (!drawable(c.x[i], c.y[i])) continue;
      x.add(c.x[i]);
      y.add(log_y ? std::log10(c.y[i]) : c.y[i]);
      integers = integers && c.x[i] == std::floor(c.x[i]);
    }
  }
  bars = bars && x.low <= x.high;
  if (x.low > x.high) x = y = {0, 1};
  if (bars && !log_y) y.add(0);  // a bar's length is its value
  x_ticks = round_ticks(x.low, x.high);
  if (integers) x_ticks = whole(x_ticks);
  y_ticks = log_y ? log_ticks(y.low, y.high) : round_ticks(y.low, y.high);
  y.add(y_ticks.front());
  y.add(y_ticks.back());
}

bool Axes::drawable(double px, double py) const {
  return std::isfinite(px) && std::isfinite(py) && (!log_y || py > 0);
}

double Axes::part_of(double py) const { return y.part(log_y ? std::log10(py) : py); }

std::string Axes::y_name(double tick) const {
  return short_text(log_y ? std::pow(10, tick) : tick);
}

double Axes::only_value(const Curve& curve) const {
  return !curve.x.empty() && drawable(curve.x[0], curve.y[0]) ? curve.y[0] : NAN;
}

std::vector<std::vector<std::pair<double, double>>> pieces(const Curve& curve, const Axes& axes) {
  std::vector<std::vector<std::pair<double, double>>> out;
  bool before = false;
  for (size_t k = 0; k < curve.x.size(); ++k) {
    const bool here = axes.drawable(curve.x[k], curve.y[k]);
    if (here && !before) out.emplace_back();
    if (here) out.back().emplace_back(axes.x.part(curve.x[k]), axes.part_of(curve.y[k]));
    before = here;
  }
  return out;
}

Scene scene_of(const Chart& chart, double width, double height) {
  return Drawing(chart, width, height).take();
}

}  // namespace detail
}  // namespace taeda::inline v0_2::logging
