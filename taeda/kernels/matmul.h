// Slots of matrix products.
#pragma once

#include "taeda/kernels/slot.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// out = alpha * a @ b + beta * addend.
///
/// `a` is [m, k] and `b` [k, n], or both carry the same leading batch dimension; any strides, one
/// dtype. `addend` may be undefined; otherwise it has out's sizes (expanded dimensions have stride
/// 0) and may be `out` itself. On devices that fill `product_precision_slot` operands may also be
/// float32 beside 16-bit ones, and so may `out`.
inline Slot<void(const Tensor& out, const Tensor& a, const Tensor& b, const Tensor& addend,
                 const Scalar& beta, const Scalar& alpha)>
    matmul_slot{"matmul"};

/// How a device computes products of 16-bit numbers.
struct ProductPrecision {
  bool float32 = false;  ///< from float32 copies of the operands: rounding one first gains nothing
};

/// Asks that for matrices of `dtype`. An empty slot is an answer, too: by instructions of its own.
inline Slot<void(ScalarType dtype, ProductPrecision* precision)> product_precision_slot{
    "product_precision"};

template <class F>
void for_each_matmul_slot(F&& f) {
  visit_slots<&matmul_slot>(f);
}

}  // namespace taeda::inline v0_2
