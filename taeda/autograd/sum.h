// Two gradients of one tensor. Not part of the public interface.
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::autograd {

/// Their sum, which is dense unless both are sparse.
inline Tensor sum_of(const Tensor& a, const Tensor& b) {
  return !a.is_strided() && b.is_strided() ? b.add(a) : a.add(b);
}

}  // namespace taeda::inline v0_2::autograd
