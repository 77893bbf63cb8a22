// Pictures as floats, and back.
#pragma once

#include "taeda/ops/create/copy.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::vision::transforms::functional {

/// A picture's numbers as floats, bytes from 0 to 255.
inline Tensor as_floats(const Tensor& image) {
  return image.is_floating_point() ? image : image.to(kFloat);
}

/// Such numbers in the dtype of `image`, rounded where that is of integers.
inline Tensor like_pixels(const Tensor& floats, const Tensor& image) {
  return image.is_floating_point() ? floats : floats.round().to(image.dtype());
}

}  // namespace taeda::inline v0_2::vision::transforms::functional
