// Cumulative operations along a dimension.
// [operations, method, out, keyword: dtype, shape: same]
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// Sum (product) of all elements along `dim` up to each one; integers and bool give int64, `dtype`
/// converts first.
/// [in-place: own, autocast: float32 accelerators]
Tensor cumsum(const Tensor& self, int64_t dim, OptionalDtype dtype = {});
Tensor cumprod(const Tensor& self, int64_t dim, OptionalDtype dtype = {});
/// (largest (smallest) element along `dim` up to each one, int64 index of its last occurrence).
/// [returns: values indices, dtypes: floating integral bool]
std::tuple<Tensor, Tensor> cummax(const Tensor& self, int64_t dim);
std::tuple<Tensor, Tensor> cummin(const Tensor& self, int64_t dim);

}  // namespace taeda
