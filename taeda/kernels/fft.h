// Slots of the discrete Fourier transforms. Tensors are contiguous and not empty; a transform of
// length n multiplies with exp(-2 pi i j k / n) (forward) or exp(2 pi i j k / n), and the result
// with `scale`. `dims` are distinct, not negative, and at least one.
#pragma once

#include "taeda/kernels/slot.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// Complex to complex along each of `dims`; `out` may be `in`.
inline Slot<void(const Tensor& out, const Tensor& in, IntArrayRef dims, bool forward, double scale)>
    fft_c2c_slot{"fft_c2c"};
/// Real to complex, forward. Along dims.back(), where `out` keeps the first n / 2 + 1 of n numbers,
/// the others being conjugates of these; then complex to complex along the other `dims`.
inline Slot<void(const Tensor& out, const Tensor& in, IntArrayRef dims, double scale)> fft_r2c_slot{
    "fft_r2c"};
/// Complex to real, not forward. Complex to complex along all `dims` but the last; along the last,
/// `in` has the first n / 2 + 1 of n numbers, and the imaginary parts of the first and, for even n,
/// of the last are taken for zero.
inline Slot<void(const Tensor& out, const Tensor& in, IntArrayRef dims, double scale)> fft_c2r_slot{
    "fft_c2r"};

template <class F>
void for_each_fft_slot(F&& f) {
  visit_slots<&fft_c2c_slot, &fft_r2c_slot, &fft_c2r_slot>(f);
}

}  // namespace taeda
