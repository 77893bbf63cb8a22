// What functions and transforms of pictures are told.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "taeda/nn/types.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::vision::transforms {

/// Height and width; one number stands for both.
/// In pixels, positive.
struct ImageSize {
  int64_t height, width;
  ImageSize(int64_t side) : height(side), width(side) {}
  ImageSize(int64_t h, int64_t w) : height(h), width(w) {}
};

/// A rectangle of a picture; all sizes are pixels.
struct Piece {
  int64_t top, left, height, width;
};

/// Four points (x, y) in pixels, from top left with the clock; must be as many.
using Corners = std::array<std::array<double, 2>, 4>;

/// The least and the largest of random numbers; one number stands for both, and the least must not
/// be larger.
struct Range {
  double low, high;
  Range(double both) : low(both), high(both) {}
  Range(double from, double to) : low(from), high(to) {}
};

/// Numbers around a middle (0, of factors 1): x away from it at most, or from the smallest to the
/// largest.
struct Spread : std::vector<double> {
  Spread(double x) : vector{x} {}
  Spread(double low, double high) : vector{low, high} {}
};

/// The colour where a picture has no pixels: one number, or one for each channel. By default it is
/// 0, into which bilinear interpolation fades.
struct Fill : std::vector<double> {
  Fill() = default;
  Fill(double value) : vector{value} {}
  Fill(std::initializer_list<double> values) : vector(values) {}
  Fill(std::vector<double> values) : vector(std::move(values)) {}
};

/// How a picture gets pixels between its pixels.
enum class InterpolationMode { kNearest, kBilinear, kBicubic, kNearestExact };

/// How a picture that is turned gets its pixels, by default the nearest ones, and what is beside
/// it.
struct Interpolated {
  InterpolationMode mode = InterpolationMode::kNearest;
  Fill fill = {};
};

/// What continues a picture beyond its edges: kConstant, the default, kReflect, kReplicate
/// (torchvision's "edge") or kSymmetric, which reflects the pixels at the edge, too.
struct Continuation {
  constexpr Continuation(PaddingMode m, bool edge_twice = false) : mode(m), twice(edge_twice) {}
  PaddingMode mode;
  bool twice;
};
constexpr Continuation kSymmetric{kReflect, true};

}  // namespace taeda::inline v0_2::vision::transforms
