// What a chart consists of, before anybody draws it: axes, and shapes in pixels.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "taeda/log/chart.h"
#include "taeda/vision/grid.h"

namespace taeda::inline v0_2::logging::detail {

struct Range {
  double low, high;
  void add(double v);
  /// 0 at the low end, 1 at the high one.
  double part(double v) const { return high > low ? (v - low) / (high - low) : 0.5; }
};

/// Where values lie on the axes: logarithms where they are asked for.
struct Axes {
  Range x, y;
  std::vector<double> x_ticks, y_ticks;
  bool log_y, bars;

  explicit Axes(const Chart& chart);

  bool drawable(double px, double py) const;
  /// From 0 at the bottom to 1 at the top.
  double part_of(double py) const;
  std::string y_name(double tick) const;
  /// The only point of a curve of bars; NaN if it cannot be drawn.
  double only_value(const Curve& curve) const;
};

/// Lines of points that follow each other; one point is a line without length.
std::vector<std::vector<std::pair<double, double>>> pieces(const Curve& curve, const Axes& axes);

/// At most four digits.
std::string short_text(double value);

enum class Anchor { kStart, kMiddle, kEnd };

struct Stroke {
  std::vector<std::pair<double, double>> points;
  vision::Color color;
  double width = 1;
  bool dashed = false;
};
struct Box {
  double x, y, width, height;
  vision::Color color;
};
/// `y` is the base line. Upright text runs upwards.
struct Label {
  double x, y;
  std::string text;
  Anchor anchor = Anchor::kStart;
  double size = 12;
  bool upright = false;
};

/// Drawn on white in this order.
struct Scene {
  double width, height;
  std::vector<Box> boxes = {};
  std::vector<Stroke> strokes = {};
  std::vector<Label> labels = {};

  /// Calls `draw` with each of them.
  template <class F>
  void each(F&& draw) const {
    for (const Box& box : boxes) draw(box);
    for (const Stroke& stroke : strokes) draw(stroke);
    for (const Label& label : labels) draw(label);
  }
};

Scene scene_of(const Chart& chart, double width, double height);

/// Draws with Cairo; false, with the picture as it was, where it is not installed.
bool paint_with_cairo(const Scene& scene, const Tensor& picture);

}  // namespace taeda::inline v0_2::logging::detail
