// What a Fourier transform of one length needs to know: factors, roots of unity, and how a length
// that does not factor, or a long line, is brought back to shorter ones. Plans are kept and shared.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "taeda/base/complex.h"

namespace taeda::inline v0_2::cpu {

/// Larger prime factors cost more as a pass of their own than by Bluestein's convolution.
constexpr int64_t kFftMaxRadix = 47;

/// How a plan's transform is run: many lines side by side, a vector lane each, or one long line.
enum class FftUse { Lanes, Line };

template <class T>
struct FftPlan {
  /// One pass of Stockham's algorithm: it joins `radix` transforms of length `done` into one.
  struct Pass {
    int64_t radix, done, rest;  // radix * done * rest is the length
    size_t twiddles;            // in `table`: radix - 1 for each of `done` positions
    size_t roots;               // in `table`: the radix-th roots of unity; generic radices only
  };

  int64_t n = 0;
  std::vector<Pass> passes;
  std::vector<complex<T>> table;

  /// A length with a large prime factor is a convolution with a chirp (Bluestein, 1970). `kernel`
  /// is that chirp's transform divided by `convolution->n`.
  std::vector<complex<T>> chirp, kernel;
  std::shared_ptr<const FftPlan> convolution;

  /// A long line is a matrix of `columns->n` rows and `rows->n` columns: transform the columns,
  /// multiply with roots of unity, transform the rows (Bailey, 1990). A root is the product of one
  /// of `coarse` and one of `fine`.
  std::shared_ptr<const FftPlan> columns, rows;
  std::vector<complex<double>> coarse, fine;
  int shift = 0;

  /// exp(-2 pi i m / n), 0 <= m < n, of a plan with rows and columns.
  complex<double> root(int64_t m) const {
    return coarse[static_cast<size_t>(m >> shift)] *
           fine[static_cast<size_t>(m & ((int64_t{1} << shift) - 1))];
  }
  /// The length of the longest transform that runs in passes.
  int64_t work_length() const { return convolution ? convolution->n : n; }
};

/// The transform in place, forward, of one contiguous line; plans use it to make their kernel.
template <class T>
using FftLine = void (*)(const FftPlan<T>& plan, complex<T>* line);

/// The plan for a length, made if it is not among those kept.
template <class T>
std::shared_ptr<const FftPlan<T>> fft_plan(int64_t n, FftUse use, FftLine<T> line);

/// exp(-2 pi i k / n) for 0 <= k <= n / 4: what splits a transform of n real numbers out of one of
/// n / 2 complex ones.
template <class T>
std::shared_ptr<const std::vector<complex<T>>> fft_real_roots(int64_t n);

/// Whether lines of this length are better transformed side by side; depends on shapes alone.
FftUse fft_use(int64_t n, int64_t lines, int64_t lanes);

}  // namespace taeda::cpu
