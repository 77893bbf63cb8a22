// Moving elements from one layout to another as they are: what `contiguous` of a permuted or
// transposed tensor consists of.
//
// Three ways, by where the operands have neighbours. Both in one dimension: rows. Each in another
// one: that plane is transposed, square by square in registers, so that every cache line is read
// and written as a whole. Else one by one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "taeda/cpu/kernels/simd.h"
#include "taeda/tensor/iter.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

/// Walks over the dimensions of a copy from `first` on but `skipped`, the innermost first.
class MovePosition {
 public:
  MovePosition(const Iter& it, int first, int skipped) : to_(it.data(0)), from_(it.data(1)) {
    for (int d = first; d < it.ndim(); ++d) {
      if (d == skipped) continue;
      size_[dims_] = it.size(d);
      to_step_[dims_] = it.stride(0, d);
      from_step_[dims_++] = it.stride(1, d);
    }
  }
  int64_t count() const {
    int64_t n = 1;
    for (int d = 0; d < dims_; ++d) n *= size_[d];
    return n;
  }
  void seek(int64_t position) {
    for (int d = 0; d < dims_; ++d) {
      at_[d] = position % size_[d];
      position /= size_[d];
      to_ += at_[d] * to_step_[d];
      from_ += at_[d] * from_step_[d];
    }
  }
  void advance() {
    for (int d = 0; d < dims_; ++d) {
      to_ += to_step_[d];
      from_ += from_step_[d];
      if (++at_[d] < size_[d]) return;
      to_ -= size_[d] * to_step_[d];
      from_ -= size_[d] * from_step_[d];
      at_[d] = 0;
    }
  }
  char* to() const { return to_; }
  const char* from() const { return from_; }

 private:
  char* to_;
  const char* from_;
  int dims_ = 0;
  int64_t at_[kMaxLoopDims] = {};
  int64_t size_[kMaxLoopDims], to_step_[kMaxLoopDims], from_step_[kMaxLoopDims];
};

/// A row of some kilobytes: for those memmove takes an instruction that is slow to begin.
__attribute__((noinline)) inline void move_long_row(char* to, const char* from, int64_t bytes) {
  constexpr int64_t kCall = 16384;
  if (bytes > kCall) {
    std::memmove(to, from, static_cast<size_t>(bytes));
    return;
  }
  const Vec<char> last = load(from + bytes - kVectorBytes);
  for (int64_t at = 0; at + kVectorBytes <= bytes; at += kVectorBytes)
    store(to + at, load(from + at));
  store(to + bytes - kVectorBytes, last);
}

/// `bytes` bytes, which may be the same bytes. Rows of a head or of a few channels are too short
/// for a call.
TAEDA_ALWAYS_INLINE void move_row(char* to, const char* from, int64_t bytes) {
  constexpr int64_t kCall = 1024;
  if (bytes < kVectorBytes) {
    std::memmove(to, from, static_cast<size_t>(bytes));
    return;
  }
  if (bytes > kCall) return move_long_row(to, from, bytes);
  int64_t at = 0;
  const Vec<char> last = load(from + bytes - kVectorBytes);
  for (; at + kVectorBytes <= bytes; at += kVectorBytes) store(to + at, load(from + at));
  store(to + bytes - kVectorBytes, last);
}

/// to[i * N + k] = from[k][i] for n rows of N columns.
template <int N, class W>
__attribute__((noinline)) inline void interleave_columns(W* __restrict to, const W* const* from,
                                                         int64_t n) {
  const W* columns[N];
  for (int k = 0; k < N; ++k) columns[k] = from[k];
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i)
#pragma GCC unroll 4
    for (int k = 0; k < N; ++k) to[i * N + k] = columns[k][i];
}

/// n elements from stride `from_step` to stride `to_step`.
template <class W>
inline void move_run(W* to, int64_t to_step, const W* from, int64_t from_step, int64_t n) {
  if (to_step == 1) {
    const auto constant_step = [&](auto step) {
      for (int64_t i = 0; i < n; ++i) to[i] = from[i * decltype(step)::value];
    };
    switch (from_step) {
      case 1:
        return move_row(reinterpret_cast<char*>(to), reinterpret_cast<const char*>(from),
                        n * static_cast<int64_t>(sizeof(W)));
      case 0: std::fill_n(to, n, *from); return;
      case 2: return constant_step(std::integral_constant<int64_t, 2>());
      case 3: return constant_step(std::integral_constant<int64_t, 3>());
      case 4: return constant_step(std::integral_constant<int64_t, 4>());
      case -1: return constant_step(std::integral_constant<int64_t, -1>());
      default: break;
    }
  }
  for (int64_t i = 0; i < n; ++i) to[i * to_step] = from[i * from_step];
}

inline void move_rows(const Iter& it, int64_t bytes) {
  const MovePosition begin(it, 1, 0);
  const int64_t grain = std::max<int64_t>(1, kParallelGrain / it.size(0));
  parallel_for(0, begin.count(), grain, [&](int64_t first, int64_t last) {
    MovePosition p = begin;
    p.seek(first);
    for (int64_t i = first; i < last; ++i, p.advance()) move_row(p.to(), p.from(), bytes);
  });
}

/// to[c][r] = from[r][c] for a part of a matrix, T standing for elements of its size. Steps are
/// bytes from row to row.
template <class T>
void transpose_part(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t rows,
                    int64_t columns) {
  const auto source = [&](int64_t r, int64_t c) {
    return reinterpret_cast<const T*>(from + r * from_step) + c;
  };
  const auto target = [&](int64_t r, int64_t c) {
    return reinterpret_cast<T*>(to + c * to_step) + r;
  };
  const auto one_by_one = [&](int64_t r, int64_t c, int64_t n, int64_t m) {
    for (int64_t j = c; j < c + m; ++j)
      for (int64_t i = r; i < r + n; ++i) *target(i, j) = *source(i, j);
  };
  // Bytes have no quick way within registers, and elements of 16 bytes need none.
  constexpr bool in_registers = sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8;
  constexpr bool any_edge = sizeof(T) >= 4;  // those that have masks
  constexpr int64_t side = in_registers ? kLanes<T> : 64 / static_cast<int64_t>(sizeof(T));
  for (int64_t c = 0; c < columns; c += side) {
    const int64_t m = std::min(side, columns - c);
    for (int64_t r = 0; r < rows; r += side) {
      const int64_t n = std::min(side, rows - r);
      if constexpr (in_registers) {
        Vec<T> square[side];
        if (n == side && m == side) {
          for (int64_t k = 0; k < side; ++k) square[k] = load(source(r + k, c));
          transpose_square<T>(square);
          for (int64_t k = 0; k < side; ++k) store(target(r, c + k), square[k]);
          continue;
        }
        if constexpr (any_edge) {
          for (int64_t k = 0; k < side; ++k)
            square[k] = k < n ? load_first(source(r + k, c), m) : Vec<T>{};
          transpose_square<T>(square);
          for (int64_t k = 0; k < m; ++k) store_first(target(r, c + k), square[k], n);
          continue;
        }
      }
      one_by_one(r, c, n, m);
    }
  }
}

/// For elements of type T, neighbours in dimension 0 of what is written and in `plane` of what is
/// read.
template <class T>
void move_transposed(const Iter& it, int plane) {
  // So many rows that their lines stay in the cache until the columns beside are read.
  constexpr int64_t kRows = 128, kColumns = 64;
  const MovePosition begin(it, 1, plane);
  const int64_t rows = it.size(0), columns = it.size(plane);
  const int64_t bands = (rows + kRows - 1) / kRows, stripes = (columns + kColumns - 1) / kColumns;
  const int64_t part = std::min(rows, kRows) * std::min(columns, kColumns);
  const int64_t to_step = it.stride(0, plane), from_step = it.stride(1, 0);
  parallel_for(0, begin.count() * bands * stripes, std::max<int64_t>(1, kParallelGrain / part),
               [&](int64_t first, int64_t last) {
                 MovePosition p = begin;
                 p.seek(first / (bands * stripes));
                 for (int64_t i = first; i < last; ++i) {
                   const int64_t r = i / stripes % bands * kRows, c = i % stripes * kColumns;
                   transpose_part<T>(
                       p.to() + r * static_cast<int64_t>(sizeof(T)) + c * to_step, to_step,
                       p.from() + r * from_step + c * static_cast<int64_t>(sizeof(T)), from_step,
                       std::min(kRows, rows - r), std::min(kColumns, columns - c));
                   if ((i + 1) % (bands * stripes) == 0) p.advance();
                 }
               });
}

/// The dimension whose neighbours are neighbours in the memory that is read, if it is worth
/// transposing; 0 without.
inline int plane_to_transpose(const Iter& it, int64_t bytes) {
  constexpr int64_t kSmallest = 4;
  if (it.ndim() < 2 || it.stride(0, 0) != bytes || it.size(0) < kSmallest) return 0;
  if (it.stride(1, 0) == 0) return 0;  // one value for a whole row
  for (int d = 1; d < it.ndim(); ++d)
    if (it.stride(1, d) == bytes && it.size(d) >= kSmallest) return d;
  return 0;
}

/// Two or three planes that become the columns of rows side by side, as the channels of images;
/// false where operands are not so.
template <class T>
bool move_interleaved(const Iter& it) {
  constexpr auto bytes = static_cast<int64_t>(sizeof(T));
  if (it.ndim() < 2 || it.stride(0, 0) != bytes || it.stride(1, 1) != bytes) return false;
  const int64_t columns = it.size(0), rows = it.size(1);
  if (columns > 3 || it.stride(0, 1) != columns * bytes) return false;
  const MovePosition begin(it, 2, -1);
  const int64_t grain = std::max<int64_t>(1, kParallelGrain / (columns * rows));
  parallel_for(0, begin.count(), grain, [&](int64_t first, int64_t last) {
    MovePosition p = begin;
    p.seek(first);
    for (int64_t i = first; i < last; ++i, p.advance()) {
      const T* planes[3];
      for (int64_t k = 0; k < columns; ++k)
        planes[k] = reinterpret_cast<const T*>(p.from() + k * it.stride(1, 0));
      if (columns == 2)
        interleave_columns<2>(reinterpret_cast<T*>(p.to()), planes, rows);
      else
        interleave_columns<3>(reinterpret_cast<T*>(p.to()), planes, rows);
    }
  });
  return true;
}

/// to[i * n + k] = from[i] for `rows` rows of n elements; N is n, or 0 for any.
template <int N, class T>
__attribute__((noinline)) inline void repeat_each(T* __restrict to, const char* from,
                                                  int64_t from_step, int64_t rows, int64_t n) {
  for (int64_t i = 0; i < rows; ++i, from += from_step)
    for (int64_t k = 0; k < (N == 0 ? n : N); ++k) *to++ = *reinterpret_cast<const T*>(from);
}

/// Elements that are repeated a few times side by side; false where operands are not so.
template <class T>
bool move_repeated(const Iter& it) {
  constexpr auto bytes = static_cast<int64_t>(sizeof(T));
  constexpr int64_t kFew = 32;
  if (it.ndim() < 2 || it.stride(0, 0) != bytes || it.stride(1, 0) != 0) return false;
  const int64_t n = it.size(0), rows = it.size(1), step = it.stride(1, 1);
  if (n > kFew || it.stride(0, 1) != n * bytes) return false;
  const auto run = n == 2 ? &repeat_each<2, T> : n == 4 ? &repeat_each<4, T> : &repeat_each<0, T>;
  const MovePosition begin(it, 2, -1);
  const int64_t grain = std::max<int64_t>(1, kParallelGrain / (n * rows));
  parallel_for(0, begin.count(), grain, [&](int64_t first, int64_t last) {
    MovePosition p = begin;
    p.seek(first);
    for (int64_t i = first; i < last; ++i, p.advance())
      run(reinterpret_cast<T*>(p.to()), p.from(), step, rows, n);
  });
  return true;
}

/// Elements of T's size, as they are.
template <class T>
void move_elements(const Iter& it) {
  constexpr auto bytes = static_cast<int64_t>(sizeof(T));
  constexpr int64_t kLongRow = int64_t{64} << 10;  // bytes; from here on threads share a row
  if (it.numel() == 0) return;
  const bool rows = it.ndim() > 0 && it.stride(0, 0) == bytes && it.stride(1, 0) == bytes;
  if (rows && it.ndim() > 1 && it.size(0) * bytes < kLongRow)
    return move_rows(it, it.size(0) * bytes);
  if (const int plane = rows ? 0 : plane_to_transpose(it, bytes))
    return move_transposed<T>(it, plane);
  if (!rows && (move_interleaved<T>(it) || move_repeated<T>(it))) return;
  it.for_each([](char** data, const int64_t* s, int64_t n) {
    if (s[0] == bytes && s[1] == bytes) {
      std::memmove(data[0], data[1], static_cast<size_t>(n * bytes));
      return;
    }
    if (s[0] == bytes && s[1] >= -bytes && s[1] <= 4 * bytes && s[1] % bytes == 0)
      return move_run(reinterpret_cast<T*>(data[0]), 1, reinterpret_cast<const T*>(data[1]),
                      s[1] / bytes, n);
    for (int64_t i = 0; i < n; ++i) {
      T e;
      std::memcpy(&e, data[1] + i * s[1], sizeof e);
      std::memcpy(data[0] + i * s[0], &e, sizeof e);
    }
  });
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
