// Discrete Fourier transforms, after torch.fft.
//
// A forward transform of n numbers is X[k] = sum_j x[j] exp(-2 pi i j k / n), an inverse one has
// exp(+2 pi i j k / n). `norm` says how results are scaled: "backward" (the default) divides
// inverse transforms by n, "forward" forward ones, "ortho" both by sqrt(n).
//
// `n` (for several dimensions `s`, with -1 for "as it is") is the length that is transformed: the
// input is cut or zero-padded at its end. Integers and bool are taken in the default floating
// dtype. Every function is differentiable any number of times.
//
// Errors of all: a length below 1, a dimension that does not exist, an unknown `norm`, float16 and
// bfloat16 (outside autocast, where they are taken as float32).
// [operations, out]
#pragma once

#include <optional>
#include <string_view>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

namespace fft {

/// "forward", "backward" (the default) or "ortho": which direction is scaled.
using OptionalNorm = std::optional<std::string_view>;

/// Along `dim`; complex.
Tensor fft(const Tensor& self, OptionalDim n = {}, int64_t dim = -1, OptionalNorm norm = {});
Tensor ifft(const Tensor& self, OptionalDim n = {}, int64_t dim = -1, OptionalNorm norm = {});
/// The first n / 2 + 1 numbers of the transform of a real input; the others are conjugates of
/// these. Throws Error for a complex input.
/// [dtypes: floating integral bool]
Tensor rfft(const Tensor& self, OptionalDim n = {}, int64_t dim = -1, OptionalNorm norm = {});
/// The real numbers of which `self` is the rfft. `n` is their number, by default 2 (m - 1) for m
/// frequencies. Imaginary parts that the rfft of real numbers cannot have are ignored.
Tensor irfft(const Tensor& self, OptionalDim n = {}, int64_t dim = -1, OptionalNorm norm = {});
/// The forward transform of numbers with Hermitian symmetry, of which the first n / 2 + 1 are
/// given; real.
Tensor hfft(const Tensor& self, OptionalDim n = {}, int64_t dim = -1, OptionalNorm norm = {});
/// The inverse of hfft. Throws Error for a complex input.
/// [dtypes: floating integral bool]
Tensor ihfft(const Tensor& self, OptionalDim n = {}, int64_t dim = -1, OptionalNorm norm = {});

/// Along several dimensions: all, or the last s.size(), or `dim`. The real ones halve the last of
/// them. Throws Error for dimensions named twice, and for `s` and `dim` of different lengths.
Tensor fftn(const Tensor& self, OptionalIntArrayRef s = {}, OptionalIntArrayRef dim = {},
            OptionalNorm norm = {});
Tensor ifftn(const Tensor& self, OptionalIntArrayRef s = {}, OptionalIntArrayRef dim = {},
             OptionalNorm norm = {});
/// [dtypes: floating integral bool]
Tensor rfftn(const Tensor& self, OptionalIntArrayRef s = {}, OptionalIntArrayRef dim = {},
             OptionalNorm norm = {});
/// [not dtypes]
Tensor irfftn(const Tensor& self, OptionalIntArrayRef s = {}, OptionalIntArrayRef dim = {},
              OptionalNorm norm = {});
/// Along two dimensions, by default the last two.
Tensor fft2(const Tensor& self, OptionalIntArrayRef s = {}, IntArrayRef dim = {-2, -1},
            OptionalNorm norm = {});
Tensor ifft2(const Tensor& self, OptionalIntArrayRef s = {}, IntArrayRef dim = {-2, -1},
             OptionalNorm norm = {});
/// [dtypes: floating integral bool]
Tensor rfft2(const Tensor& self, OptionalIntArrayRef s = {}, IntArrayRef dim = {-2, -1},
             OptionalNorm norm = {});
/// [not dtypes]
Tensor irfft2(const Tensor& self, OptionalIntArrayRef s = {}, IntArrayRef dim = {-2, -1},
              OptionalNorm norm = {});

/// The frequencies of fft's results in cycles per unit of `d`, the distance of two samples:
/// 0, 1, ..., -2, -1 over n d.
/// [not out, composite]
Tensor fftfreq(int64_t n, double d = 1, const TensorOptions& options = {});
/// Those of rfft's results: 0, 1, ..., n / 2 over n d.
/// [not out, composite]
Tensor rfftfreq(int64_t n, double d = 1, const TensorOptions& options = {});
/// Frequency zero moved from the beginning to the middle of all dimensions, or of `dim`.
/// [composite]
Tensor fftshift(const Tensor& self, OptionalIntArrayRef dim = {});
/// The inverse of fftshift; for odd sizes it is not fftshift itself.
/// [composite]
Tensor ifftshift(const Tensor& self, OptionalIntArrayRef dim = {});

}  // namespace fft
}  // namespace taeda
