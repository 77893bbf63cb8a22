#include "taeda/log/chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "taeda/base/error.h"
#include "taeda/log/terminal.h"
#include "taeda/ops/create.h"
#include "taeda/vision/grid.h"

namespace taeda::inline v0_2::logging {

namespace {

/// Colours that differ for most eyes (Wong 2011), and signs for text.
constexpr std::array<vision::Color, 7> kColors = {{{0, 114, 178},
                                                   {213, 94, 0},
                                                   {0, 158, 115},
                                                   {204, 121, 167},
                                                   {230, 159, 0},
                                                   {86, 180, 233},
                                                   {60, 60, 60}}};
constexpr std::string_view kSigns = "*o+x#%@";
constexpr vision::Color kBlack{0, 0, 0}, kGrey{215, 215, 215};

std::string short_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

struct Range {
  double low = INFINITY, high = -INFINITY;
  void add(double v) {
    low = std::min(low, v);
    high = std::max(high, v);
  }
  /// 0 at the low end, 1 at the high one.
  double part(double v) const { return high > low ? (v - low) / (high - low) : 0.5; }
};

/// The curves in coordinates that are drawn: logarithms where asked for.
struct Plan {
  std::vector<double> x_ticks, y_ticks;
  Range x, y;
  bool log_y;

  explicit Plan(const Chart& chart) : log_y(chart.log_y) {
    for (const Curve& c : chart.curves) {
      TAEDA_CHECK_VALUE(c.x.size() == c.y.size(), "Chart: curve '", c.name, "' has ", c.x.size(),
                        " numbers as x and ", c.y.size(), " as y");
      for (size_t i = 0; i < c.x.size(); ++i)
        if (drawable(c.x[i], c.y[i])) {
          x.add(c.x[i]);
          y.add(height_of(c.y[i]));
        }
    }
    if (x.low > x.high) x = y = {0, 1};
    x_ticks = round_ticks(x.low, x.high);
    y_ticks = round_ticks(y.low, y.high);
    y.add(y_ticks.front());
    y.add(y_ticks.back());
  }
  bool drawable(double px, double py) const {
    return std::isfinite(px) && std::isfinite(py) && (!log_y || py > 0);
  }
  double height_of(double py) const { return log_y ? std::log10(py) : py; }
  std::string y_label(double tick) const { return short_text(log_y ? std::pow(10, tick) : tick); }
};

/// Calls `pixel(x, y)` for each point of a line (Bresenham 1965).
template <class F>
void each_pixel(int64_t x0, int64_t y0, int64_t x1, int64_t y1, F&& pixel) {
  const int64_t dx = std::abs(x1 - x0), dy = -std::abs(y1 - y0);
  const int64_t sx = x0 < x1 ? 1 : -1, sy = y0 < y1 ? 1 : -1;
  int64_t error = dx + dy;
  while (true) {
    pixel(x0, y0);
    if (x0 == x1 && y0 == y1) return;
    const int64_t twice = 2 * error;
    if (twice >= dy) {
      error += dy;
      x0 += sx;
    }
    if (twice <= dx) {
      error += dx;
      y0 += sy;
    }
  }
}

/// Calls `draw(i, x0, y0, x1, y1)` for the pieces of curve i in a frame `w` wide and `h` high whose
/// y goes down; a point without neighbours is a piece, too.
template <class F>
void each_piece(const Chart& chart, const Plan& plan, double w, double h, F&& draw) {
  for (size_t i = 0; i < chart.curves.size(); ++i) {
    const Curve& c = chart.curves[i];
    bool before = false;
    double px = 0, py = 0;
    for (size_t k = 0; k < c.x.size(); ++k) {
      const bool here = plan.drawable(c.x[k], c.y[k]);
      if (here) {
        const double qx = plan.x.part(c.x[k]) * w,
                     qy = (1 - plan.y.part(plan.height_of(c.y[k]))) * h;
        draw(i, before ? px : qx, before ? py : qy, qx, qy);
        px = qx;
        py = qy;
      }
      before = here;
    }
  }
}

std::string escaped(const std::string& text) {
  std::string out;
  for (char c : text)
    out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

std::string color_text(size_t i) {
  const vision::Color c = kColors[i % kColors.size()];
  char text[8];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", c.red, c.green, c.blue);
  return text;
}

int64_t rounded(double v) { return static_cast<int64_t>(std::lround(v)); }

}  // namespace

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

std::string Chart::text(size_t columns, size_t rows) const {
  const Plan plan(*this);
  constexpr size_t kMost = size_t{1} << 16;
  TAEDA_CHECK_VALUE(columns <= kMost && rows <= kMost, "Chart::text expects at most ", kMost,
                    " columns and rows, got ", columns, " and ", rows);
  columns = std::max<size_t>(columns, 20);
  rows = std::max<size_t>(rows, 5);
  size_t margin = 0;
  for (double tick : plan.y_ticks) margin = std::max(margin, plan.y_label(tick).size());
  const size_t width = columns - std::min(columns - 10, margin + 2);
  std::vector<std::string> canvas(rows, std::string(width, ' '));
  each_piece(
      *this, plan, static_cast<double>(width - 1), static_cast<double>(rows - 1),
      [&](size_t i, double x0, double y0, double x1, double y1) {
        each_pixel(rounded(x0), rounded(y0), rounded(x1), rounded(y1), [&](int64_t x, int64_t y) {
          canvas[static_cast<size_t>(y)][static_cast<size_t>(x)] = kSigns[i % kSigns.size()];
        });
      });
  std::vector<std::string> labels(rows);
  for (double tick : plan.y_ticks)
    labels[static_cast<size_t>(rounded((1 - plan.y.part(tick)) * static_cast<double>(rows - 1)))] =
        plan.y_label(tick);
  std::string out = title.empty() ? "" : title + "\n";
  for (size_t r = 0; r < rows; ++r) {
    std::string row = canvas[r];
    row.erase(row.find_last_not_of(' ') + 1);
    out += std::string(margin - labels[r].size(), ' ') + labels[r] +
           (labels[r].empty() ? " │" : " ┤") + row + "\n";
  }
  out += std::string(margin + 1, ' ') + "└";
  for (size_t i = 0; i < width; ++i) out += "─";
  const std::string left = short_text(plan.x.low), right = short_text(plan.x.high);
  const size_t gap = width > left.size() + right.size() ? width - left.size() - right.size() : 1;
  out += "\n" + std::string(margin + 2, ' ') + left + std::string(gap, ' ') + right + "\n";
  for (size_t i = 0; i < curves.size(); ++i)
    out += std::string("  ") + kSigns[i % kSigns.size()] + " " + curves[i].name + "\n";
  return out;
}

Tensor Chart::picture(int64_t width, int64_t height) const {
  const Plan plan(*this);
  width = std::max<int64_t>(width, 160);
  height = std::max<int64_t>(height, 120);
  Tensor image = full({3, height, width}, 255, kByte);
  auto* bytes = image.data_ptr<uint8_t>();
  const auto set = [&](int64_t x, int64_t y, const vision::Color& c) {
    if (x < 0 || y < 0 || x >= width || y >= height) return;
    const uint8_t rgb[] = {c.red, c.green, c.blue};
    for (int64_t k = 0; k < 3; ++k) bytes[(k * height + y) * width + x] = rgb[k];
  };
  const int64_t line = vision::kLineHeight, left = 8 * vision::kCharacterWidth, top = 2 * line;
  const auto legend = static_cast<int64_t>(curves.size()) * (line + 2);
  const int64_t w = width - left - 12, h = std::max<int64_t>(20, height - top - 2 * line - legend);
  for (double tick : plan.y_ticks) {
    const int64_t y = top + rounded((1 - plan.y.part(tick)) * static_cast<double>(h));
    for (int64_t x = left; x <= left + w; ++x) set(x, y, kGrey);
    vision::draw_text(image, 2, y - line / 2, plan.y_label(tick), kBlack);
  }
  for (double tick : plan.x_ticks) {
    const double part = plan.x.part(tick);
    if (part < 0 || part > 1) continue;
    const int64_t x = left + rounded(part * static_cast<double>(w));
    for (int64_t y = top; y <= top + h; ++y) set(x, y, kGrey);
    vision::draw_text(image, x - vision::kCharacterWidth, top + h + 4, short_text(tick), kBlack);
  }
  each_piece(*this, plan, static_cast<double>(w), static_cast<double>(h),
             [&](size_t i, double x0, double y0, double x1, double y1) {
               each_pixel(left + rounded(x0), top + rounded(y0), left + rounded(x1),
                          top + rounded(y1), [&](int64_t x, int64_t y) {
                            for (int64_t d : {0, 1}) {
                              set(x + d, y, kColors[i % kColors.size()]);
                              set(x, y + d, kColors[i % kColors.size()]);
                            }
                          });
             });
  vision::draw_text(image, left, 4, title, kBlack);
  int64_t y = top + h + 2 * line;
  for (size_t i = 0; i < curves.size(); ++i, y += line + 2) {
    for (int64_t x = left; x < left + 14; ++x)
      for (int64_t d : {3, 4}) set(x, y + d, kColors[i % kColors.size()]);
    vision::draw_text(image, left + 20, y, curves[i].name, kBlack);
  }
  return image;
}

std::string Chart::svg(int64_t width, int64_t height) const {
  const Plan plan(*this);
  const double left = 70, top = 36, w = std::max(60.0, static_cast<double>(width) - left - 20);
  const double legend = 18 * static_cast<double>(curves.size());
  const double h = std::max(40.0, static_cast<double>(height) - top - 36 - legend);
  const auto n = [](double v) { return short_text(std::round(v * 10) / 10); };
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + std::to_string(width) +
                    "\" height=\"" + std::to_string(height) +
                    "\" font-family=\"sans-serif\" font-size=\"12\">\n"
                    "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  const auto text = [&](double x, double y, const char* anchor, const std::string& content) {
    out += "<text x=\"" + n(x) + "\" y=\"" + n(y) + "\" text-anchor=\"" + anchor + "\">" +
           escaped(content) + "</text>\n";
  };
  const auto line = [&](double x0, double y0, double x1, double y1, const std::string& style) {
    out += "<line x1=\"" + n(x0) + "\" y1=\"" + n(y0) + "\" x2=\"" + n(x1) + "\" y2=\"" + n(y1) +
           "\" " + style + "/>\n";
  };
  for (double tick : plan.y_ticks) {
    const double y = top + (1 - plan.y.part(tick)) * h;
    line(left, y, left + w, y, "stroke=\"#ddd\"");
    text(left - 6, y + 4, "end", plan.y_label(tick));
  }
  for (double tick : plan.x_ticks) {
    const double part = plan.x.part(tick);
    if (part < 0 || part > 1) continue;
    line(left + part * w, top, left + part * w, top + h, "stroke=\"#ddd\"");
    text(left + part * w, top + h + 18, "middle", short_text(tick));
  }
  each_piece(*this, plan, w, h, [&](size_t i, double x0, double y0, double x1, double y1) {
    line(left + x0, top + y0, left + x1, top + y1,
         "stroke-width=\"2\" stroke-linecap=\"round\" stroke=\"" + color_text(i) + "\"");
  });
  text(left, 20, "start", title);
  for (size_t i = 0; i < curves.size(); ++i) {
    const double y = top + h + 36 + 18 * static_cast<double>(i);
    line(left, y - 4, left + 18, y - 4, "stroke-width=\"3\" stroke=\"" + color_text(i) + "\"");
    text(left + 26, y, "start", curves[i].name);
  }
  return out + "</svg>\n";
}

}  // namespace taeda::inline v0_2::logging
