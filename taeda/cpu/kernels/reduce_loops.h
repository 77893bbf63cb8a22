// The inner loops of reductions. A reduction is a small struct:
//   using Acc                            what it accumulates in
//   Acc identity() const
//   static constexpr bool shifted        whether `map` uses the shift
//   V map(V x, V shift) const            from an element; V is Acc or a vector of Acc
//   V combine(V a, V b) const            b stands behind a
//   Acc row(const T* x, int64_t n) const of adjacent elements; where it is missing, reduce_row
#pragma once

#include <bit>
#include <cstdlib>

#include "taeda/cpu/kernels/lanes.h"
#include "taeda/cpu/reduce_driver.h"
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

/// Rows of so many bytes stay in the first cache while a register goes down them.
constexpr int64_t kNear = 16384;
/// `width` neighbouring columns of n rows, four rows at a time; columns that lie apart if `Apart`.
template <bool Apart, class Op, class T, class Acc = typename Op::Acc>
void reduce_columns(const Op& op, const ReduceRun& r, Acc* __restrict acc, int64_t near = kNear) {
  const int64_t step = Apart ? r.across / static_cast<int64_t>(sizeof(T)) : 1;
  const auto row = [&](int64_t i) { return reinterpret_cast<const T*>(r.x + i * r.along); };
  [[maybe_unused]] const Acc* shift = reinterpret_cast<const Acc*>(r.shift);
  const auto map = [&](const T* x, int64_t k) {
    if constexpr (Op::shifted)
      return op.map(static_cast<Acc>(x[k * step]), shift[k]);
    else
      return op.map(static_cast<Acc>(x[k * step]), Acc());
  };
  for (int64_t k = 0; k < r.width; ++k) acc[k] = op.identity();
  const int64_t rows = r.n / 4 * 4;
  int64_t first = 0;  // column that is not done by registers, of whose comparisons none is a branch
  if constexpr (has_lanes<Acc> && !Apart) {
    constexpr int64_t l = kPieceLanes<Acc>;
    using P = Piece<Acc>;
    const auto add_rows = [&](int64_t begin, int64_t end, int64_t k) {
      const P s = Op::shifted ? load_piece<Acc>(shift + k) : P{};
      const auto at = [&](int64_t i) { return op.map(load_piece<Acc>(row(i) + k), s); };
      P sum = load_piece<Acc>(acc + k);
      for (int64_t i = begin; i < end; i += 4)
        sum = op.combine(
            sum, op.combine(op.combine(at(i), at(i + 1)), op.combine(at(i + 2), at(i + 3))));
      std::memcpy(acc + k, &sum, sizeof sum);
    };
    const int64_t step = r.n * std::abs(r.along) <= near ? rows : 4;
    first = r.width / l * l;
    for (int64_t i = 0; i < rows; i += step)
      for (int64_t k = 0; k < first; k += l) add_rows(i, i + step, k);
  }
  for (int64_t i = 0; i < rows && first < r.width; i += 4) {
    const T *a = row(i), *b = row(i + 1), *c = row(i + 2), *d = row(i + 3);
    for (int64_t k = first; k < r.width; ++k)
      acc[k] = op.combine(
          acc[k], op.combine(op.combine(map(a, k), map(b, k)), op.combine(map(c, k), map(d, k))));
  }
  for (int64_t i = rows; i < r.n; ++i) {
    const T* a = row(i);
    for (int64_t k = 0; k < r.width; ++k) acc[k] = op.combine(acc[k], map(a, k));
  }
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
  reduce_columns<false, Op, T>(op, all, wide, 0);
  for (int64_t half = width / 2; half >= r.width; half /= 2)
    for (int64_t i = 0; i < half; ++i) wide[i] = op.combine(wide[i], wide[half + i]);
  const int64_t done = all.n * rows;
  reduce_columns<false, Op, T>(
      op, {r.x + done * r.along, r.n - done, r.along, r.width, r.across, r.shift}, acc);
  for (int64_t k = 0; k < r.width; ++k) acc[k] = op.combine(wide[k], acc[k]);
}

/// n elements that lie `along` bytes apart: brought together first, which takes less than waiting
/// for one addition after the other, and gives what adjacent ones give.
constexpr int64_t kGathered = 4096;
template <class Op, class T, class Acc = typename Op::Acc>
__attribute__((noinline)) Acc reduce_gathered(const Op& op, const char* x, int64_t along, int64_t n,
                                              Acc shift) {
  alignas(64) T row[kGathered];
  const auto gather = [&](auto step) {
    for (int64_t i = 0; i < n; ++i) row[i] = *reinterpret_cast<const T*>(x + i * step);
  };
  if (along == 2 * static_cast<int64_t>(sizeof(T)))
    gather(std::integral_constant<int64_t, 2 * static_cast<int64_t>(sizeof(T))>());
  else
    gather(along);
  return reduce_row(op, row, n, shift);
}

/// The `run` of ReduceFunctions.
template <class Op, class T>
void reduce_run(const Op& op, char* out, const ReduceRun& r) {
  using Acc = typename Op::Acc;
  constexpr int64_t item = sizeof(T);
  Acc* acc = reinterpret_cast<Acc*>(out);
  const Acc* shift = reinterpret_cast<const Acc*>(r.shift);
  if (r.along != item && r.across == item) {
    if constexpr (has_lanes<Acc>)
      if (r.width <= kFewColumns && r.n >= kWideRow && r.along == r.width * item)
        return reduce_few_columns<Op, T>(op, r, acc);
    return reduce_columns<false, Op, T>(op, r, acc);
  }
  if (r.width > 1 && r.across > 0 && r.across < r.along)
    return reduce_columns<true, Op, T>(op, r, acc);
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

template <class Op>
void reduce_merge(char* into, const char* from, int64_t width) {
  using Acc = typename Op::Acc;
  Acc* a = reinterpret_cast<Acc*>(into);
  const Acc* b = reinterpret_cast<const Acc*>(from);
  const Op op{};
  for (int64_t k = 0; k < width; ++k) a[k] = op.combine(a[k], b[k]);
}

template <class Op, class T>
ReduceFunctions reduce_functions(const Op& op) {
  return {sizeof(typename Op::Acc),
          [op](char* acc, const ReduceRun& r) { reduce_run<Op, T>(op, acc, r); },
          &reduce_merge<Op>};
}

/// Reduces `in` to `out`; `finish(acc)` gives the value that is stored.
template <class T, class Out, class Op, class Finish>
void reduce_to(const Tensor& out, const Tensor& in, DimMask dims, const Op& op, Finish&& finish) {
  const ReducePlan plan(out, in, dims);
  reduce(plan, reduce_functions<Op, T>(op), nullptr, [&](const ReduceResult& r) {
    const auto* acc = reinterpret_cast<const typename Op::Acc*>(r.acc);
    for (int64_t k = 0; k < r.width; ++k)
      *reinterpret_cast<Out*>(r.out + k * r.stride) = static_cast<Out>(finish(acc[k]));
  });
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
