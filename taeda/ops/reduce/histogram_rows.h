// Histograms of many rows of numbers at once.
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::detail {

/// `histc` of each row of [rows, numbers]: [rows, bins]. Without a range each row has its own.
Tensor histc_of_rows(const Tensor& rows, int64_t bins, const Scalar& min, const Scalar& max);

}  // namespace taeda::inline v0_2::detail
