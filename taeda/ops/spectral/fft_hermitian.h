// Fourier transforms of several dimensions with Hermitian symmetry, after torch.fft; lengths,
// scaling and errors as in ops/spectral/fft.h.
// [operations, out]
#pragma once

#include "taeda/ops/spectral/fft.h"

namespace taeda::inline v0_2 {
namespace fft {

/// hfft of the last dimension after fftn of the others; real.
Tensor hfftn(const Tensor& self, OptionalIntArrayRef s = {}, OptionalIntArrayRef dim = {},
             OptionalNorm norm = {});
/// The inverse of hfftn. Throws Error for a complex input.
/// [dtypes: floating integral bool]
Tensor ihfftn(const Tensor& self, OptionalIntArrayRef s = {}, OptionalIntArrayRef dim = {},
              OptionalNorm norm = {});
/// Both along two dimensions, by default the last two.
Tensor hfft2(const Tensor& self, OptionalIntArrayRef s = {}, IntArrayRef dim = {-2, -1},
             OptionalNorm norm = {});
/// [dtypes: floating integral bool]
Tensor ihfft2(const Tensor& self, OptionalIntArrayRef s = {}, IntArrayRef dim = {-2, -1},
              OptionalNorm norm = {});

}  // namespace fft
}  // namespace taeda::inline v0_2
