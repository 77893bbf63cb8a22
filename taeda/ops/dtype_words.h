// How errors about dtypes are worded. Not part of the public interface.
#pragma once

#include <string>

#include "taeda/base/scalar.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::detail {

/// The dtype's name in C++, as in some of PyTorch's errors: "long int", "c10::complex<float>".
const char* type_name(ScalarType t);
/// The tensor's dtype and device as PyTorch's older errors call them: "torch.FloatTensor",
/// "torch.cuda.FloatTensor".
std::string tensor_type_name(const Tensor& t);

/// Throws Error, in PyTorch's words, if dtype t has no such number: "value cannot be converted to
/// type float without overflow".
void check_number(ScalarType t, const Scalar& number);
/// A number beside a tensor, in a tensor of dtype t; infinite where t has none as large.
Tensor number_beside(const Scalar& value, ScalarType t, Device device);
/// The largest number of a floating dtype of at least 16 bits.
double largest(ScalarType floating);

}  // namespace taeda::inline v0_2::detail
