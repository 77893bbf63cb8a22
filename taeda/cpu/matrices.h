// What the sources that call LAPACK share. Threads share out the matrices of a batch, each matrix
// being one thread's work; only large matrices, one after the other, get LAPACK's own threads.
#pragma once

#include <algorithm>
#include <climits>
#include <cmath>
#include <limits>
#include <type_traits>

#include "taeda/base/error.h"
#include "taeda/base/parallel_for.h"
#include "taeda/cpu/lapack.h"
#include "taeda/cpu/thread_scope.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::cpu {

/// What LAPACK computes with.
using LapackTypes = TypeList<float, double, complex<float>, complex<double>>;

// Multiply-adds of one matrix from which on LAPACK's own threads pay.
inline constexpr double kLargeMatrix = 1 << 27;
// Multiply-adds that a thread of its own pays for.
inline constexpr double kThreadWork = 1 << 18;

inline int to_int(int64_t n) {
  TAEDA_CHECK(n <= INT_MAX, "LAPACK takes matrices of at most 2147483647 rows, but got ", n);
  return static_cast<int>(n);
}

/// The matrices of a batch, by columns.
template <class T>
struct Matrices {
  T* data = nullptr;
  int rows = 0, columns = 0;
  int64_t count = 0;

  explicit Matrices(const Tensor& t) {
    if (!t.defined()) return;
    data = t.data_ptr<T>();
    count = t.size(0);
    rows = to_int(t.size(1));
    columns = to_int(t.size(2));
  }
  T* at(int64_t i) const { return data + i * rows * columns; }
  /// The distance between columns, which LAPACK wants to be at least 1.
  int leading() const { return std::max(rows, 1); }
};

/// fn(begin, end) for ranges of a batch. `work`: multiply-adds that a matrix takes.
template <class F>
void for_matrices(int64_t count, double work, F&& fn) {
  if (work >= kLargeMatrix) {
    const ThreadScope all(in_parallel_region() ? 1 : get_num_threads());
    fn(int64_t{0}, count);
    return;
  }
  const auto grain = static_cast<int64_t>(std::ceil(kThreadWork / std::max(work, 1.0)));
  parallel_for(0, count, grain, [&](int64_t begin, int64_t end) {
    const ThreadScope one(1);
    fn(begin, end);
  });
}

/// A size that LAPACK gave as a number.
template <class T>
int workspace_size(T best) {
  using Real = typename RealOf<T>::type;
  Real size;
  if constexpr (std::is_same_v<T, Real>)
    size = best;
  else
    size = best.re;
  // A float may have been rounded down.
  return std::max(1, static_cast<int>(std::nextafter(size, std::numeric_limits<Real>::infinity())));
}

/// The size of the workspace that `call` asks for when it is given none.
template <class T, class F>
int workspace(F&& call) {
  T best = 0;
  call(&best, -1);
  return workspace_size(best);
}

inline double cubed(double n) { return n * n * n; }

}  // namespace taeda::inline v0_2::cpu
