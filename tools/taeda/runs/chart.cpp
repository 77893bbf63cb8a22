// Charts of a page, as SVG inside of it: their colours follow the page's.
#include "taeda/log/chart.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "taeda/log/chart_scene.h"
#include "taeda/log/table.h"
#include "tools/taeda/command.h"
#include "tools/taeda/runs/html.h"

namespace taeda::tool {

namespace {

/// Pixels at which letters have their size; a phone shows a little less.
constexpr double kWidth = 400, kHeight = 240;
constexpr double kRight = 380, kTop = 10, kBottom = 196;
constexpr double kAxisTitle = 20, kLetter = 6.6;
constexpr size_t kPoints = 160;      // more than that nobody sees
constexpr size_t kDots = 40;         // points that are shown one by one
constexpr double kMagnitudes = 100;  // from smallest to largest, before logarithms are better
constexpr size_t kColors = 8;

/// At most kPoints points: each the mean of neighbours, or the largest of them.
PageCurve thinned(const PageCurve& curve, bool largest) {
  PageCurve out = curve;
  const size_t n = curve.x.size();
  if (n <= kPoints) return out;
  out.x.clear();
  out.y.clear();
  for (size_t k = 0; k < kPoints; ++k) {
    const size_t begin = k * n / kPoints, end = (k + 1) * n / kPoints;
    double sum = 0, most = -INFINITY;
    for (size_t i = begin; i < end; ++i) {
      sum += curve.y[i];
      most = std::max(most, curve.y[i]);
    }
    out.x.push_back(curve.x[end - 1]);
    out.y.push_back(largest ? most : sum / static_cast<double>(end - begin));
  }
  return out;
}

std::string pixel(double v) {
  std::string out = logging::fixed(v, 1);
  if (out.ends_with(".0")) out.resize(out.size() - 2);
  return out;
}

class SvgChart {
 public:
  explicit SvgChart(const PageChart& chart) : chart_(chart) {
    for (const PageCurve& c : chart.curves)
      for (size_t i = 0; i < c.x.size(); ++i) {
        if (!std::isfinite(c.y[i])) continue;
        x_.add(c.x[i]);
        whole_ = whole_ && c.x[i] == std::floor(c.x[i]);
        y_.add(c.y[i]);
      }
    if (x_.low > x_.high) return;
    log_ = chart.may_be_log && y_.low > 0 && y_.high > kMagnitudes * y_.low;
    if (log_) y_ = {std::floor(std::log10(y_.low)), std::ceil(std::log10(y_.high))};
    y_ticks_ = log_ ? decades() : bytes_or_round();
    y_ = {y_ticks_.front(), y_ticks_.back()};
    for (const double tick : logging::round_ticks(x_.low, x_.high))
      if (tick >= x_.low && tick <= x_.high && (!whole_ || tick == std::floor(tick)))
        x_ticks_.push_back(tick);
    if (x_.low == x_.high) x_ticks_ = {x_.low};
    for (const double tick : y_ticks_)
      left_ = std::max(left_, kAxisTitle + 5 + kLetter * static_cast<double>(name_of(tick).size()));
  }

  std::string html() const {
    if (x_.low > x_.high) return "";
    const std::string label = html_text(chart_.title + " over " + chart_.x_label);
    std::string out = "<svg viewBox=\"0 0 " + pixel(kWidth) + " " + pixel(kHeight) +
                      "\" role=img aria-label=\"" + label + "\">\n";
    draw_axes(out);
    for (const PageCurve& c : chart_.curves) draw(out, thinned(c, chart_.bytes));
    return out + "</svg>\n";
  }

 private:
  std::vector<double> decades() const {
    std::vector<double> out;
    const double step = std::max(1.0, std::ceil((y_.high - y_.low) / 6));
    for (double d = y_.low; d < y_.high + step; d += step) out.push_back(d);
    return out;
  }
  /// Numbers of bytes begin at 0, and their ticks are round in their unit.
  std::vector<double> bytes_or_round() {
    if (!chart_.bytes) return logging::round_ticks(y_.low, y_.high);
    for (const char* larger : {"KiB", "MiB", "GiB", "TiB"}) {
      if (y_.high / unit_ < 1024) break;
      unit_ *= 1024;
      unit_name_ = larger;
    }
    std::vector<double> out = logging::round_ticks(0, y_.high / unit_);
    for (double& tick : out) tick *= unit_;
    return out;
  }
  double left(double x) const {
    return x_.low == x_.high ? (left_ + kRight) / 2 : left_ + x_.part(x) * (kRight - left_);
  }
  double top(double y) const {
    return kBottom - y_.part(log_ ? std::log10(y) : y) * (kBottom - kTop);
  }
  std::string name_of(double tick) const {
    return logging::detail::short_text(log_ ? std::pow(10, tick) : tick / unit_);
  }
  static void text(std::string& out, double x, double y, const char* anchor,
                   const std::string& words) {
    out += "<text x=" + pixel(x) + " y=" + pixel(y) + " text-anchor=" + anchor + ">" +
           html_text(words) + "</text>\n";
  }
  static void line(std::string& out, double x0, double y0, double x1, double y1) {
    out += "<path class=axis d=\"M" + pixel(x0) + " " + pixel(y0) + "L" + pixel(x1) + " " +
           pixel(y1) + "\"/>\n";
  }

  void draw_axes(std::string& out) const {
    for (const double tick : y_ticks_) {
      const double y = kBottom - y_.part(tick) * (kBottom - kTop);
      line(out, left_, y, kRight, y);
      text(out, left_ - 5, y + 4, "end", name_of(tick));
    }
    for (const double tick : x_ticks_) {
      line(out, left(tick), kBottom, left(tick), kBottom + 4);
      text(out, left(tick), kBottom + 17, "middle", logging::detail::short_text(tick));
    }
    text(out, (left_ + kRight) / 2, kHeight - 8, "middle", chart_.x_label);
    out += "<text transform=\"translate(11 " + pixel((kTop + kBottom) / 2) +
           ")rotate(-90)\" text-anchor=middle>" +
           html_text(chart_.y_label + (chart_.bytes ? std::string(", ") + unit_name_ : "")) +
           "</text>\n";
  }

  void draw(std::string& out, const PageCurve& c) const {
    const std::string color = "c" + std::to_string(c.color % kColors);
    std::string path, dots;
    bool pen_down = false;
    for (size_t i = 0; i < c.x.size(); ++i) {
      const bool there = std::isfinite(c.y[i]) && (!log_ || c.y[i] > 0);
      if (there) {
        const std::string x = pixel(left(c.x[i])), y = pixel(top(c.y[i]));
        path += (pen_down ? "L" : "M") + x + " " + y;
        if (c.x.size() <= kDots)
          dots +=
              "<circle class=\"dot " + color + "\" r=2.6 cx=" + x + " cy=" + y + "><title>" +
              html_text(c.name + ", " + chart_.x_label + " " + logging::detail::short_text(c.x[i]) +
                        ": " +
                        (chart_.bytes ? bytes_text(c.y[i]) : logging::detail::short_text(c.y[i]))) +
              "</title></circle>\n";
      }
      pen_down = there;
    }
    out += "<path class=\"curve " + color + (c.dashed || c.color >= kColors ? " dash" : "") +
           "\" d=\"" + path + "\"/>\n" + dots;
  }

  const PageChart& chart_;
  logging::detail::Range x_{INFINITY, -INFINITY}, y_{INFINITY, -INFINITY};
  std::vector<double> x_ticks_, y_ticks_;
  double left_ = 54;  // where the axis is: farther right, if its numbers are long
  double unit_ = 1;
  const char* unit_name_ = "bytes";
  bool log_ = false;
  bool whole_ = true;  // x are epochs or steps, and ticks between them mean nothing
};

std::string legend(const PageChart& chart) {
  if (chart.curves.size() == 1) return "";
  std::string out;
  for (const PageCurve& c : chart.curves) {
    if (c.x.empty()) continue;
    out += "<span><svg viewBox=\"0 0 22 8\" aria-hidden=true><path class=\"curve c" +
           std::to_string(c.color % kColors) + (c.dashed || c.color >= kColors ? " dash" : "") +
           "\" d=\"M0 4H22\"/></svg>" + html_text(c.name) + "</span>\n";
  }
  return element("div class=legend", out);
}

}  // namespace

std::string chart_html(const PageChart& chart) {
  const std::string svg = SvgChart(chart).html();
  if (svg.empty()) return "";
  const std::string note = chart.note.empty() ? "" : element("small", html_text(chart.note)) + "\n";
  return element("figure class=chart", element("h3", html_text(chart.title)) + "\n" + svg +
                                           element("figcaption", legend(chart) + note)) +
         "\n";
}

}  // namespace taeda::tool
