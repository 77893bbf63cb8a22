// softmax, its logarithm and its mirror image.
// [operations, method, out, dtypes: floating, shape: same]
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// exp(x) / sum exp(x) along `dim`, without overflow; `dtype` converts the input first.
/// [autocast: float32 accelerators]
Tensor softmax(const Tensor& self, int64_t dim, OptionalDtype dtype = {});
/// x - log(sum exp(x)) along `dim`, without overflow; `dtype` converts the input first.
/// [autocast: float32 accelerators]
Tensor log_softmax(const Tensor& self, int64_t dim, OptionalDtype dtype = {});
/// softmax of -x along `dim`; `dtype` converts the input first.
/// [not method]
Tensor softmin(const Tensor& self, int64_t dim, OptionalDtype dtype = {});

}  // namespace taeda
