// Max pooling over windows at random places: B. Graham, "Fractional Max-Pooling" (2014,
// arXiv:1412.6071).
// [operations]
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// The largest element of each window, and its position in the flattened channel (int64). Windows
/// of `kernel_size` begin at places that differ by input / output, rounded up or down as
/// `random_samples` [N, C, 2 or 3] (of [0, 1), the last dimension of the image first for images,
/// last for volumes) decides. `input` is [N, C, ...] or [C, ...]. Throws Error for windows that do
/// not fit and for samples of another shape.
/// [autocast: float32 host, composite]
std::tuple<Tensor, Tensor> fractional_max_pool2d(const Tensor& self, IntArrayRef kernel_size,
                                                 IntArrayRef output_size,
                                                 const Tensor& random_samples);
std::tuple<Tensor, Tensor> fractional_max_pool3d(const Tensor& self, IntArrayRef kernel_size,
                                                 IntArrayRef output_size,
                                                 const Tensor& random_samples);

}  // namespace taeda::inline v0_2
