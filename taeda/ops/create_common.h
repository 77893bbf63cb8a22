// Shared by the sources that make tensors; not part of the public interface.
#pragma once

#include "taeda/kernels/copy.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::detail {

/// A new tensor becomes a leaf that wants a gradient where the options say so.
inline Tensor finish(Tensor out, const TensorOptions& o) {
  if (o.requires_grad()) out.requires_grad_();
  return out;
}

/// Fills a tensor of that dtype. Throws Error if the dtype has no such number; kernels see 16-bit
/// ones as float.
inline Fill fill_with(const Scalar& value, ScalarType dtype) {
  if (dtype == kHalf) static_cast<void>(value.to<Half>());
  return Fill{value};
}

}  // namespace taeda::inline v0_2::detail
