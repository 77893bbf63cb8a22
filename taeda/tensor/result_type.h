// The dtype that arithmetic gives.
#pragma once

#include "taeda/base/scalar.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// The dtype of a result of both, as torch.result_type: tensors with dimensions decide, then 0-dim
/// tensors if they are of a higher category (bool < integer < float < complex), then numbers.
ScalarType result_type(const Tensor& a, const Tensor& b);
ScalarType result_type(const Tensor& a, const Scalar& b);
ScalarType result_type(const Scalar& a, const Tensor& b);
ScalarType result_type(const Scalar& a, const Scalar& b);

}  // namespace taeda
