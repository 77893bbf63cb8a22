// Ordering elements. NaN counts as larger than every number. Results that pick values are
// differentiable; their indices are int64.
// [operations, method, out]
#pragma once

#include <string_view>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// Values in order along `dim`, and where they were (int64), both in self's shape. Equal elements
/// keep their order, whether `stable` asks for it or not.
/// [returns: values indices, dtypes: floating integral bool]
Tensor::T2 sort(const Tensor& self, int64_t dim = -1, bool descending = false);
/// [returns: values indices, dtypes: floating integral bool]
inline Tensor::T2 sort(const Tensor& self, std::optional<bool> /*stable*/, int64_t dim,
                       bool descending = false) {
  return self.sort(dim, descending);
}
/// The int64 indices that put the elements along `dim` in order, in self's shape.
/// [dtypes: floating integral bool]
Tensor argsort(const Tensor& self, int64_t dim = -1, bool descending = false);
inline Tensor argsort(const Tensor& self, std::same_as<bool> auto /*stable*/, int64_t dim = -1,
                      bool descending = false) {
  return argsort(self, dim, descending);
}
inline Tensor argsort(const Tensor& self, std::same_as<int> auto /*stable*/, int64_t dim,
                      bool descending) {
  return argsort(self, dim, descending);
}
/// The k largest (smallest) values along `dim`, in order, and where they were: both have size k
/// there. Throws Error for a k outside of [0, size]. `sorted` is accepted
/// for PyTorch's sake: the result is always in order.
/// [returns: values indices, dtypes: floating integral]
Tensor::T2 topk(const Tensor& self, int64_t k, int64_t dim = -1, bool largest = true,
                bool sorted = true);
/// The k-th smallest value along `dim`, k counted from 1, and where it was.
/// [returns: values indices, dtypes: floating integral, composition]
Tensor::T2 kthvalue(const Tensor& self, int64_t k, int64_t dim = -1, bool keepdim = false);

/// What `unique` returns.
using T3 = std::tuple<Tensor, Tensor, Tensor>;
/// The different elements in ascending order; where each element of `self` went (in self's shape,
/// if `return_inverse`); how often each occurs (if `return_counts`).
/// [not method, not out, returns: output inverse_indices counts, dtypes: floating integral bool,
/// composition]
T3 unique(const Tensor& self, bool return_inverse = false, bool return_counts = false);
/// libtorch's name for `unique`; the result is sorted in any case.
/// [not method, not out, returns: output inverse_indices counts, dtypes: floating integral bool,
/// composite]
T3 _unique2(const Tensor& self, bool sorted = true, bool return_inverse = false,
            bool return_counts = false);
/// unique without sorting: runs of equal elements of the flattened tensor become one, or, with
/// `dim`, runs of equal slices.
/// [not method, not out, returns: output inverse_indices counts, composition]
T3 unique_consecutive(const Tensor& self, bool return_inverse = false, bool return_counts = false);
/// [not method, not out, returns: output inverse_indices counts, composite]
T3 unique_consecutive(const Tensor& self, bool return_inverse, bool return_counts, OptionalDim dim);

/// How often each of 0, 1, ... max (at least `minlength` numbers) occurs in a vector of
/// non-negative integers; or the sums of their `weights`.
/// [dtypes: integral]
Tensor bincount(const Tensor& self, const Tensor& weights = {}, int64_t minlength = 0);
/// Where each value would go in the sorted sequence (last dimension) so that it stays sorted:
/// before (`right`:
/// after) equal ones. `sorted_sequence` is a vector, or has values' leading dimensions. `side`
/// "left" or "right" says the same as `right`; `sorter` are the indices that sort the sequence.
/// [not method, dtypes: floating integral]
Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& values, bool out_int32 = false,
                    bool right = false, std::optional<std::string_view> side = {},
                    const Tensor& sorter = {});
Tensor searchsorted(const Tensor& sorted_sequence, const Scalar& value, bool out_int32 = false,
                    bool right = false, std::optional<std::string_view> side = {},
                    const Tensor& sorter = {});
/// Which of the parts between ascending `boundaries` (a vector) each element is in, in self's
/// shape: searchsorted(boundaries, self).
/// [not method, dtypes: floating integral bool]
Tensor bucketize(const Tensor& self, const Tensor& boundaries, bool out_int32 = false,
                 bool right = false);
Tensor bucketize(const Scalar& self, const Tensor& boundaries, bool out_int32 = false,
                 bool right = false);

}  // namespace taeda::inline v0_2
