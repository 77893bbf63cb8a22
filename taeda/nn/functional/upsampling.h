// Changing the size of images.
#pragma once

#include <concepts>
#include <optional>
#include <type_traits>
#include <vector>

#include "taeda/base/arg.h"
#include "taeda/nn/types.h"

namespace taeda::inline v0_2::nn {

/// An Interpolation, or kLinear.
class InterpolationMode {
 public:
  InterpolationMode(Interpolation mode) : mode_(mode) {}
  /// Throws ValueError unless it is kLinear.
  InterpolationMode(Nonlinearity linear) : mode_(Interpolation::Linear) {
    TAEDA_CHECK_VALUE(linear == kLinear, "Expected a mode of interpolation");
  }
  /// What stands for one of them.
  template <class E>
  requires(std::is_class_v<E> && !std::same_as<E, InterpolationMode> &&
           std::convertible_to<E, Interpolation>) InterpolationMode(E mode)
      : mode_(static_cast<Interpolation>(mode)) {}
  operator Interpolation() const { return mode_; }
  /// "nearest", "linear", "bilinear", "bicubic", "trilinear", "area" or "nearest-exact".
  const char* name() const;

 private:
  Interpolation mode_;
};

class UpsampleOptions {
 public:
  using mode_t = InterpolationMode;
  /// Sizes of the result, one for each dimension behind batch and channel ...
  TAEDA_ARG(std::optional<std::vector<int64_t>>, size);
  /// ... or factors by which they grow.
  TAEDA_ARG(std::optional<std::vector<double>>, scale_factor);
  TAEDA_ARG(mode_t, mode) = kNearest;
  /// The corners' elements, rather than the corners, of input and result lie on each other.
  TAEDA_ARG(std::optional<bool>, align_corners);
};

namespace functional {

class InterpolateFuncOptions {
 public:
  using mode_t = InterpolationMode;
  TAEDA_ARG(std::optional<std::vector<int64_t>>, size);
  TAEDA_ARG(std::optional<std::vector<double>>, scale_factor);
  TAEDA_ARG(mode_t, mode) = kNearest;
  TAEDA_ARG(std::optional<bool>, align_corners);
  /// Positions follow from the sizes of input and result instead of the factors.
  TAEDA_ARG(std::optional<bool>, recompute_scale_factor);
  /// Of kBilinear and kBicubic: where the result is smaller, each of its elements is a mean of all
  /// that it covers, so that fine patterns do not become coarse ones.
  TAEDA_ARG(bool, antialias) = false;
};

/// `input` [N, C, ...] with other sizes behind batch and channel: exactly one of `size` and
/// `scale_factor` is given. Nearest, nearest-exact and area take one to three such dimensions,
/// linear one, bilinear and bicubic (Keys 1981, A = -0.75) two, trilinear three. Positions outside
/// count as the nearest inside; with `antialias` they do not count, and the cubic has A = -0.5 and
/// is stretched with the triangle to what an element covers. Dimension by dimension, each a sum of
/// weighted rows. Throws ValueError and NotImplementedError for options that do not fit, Error for
/// empty sizes.
Tensor interpolate(const Tensor& input, const InterpolateFuncOptions& options = {});

}  // namespace functional
}  // namespace taeda::nn
