// Sequences of numbers, powers in columns, and slopes of sampled functions.
// [operations, composite]
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// A vector of start, start + step, ... up to and with `end`, of the default dtype unless the
/// options have one; `arange` is without its end. Throws Error for a step of zero or one that leads
/// away from `end`.
/// [sequence]
Tensor range(const Scalar& start, const Scalar& end, const Scalar& step,
             const TensorOptions& options = {});
Tensor range(const Scalar& start, const Scalar& end, const TensorOptions& options = {});

/// Powers of a vector's elements as columns: x^(N - 1), ..., x, 1, or ascending if `increasing`. N
/// is by default the vector's length.
/// [out]
Tensor vander(const Tensor& x, OptionalDim N = {}, bool increasing = false);

/// Slopes along dimensions (all, unless `dim` says which) of a function whose samples are `self`:
/// differences of the neighbours' values, exact to second order; at the ends, of `edge_order` 1 or
/// 2. Samples are `spacing` apart, by default 1, one number for all dimensions or one for each, or
/// lie at the coordinates in vectors. Throws Error unless every dimension has edge_order + 1
/// samples.
std::vector<Tensor> gradient(const Tensor& self, const OptionalScalar& spacing = {},
                             OptionalDim dim = {}, int64_t edge_order = 1);
std::vector<Tensor> gradient(const Tensor& self, const Scalar& spacing, IntArrayRef dim,
                             int64_t edge_order = 1);
std::vector<Tensor> gradient(const Tensor& self, IntArrayRef dim, int64_t edge_order = 1);
std::vector<Tensor> gradient(const Tensor& self, ArrayRef<Scalar> spacing, OptionalDim dim = {},
                             int64_t edge_order = 1);
std::vector<Tensor> gradient(const Tensor& self, ArrayRef<Scalar> spacing, IntArrayRef dim,
                             int64_t edge_order = 1);
std::vector<Tensor> gradient(const Tensor& self, TensorList spacing, OptionalDim dim = {},
                             int64_t edge_order = 1);
std::vector<Tensor> gradient(const Tensor& self, TensorList spacing, IntArrayRef dim,
                             int64_t edge_order = 1);

/// J. Kaiser's window, a vector of `window_length` numbers: I_0(beta sqrt(1 - t^2)) / I_0(beta), t
/// from -1 to 1 (to the number behind the last if `periodic`).
Tensor kaiser_window(int64_t window_length, const TensorOptions& options = {});
Tensor kaiser_window(int64_t window_length, bool periodic, const TensorOptions& options = {});
Tensor kaiser_window(int64_t window_length, bool periodic, double beta,
                     const TensorOptions& options = {});

}  // namespace taeda::inline v0_2
