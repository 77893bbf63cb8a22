// Shared by the sources that make tensors; not part of the public interface.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "taeda/base/error.h"
#include "taeda/kernels/copy.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::detail {

/// A new tensor becomes a leaf that wants a gradient where the options say so.
inline Tensor finish(Tensor out, const TensorOptions& o) {
  if (o.requires_grad()) out.requires_grad_();
  return out;
}

/// Throws ValueError, in the name of `op`, where elements cannot lie: compilers take for granted
/// that numbers stand at multiples of their size, a complex one at a multiple of its parts'.
inline void check_aligned(const void* data, ScalarType dtype, const char* op) {
  const auto size = static_cast<uintptr_t>(element_size(dtype));
  const uintptr_t alignment = is_complex(dtype) ? size / 2 : size;
  TAEDA_CHECK_VALUE(reinterpret_cast<uintptr_t>(data) % alignment == 0, op, ": the first ",
                    to_string(dtype), " is not at a multiple of ", alignment,
                    " bytes; copy the memory to where it is");
}

/// Fills a tensor of that dtype. Throws Error if the dtype has no such number; of 16 bits, which
/// kernels see as float, what is too large is infinite.
inline Fill fill_with(const Scalar& value, ScalarType dtype) {
  if (!is_reduced_floating(dtype)) return Fill{value};
  const double number = value.toDouble();
  return Fill{std::abs(number) <= std::numeric_limits<float>::max() ? number : number * HUGE_VAL};
}

/// Throws Error if a dtype of 16 bits has no such number, where it is not to be infinite.
inline void check_reduced(const Scalar& value, ScalarType dtype) {
  if (dtype == kHalf) static_cast<void>(value.toHalf());
  if (dtype == kBFloat16) static_cast<void>(value.toBFloat16());
}

/// `result` in memory of its own where it would be a view of `input`: for operations that promise a
/// new tensor, and that move nothing for some arguments.
inline Tensor apart_from(const Tensor& result, const Tensor& input) {
  return result.is_alias_of(input) ? result.clone() : result;
}

}  // namespace taeda::inline v0_2::detail
