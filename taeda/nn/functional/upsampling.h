// Changing the size of images.
#pragma once

#include <concepts>
#include <optional>
#include <type_traits>
#include <vector>

#include "taeda/base/option.h"
#include "taeda/nn/types.h"

namespace taeda::inline v0_2::nn {

/// A mode of interpolation: an Interpolation, or kLinear, which is a Nonlinearity's name; other
/// nonlinearities are refused.
class InterpolationMode {
 public:
  InterpolationMode(Interpolation mode) : mode_(mode) {}
  /// Throws ValueError unless it is kLinear.
  InterpolationMode(Nonlinearity linear) : mode_(Interpolation::Linear) {
    TAEDA_CHECK_VALUE(linear == kLinear, "Expected a mode of interpolation");
  }
  /// From an object of a class that converts to an Interpolation; none is refused here.
  template <class E>
  requires(std::is_class_v<E> && !std::derived_from<E, InterpolationMode> &&
           std::convertible_to<E, Interpolation>) InterpolationMode(E mode)
      : mode_(static_cast<Interpolation>(mode)) {}
  operator Interpolation() const { return mode_; }
  /// The mode's name in error texts: "nearest", "linear", "bilinear", "bicubic", "trilinear",
  /// "area" or "nearest-exact".
  const char* name() const;

 private:
  Interpolation mode_;
};

/// Options of the module Upsample, for inputs [N, C, ...]: exactly one of `size` and `scale_factor`
/// must be given.
struct UpsampleOptions {
  using mode_t = InterpolationMode;
  /// The sizes of the result, one for each dimension behind batch and channel; not with
  /// `scale_factor`.
  Option<std::optional<std::vector<int64_t>>> size = std::nullopt;
  /// The factors, above 0, by which the sizes behind batch and channel grow, rounded down to whole
  /// elements; not with `size`.
  Option<std::optional<std::vector<double>>> scale_factor = std::nullopt;
  /// How values between the elements come about: kNearest, kNearestExact, kLinear, kBilinear,
  /// kBicubic, kTrilinear or kArea.
  Option<InterpolationMode> mode = kNearest;
  /// Whether the corners' elements, rather than the corners, of input and result lie on each other;
  /// false unless given, which modes nearest and area do not allow.
  Option<std::optional<bool>> align_corners = std::nullopt;
};

namespace functional {

/// Options of the function interpolate, for inputs [N, C, ...]: exactly one of `size` and
/// `scale_factor` must be given.
struct InterpolateFuncOptions {
  using mode_t = InterpolationMode;
  /// The sizes of the result, one for each dimension behind batch and channel; not with
  /// `scale_factor`.
  Option<std::optional<std::vector<int64_t>>> size = std::nullopt;
  /// The factors, above 0, by which the sizes behind batch and channel grow, rounded down to whole
  /// elements; not with `size`.
  Option<std::optional<std::vector<double>>> scale_factor = std::nullopt;
  /// How values between the elements come about: kNearest, kNearestExact, kLinear, kBilinear,
  /// kBicubic, kTrilinear or kArea.
  Option<InterpolationMode> mode = kNearest;
  /// Whether the corners' elements, rather than the corners, of input and result lie on each other;
  /// false unless given, which modes nearest and area do not allow.
  Option<std::optional<bool>> align_corners = std::nullopt;
  /// Whether positions follow from the sizes of input and result instead of the factors.
  Option<std::optional<bool>> recompute_scale_factor = std::nullopt;
  /// Of kBilinear and kBicubic: where the result is smaller, whether each of its elements is a mean
  /// of all that it covers, so that fine patterns do not become coarse ones.
  Option<bool> antialias = false;
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
}  // namespace taeda::inline v0_2::nn
