// Products of vectors, matrices and batches of matrices. Operands have one dtype (any but bool) and
// may have any strides: a transposed operand is read in place.
// [operations, method, out, keyword: beta alpha, dtypes: floating complex integral]
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// The matrix product of [m, k] and [k, n], [m, n]. Throws Error for other shapes.
/// [autocast: lower]
Tensor mm(const Tensor& self, const Tensor& mat2);
/// The matrix [m, k] times the vector [k], [m]. Throws Error for other shapes.
/// [autocast: lower accelerators]
Tensor mv(const Tensor& self, const Tensor& vec);
/// Products of matching matrices: [b, m, k] and [b, k, n] give [b, m, n].
/// [autocast: lower]
Tensor bmm(const Tensor& self, const Tensor& mat2);
/// The product with numpy's rules: vectors are rows on the left and columns on the right, the last
/// two dimensions are matrices, and those before them broadcast.
/// [autocast: lower]
Tensor matmul(const Tensor& self, const Tensor& other);

/// beta * self + alpha * (mat1 @ mat2); `self` broadcasts to [m, n], and is not read if beta is 0.
/// [in-place: own, autocast: lower]
Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta = 1,
             const Scalar& alpha = 1);
/// beta * self + alpha * (mat @ vec); `self` broadcasts to [m].
/// [in-place, autocast: lower accelerators]
Tensor addmv(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta = 1,
             const Scalar& alpha = 1);
/// beta * self + alpha * (batch1 @ batch2); `self` broadcasts to [b, m, n].
/// [in-place, autocast: lower]
Tensor baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
               const Scalar& beta = 1, const Scalar& alpha = 1);
/// beta * self + alpha * (sum of batch1[i] @ batch2[i]); `self` broadcasts to [m, n].
/// [in-place, autocast: lower, composite]
Tensor addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
              const Scalar& beta = 1, const Scalar& alpha = 1);
/// beta * self + alpha * outer(vec1, vec2), promoted; of bools, or and and.
/// [in-place, autocast: lower accelerators, dtypes: floating complex integral bool, composite]
Tensor addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta = 1,
            const Scalar& alpha = 1);

/// x W^T + b: `input` is [..., in], `weight` [out, in] (or [in], giving [...]), `bias` [out] or
/// undefined.
/// [not method, autocast: lower inside]
Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias = {});

/// The sum of products of two vectors [n], 0-dim. Throws Error for other shapes or two dtypes.
/// [autocast: promote accelerators]
Tensor dot(const Tensor& self, const Tensor& other);
/// The sum of products of two vectors [n], the first one conjugated, 0-dim.
/// [composite]
Tensor vdot(const Tensor& self, const Tensor& other);
/// All products of an element of [m] with one of [n]: [m, n].
/// [also: ger, not dtypes, composite]
Tensor outer(const Tensor& self, const Tensor& vec2);
/// The Kronecker product; the shorter shape is filled up with ones on the left.
/// [not dtypes, composite]
Tensor kron(const Tensor& self, const Tensor& other);

}  // namespace taeda
