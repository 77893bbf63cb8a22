// Own matrix products: vectorised for float and double, plain loops for every other dtype. The
// order of the additions behind an element depends on k alone, neither on the number of threads nor
// on the element's place in the matrix.
#pragma once

#include "taeda/base/dtype.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

/// Element (i, j) is data[i * row + j * column]; strides in elements, 0 to broadcast.
template <class T>
struct Matrix {
  T* data = nullptr;
  int64_t row = 0, column = 0;

  Matrix transposed() const { return {data, column, row}; }
  T& at(int64_t i, int64_t j) const { return data[i * row + j * column]; }
  Matrix block(int64_t i, int64_t j) const { return {data + i * row + j * column, row, column}; }
};

/// out = alpha * a b + beta * addend, for a of m x k and b of k x n. `addend` may be absent (null
/// data), may be `out` itself, and is read once, before the element is written.
template <class T>
struct Gemm {
  int64_t m = 0, n = 0, k = 0;
  Matrix<const T> a, b;
  Matrix<T> out;
  Matrix<const T> addend;
  T alpha = T(1), beta = T(1);

  /// The same product, seen as the transposed of out.
  Gemm transposed() const {
    return {n,     m,   k, b.transposed(), a.transposed(), out.transposed(), addend.transposed(),
            alpha, beta};
  }
};

/// Runs one product, on several threads if it is large enough.
void gemm(const Gemm<float>& g);
void gemm(const Gemm<double>& g);

/// Any other type: rows in parallel, each as a sum over k of scaled rows of b. Integers wrap; the
/// 16-bit floats go through float (matmul.cpp).
template <class T>
void gemm_plain(const Gemm<T>& g);

}  // namespace taeda::cpu::TAEDA_CPU_NAMESPACE
