// Reductions of columns; reduce_loops.h says what a reduction is.
#pragma once

#include <algorithm>
#include <cstdlib>

#include "taeda/cpu/kernels/lanes.h"
#include "taeda/cpu/reduce_driver.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

// Note [Columns]
// Columns are added up four rows at a time, whatever the layout. Where they fill a register and lie
// side by side, registers go down them; else rows are taken one after the other.

/// Rows of so many bytes stay in the first cache while a register goes down them.
constexpr int64_t kNear = 16384;
/// Adds at least a register of neighbouring columns to `acc`. Those behind the last whole register
/// are taken with columns before them, for a second time, and apart from these.
template <class Op, class T, class Acc = typename Op::Acc>
__attribute__((noinline)) void add_columns(const Op& op, const ReduceRun& run, Acc* __restrict acc,
                                           int64_t near) {
  const ReduceRun r = run;  // of this function, which no store can reach
  constexpr int64_t l = kPieceLanes<Acc>;
  using P = Piece<Acc>;
  const int64_t rows = r.n / 4 * 4, width = r.width, last = width - l;
  [[maybe_unused]] const Acc* shift = reinterpret_cast<const Acc*>(r.shift);
  Acc behind[l];
  std::memcpy(behind, acc + last, sizeof behind);
  const auto add = [&](Acc * to, int64_t column, int64_t begin, int64_t end, auto together)
      __attribute__((always_inline)) {
    const P s = Op::shifted ? load_piece<Acc>(shift + column) : P{};
    const auto at = [&](int64_t i) {
      return op.map(load_piece<Acc>(reinterpret_cast<const T*>(r.x + i * r.along) + column), s);
    };
    P sum = load_piece<Acc>(to);
    for (int64_t i = begin; i < end; i += together) {
      if constexpr (together == 4)
        sum = op.combine(
            sum, op.combine(op.combine(at(i), at(i + 1)), op.combine(at(i + 2), at(i + 3))));
      else
        sum = op.combine(sum, at(i));
    }
    std::memcpy(to, &sum, sizeof sum);
  };
  const auto add_rows = [&](int64_t begin, int64_t end, auto together) {
    int64_t k = 0;
    for (; k <= last; k += l) add(acc + k, k, begin, end, together);
    if (k < width) add(behind, last, begin, end, together);
  };
  const int64_t step = r.n * std::abs(r.along) <= near ? rows : 4;
  for (int64_t i = 0; i < rows; i += step)
    add_rows(i, i + step, std::integral_constant<int64_t, 4>());
  if (rows < r.n) add_rows(rows, r.n, std::integral_constant<int64_t, 1>());
  if (width % l != 0) std::memcpy(acc + last, behind, sizeof behind);
}

/// to[i][k] = the element at x + i * along + k * across, for n rows of `width`.
template <class W>
__attribute__((noinline)) inline void gather_columns(W* __restrict to, const ReduceRun& r) {
  const auto gather_row = [](W* __restrict out, const char* x, int64_t width, auto across) {
    for (int64_t k = 0; k < width; ++k) out[k] = *reinterpret_cast<const W*>(x + k * across);
  };
  constexpr int64_t kSecond = 2 * static_cast<int64_t>(sizeof(W));
  const int64_t n = r.n, width = r.width, along = r.along, across = r.across;
  const char* x = r.x;
  for (int64_t i = 0; i < n; ++i, x += along, to += width) {
    if (across == kSecond)
      gather_row(to, x, width, std::integral_constant<int64_t, kSecond>());
    else
      gather_row(to, x, width, across);
  }
}
template <class T>
using GatherWord =
    std::conditional_t<sizeof(T) == 1, uint8_t,
                       std::conditional_t<sizeof(T) == 2, uint16_t,
                                          std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;

/// Columns that lie apart, that have no lanes, or too few to fill a register: row by row.
template <class Op, class T, class Acc = typename Op::Acc>
__attribute__((noinline)) void reduce_by_rows(const Op& op, const ReduceRun& run,
                                              Acc* __restrict acc) {
  const ReduceRun r = run;  // of this function, which no store can reach
  const int64_t step = r.across / static_cast<int64_t>(sizeof(T)), rows = r.n / 4 * 4;
  const auto row = [&](int64_t i) { return reinterpret_cast<const T*>(r.x + i * r.along); };
  [[maybe_unused]] const Acc* shift = reinterpret_cast<const Acc*>(r.shift);
  const auto map = [&](const T* x, int64_t k) {
    if constexpr (Op::shifted)
      return op.map(static_cast<Acc>(x[k * step]), shift[k]);
    else
      return op.map(static_cast<Acc>(x[k * step]), Acc());
  };
  for (int64_t k = 0; k < r.width; ++k) acc[k] = op.identity();
  for (int64_t i = 0; i < rows; i += 4) {
    const T *a = row(i), *b = row(i + 1), *c = row(i + 2), *d = row(i + 3);
    for (int64_t k = 0; k < r.width; ++k)
      acc[k] = op.combine(
          acc[k], op.combine(op.combine(map(a, k), map(b, k)), op.combine(map(c, k), map(d, k))));
  }
  for (int64_t i = rows; i < r.n; ++i) {
    const T* a = row(i);
    for (int64_t k = 0; k < r.width; ++k) acc[k] = op.combine(acc[k], map(a, k));
  }
}

/// Columns, whatever there are: Note [Columns].
template <class Op, class T, class Acc = typename Op::Acc>
void reduce_columns(const Op& op, const ReduceRun& r, Acc* __restrict acc, int64_t near = kNear) {
  if constexpr (has_lanes<Acc>) {
    if (r.width >= kPieceLanes<Acc> && r.across == static_cast<int64_t>(sizeof(T))) {
      std::fill_n(acc, r.width, op.identity());
      return add_columns<Op, T>(op, r, acc, near);
    }
  }
  reduce_by_rows<Op, T>(op, r, acc);
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
