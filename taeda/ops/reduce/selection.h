// Counting and choosing among elements and slices, numbers taken apart.
// [operations, out]
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// The value that occurs most often along `dim`, the smallest of several, and the index of its last
/// occurrence.
/// [method, returns: values indices, dtypes: floating integral bool, composite]
std::tuple<Tensor, Tensor> mode(const Tensor& self, int64_t dim = -1, bool keepdim = false);

/// The different slices along `dim` in ascending order (element by element); which of them each
/// slice is (if `return_inverse`); how often each occurs (if `return_counts`). Both are empty
/// otherwise. Slices are compared on the host.
/// [not out, returns: output inverse_indices counts, dtypes: floating integral bool]
std::tuple<Tensor, Tensor, Tensor> unique_dim(const Tensor& self, int64_t dim, bool sorted = true,
                                              bool return_inverse = false,
                                              bool return_counts = false);
/// unique_dim without sorting: runs of equal slices along `dim` become one.
/// [not out, returns: output inverse_indices counts, dtypes: floating integral bool]
std::tuple<Tensor, Tensor, Tensor> unique_dim_consecutive(const Tensor& self, int64_t dim,
                                                          bool return_inverse = false,
                                                          bool return_counts = false);

/// Whether each element (each other one, if `invert`) is among `test_elements`: bool, in
/// the shape of `elements`.
/// [dtypes: floating integral, composition]
Tensor isin(const Tensor& elements, const Tensor& test_elements, bool assume_unique = false,
            bool invert = false);
/// [dtypes: floating integral, composite]
Tensor isin(const Tensor& elements, const Scalar& test_element, bool assume_unique = false,
            bool invert = false);
Tensor isin(const Scalar& element, const Tensor& test_elements, bool assume_unique = false,
            bool invert = false);

/// (mantissa, exponent) with self = mantissa 2^exponent and 1/2 <= |mantissa| < 1; exponent is
/// int32. The exponent of 0, infinities and NaN is 0.
/// [method, returns: mantissa exponent, dtypes: floating]
std::tuple<Tensor, Tensor> frexp(const Tensor& self);

/// The conjugate of each element in memory of its own, of the same shape.
/// [method, in-place, dtypes: floating complex integral bool]
inline Tensor conj_physical(const Tensor& self) { return self.is_complex() ? self.conj() : self; }
/// The tensor, of the same shape: numbers are never conjugated or negated by a mark here.
/// [method, not out, view]
inline Tensor resolve_conj(const Tensor& self) { return self; }
inline Tensor resolve_neg(const Tensor& self) { return self; }

/// The p-norm distances between all pairs of rows of [n, m], a vector of n (n - 1) / 2 in the order
/// of the upper triangle.
/// [dtypes: floating]
Tensor pdist(const Tensor& self, double p = 2);
/// The norm of every slice along `dim`, over all other dimensions, which keep size 1.
/// [not out, dtypes: floating]
Tensor norm_except_dim(const Tensor& v, int64_t pow = 2, int64_t dim = 0);

}  // namespace taeda::inline v0_2
