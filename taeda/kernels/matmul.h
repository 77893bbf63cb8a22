// Slots of matrix products.
#pragma once

#include "taeda/kernels/slot.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// out = alpha * a @ b + beta * addend.
///
/// `a` is [m, k] and `b` [k, n], or both carry the same leading batch dimension; any strides, one
/// dtype. `addend` may be undefined; otherwise it has out's sizes (expanded dimensions have stride
/// 0) and may be `out` itself.
inline Slot<void(const Tensor& out, const Tensor& a, const Tensor& b, const Tensor& addend,
                 const Scalar& beta, const Scalar& alpha)>
    matmul_slot{"matmul"};

template <class F>
void for_each_matmul_slot(F&& f) {
  f.template operator()<&matmul_slot>();
}

}  // namespace taeda
