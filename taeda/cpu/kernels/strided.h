// Walking through strided memory where elements are only moved, not computed with.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "taeda/cpu/kernels/move.h"
#include "taeda/tensor/layout.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

/// A 16-byte element.
struct Word16 {
  uint64_t a, b;
};

/// Calls `f(W())` with an unsigned type W as large as an element of `item` bytes.
template <class F>
void with_word(int64_t item, F&& f) {
  switch (item) {
    case 1: return f(uint8_t());
    case 2: return f(uint16_t());
    case 4: return f(uint32_t());
    case 8: return f(uint64_t());
    default: return f(Word16());
  }
}

/// The dimensions of several operands of one shape, joined where every operand allows it, the
/// innermost first. Strides are in elements.
template <int N>
struct Walk {
  int ndim = 0;
  int64_t numel = 1;
  int64_t sizes[kMaxLoopDims];
  int64_t strides[N][kMaxLoopDims];

  Walk() = default;
  /// `operands[i]` belongs to operand i and has as many entries as `shape`.
  Walk(IntArrayRef shape, const IntArrayRef (&operands)[N]) {
    for (size_t d = shape.size(); d-- > 0;) {
      numel *= shape[d];
      if (shape[d] == 1) continue;
      bool joins = ndim > 0;
      for (int i = 0; joins && i < N; ++i)
        joins = operands[i][d] == strides[i][ndim - 1] * sizes[ndim - 1];
      if (joins) {
        sizes[ndim - 1] *= shape[d];
        continue;
      }
      sizes[ndim] = shape[d];
      for (int i = 0; i < N; ++i) strides[i][ndim] = operands[i][d];
      ++ndim;
    }
    if (ndim == 0) {
      sizes[0] = 1;
      for (int i = 0; i < N; ++i) strides[i][0] = 1;
      ndim = 1;
    }
  }

  /// Calls `f(offsets, n)` for runs along dimension 0 that cover elements [begin, end) in order;
  /// `offsets[i]` is where the run starts in operand i.
  template <class F>
  void for_range(int64_t begin, int64_t end, F&& f) const {
    while (begin < end) {
      int64_t offsets[N];
      const int64_t column = begin % sizes[0];
      for (int i = 0; i < N; ++i) offsets[i] = column * strides[i][0];
      int64_t row = begin / sizes[0];
      for (int d = 1; d < ndim; ++d) {
        const int64_t at = row % sizes[d];
        row /= sizes[d];
        for (int i = 0; i < N; ++i) offsets[i] += at * strides[i][d];
      }
      const int64_t n = std::min(sizes[0] - column, end - begin);
      f(static_cast<const int64_t*>(offsets), n);
      begin += n;
    }
  }
};

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
