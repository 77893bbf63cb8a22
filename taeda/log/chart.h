// Curves over steps, drawn as text, as a picture or as SVG.
//
//     Chart chart{.title = "loss"};
//     chart.curves.push_back({"lr 0.01", {1, 2, 3}, {0.9, 0.5, 0.4}});
//     std::cout << chart.text(80, 20);
#pragma once

#include <string>
#include <vector>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::logging {

struct Curve {
  std::string name;
  std::vector<double> x, y;  ///< of equal length; points that are not finite leave a gap
};

/// Curves in one pair of axes.
struct Chart {
  std::string title = {};
  std::vector<Curve> curves = {};
  bool log_y = false;  ///< points that are not positive leave a gap

  /// Lines of text: each curve has a sign of its own, named below. At least 20 x 5.
  std::string text(size_t columns, size_t rows) const;
  /// A uint8 picture (3, height, width), at least 160 x 120.
  Tensor picture(int64_t width, int64_t height) const;
  /// A file for browsers and papers.
  std::string svg(int64_t width, int64_t height) const;
};

/// Three to ten round numbers that cover [low, high].
std::vector<double> round_ticks(double low, double high);

}  // namespace taeda::logging
