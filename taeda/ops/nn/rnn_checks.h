// Checks that recurrent networks share. Not part of the public interface.
#pragma once

#include "taeda/base/error.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::detail {

inline void check_like_input(const char* what, const Tensor& input, const Tensor& t) {
  TAEDA_CHECK(t.device() == input.device(), "Input and ", what,
              " tensors are not at the same device, found input tensor at ", input.device(),
              " and ", what, " tensor at ", t.device());
  TAEDA_CHECK(t.dtype() == input.dtype(), "Input and ", what,
              " tensors are not the same dtype, found input tensor with ", input.dtype(), " and ",
              what, " tensor with ", t.dtype());
}

inline void check_weight(const char* op, const char* what, const Tensor& t, IntArrayRef sizes) {
  TAEDA_CHECK(t.sizes() == sizes, op, ": Expected ", what, " of size ", sizes, ", got ", t.sizes());
}

}  // namespace taeda::inline v0_2::detail
