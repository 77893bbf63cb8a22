// Slots of sampling images and volumes at the places of a grid, and the formulas of one dimension,
// written once for every device.
#pragma once

#include <cmath>

#include "taeda/base/macros.h"
#include "taeda/kernels/slot.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

enum class GridMode : int { Bilinear, Nearest, Bicubic };
/// What lies outside of an image.
enum class GridPadding : int { Zeros, Border, Reflection };

/// A plain value. Bicubic is for images alone.
struct GridSampling {
  GridMode mode = GridMode::Bilinear;
  GridPadding padding = GridPadding::Zeros;
  bool align_corners = false;
};

/// out[n, c, p] = the value of image in[n, c] at the place of grid[n, p], whose first coordinate is
/// that of the last dimension. `in` is [N, C, ...] of two or three spatial dimensions, none of them
/// empty and fewer than 2^31 elements in all; grid is [N, ..., dimensions]; all contiguous and of
/// one floating dtype.
inline Slot<void(const Tensor& out, const Tensor& in, const Tensor& grid, const GridSampling&)>
    grid_sample_slot{"grid_sample"};
/// Gradients by `in` and by `grid`, each of which may be undefined; all of them is written. What
/// meets at an element is added up in the order of the places.
inline Slot<void(const Tensor& grad_in, const Tensor& grad_grid, const Tensor& grad_out,
                 const Tensor& in, const Tensor& grid, const GridSampling&)>
    grid_sample_backward_slot{"grid_sample_backward"};

template <class F>
void for_each_grid_sample_slot(F&& f) {
  visit_slots<&grid_sample_slot, &grid_sample_backward_slot>(f);
}

/// How many elements of one dimension a place takes part of.
TAEDA_HD constexpr int grid_taps(GridMode mode) {
  return mode == GridMode::Nearest ? 1 : mode == GridMode::Bilinear ? 2 : 4;
}

/// One dimension of an image. Functions multiply `slope`, a derivative by the coordinate, by
/// theirs.
template <class M>
struct GridAxis {
  M last = 0;              // the last element
  M scale = 1, shift = 0;  // coordinate -1 lies at -shift, an element is 1 / scale of it
  M low = 0, span = 0;     // mirrors stand at low and at low + span

  GridAxis() = default;
  GridAxis(int64_t size, bool align_corners) : last(static_cast<M>(size - 1)) {
    const M n = static_cast<M>(size);
    scale = (align_corners ? n - 1 : n) / 2;
    shift = align_corners ? M(0) : M(0.5);
    low = -shift;
    span = align_corners ? n - 1 : n;
  }

  /// Where a coordinate lies, in elements.
  TAEDA_HD TAEDA_ALWAYS_INLINE M position(M coordinate) const {
    return (coordinate + 1) * scale - shift;
  }
  /// The nearest position within; NaN becomes 0.
  TAEDA_HD TAEDA_ALWAYS_INLINE M clamped(M p) const { return p > 0 ? (p < last ? p : last) : M(0); }
  TAEDA_HD TAEDA_ALWAYS_INLINE M mirrored(M p, M& slope) const {
    const M distance = p < low ? low - p : p - low;
    const M flips = span > 0 ? std::floor(distance / span) : M(0);
    const M rest = span > 0 ? distance - flips * span : M(0);
    const bool odd = flips - 2 * std::floor(flips / 2) != 0;
    slope *= span > 0 ? ((p < low) != odd ? M(-1) : M(1)) : M(0);
    return (odd ? span - rest : rest) + low;
  }
  /// The position within the image that stands for p.
  TAEDA_HD TAEDA_ALWAYS_INLINE M inside(GridPadding padding, M p, M& slope) const {
    if (padding == GridPadding::Zeros) return p;
    if (padding == GridPadding::Reflection) p = mirrored(p, slope);
    slope *= p > 0 && p < last ? M(1) : M(0);
    return clamped(p);
  }
  TAEDA_HD TAEDA_ALWAYS_INLINE bool has(M p) const { return p >= 0 && p <= last; }
};

/// The first of the elements that a position takes part of.
template <class M>
TAEDA_HD TAEDA_ALWAYS_INLINE M grid_first(GridMode mode, M p) {
  if (mode == GridMode::Nearest) return std::rint(p);
  return mode == GridMode::Bilinear ? std::floor(p) : std::floor(p) - 1;
}

/// The cubic convolution kernel with A = -0.75 (Keys, "Cubic convolution interpolation for digital
/// image processing", 1981) at the distance of element `tap`, t behind the second of four, and its
/// derivative by t.
template <class M>
TAEDA_HD TAEDA_ALWAYS_INLINE M cubic_share(int tap, M t) {
  constexpr M a = M(-0.75);
  const M x = tap == 0 ? t + 1 : tap == 1 ? t : tap == 2 ? 1 - t : 2 - t;
  return tap == 1 || tap == 2 ? ((a + 2) * x - (a + 3)) * x * x + 1
                              : ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}
template <class M>
TAEDA_HD TAEDA_ALWAYS_INLINE M cubic_slope(int tap, M t) {
  constexpr M a = M(-0.75);
  const M x = tap == 0 ? t + 1 : tap == 1 ? t : tap == 2 ? 1 - t : 2 - t;
  const M slope =
      tap == 1 || tap == 2 ? (3 * (a + 2) * x - 2 * (a + 3)) * x : (3 * a * x - 10 * a) * x + 8 * a;
  return tap < 2 ? slope : -slope;
}

/// The share of element `tap` in a position p whose first element is `first`.
template <class M>
TAEDA_HD TAEDA_ALWAYS_INLINE M grid_share(GridMode mode, int tap, M p, M first) {
  if (mode == GridMode::Nearest) return M(1);
  const M t = p - first;
  if (mode == GridMode::Bilinear) return tap == 0 ? 1 - t : t;
  return cubic_share(tap, t - 1);
}
/// Its derivative by p.
template <class M>
TAEDA_HD TAEDA_ALWAYS_INLINE M grid_slope(GridMode mode, int tap, M p, M first) {
  if (mode == GridMode::Nearest) return M(0);
  if (mode == GridMode::Bilinear) return tap == 0 ? M(-1) : M(1);
  return cubic_slope(tap, p - first - 1);
}

}  // namespace taeda::inline v0_2
