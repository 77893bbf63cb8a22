// Pictures of another size.
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::vision {

/// Bilinear: (C, H, W) to (C, height, width). With `antialias` a pixel of a smaller picture is the
/// weighted mean over all that it covers; both are PyTorch's interpolate with align_corners=False.
/// uint8 is rounded. On the CPU.
Tensor resize_bilinear(const Tensor& image, int64_t height, int64_t width, bool antialias);
/// Each pixel a copy of the one at floor(i * in / out).
Tensor resize_nearest(const Tensor& image, int64_t height, int64_t width);

}  // namespace taeda::vision
