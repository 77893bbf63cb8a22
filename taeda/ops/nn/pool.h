// Pooling. Inputs are [N, C, ...] or, unbatched, [C, ...], of a floating dtype; lists hold one
// value for all spatial dimensions or one for each; an empty stride means the kernel size.
// [operations]
#pragma once

#include <limits>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// The largest element of each window, NaN above all. Padding never wins. With `ceil_mode`, a last
/// window that starts inside the input or its left padding may reach beyond.
Tensor max_pool1d(const Tensor& input, IntArrayRef kernel_size, IntArrayRef stride = {},
                  IntArrayRef padding = 0, IntArrayRef dilation = 1, bool ceil_mode = false);
Tensor max_pool2d(const Tensor& input, IntArrayRef kernel_size, IntArrayRef stride = {},
                  IntArrayRef padding = 0, IntArrayRef dilation = 1, bool ceil_mode = false);
/// [autocast: float32 host]
Tensor max_pool3d(const Tensor& input, IntArrayRef kernel_size, IntArrayRef stride = {},
                  IntArrayRef padding = 0, IntArrayRef dilation = 1, bool ceil_mode = false);

/// (max_pool's result, the winners' int64 positions in their flattened channel, of the same shape).
std::tuple<Tensor, Tensor> max_pool1d_with_indices(const Tensor& input, IntArrayRef kernel_size,
                                                   IntArrayRef stride = {}, IntArrayRef padding = 0,
                                                   IntArrayRef dilation = 1,
                                                   bool ceil_mode = false);
std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& input, IntArrayRef kernel_size,
                                                   IntArrayRef stride = {}, IntArrayRef padding = 0,
                                                   IntArrayRef dilation = 1,
                                                   bool ceil_mode = false);
/// [autocast: float32 host]
std::tuple<Tensor, Tensor> max_pool3d_with_indices(const Tensor& input, IntArrayRef kernel_size,
                                                   IntArrayRef stride = {}, IntArrayRef padding = 0,
                                                   IntArrayRef dilation = 1,
                                                   bool ceil_mode = false);

/// The mean of each window: size (in + 2 * padding - k) / stride + 1. `count_include_pad` counts
/// padding as zeros; `divisor_override` divides by that number instead.
Tensor avg_pool1d(const Tensor& input, IntArrayRef kernel_size, IntArrayRef stride = {},
                  IntArrayRef padding = 0, bool ceil_mode = false, bool count_include_pad = true);
Tensor avg_pool2d(const Tensor& input, IntArrayRef kernel_size, IntArrayRef stride = {},
                  IntArrayRef padding = 0, bool ceil_mode = false, bool count_include_pad = true,
                  std::optional<int64_t> divisor_override = {});
/// [autocast: float32 host]
Tensor avg_pool3d(const Tensor& input, IntArrayRef kernel_size, IntArrayRef stride = {},
                  IntArrayRef padding = 0, bool ceil_mode = false, bool count_include_pad = true,
                  std::optional<int64_t> divisor_override = {});

/// An element of an adaptive pool's `output_size` that keeps the input's size: Python's None.
constexpr int64_t kSameSize = std::numeric_limits<int64_t>::min();

/// Means over windows that divide the input into `output_size` parts, the sizes of the result.
Tensor adaptive_avg_pool1d(const Tensor& input, IntArrayRef output_size);
Tensor adaptive_avg_pool2d(const Tensor& input, IntArrayRef output_size);
/// [autocast: float32 host]
Tensor adaptive_avg_pool3d(const Tensor& input, IntArrayRef output_size);
/// The largest elements of windows that divide the input into `output_size` parts, the sizes of the
/// result, and their int64 positions in the flattened channel.
std::tuple<Tensor, Tensor> adaptive_max_pool1d(const Tensor& input, IntArrayRef output_size);
std::tuple<Tensor, Tensor> adaptive_max_pool2d(const Tensor& input, IntArrayRef output_size);
/// [autocast: float32 host]
std::tuple<Tensor, Tensor> adaptive_max_pool3d(const Tensor& input, IntArrayRef output_size);

}  // namespace taeda::inline v0_2
