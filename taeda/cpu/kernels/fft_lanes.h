// Lines of memory to vector lanes and back.
#pragma once

#include "taeda/cpu/kernels/fft_passes.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

/// Where up to kLanes lines are; P is T or const T. Element i of lane k has its real part at
/// at[k][i * step] and its imaginary part `part` behind. Real lines, of which each element is one
/// number, have no imaginary part.
template <class P>
struct Lines {
  using T = std::remove_const_t<P>;
  P* at[kLanes<T>];
  int count = 0;
  int64_t step = 0, part = 0;
  bool is_real = false;

  bool full() const { return count == kLanes<T>; }
  /// Whether every line is complex numbers side by side.
  bool contiguous() const { return full() && !is_real && step == 2 && part == 1; }
  /// Whether lane k + 1 starts `distance` behind lane k.
  bool adjacent(int64_t distance) const {
    if (!full()) return false;
    for (int k = 1; k < count; ++k)
      if (at[k] != at[0] + k * distance) return false;
    return true;
  }
};

namespace fft {

/// Even and odd elements of two registers that follow each other in memory, and back.
template <class V, int... I>
TAEDA_ALWAYS_INLINE void split_pairs(V a, V b, V& even, V& odd, std::integer_sequence<int, I...>) {
  even = __builtin_shufflevector(a, b, (2 * I)...);
  odd = __builtin_shufflevector(a, b, (2 * I + 1)...);
}

template <class T>
void gather_contiguous(const Lines<const T>& in, ComplexLanes<T>* out, int64_t n, bool swap) {
  constexpr int64_t L = kLanes<T>;
  auto* to = reinterpret_cast<Vec<T>*>(out);
  const int64_t total = 2 * n, whole = total / L * L;
  for (int64_t i = 0; i < whole; i += L) {
    Vec<T> row[L];
    for (int k = 0; k < L; ++k) row[k] = load(in.at[k] + i);
    transpose_square<T>(row);
    for (int k = 0; k < L; ++k) to[(i + k) ^ int64_t{swap}] = row[k];
  }
  for (int64_t i = whole; i < total; ++i) {
    T lane[L];
    for (int k = 0; k < L; ++k) lane[k] = in.at[k][i];
    to[i ^ int64_t{swap}] = load(lane);
  }
}

template <class T>
void scatter_contiguous(const Lines<T>& out, const ComplexLanes<T>* in, int64_t n, bool swap,
                        T scale) {
  constexpr int64_t L = kLanes<T>;
  const auto* from = reinterpret_cast<const Vec<T>*>(in);
  const int64_t total = 2 * n, whole = total / L * L;
  for (int64_t i = 0; i < whole; i += L) {
    Vec<T> row[L];
    for (int k = 0; k < L; ++k) row[k] = from[(i + k) ^ int64_t{swap}] * scale;
    transpose_square<T>(row);
    for (int k = 0; k < L; ++k) store(out.at[k] + i, row[k]);
  }
  for (int64_t i = whole; i < total; ++i) {
    T lane[L];
    store(lane, from[i ^ int64_t{swap}] * scale);
    for (int k = 0; k < L; ++k) out.at[k][i] = lane[k];
  }
}

}  // namespace fft

/// The first n elements of each line; unused lanes are zero. `swap` exchanges real and imaginary
/// parts.
template <class T>
void gather(const Lines<const T>& in, ComplexLanes<T>* out, int64_t n, bool swap = false) {
  constexpr int L = kLanes<T>;
  if (in.contiguous()) return fft::gather_contiguous(in, out, n, swap);
  const bool pairs = !in.is_real && in.part == 1 && in.adjacent(2), singles = in.adjacent(1);
  constexpr std::make_integer_sequence<int, L> lanes;
  for (int64_t i = 0; i < n; ++i) {
    Vec<T> re{}, im{};
    if (pairs) {
      const T* p = in.at[0] + i * in.step;
      fft::split_pairs(load(p), load(p + L), re, im, lanes);
    } else if (singles) {
      re = load(in.at[0] + i * in.step);
      if (!in.is_real) im = load(in.at[0] + i * in.step + in.part);
    } else {
      T real[L] = {}, imaginary[L] = {};
      for (int k = 0; k < in.count; ++k) {
        real[k] = in.at[k][i * in.step];
        if (!in.is_real) imaginary[k] = in.at[k][i * in.step + in.part];
      }
      re = load(real), im = load(imaginary);
    }
    out[i] = swap ? ComplexLanes<T>{im, re} : ComplexLanes<T>{re, im};
  }
}

/// The same back to memory, times `scale`. Real lines get the real part.
template <class T>
void scatter(const Lines<T>& out, const ComplexLanes<T>* in, int64_t n, bool swap, T scale) {
  constexpr int L = kLanes<T>;
  if (out.contiguous()) return fft::scatter_contiguous(out, in, n, swap, scale);
  const bool pairs = !out.is_real && out.part == 1 && out.adjacent(2), singles = out.adjacent(1);
  constexpr std::make_integer_sequence<int, L> lanes;
  for (int64_t i = 0; i < n; ++i) {
    const Vec<T> re = (swap ? in[i].im : in[i].re) * scale,
                 im = (swap ? in[i].re : in[i].im) * scale;
    if (pairs) {
      T* p = out.at[0] + i * out.step;
      store(p, detail::interleave_low(re, im, lanes));
      store(p + L, detail::interleave_high(re, im, lanes));
    } else if (singles) {
      store(out.at[0] + i * out.step, re);
      if (!out.is_real) store(out.at[0] + i * out.step + out.part, im);
    } else {
      T real[L], imaginary[L];
      store(real, re), store(imaginary, im);
      for (int k = 0; k < out.count; ++k) {
        out.at[k][i * out.step] = real[k];
        if (!out.is_real) out.at[k][i * out.step + out.part] = imaginary[k];
      }
    }
  }
}

}  // namespace taeda::cpu::TAEDA_CPU_NAMESPACE
