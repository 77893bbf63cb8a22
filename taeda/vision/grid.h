// Many pictures in one, and words on it.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::vision {

/// As the arguments of torchvision.utils.make_grid.
struct GridOptions {
  int64_t nrow = 8;        ///< pictures in a row
  int64_t padding = 2;     ///< pixels between pictures and around them
  bool normalize = false;  ///< shift and scale to 0..1
  std::optional<std::pair<double, double>> value_range =
      {};                   ///< what becomes 0 and 1; default: minimum, maximum
  bool scale_each = false;  ///< normalize every picture by its own range
  double pad_value = 0;
};

/// A grid (channels, height, width) of a batch (N, C, H, W) of pictures on any device; one picture
/// (H, W) or (C, H, W) is taken as a batch of one and returned without a border. One channel
/// becomes three. Throws TypeError or ValueError for other tensors.
Tensor make_grid(const Tensor& pictures, const GridOptions& options = {});

/// Of a frame, each from 0 to 255.
/// Red, green and blue; 0 by default.
struct Color {
  uint8_t red = 0, green = 0, blue = 0;
};

/// Pixels that a character of dots takes, with the gap to the next one and the next line.
constexpr int64_t kCharacterWidth = 6, kLineHeight = 9;

/// Writes text on a uint8 picture (3, height, width) on the CPU, its upper left corner at (x, y),
/// in letters of 5 x 7 dots; signs that it lacks appear as a box. What lies outside is cut off.
void draw_text(const Tensor& picture, int64_t x, int64_t y, std::string_view text, Color color);
/// In the system's font by Cairo, `size` pixels high (1 to 1000); where that is missing, dots.
void draw_text(const Tensor& picture, int64_t x, int64_t y, std::string_view, Color, double size);
/// Draws a frame `thickness` pixels wide, whose outer edges are at (x, y) and (x + w, y + h).
void draw_frame(const Tensor& picture, int64_t x, int64_t y, int64_t w, int64_t h,
                int64_t thickness, Color color);
/// Every pixel of (..., height, width) `factor` times in both directions.
Tensor enlarge(const Tensor& picture, int64_t factor);

}  // namespace taeda::inline v0_2::vision
