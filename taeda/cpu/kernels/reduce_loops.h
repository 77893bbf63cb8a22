// The inner loops of reductions. A reduction is a small struct:
//   using Acc                            what it accumulates in
//   Acc identity() const
//   static constexpr bool shifted        whether `map` uses the shift
//   V map(V x, V shift) const            from an element; V is Acc or a vector of Acc
//   V combine(V a, V b) const            b stands behind a
//   Acc row(const T* x, int64_t n) const of adjacent elements; where it is missing, reduce_row
#pragma once

#include <bit>

#include "taeda/cpu/kernels/reduce_columns.h"
#include "taeda/kernels/wrapping.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

/// n consecutive elements. Order: 4 vectors of lanes side by side, folded pairwise.
template <class Op, class T, class Acc = typename Op::Acc>
Acc reduce_row(const Op& op, const T* x, int64_t n, Acc shift) {
  Acc acc = op.identity();
  int64_t i = 0;
  if constexpr (has_lanes<Acc>) {
    constexpr int64_t w = kLanes<Acc>, l = kPieceLanes<Acc>;
    if (n >= w) {  // by pieces: Note [Pieces]
      using P = Piece<Acc>;
      const P s = shift - P{};
      P a[4 * kPieces];
#pragma GCC unroll 16
      for (int64_t k = 0; k < 4 * kPieces; ++k) a[k] = acc - P{};
      for (; i + 4 * w <= n; i += 4 * w)
#pragma GCC unroll 16
        for (int64_t k = 0; k < 4 * kPieces; ++k)
          a[k] = op.combine(a[k], op.map(load_piece<Acc>(x + i + k * l), s));
#pragma GCC unroll 3
      for (int64_t v = 0; v < 3; ++v) {
        if (i + w > n) break;
#pragma GCC unroll 4
        for (int64_t k = 0; k < kPieces; ++k)
          a[v * kPieces + k] =
              op.combine(a[v * kPieces + k], op.map(load_piece<Acc>(x + i + k * l), s));
        i += w;
      }
      P all[kPieces];
#pragma GCC unroll 4
      for (int64_t k = 0; k < kPieces; ++k)
        all[k] = op.combine(op.combine(a[k], a[kPieces + k]),
                            op.combine(a[2 * kPieces + k], a[3 * kPieces + k]));
      acc = fold_lanes<Acc>(all, [&](const P& p, const P& q) { return op.combine(p, q); });
    }
  }
  for (; i < n; ++i) acc = op.combine(acc, op.map(static_cast<Acc>(x[i]), shift));
  return acc;
}

/// The `merge` of ReduceFunctions.
template <class Op>
__attribute__((noinline)) void reduce_merge(char* into, const char* from, int64_t width) {
  using Acc = typename Op::Acc;
  Acc* a = reinterpret_cast<Acc*>(into);
  const Acc* b = reinterpret_cast<const Acc*>(from);
  const Op op{};
  for (int64_t k = 0; k < width; ++k) a[k] = op.combine(a[k], b[k]);
}

/// Few columns that fill their rows: so many rows as one that registers do not wait for each other.
constexpr int64_t kFewColumns = 16, kWideRow = 64;
template <class Op, class T, class Acc = typename Op::Acc>
__attribute__((noinline)) void reduce_few_columns(const Op& op, const ReduceRun& r,
                                                  Acc* __restrict acc) {
  const auto most = static_cast<uint64_t>(kWideRow / r.width);
  const int64_t rows = static_cast<int64_t>(std::bit_floor(most)), width = rows * r.width;
  Acc wide[kWideRow];
  [[maybe_unused]] Acc shift[kWideRow];
  ReduceRun all = {r.x, r.n / rows, r.along * rows, width, r.across, nullptr};
  if constexpr (Op::shifted) {
    for (int64_t i = 0; i < width; ++i)
      shift[i] = reinterpret_cast<const Acc*>(r.shift)[i % r.width];
    all.shift = reinterpret_cast<const char*>(shift);
  }
  reduce_columns<Op, T>(op, all, wide, 0);
  const auto merge = [](Acc* into, const Acc* from, int64_t n) {
    reduce_merge<Op>(reinterpret_cast<char*>(into), reinterpret_cast<const char*>(from), n);
  };
  for (int64_t half = width / 2; half >= r.width; half /= 2) merge(wide, wide + half, half);
  const int64_t done = all.n * rows;
  reduce_columns<Op, T>(op, {r.x + done * r.along, r.n - done, r.along, r.width, r.across, r.shift},
                        acc);
  merge(wide, acc, r.width);
  std::copy_n(wide, r.width, acc);
}

/// n elements that lie `along` bytes apart: brought together first, which takes less than waiting
/// for one addition after the other, and gives what adjacent ones give.
constexpr int64_t kGathered = 4096;
template <class Op, class T, class Acc = typename Op::Acc>
__attribute__((noinline)) Acc reduce_gathered(const Op& op, const char* x, int64_t along, int64_t n,
                                              Acc shift) {
  alignas(64) T row[kGathered];
  gather_columns(reinterpret_cast<GatherWord<T>*>(row), {x, 1, 0, n, along, nullptr});
  __asm__ volatile("" ::"r"(row) : "memory");  // what was written as words is read as numbers
  return reduce_row(op, row, n, shift);
}

/// The `run` of ReduceFunctions.
template <class Op, class T>
void reduce_run(const Op& op, char* out, const ReduceRun& r) {
  using Acc = typename Op::Acc;
  constexpr int64_t item = sizeof(T);
  Acc* acc = reinterpret_cast<Acc*>(out);
  const Acc* shift = reinterpret_cast<const Acc*>(r.shift);
  const bool dense = r.along != item && r.across == item;
  if constexpr (has_lanes<Acc>)
    if (dense && r.width <= kFewColumns && r.n >= kWideRow && r.along == r.width * item)
      return reduce_few_columns<Op, T>(op, r, acc);
  if (dense || (r.width > 1 && r.across > 0 && r.across < r.along))
    return reduce_columns<Op, T>(op, r, acc);
  for (int64_t k = 0; k < r.width; ++k) {
    const char* x = r.x + k * r.across;
    const Acc s = shift ? shift[k] : Acc();
    if (r.along == item) {
      const T* row = reinterpret_cast<const T*>(x);
      if constexpr (requires { op.row(row, r.n); })
        acc[k] = op.row(row, r.n);
      else
        acc[k] = reduce_row(op, row, r.n, s);
      continue;
    }
    if constexpr (has_lanes<Acc>) {
      if (r.n >= kLanes<Acc> && r.n <= kGathered) {
        acc[k] = reduce_gathered<Op, T>(op, x, r.along, r.n, s);
        continue;
      }
    }
    Acc a = op.identity();
    for (int64_t i = 0; i < r.n; ++i)
      a = op.combine(a, op.map(static_cast<Acc>(*reinterpret_cast<const T*>(x + i * r.along)), s));
    acc[k] = a;
  }
}

template <class Op, class T>
ReduceFunctions reduce_functions(const Op& op) {
  return {sizeof(typename Op::Acc),
          [op](char* acc, const ReduceRun& r) { reduce_run<Op, T>(op, acc, r); },
          &reduce_merge<Op>};
}

/// Stores what `finish` makes of accumulators.
template <class Acc, class Out, class Finish>
auto store_finished(const Finish& finish) {
  return [finish](const ReduceResult& r) {
    const auto* acc = reinterpret_cast<const Acc*>(r.acc);
    for (int64_t k = 0; k < r.width; ++k)
      *reinterpret_cast<Out*>(r.out + k * r.stride) = static_cast<Out>(finish(acc[k]));
  };
}

/// Reduces `in` to `out`; `finish(acc)` gives the value that is stored.
template <class T, class Out, class Op, class Finish>
void reduce_to(const Tensor& out, const Tensor& in, DimMask dims, const Op& op,
               const Finish& finish) {
  reduce(ReducePlan(out, in, dims), reduce_functions<Op, T>(op), nullptr,
         store_finished<typename Op::Acc, Out>(finish));
}

// Reductions ------------------------------------------------------------------------------------

template <class A>
struct SumReduce {
  using Acc = A;
  static constexpr bool shifted = false;
  A identity() const { return A(0); }
  template <class V>
  TAEDA_ALWAYS_INLINE V map(const V& x, const V&) const {
    return x;
  }
  template <class V>
  TAEDA_ALWAYS_INLINE V combine(const V& a, const V& b) const {
    if constexpr (wrapping::kCanOverflow<V>)
      return wrapping::add(a, b);
    else
      return a + b;
  }
};

template <class A>
struct ProductReduce {
  using Acc = A;
  static constexpr bool shifted = false;
  A identity() const { return A(1); }
  template <class V>
  TAEDA_ALWAYS_INLINE V map(const V& x, const V&) const {
    return x;
  }
  template <class V>
  TAEDA_ALWAYS_INLINE V combine(const V& a, const V& b) const {
    if constexpr (wrapping::kCanOverflow<V>)
      return wrapping::mul(a, b);
    else
      return a * b;
  }
};

/// Sum of squared deviations from the shift.
template <class A>
struct SquareReduce : SumReduce<A> {
  static constexpr bool shifted = true;
  template <class V>
  TAEDA_ALWAYS_INLINE V map(const V& x, const V& shift) const {
    return (x - shift) * (x - shift);
  }
};

/// NaN wins: once there, it stays.
template <class A>
struct MaxReduce {
  using Acc = A;
  static constexpr bool shifted = false;
  A identity() const {
    if constexpr (std::is_floating_point_v<A>)
      return -std::numeric_limits<A>::infinity();
    else
      return std::numeric_limits<A>::lowest();
  }
  template <class V>
  TAEDA_ALWAYS_INLINE V map(const V& x, const V&) const {
    return x;
  }
  template <class V>
  TAEDA_ALWAYS_INLINE V combine(const V& a, const V& b) const {
    const V most = b > a ? b : a;  // in two steps, which are no branches
    return b != b ? b : most;
  }
};
template <class A>
struct MinReduce {
  using Acc = A;
  static constexpr bool shifted = false;
  A identity() const {
    if constexpr (std::is_floating_point_v<A>)
      return std::numeric_limits<A>::infinity();
    else
      return std::numeric_limits<A>::max();
  }
  template <class V>
  TAEDA_ALWAYS_INLINE V map(const V& x, const V&) const {
    return x;
  }
  template <class V>
  TAEDA_ALWAYS_INLINE V combine(const V& a, const V& b) const {
    const V least = b < a ? b : a;  // in two steps, which are no branches
    return b != b ? b : least;
  }
};

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
