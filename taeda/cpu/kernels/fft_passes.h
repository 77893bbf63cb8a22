// Transforms of kLanes lines at once: element i of every line stands in one pair of registers.
//
// The passes are Stockham's (self-sorting; Van Loan, Computational Frameworks for the FFT, 1992,
// 1.7). Before a pass, the transform of length `done` of the elements p, p + n/done, ... stands at
// j * (n/done) + p.
#pragma once

#include <utility>

#include "taeda/cpu/fft_plan.h"
#include "taeda/cpu/kernels/simd.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

/// One complex number of each line.
template <class T>
struct ComplexLanes {
  Vec<T> re, im;

  friend TAEDA_ALWAYS_INLINE ComplexLanes operator+(ComplexLanes a, ComplexLanes b) {
    return {a.re + b.re, a.im + b.im};
  }
  friend TAEDA_ALWAYS_INLINE ComplexLanes operator-(ComplexLanes a, ComplexLanes b) {
    return {a.re - b.re, a.im - b.im};
  }
  friend TAEDA_ALWAYS_INLINE ComplexLanes operator*(ComplexLanes a, complex<T> w) {
    return {a.re * w.re - a.im * w.im, a.re * w.im + a.im * w.re};
  }
  friend TAEDA_ALWAYS_INLINE ComplexLanes operator*(ComplexLanes a, ComplexLanes b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  friend TAEDA_ALWAYS_INLINE ComplexLanes operator*(ComplexLanes a, T s) {
    return {a.re * s, a.im * s};
  }
  /// Times -i.
  TAEDA_ALWAYS_INLINE ComplexLanes turned() const { return {im, -re}; }
};

namespace fft {

// Transforms of length R in registers.

template <class C>
TAEDA_ALWAYS_INLINE void butterfly(C (&a)[2]) {
  const C t = a[0] - a[1];
  a[0] = a[0] + a[1];
  a[1] = t;
}

template <class T>
TAEDA_ALWAYS_INLINE void butterfly(ComplexLanes<T> (&a)[3]) {
  constexpr T kHalf = T(0.5), kSin = T(0.866025403784438646763723170752936183L);
  const auto sum = a[1] + a[2], difference = ((a[1] - a[2]) * kSin).turned();
  const auto middle = a[0] - sum * kHalf;
  a[0] = a[0] + sum;
  a[1] = middle + difference;
  a[2] = middle - difference;
}

template <class C>
TAEDA_ALWAYS_INLINE void butterfly(C (&a)[4]) {
  const C s02 = a[0] + a[2], d02 = a[0] - a[2], s13 = a[1] + a[3], d13 = (a[1] - a[3]).turned();
  a[0] = s02 + s13;
  a[1] = d02 + d13;
  a[2] = s02 - s13;
  a[3] = d02 - d13;
}

template <class T>
TAEDA_ALWAYS_INLINE void butterfly(ComplexLanes<T> (&a)[5]) {
  constexpr T kCos1 = T(0.309016994374947424102293417182819059L),
              kCos2 = T(-0.809016994374947424102293417182819059L),
              kSin1 = T(0.951056516295153572116439333379382143L),
              kSin2 = T(0.587785252292473129168705954639072769L);
  const auto s14 = a[1] + a[4], d14 = a[1] - a[4], s23 = a[2] + a[3], d23 = a[2] - a[3];
  const auto m1 = a[0] + s14 * kCos1 + s23 * kCos2, m2 = a[0] + s14 * kCos2 + s23 * kCos1;
  const auto e1 = (d14 * kSin1 + d23 * kSin2).turned(), e2 = (d14 * kSin2 - d23 * kSin1).turned();
  a[0] = a[0] + s14 + s23;
  a[1] = m1 + e1;
  a[2] = m2 + e2;
  a[3] = m2 - e2;
  a[4] = m1 - e1;
}

template <int R, bool twiddled, class T>
TAEDA_ALWAYS_INLINE void pass_position(const ComplexLanes<T>* x, ComplexLanes<T>* y, int64_t rest,
                                       int64_t step, const complex<T>* w) {
  for (int64_t i = 0; i < rest; ++i) {
    ComplexLanes<T> a[R];
    a[0] = x[i];
    for (int q = 1; q < R; ++q) a[q] = twiddled ? x[q * rest + i] * w[q - 1] : x[q * rest + i];
    butterfly(a);
    for (int u = 0; u < R; ++u) y[u * step + i] = a[u];
  }
}

template <int R, class T>
void pass(const typename FftPlan<T>::Pass& p, const complex<T>* table, const ComplexLanes<T>* in,
          ComplexLanes<T>* out) {
  const int64_t step = p.done * p.rest;
  pass_position<R, false>(in, out, p.rest, step, table);
  for (int64_t j = 1; j < p.done; ++j)
    pass_position<R, true>(in + j * R * p.rest, out + j * p.rest, p.rest, step,
                           table + p.twiddles + static_cast<size_t>(j * (R - 1)));
}

/// Any odd radix. Elements q and R - q meet conjugate roots: their sum goes with the cosine, their
/// difference with the sine.
template <class T>
void generic_pass(const typename FftPlan<T>::Pass& p, const complex<T>* table,
                  const ComplexLanes<T>* in, ComplexLanes<T>* out) {
  constexpr int64_t kMost = kFftMaxRadix / 2 + 1;
  const int64_t radix = p.radix, half = radix / 2, step = p.done * p.rest;
  const complex<T>* root = table + p.roots;
  for (int64_t j = 0; j < p.done; ++j) {
    const complex<T>* w = table + p.twiddles + static_cast<size_t>(j * (radix - 1));
    const ComplexLanes<T>* x = in + j * radix * p.rest;
    ComplexLanes<T>* y = out + j * p.rest;
    for (int64_t i = 0; i < p.rest; ++i) {
      ComplexLanes<T> sum[kMost], difference[kMost];
      const ComplexLanes<T> first = x[i];
      ComplexLanes<T> total = first;
      for (int64_t q = 1; q <= half; ++q) {
        const auto a = x[q * p.rest + i] * w[q - 1],
                   b = x[(radix - q) * p.rest + i] * w[radix - q - 1];
        sum[q] = a + b;
        difference[q] = (a - b).turned();
        total = total + sum[q];
      }
      y[i] = total;
      for (int64_t u = 1; u <= half; ++u) {
        ComplexLanes<T> even = first, odd{};
        for (int64_t q = 1, m = 0; q <= half; ++q) {
          m += u;
          if (m >= radix) m -= radix;
          even = even + sum[q] * root[m].re;
          odd = odd + difference[q] * -root[m].im;
        }
        y[u * step + i] = even + odd;
        y[(radix - u) * step + i] = even - odd;
      }
    }
  }
}

/// Runs the plan's passes from `a` to `b` and back; returns where the result is.
template <class T>
ComplexLanes<T>* run_passes(const FftPlan<T>& plan, ComplexLanes<T>* a, ComplexLanes<T>* b) {
  const complex<T>* table = plan.table.data();
  for (const auto& p : plan.passes) {
    switch (p.radix) {
      case 2: pass<2>(p, table, a, b); break;
      case 3: pass<3>(p, table, a, b); break;
      case 4: pass<4>(p, table, a, b); break;
      case 5: pass<5>(p, table, a, b); break;
      default: generic_pass(p, table, a, b); break;
    }
    std::swap(a, b);
  }
  return a;
}

}  // namespace fft

/// The forward transforms of the lines in `a`; returns where they are, `a` or `b`, each of which
/// has room for plan.work_length() elements.
template <class T>
ComplexLanes<T>* transform_lanes(const FftPlan<T>& plan, ComplexLanes<T>* a, ComplexLanes<T>* b) {
  if (!plan.convolution) return fft::run_passes(plan, a, b);
  const int64_t length = plan.convolution->n;
  for (int64_t k = 0; k < plan.n; ++k) a[k] = a[k] * plan.chirp[static_cast<size_t>(k)];
  for (int64_t k = plan.n; k < length; ++k) a[k] = ComplexLanes<T>{};
  ComplexLanes<T>* spectrum = fft::run_passes(*plan.convolution, a, b);
  // The inverse of a transform is the transform with real and imaginary parts exchanged.
  for (int64_t k = 0; k < length; ++k) {
    const ComplexLanes<T> z = spectrum[k] * plan.kernel[static_cast<size_t>(k)];
    spectrum[k] = {z.im, z.re};
  }
  ComplexLanes<T>* back = fft::run_passes(*plan.convolution, spectrum, spectrum == a ? b : a);
  for (int64_t k = 0; k < plan.n; ++k)
    back[k] = ComplexLanes<T>{back[k].im, back[k].re} * plan.chirp[static_cast<size_t>(k)];
  return back;
}

}  // namespace taeda::cpu::TAEDA_CPU_NAMESPACE
