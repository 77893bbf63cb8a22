// Leaves of small graphs, and their elements.
#pragma once

#include "taeda/ops/create/create.h"
#include "taeda/tensor/tensor.h"

namespace taeda {

inline Tensor leaf(IntArrayRef sizes, double value) { return full(sizes, value).requires_grad_(); }
inline Tensor leaf(double value) { return leaf({2}, value); }
/// The element at position `i` in row-major order.
inline double at(const Tensor& t, int64_t i = 0) {
  return t.reshape({-1}).select(0, i).item<double>();
}

}  // namespace taeda
