// Curves over steps, drawn as text, as a picture or as SVG.
//
//     Chart chart{.title = "loss"};
//     chart.curves.push_back({"lr 0.01", {1, 2, 3}, {0.9, 0.5, 0.4}});
//     std::cout << chart.text(80, 20);
#pragma once

#include <string>
#include <vector>

#include "taeda/log/terminal.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::logging {

struct Curve {
  std::string name;
  /// steps and values of equal size; points that are not finite leave a gap
  std::vector<double> x, y;
};

/// Curves in one pair of axes. Where no curve has more than one point there is nothing to follow,
/// so each is a bar with its name and value. The first eight differ by colour, the next by dashes.
struct Chart {
  std::string title = {};
  std::vector<Curve> curves = {};
  bool log_y = false;                      ///< points that are not positive leave a gap
  /// what the axes show, and in which unit; empty by default
  std::string x_label = {}, y_label = {};

  /// Lines of text: each curve has a sign of its own, named below. At least 20 x 5. Without
  /// `unicode` the axes are ASCII, too.
  std::string text(size_t columns, size_t rows, bool unicode = shows_utf8()) const;
  /// A uint8 picture (3, height, width), at least 160 x 120. Smooth lines and letters of a font
  /// need Cairo (Debian's libcairo2), which is loaded when it is there; without it letters are
  /// drawn from 5 x 7 dots.
  Tensor picture(int64_t width, int64_t height) const;
  /// The chart as the text of an SVG file of these sizes, in pixels.
  std::string svg(int64_t width, int64_t height) const;
};

/// Three to ten round numbers that cover [low, high].
std::vector<double> round_ticks(double low, double high);

}  // namespace taeda::inline v0_2::logging
