// Rows of 16-bit floats seen as float, and sums over rows that softmax, norms and losses share.
#pragma once

#include <algorithm>
#include <memory>

#include "taeda/base/parallel_for.h"
#include "taeda/cpu/kernels/half_rows.h"
#include "taeda/cpu/kernels/reduce_loops.h"
#include "taeda/kernels/math.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

/// Reads rows of T as rows of the type that T is computed in; only 16-bit types are copied.
template <class T>
class RowReader {
 public:
  using A = opmath_t<T>;
  explicit RowReader(int64_t n) {
    if constexpr (!std::is_same_v<T, A>) buffer_.reset(new A[static_cast<size_t>(n)]);
  }
  const A* operator()(const T* row, int64_t n) {
    if constexpr (std::is_same_v<T, A>) {
      return row;
    } else {
      widen(buffer_.get(), row, n);
      return buffer_.get();
    }
  }

 private:
  std::unique_ptr<A[]> buffer_;
};

/// The same for writing: fill what `row` returns, then `store`.
template <class T>
class RowWriter {
 public:
  using A = opmath_t<T>;
  explicit RowWriter(int64_t n) {
    if constexpr (!std::is_same_v<T, A>) buffer_.reset(new A[static_cast<size_t>(n)]);
  }
  A* row(T* out) {
    if constexpr (std::is_same_v<T, A>)
      return out;
    else
      return buffer_.get();
  }
  void store(T* out, int64_t n) {
    if constexpr (!std::is_same_v<T, A>) narrow(out, buffer_.get(), n);
  }

 private:
  std::unique_ptr<A[]> buffer_;
};

template <class A>
A row_max(const A* x, int64_t n) {
  return reduce_row(MaxReduce<A>{}, x, n, A(0));
}

/// What `part(begin, count)` gives, summed: long rows as blocks that are added pairwise, so that
/// the error of a sum does not grow with its length.
constexpr int64_t kSumBlock = 8192;
template <class Part>
auto sum_of_blocks(int64_t begin, int64_t n, const Part& part) -> decltype(part(begin, n)) {
  if (n <= kSumBlock) return part(begin, n);
  const int64_t half = (n / 2 + kSumBlock - 1) / kSumBlock * kSumBlock;
  return sum_of_blocks(begin, half, part) + sum_of_blocks(begin + half, n - half, part);
}

template <class A>
A row_sum(const A* x, int64_t n) {
  return sum_of_blocks(0, n, [x](int64_t begin, int64_t count) {
    return reduce_row(SumReduce<A>{}, x + begin, count, A(0));
  });
}

// Note [Far from zero]
// Numbers that are large beside their deviation lose its digits when they are added up, and their
// mean when it is rounded. Where a mean is many deviations from zero, the distances from it are
// added up as well. They say by how much it is off: the variance and the normalised numbers are
// those of the exact mean.

template <class A>
bool is_far_from_zero(A mean, A variance) {
  return mean * mean > A(64) * variance;
}

/// Sum of distances from the shift.
template <class A>
struct DistanceReduce : SumReduce<A> {
  static constexpr bool shifted = true;
  template <class V>
  TAEDA_ALWAYS_INLINE V map(const V& x, const V& shift) const {
    return x - shift;
  }
};

/// A mean and the variance around it. The mean is too small by `rest`, which is kept where the mean
/// is far from zero.
template <class A>
struct Moments {
  A mean, variance, rest = A(0);
  /// Moves the mean by the mean distance from it.
  void correct(A distance) {
    variance = std::max(variance - distance * distance, A(0));
    const A rounded = mean + distance;
    rest = distance - (rounded - mean);
    mean = rounded;
  }
};

/// sum (x[i] - center)^2
template <class A>
A row_square_sum(const A* x, A center, int64_t n) {
  return sum_of_blocks(0, n, [x, center](int64_t begin, int64_t count) {
    return reduce_row(SquareReduce<A>{}, x + begin, count, center);
  });
}

/// Moments of a row, from a mean that is far from zero and the variance around it.
template <class A>
[[gnu::noinline]] Moments<A> exact_row_moments(const A* x, A mean, A variance, int64_t n) {
  const A distances = sum_of_blocks(0, n, [x, mean](int64_t begin, int64_t count) {
    return reduce_row(DistanceReduce<A>{}, x + begin, count, mean);
  });
  Moments<A> m{mean, variance};
  m.correct(distances / static_cast<A>(n));
  return m;
}

/// sum a[i] * (b[i] - center) of a block.
template <class A>
A block_centered_dot(const A* a, const A* b, A center, int64_t n) {
  constexpr int64_t w = kLanes<A>, l = kPieceLanes<A>;
  const Piece<A> m = center - Piece<A>{};
  Piece<A> s[2 * kPieces] = {};
  int64_t i = 0;
  for (; i + 2 * w <= n; i += 2 * w)
#pragma GCC unroll 8
    for (int64_t k = 0; k < 2 * kPieces; ++k)
      s[k] += load_piece<A>(a + i + k * l) * (load_piece<A>(b + i + k * l) - m);
  if (i + w <= n) {
#pragma GCC unroll 4
    for (int64_t k = 0; k < kPieces; ++k)
      s[k] += load_piece<A>(a + i + k * l) * (load_piece<A>(b + i + k * l) - m);
    i += w;
  }
  Piece<A> all[kPieces];
#pragma GCC unroll 4
  for (int64_t k = 0; k < kPieces; ++k) all[k] = s[k] + s[kPieces + k];
  A sum = fold_lanes<A>(all, [](const Piece<A>& p, const Piece<A>& q) { return p + q; });
  for (; i < n; ++i) sum += a[i] * (b[i] - center);
  return sum;
}
/// sum a[i] * (b[i] - center)
template <class A>
A row_centered_dot(const A* a, const A* b, A center, int64_t n) {
  return sum_of_blocks(0, n, [=](int64_t begin, int64_t count) {
    return block_centered_dot(a + begin, b + begin, center, count);
  });
}
template <class A>
A row_dot(const A* a, const A* b, int64_t n) {
  return row_centered_dot(a, b, A(0), n);
}

constexpr int64_t kExpBlock = 1024;

/// sum exp(x[i] - shift); the exponentials are written to `out` unless it is null.
template <class A>
A row_exp_sum(const A* x, A shift, A* out, int64_t n) {
  A buffer[kExpBlock];
  A sum = 0;
  for (int64_t i = 0; i < n; i += kExpBlock) {
    const int64_t m = std::min(kExpBlock, n - i);
    A* e = out ? out + i : buffer;
    const A* from = x + i;
    for (int64_t k = 0; k < m; ++k) e[k] = math::exp(from[k] - shift);
    sum += row_sum(e, m);
  }
  return sum;
}

/// Rows per task when one costs about `cost` cheap operations.
inline int64_t row_grain(int64_t cost) {
  return std::max<int64_t>(1, kParallelGrain / std::max<int64_t>(1, cost));
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
