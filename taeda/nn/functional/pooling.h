// Pooling as functions. The forms with plain arguments are those of ops/nn/pool.h.
#pragma once

#include "taeda/base/option.h"
#include "taeda/nn/types.h"
#include "taeda/ops/nn/pool.h"

namespace taeda::inline v0_2::nn {

/// Of modules MaxPool1d, MaxPool2d, MaxPool3d. A list of D sizes may be given as one number for
/// all.
template <size_t D>
struct MaxPoolOptions {
  /// The sizes of a window, in elements.
  Option<ExpandingArray<D>> kernel_size;
  /// Elements from one window to the next, at least 1; the sizes of a window unless given.
  Option<ExpandingArray<D>> stride = kernel_size;
  /// Elements that stand beyond each border and never win; at most half a window.
  Option<ExpandingArray<D>> padding = 0;
  /// Elements from one of a window to the next, at least 1.
  Option<ExpandingArray<D>> dilation = 1;
  /// Whether the last window may reach over the end, so that sizes are rounded up; false by
  /// default.
  Option<bool> ceil_mode = false;
};
using MaxPool1dOptions = MaxPoolOptions<1>;
using MaxPool2dOptions = MaxPoolOptions<2>;
using MaxPool3dOptions = MaxPoolOptions<3>;

/// Of modules AvgPool1d, AvgPool2d, AvgPool3d. A list of D sizes may be given as one number for
/// all.
template <size_t D>
struct AvgPoolOptions {
  /// The sizes of a window, in elements.
  Option<ExpandingArray<D>> kernel_size;
  /// Elements from one window to the next, at least 1; the sizes of a window unless given.
  Option<ExpandingArray<D>> stride = kernel_size;
  /// Zeros that stand beyond each border; at most half a window.
  Option<ExpandingArray<D>> padding = 0;
  /// Whether the last window may reach over the end, so that sizes are rounded up; false by
  /// default.
  Option<bool> ceil_mode = false;
  /// Whether the zeros of the padding count as elements of a window.
  Option<bool> count_include_pad = true;
  /// What sums are divided by, not 0; the number of a window's elements unless given.
  Option<std::optional<int64_t>> divisor_override = std::nullopt;
};
using AvgPool1dOptions = AvgPoolOptions<1>;
using AvgPool2dOptions = AvgPoolOptions<2>;
using AvgPool3dOptions = AvgPoolOptions<3>;

/// Options of the modules AdaptiveAvgPool1d to AdaptiveAvgPool3d and AdaptiveMaxPool1d to
/// AdaptiveMaxPool3d, for inputs [N, C, ...] or [C, ...] with D sizes behind the channels.
template <size_t D>
struct AdaptivePoolOptions {
  /// The sizes that come out, whatever goes in; one that is absent stays as it is.
  Option<ExpandingArrayWithOptionalElem<D>> output_size;
};
using AdaptiveAvgPool1dOptions = AdaptivePoolOptions<1>;
using AdaptiveAvgPool2dOptions = AdaptivePoolOptions<2>;
using AdaptiveAvgPool3dOptions = AdaptivePoolOptions<3>;
using AdaptiveMaxPool1dOptions = AdaptivePoolOptions<1>;
using AdaptiveMaxPool2dOptions = AdaptivePoolOptions<2>;
using AdaptiveMaxPool3dOptions = AdaptivePoolOptions<3>;

/// Options of the modules MaxUnpool1d, MaxUnpool2d and MaxUnpool3d: the sizes that the pool had
/// which is undone. Inputs and indices are [N, C, ...] or [C, ...].
template <size_t D>
struct MaxUnpoolOptions {
  /// The sizes of a window, in elements.
  Option<ExpandingArray<D>> kernel_size;
  /// Elements from one window to the next, at least 1; the sizes of a window unless given.
  Option<ExpandingArray<D>> stride = kernel_size;
  /// Elements that stood beyond each border.
  Option<ExpandingArray<D>> padding = 0;
};
using MaxUnpool1dOptions = MaxUnpoolOptions<1>;
using MaxUnpool2dOptions = MaxUnpoolOptions<2>;
using MaxUnpool3dOptions = MaxUnpoolOptions<3>;

/// Options of the modules LPPool1d and LPPool2d, (sum of x^p)^(1/p) of each window of inputs [N, C,
/// ...] or [C, ...].
template <size_t D>
struct LPPoolOptions {
  /// The exponent p of the norm, not 0.
  Option<double> norm_type;
  /// The sizes of a window, in elements.
  Option<ExpandingArray<D>> kernel_size;
  /// Elements from one window to the next, at least 1; the sizes of a window unless given.
  Option<ExpandingArray<D>> stride = kernel_size;
  /// Whether the last window may reach over the end, so that sizes are rounded up; false by
  /// default.
  Option<bool> ceil_mode = false;
};
using LPPool1dOptions = LPPoolOptions<1>;
using LPPool2dOptions = LPPoolOptions<2>;

namespace functional {
using LPPool1dFuncOptions = LPPool1dOptions;
using LPPool2dFuncOptions = LPPool2dOptions;

/// Options of the functions max_unpool1d, max_unpool2d and max_unpool3d: the sizes that the pool
/// had which is undone. Inputs and indices are [N, C, ...] or [C, ...].
template <size_t D>
struct MaxUnpoolFuncOptions {
  /// The sizes of a window, in elements.
  Option<ExpandingArray<D>> kernel_size;
  /// Elements from one window to the next, at least 1; the sizes of a window unless given.
  Option<ExpandingArray<D>> stride = kernel_size;
  /// Elements that stood beyond each border.
  Option<ExpandingArray<D>> padding = 0;
  /// The sizes of the result, with or without those of batch and channels; by default the smallest
  /// that fit.
  Option<std::optional<std::vector<int64_t>>> output_size = std::nullopt;
};
using MaxUnpool1dFuncOptions = MaxUnpoolFuncOptions<1>;
using MaxUnpool2dFuncOptions = MaxUnpoolFuncOptions<2>;
using MaxUnpool3dFuncOptions = MaxUnpoolFuncOptions<3>;

using MaxPool1dFuncOptions = MaxPool1dOptions;
using MaxPool2dFuncOptions = MaxPool2dOptions;
using MaxPool3dFuncOptions = MaxPool3dOptions;
using AvgPool1dFuncOptions = AvgPool1dOptions;
using AvgPool2dFuncOptions = AvgPool2dOptions;
using AvgPool3dFuncOptions = AvgPool3dOptions;
using AdaptiveAvgPool1dFuncOptions = AdaptiveAvgPool1dOptions;
using AdaptiveAvgPool2dFuncOptions = AdaptiveAvgPool2dOptions;
using AdaptiveAvgPool3dFuncOptions = AdaptiveAvgPool3dOptions;
using AdaptiveMaxPool1dFuncOptions = AdaptiveMaxPool1dOptions;
using AdaptiveMaxPool2dFuncOptions = AdaptiveMaxPool2dOptions;
using AdaptiveMaxPool3dFuncOptions = AdaptiveMaxPool3dOptions;
using taeda::adaptive_avg_pool1d, taeda::adaptive_avg_pool2d, taeda::adaptive_avg_pool3d;
using taeda::avg_pool1d, taeda::avg_pool2d, taeda::avg_pool3d;
using taeda::max_pool1d, taeda::max_pool2d, taeda::max_pool3d;
using taeda::max_pool1d_with_indices, taeda::max_pool2d_with_indices,
    taeda::max_pool3d_with_indices;

template <class = void>
Tensor max_pool1d(const Tensor& x, const MaxPool1dFuncOptions& o) {
  return taeda::max_pool1d(x, o.kernel_size, o.stride, o.padding, o.dilation, o.ceil_mode);
}
template <class = void>
Tensor max_pool2d(const Tensor& x, const MaxPool2dFuncOptions& o) {
  return taeda::max_pool2d(x, o.kernel_size, o.stride, o.padding, o.dilation, o.ceil_mode);
}
template <class = void>
Tensor max_pool3d(const Tensor& x, const MaxPool3dFuncOptions& o) {
  return taeda::max_pool3d(x, o.kernel_size, o.stride, o.padding, o.dilation, o.ceil_mode);
}
/// The result's values and the positions that they come from, int64 numbers within the flattened
/// sizes behind the channels; inputs are [N, C, ...] or [C, ...] with D sizes behind the channels.
/// Errors are those of ops/nn/pool.h.
template <class = void>
std::tuple<Tensor, Tensor> max_pool1d_with_indices(const Tensor& x, const MaxPool1dFuncOptions& o) {
  return taeda::max_pool1d_with_indices(x, o.kernel_size, o.stride, o.padding, o.dilation,
                                        o.ceil_mode);
}
template <class = void>
std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& x, const MaxPool2dFuncOptions& o) {
  return taeda::max_pool2d_with_indices(x, o.kernel_size, o.stride, o.padding, o.dilation,
                                        o.ceil_mode);
}
template <class = void>
std::tuple<Tensor, Tensor> max_pool3d_with_indices(const Tensor& x, const MaxPool3dFuncOptions& o) {
  return taeda::max_pool3d_with_indices(x, o.kernel_size, o.stride, o.padding, o.dilation,
                                        o.ceil_mode);
}
template <class = void>
Tensor avg_pool1d(const Tensor& x, const AvgPool1dFuncOptions& o) {
  return taeda::avg_pool1d(x, o.kernel_size, o.stride, o.padding, o.ceil_mode, o.count_include_pad);
}
template <class = void>
Tensor avg_pool2d(const Tensor& x, const AvgPool2dFuncOptions& o) {
  return taeda::avg_pool2d(x, o.kernel_size, o.stride, o.padding, o.ceil_mode, o.count_include_pad,
                           o.divisor_override);
}
template <class = void>
Tensor avg_pool3d(const Tensor& x, const AvgPool3dFuncOptions& o) {
  return taeda::avg_pool3d(x, o.kernel_size, o.stride, o.padding, o.ceil_mode, o.count_include_pad,
                           o.divisor_override);
}
template <class = void>
Tensor adaptive_avg_pool1d(const Tensor& x, const AdaptiveAvgPool1dFuncOptions& o) {
  return taeda::adaptive_avg_pool1d(x, o.output_size.numbers(kSameSize));
}
template <class = void>
Tensor adaptive_avg_pool2d(const Tensor& x, const AdaptiveAvgPool2dFuncOptions& o) {
  return taeda::adaptive_avg_pool2d(x, o.output_size.numbers(kSameSize));
}
template <class = void>
Tensor adaptive_avg_pool3d(const Tensor& x, const AdaptiveAvgPool3dFuncOptions& o) {
  return taeda::adaptive_avg_pool3d(x, o.output_size.numbers(kSameSize));
}
std::tuple<Tensor, Tensor> adaptive_max_pool1d_with_indices(const Tensor& x,
                                                            const AdaptiveMaxPool1dFuncOptions& o);
std::tuple<Tensor, Tensor> adaptive_max_pool2d_with_indices(const Tensor& x,
                                                            const AdaptiveMaxPool2dFuncOptions& o);
std::tuple<Tensor, Tensor> adaptive_max_pool3d_with_indices(const Tensor& x,
                                                            const AdaptiveMaxPool3dFuncOptions& o);
Tensor adaptive_max_pool1d(const Tensor& x, const AdaptiveMaxPool1dFuncOptions& o);
Tensor adaptive_max_pool2d(const Tensor& x, const AdaptiveMaxPool2dFuncOptions& o);
Tensor adaptive_max_pool3d(const Tensor& x, const AdaptiveMaxPool3dFuncOptions& o);

namespace detail {
Tensor max_unpool(const Tensor& input, const Tensor& indices, IntArrayRef kernel_size,
                  IntArrayRef stride, IntArrayRef padding,
                  const std::optional<std::vector<int64_t>>& output_size);
Tensor lp_pool(const Tensor& input, double norm_type, IntArrayRef kernel_size, IntArrayRef stride,
               bool ceil_mode);
}  // namespace detail

/// Zeros with the elements of `input` [N, C, ...] (or [C, ...]) at `indices`, which
/// max_pool_with_indices gave: positions in the flattened channel of the result, whose sizes are
/// (size - 1) * stride - 2 * padding + kernel unless `output_size` says otherwise. Throws
/// ValueError for an output size that no such pool has, Error for indices of another shape or dtype
/// or, on the CPU, outside.
Tensor max_unpool1d(const Tensor& input, const Tensor& indices, const MaxUnpool1dFuncOptions& o);
Tensor max_unpool2d(const Tensor& input, const Tensor& indices, const MaxUnpool2dFuncOptions& o);
Tensor max_unpool3d(const Tensor& input, const Tensor& indices, const MaxUnpool3dFuncOptions& o);

/// (sum of x^p)^(1/p) of each window of `x`, [N, C, ...] or [C, ...]. Throws Error where no window
/// fits.
Tensor lp_pool1d(const Tensor& x, const LPPool1dFuncOptions& o);
Tensor lp_pool2d(const Tensor& x, const LPPool2dFuncOptions& o);

}  // namespace functional
}  // namespace taeda::inline v0_2::nn
