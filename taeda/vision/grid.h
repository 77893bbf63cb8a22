// Many pictures in one, and words on it.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::vision {

/// Options of make_grid, with the defaults of torchvision.utils.make_grid.
struct GridOptions {
  int64_t nrow = 8;        ///< how many pictures stand in a row; 8 by default
  int64_t padding = 2;     ///< pixels between pictures and around them
  bool normalize = false;  ///< whether values are shifted and scaled to between 0 and 1
  std::optional<std::pair<double, double>> value_range =
      {};                   ///< what becomes 0 and 1; default: minimum, maximum
  /// whether every picture is normalized by its own range; false by default
  bool scale_each = false;
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

/// The sizes in pixels of a character of dots, with the gap to the next one and the next line.
constexpr int64_t kCharacterWidth = 6, kLineHeight = 9;

/// Writes text on a uint8 picture [3, height, width] on the CPU, its upper left corner at (x, y) in
/// pixels, in letters of 5 x 7 dots; signs that it lacks appear as a box. What lies outside is cut
/// off.
void draw_text(const Tensor& picture, int64_t x, int64_t y, std::string_view text, Color color);
/// In the system's font by Cairo, `size` pixels high (1 to 1000); where that is missing, dots.
void draw_text(const Tensor& picture, int64_t x, int64_t y, std::string_view, Color, double size);
/// Draws a frame `thickness` pixels wide on a picture [3, height, width], whose outer edges are at
/// (x, y) and (x + w, y + h).
void draw_frame(const Tensor& picture, int64_t x, int64_t y, int64_t w, int64_t h,
                int64_t thickness, Color color);
/// Repeats every pixel of [..., height, width] `factor` times, at least once, in both directions.
Tensor enlarge(const Tensor& picture, int64_t factor);

}  // namespace taeda::inline v0_2::vision
