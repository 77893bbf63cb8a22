#include "taeda/log/chart.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

#include "taeda/base/error.h"
#include "taeda/log/chart_scene.h"
#include "taeda/ops/create/create.h"

namespace taeda::inline v0_2::logging {

namespace {

using detail::Anchor;
using detail::Box;
using detail::Label;
using detail::Stroke;

constexpr std::string_view kSigns = "*o+x#%@";

int64_t rounded(double v) { return static_cast<int64_t>(std::lround(v)); }

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

/// The same along a line of points.
template <class F>
void each_pixel(const std::vector<std::pair<double, double>>& points, F&& pixel) {
  for (size_t k = 0; k < points.size(); ++k) {
    const auto& [x0, y0] = points[k ? k - 1 : 0];
    const auto& [x1, y1] = points[k];
    each_pixel(rounded(x0), rounded(y0), rounded(x1), rounded(y1), pixel);
  }
}

std::string escaped(const std::string& text) {
  std::string out;
  for (char c : text)
    out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

std::string color_text(const vision::Color& c) {
  char text[8];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", c.red, c.green, c.blue);
  return text;
}

/// With a tenth of a pixel.
std::string pixels(double v) { return detail::short_text(std::round(v * 10) / 10); }

std::string svg_of(const Stroke& s) {
  std::string points;
  for (const auto& [x, y] : s.points) points += pixels(x) + "," + pixels(y) + " ";
  // A line needs two ends, even where they are the same.
  if (s.points.size() == 1) points += points;
  points.pop_back();
  return "<polyline points=\"" + points + "\" fill=\"none\" stroke=\"" + color_text(s.color) +
         "\" stroke-width=\"" + pixels(s.width) +
         "\" stroke-linecap=\"round\" stroke-linejoin=\"round\"" +
         (s.dashed ? " stroke-dasharray=\"6 5\"" : "") + "/>\n";
}

std::string svg_of(const Box& b) {
  return "<rect x=\"" + pixels(b.x) + "\" y=\"" + pixels(b.y) + "\" width=\"" + pixels(b.width) +
         "\" height=\"" + pixels(b.height) + "\" fill=\"" + color_text(b.color) + "\"/>\n";
}

std::string svg_of(const Label& l) {
  if (l.text.empty()) return "";
  const char* anchor = l.anchor == Anchor::kStart    ? "start"
                       : l.anchor == Anchor::kMiddle ? "middle"
                                                     : "end";
  const std::string at = pixels(l.x) + "\" y=\"" + pixels(l.y);
  const std::string turn =
      l.upright ? " transform=\"rotate(-90 " + pixels(l.x) + " " + pixels(l.y) + ")\"" : "";
  return "<text x=\"" + at + "\" font-size=\"" + pixels(l.size) + "\" text-anchor=\"" + anchor +
         "\"" + turn + ">" + escaped(l.text) + "</text>\n";
}

/// Draws into a picture with whole pixels and letters of dots.
class DotPainter {
 public:
  explicit DotPainter(const Tensor& picture)
      : picture_(picture),
        bytes_(picture.data_ptr<uint8_t>()),
        width_(picture.size(2)),
        height_(picture.size(1)) {}

  void operator()(const Stroke& s) {
    const int64_t more = s.width > 1 ? rounded(s.width / 2) : 0;
    int64_t drawn = 0;
    each_pixel(s.points, [&](int64_t x, int64_t y) {
      if (s.dashed && drawn++ / 6 % 2) return;
      for (int64_t dy = -more / 2; dy <= more; ++dy)
        for (int64_t dx = -more / 2; dx <= more; ++dx) set(x + dx, y + dy, s.color);
    });
  }
  void operator()(const Box& b) {
    for (int64_t y = rounded(b.y); y < rounded(b.y + b.height); ++y)
      for (int64_t x = rounded(b.x); x < rounded(b.x + b.width); ++x) set(x, y, b.color);
  }
  void operator()(const Label& l) {
    const auto letters = static_cast<double>(display_width(l.text));
    const double length = letters * static_cast<double>(vision::kCharacterWidth);
    const double back = l.anchor == Anchor::kStart ? 0 : l.anchor == Anchor::kMiddle ? 0.5 : 1;
    const double base = static_cast<double>(vision::kLineHeight) - 2;
    // There are no turned letters: an upright text stands above its axis.
    const double x = l.upright ? 2 : l.x - back * length, y = l.upright ? 2 : l.y - base;
    vision::draw_text(picture_, rounded(x), rounded(y), l.text, {});
  }

 private:
  void set(int64_t x, int64_t y, const vision::Color& c) {
    if (x < 0 || y < 0 || x >= width_ || y >= height_) return;
    const uint8_t rgb[] = {c.red, c.green, c.blue};
    for (int64_t k = 0; k < 3; ++k) bytes_[(k * height_ + y) * width_ + x] = rgb[k];
  }

  const Tensor& picture_;
  uint8_t* bytes_;
  int64_t width_, height_;
};

/// What stands in one row of the terminal for a chart of bars.
std::string bars_text(const Chart& chart, const detail::Axes& axes, size_t columns, bool unicode) {
  size_t names = 0, values = 0;
  for (const Curve& c : chart.curves) {
    names = std::max(names, display_width(c.name));
    values = std::max(values, detail::short_text(axes.only_value(c)).size());
  }
  names = std::min(names, columns / 2);
  const size_t room = columns - std::min(columns, names + values + 4);
  std::string out;
  for (const Curve& c : chart.curves) {
    const std::string name(clip(c.name, names));
    out += name + std::string(names - display_width(name), ' ') + (unicode ? " │" : " |");
    const double v = axes.only_value(c);
    if (!std::isnan(v)) {
      const int64_t cells =
          rounded(axes.part_of(v) * static_cast<double>(std::max<size_t>(room, 1)));
      for (int64_t i = 0; i < cells; ++i) out += unicode ? "█" : "#";
      out += " " + detail::short_text(v);
    }
    out += "\n";
  }
  return out;
}

/// Names of ticks at the rows where they belong: all, or every second one and so on where two would
/// stand directly below each other.
std::vector<std::string> row_names(const detail::Axes& axes, size_t rows) {
  std::vector<std::string> out(rows);
  const size_t steps = axes.y_ticks.size() - 1;
  size_t every = 1;
  while (every < steps && 2 * (rows - 1) * every < 3 * steps) ++every;
  for (size_t i = 0; i <= steps; i += every) {
    const double down = (1 - axes.y.part(axes.y_ticks[i])) * static_cast<double>(rows - 1);
    out[static_cast<size_t>(rounded(down))] = axes.y_name(axes.y_ticks[i]);
  }
  return out;
}

/// The line below the x axis: the ticks that have room.
std::string column_names(const detail::Axes& axes, size_t width) {
  std::string out(width, ' ');
  size_t free_from = 0;
  for (double tick : axes.x_ticks) {
    const double part = axes.x.part(tick);
    if (part < -1e-9 || part > 1 + 1e-9) continue;
    const std::string name = detail::short_text(tick);
    const auto at = static_cast<size_t>(rounded(part * static_cast<double>(width - 1)));
    const size_t half = name.size() / 2;
    const size_t begin = std::min(at - std::min(at, half), width - std::min(width, name.size()));
    if (begin < free_from || begin + name.size() > width) continue;
    out.replace(begin, name.size(), name);
    free_from = begin + name.size() + 2;
  }
  return out.substr(0, out.find_last_not_of(' ') + 1);
}

/// A curve's sign and name, in several lines where it does not fit one.
std::string legend_text(char sign, const std::string& name, size_t columns) {
  std::string out, line = std::string("  ") + sign;
  std::istringstream words(name);
  for (std::string word; words >> word;) {
    if (display_width(line) + 1 + display_width(word) > columns && line.size() > 3) {
      out += line + "\n";
      line = "   ";
    }
    line += " " + word;
  }
  return out + line + "\n";
}

}  // namespace

std::string Chart::text(size_t columns, size_t rows, bool unicode) const {
  const detail::Axes axes(*this);
  constexpr size_t kMost = size_t{1} << 16;
  TAEDA_CHECK_VALUE(columns <= kMost && rows <= kMost, "Chart::text expects at most ", kMost,
                    " columns and rows, got ", columns, " and ", rows);
  columns = std::max<size_t>(columns, 20);
  rows = std::max<size_t>(rows, 5);
  std::string out = title.empty() ? "" : title + "\n";
  if (axes.bars) return out + bars_text(*this, axes, columns, unicode);
  const std::vector<std::string> labels = row_names(axes, rows);
  size_t margin = 0;
  for (const std::string& label : labels) margin = std::max(margin, label.size());
  const size_t width = columns - std::min(columns - 10, margin + 2);
  std::vector<std::string> canvas(rows, std::string(width, ' '));
  for (size_t i = 0; i < curves.size(); ++i)
    for (auto& piece : detail::pieces(curves[i], axes)) {
      for (auto& [x, y] : piece) {
        x *= static_cast<double>(width - 1);
        y = (1 - y) * static_cast<double>(rows - 1);
      }
      each_pixel(piece, [&](int64_t x, int64_t y) {
        canvas[static_cast<size_t>(y)][static_cast<size_t>(x)] = kSigns[i % kSigns.size()];
      });
    }
  if (!y_label.empty() && y_label != title) out += y_label + "\n";
  for (size_t r = 0; r < rows; ++r) {
    std::string row = canvas[r];
    row.erase(row.find_last_not_of(' ') + 1);
    const char* axis = labels[r].empty() ? (unicode ? " │" : " |") : (unicode ? " ┤" : " +");
    out += std::string(margin - labels[r].size(), ' ') + labels[r] + axis + row + "\n";
  }
  out += std::string(margin + 1, ' ') + (unicode ? "└" : "+");
  for (size_t i = 0; i < width; ++i) out += unicode ? "─" : "-";
  out += "\n" + std::string(margin + 2, ' ') + column_names(axes, width) + "\n";
  if (!x_label.empty()) out += std::string(margin + 2, ' ') + x_label + "\n";
  for (size_t i = 0; i < curves.size(); ++i)
    out += legend_text(kSigns[i % kSigns.size()], curves[i].name, columns);
  return out;
}

Tensor Chart::picture(int64_t width, int64_t height) const {
  width = std::max<int64_t>(width, 160);
  height = std::max<int64_t>(height, 120);
  const detail::Scene scene =
      detail::scene_of(*this, static_cast<double>(width), static_cast<double>(height));
  const Tensor image = full({3, height, width}, 255, kByte);
  if (detail::paint_with_cairo(scene, image)) return image;
  DotPainter painter(image);
  scene.each(painter);
  return image;
}

std::string Chart::svg(int64_t width, int64_t height) const {
  const detail::Scene scene =
      detail::scene_of(*this, static_cast<double>(width), static_cast<double>(height));
  const std::string size = std::to_string(width) + "\" height=\"" + std::to_string(height);
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + size +
                    "\" viewBox=\"0 0 " + std::to_string(width) + " " + std::to_string(height) +
                    "\" font-family=\"sans-serif\">\n"
                    "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  scene.each([&out](const auto& shape) { out += svg_of(shape); });
  return out + "</svg>\n";
}

}  // namespace taeda::inline v0_2::logging
