// The transforms that the functions of fft.h and stft.h are made of; not part of the public
// interface. `dims` are wrapped and distinct; results are multiplied with `scale`.
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::detail {

/// Complex to complex along each of `dims`.
Tensor fft_c2c(const Tensor& self, IntArrayRef dims, bool forward, double scale);
/// Real to complex, forward; halves the last of `dims`, at least one.
Tensor fft_r2c(const Tensor& self, IntArrayRef dims, double scale);
/// Complex to real, inverse; the last of `dims`, at least one, has `n` real numbers.
Tensor fft_c2r(const Tensor& self, IntArrayRef dims, int64_t n, double scale);

/// The tensor in a dtype that can be transformed: floating, or complex if `to_complex`.
Tensor fft_input(const Tensor& self, bool to_complex);

}  // namespace taeda::detail
