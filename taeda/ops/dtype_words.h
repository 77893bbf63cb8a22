// How errors about dtypes are worded. Not part of the public interface.
#pragma once

#include "taeda/base/scalar.h"

namespace taeda::inline v0_2::detail {

/// The dtype's name in C++, as in some of PyTorch's errors: "long int", "c10::complex<float>".
const char* type_name(ScalarType t);

/// Throws Error, in PyTorch's words, if dtype t has no such number: "value cannot be converted to
/// type float without overflow".
void check_number(ScalarType t, const Scalar& number);
/// The largest number of a floating dtype of at least 16 bits.
double largest(ScalarType floating);

}  // namespace taeda::inline v0_2::detail
