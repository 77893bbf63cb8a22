// Slots of creation: sequences of numbers.
#pragma once

#include "taeda/kernels/slot.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// out[i] = start + i * step, computed in int64 for integers and in double otherwise. `out` is
/// one-dimensional and contiguous.
inline Slot<void(const Tensor& out, const Scalar& start, const Scalar& step)> arange_slot{"arange"};

/// out[i] = start + i * (end - start) / (n - 1), counted from `end` in the upper half, so that both
/// ends are exact. `out` is one-dimensional and contiguous.
inline Slot<void(const Tensor& out, const Scalar& start, const Scalar& end)> linspace_slot{
    "linspace"};

/// out = in where the column lies at most (`upper`: at least) `diagonal` right of the row, else 0.
/// Both are [batch, rows, columns]; `out` is contiguous, and may be `in`.
inline Slot<void(const Tensor& out, const Tensor& in, int64_t diagonal, bool upper)> triangle_slot{
    "triangle"};

template <class F>
void for_each_create_slot(F&& f) {
  visit_slots<&arange_slot, &linspace_slot, &triangle_slot>(f);
}

}  // namespace taeda
