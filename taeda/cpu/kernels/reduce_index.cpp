// Extreme values with their positions. Inputs are contiguous.
#include <algorithm>
#include <memory>
#include <vector>

#include "taeda/base/parallel_for.h"
#include "taeda/cpu/kernels/reduce_loops.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

namespace {

constexpr int64_t kBlock = 256;    // elements searched for the position of their extreme
constexpr int64_t kChunk = 65536;  // elements of one task when there are few rows
constexpr int64_t kColumns = 128;

/// A tensor seen as (outer, n, inner) with n at `dim`.
struct Axis {
  int64_t outer = 1, n = 1, inner = 1;
  Axis(const Tensor& in, int64_t dim) {
    for (int64_t d = 0; d < in.dim(); ++d)
      (d < dim ? outer : d == dim ? n : inner) *= in.sizes()[d];
  }
};

template <class A>
struct Found {
  A value;
  int64_t index;
};

template <class A>
bool is_nan(A x) {
  return x != x;
}

/// Whether b, which comes later, replaces a.
template <class Op, class A>
bool replaces(A a, A b) {
  return !is_nan(a) && (is_nan(b) || (Op{}.combine(a, b) == b && a != b));
}

/// The first extreme element of x[begin, end).
template <class Op, class T>
Found<opmath_t<T>> find_extreme(const T* x, int64_t begin, int64_t end) {
  using A = opmath_t<T>;
  A best = static_cast<A>(x[begin]);
  int64_t block = begin;
  for (int64_t i = begin; i < end; i += kBlock) {
    const A value = reduce_row(Op{}, x + i, std::min(kBlock, end - i), A());
    if (replaces<Op>(best, value)) {
      best = value;
      block = i;
    }
  }
  int64_t at = block;
  while (is_nan(best) ? !is_nan(static_cast<A>(x[at])) : static_cast<A>(x[at]) != best) ++at;
  return {best, at};
}

template <class T>
struct Outputs {
  T* values;
  int64_t* indices;
  template <class A>
  void set(int64_t at, const Found<A>& f) const {
    if (values) values[at] = static_cast<T>(f.value);
    indices[at] = f.index;
  }
};

template <class Op, class T>
void extreme_rows(const Outputs<T>& out, const T* x, int64_t outer, int64_t n) {
  if (outer >= 16 || n <= 2 * kChunk) {
    parallel_for(0, outer, std::max<int64_t>(1, kParallelGrain / n),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t r = begin; r < end; ++r)
                     out.set(r, find_extreme<Op>(x + r * n, 0, n));
                 });
    return;
  }
  const int64_t chunks = (n + kChunk - 1) / kChunk;
  std::vector<Found<opmath_t<T>>> found(static_cast<size_t>(outer * chunks));
  parallel_for(0, outer * chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const int64_t at = t % chunks * kChunk;
      found[static_cast<size_t>(t)] =
          find_extreme<Op>(x + t / chunks * n, at, std::min(n, at + kChunk));
    }
  });
  for (int64_t r = 0; r < outer; ++r) {
    auto best = found[static_cast<size_t>(r * chunks)];
    for (int64_t c = 1; c < chunks; ++c) {
      const auto& next = found[static_cast<size_t>(r * chunks + c)];
      if (replaces<Op>(best.value, next.value)) best = next;
    }
    out.set(r, best);
  }
}

/// `w` neighbouring columns of n rows, `stride` apart.
template <class Op, class T>
void extreme_columns(const Outputs<T>& out, int64_t first, const T* x, int64_t n, int64_t stride,
                     int64_t w) {
  using A = opmath_t<T>;
  A best[kColumns];
  int64_t index[kColumns];
  for (int64_t k = 0; k < w; ++k) {
    best[k] = static_cast<A>(x[k]);
    index[k] = 0;
  }
  for (int64_t i = 1; i < n; ++i) {
    const T* row = x + i * stride;
    for (int64_t k = 0; k < w; ++k) {
      const A value = static_cast<A>(row[k]);
      const bool better = (Op{}.combine(best[k], value) == value) & (best[k] != value);
      const bool take = (best[k] == best[k]) & (better | (value != value));
      best[k] = take ? value : best[k];
      index[k] = take ? i : index[k];
    }
  }
  for (int64_t k = 0; k < w; ++k) out.set(first + k, Found<A>{best[k], index[k]});
}

template <template <class> class Op>
void extreme(const Tensor& values, const Tensor& indices, const Tensor& in, int64_t dim) {
  const ScalarType dtype = in.dtype() == kBool ? kByte : in.dtype();
  dispatch(RealTypes{}, "max", dtype, [&]<class T>() {
    const Axis a(in, dim);
    const T* x = static_cast<const T*>(in.data_ptr());
    const Outputs<T> out{values.defined() ? static_cast<T*>(values.data_ptr()) : nullptr,
                         indices.data_ptr<int64_t>()};
    using Reduction = Op<opmath_t<T>>;
    if (a.inner == 1) return extreme_rows<Reduction>(out, x, a.outer, a.n);
    const int64_t blocks = (a.inner + kColumns - 1) / kColumns;
    const int64_t work = a.n * std::min(a.inner, kColumns);
    parallel_for(0, a.outer * blocks, std::max<int64_t>(1, kParallelGrain / work),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t b = begin; b < end; ++b) {
                     const int64_t o = b / blocks, column = b % blocks * kColumns;
                     extreme_columns<Reduction>(out, o * a.inner + column,
                                                x + o * a.n * a.inner + column, a.n, a.inner,
                                                std::min(kColumns, a.inner - column));
                   }
                 });
  });
}

}  // namespace

void register_reduce_index() {
  max_dim_slot.set(kCPU, &extreme<MaxReduce>);
  min_dim_slot.set(kCPU, &extreme<MinReduce>);
}

}  // namespace taeda::cpu::TAEDA_CPU_NAMESPACE
