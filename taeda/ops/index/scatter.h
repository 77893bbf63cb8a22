// Copies of tensors with parts of them replaced or combined with others.
// [operations, method, out]
#pragma once

#include <string_view>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// A copy of `self` in which self.select, self.slice or self.diagonal is `src`. Throws Error unless
/// src has that part's sizes.
/// [composite]
Tensor select_scatter(const Tensor& self, const Tensor& src, int64_t dim, int64_t index);
Tensor slice_scatter(const Tensor& self, const Tensor& src, int64_t dim = 0, OptionalDim start = {},
                     OptionalDim end = {}, int64_t step = 1);
Tensor diagonal_scatter(const Tensor& self, const Tensor& src, int64_t offset = 0, int64_t dim1 = 0,
                        int64_t dim2 = 1);
/// A copy whose elements under `mask` (bool, broadcast) are the first elements of `source`. Throws
/// Error if those are too few; waits for the device.
/// [in-place, composite]
Tensor masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source);
/// scatter that combines what meets at one place by `reduce`: "sum", "prod", "mean", "amax" or
/// "amin"; self's own elements take part if `include_self`. Equal extremes share the gradient.
/// [in-place, composition]
Tensor scatter_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                      std::string_view reduce, bool include_self = true);
/// A copy whose elements at `index` (int64) of the flattened tensor are those of `source`, which
/// has as many, or have them added (`accumulate`). Throws IndexError for places outside.
/// [in-place, dtypes: integral, composite]
Tensor put(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate = false);
/// A copy of `self` whose slices at `index` along `dim` are combined with those of `source` by
/// `reduce`: "prod", "mean", "amax" or "amin"; self's own elements take part if `include_self`.
/// [in-place, composite]
Tensor index_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                    std::string_view reduce, bool include_self = true);
/// A copy of `self` whose part as_strided(size, stride, storage_offset) is `src`. Throws Error
/// unless src has that part's sizes.
/// [composite]
Tensor as_strided_scatter(const Tensor& self, const Tensor& src, IntArrayRef size,
                          IntArrayRef stride, OptionalDim storage_offset = {});

}  // namespace taeda::inline v0_2
