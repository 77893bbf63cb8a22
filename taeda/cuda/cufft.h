// Fourier transforms by cuFFT, a library that is loaded when a transform is first asked for.
#pragma once

#include <compare>
#include <cstdint>

#include "taeda/cuda/context.h"

namespace taeda::inline v0_2::gpu {

/// `batch` transforms over one to three neighbouring dimensions of contiguous tensors; all that a
/// plan of the library depends on. Distances are in elements.
struct FftShape {
  enum class Type { Complex, RealToComplex, ComplexToReal } type;
  bool is_double;
  int rank;
  int64_t sizes[3];                   // of complex numbers, or of the real side
  int64_t step;                       // from one element of the last dimension to the next
  int64_t in_distance, out_distance;  // from one transform to the next
  int64_t batch;

  auto operator<=>(const FftShape&) const = default;
};

/// Runs the transforms on the context's stream. The results are not scaled; a complex-to-real
/// transform may overwrite its input. The real side must be aligned as complex numbers are. Throws
/// Error if the library is missing, is turned off by TAEDA_CUDA_FFT=0, or fails.
void cufft_transform(const Context& context, const FftShape& shape, const void* in, void* out,
                     bool forward);

}  // namespace taeda::gpu
