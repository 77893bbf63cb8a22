// Transforms of real numbers by complex ones of half the length: z[j] = x[2j] + i x[2j + 1]. C is
// ComplexLanes<T> or complex<T>. Both functions work on the pairs k and h - k for k in a range of
// [0, h/2], where h = n/2 and `roots` are exp(-2 pi i k / n). Numbers are halved before they are
// added: both are finite where what is asked for is.
#pragma once

#include <cstdint>

#include "taeda/base/complex.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE::fft {

template <class T, class C>
C halved(const C& z) {
  return C{z.re * T(0.5), z.im * T(0.5)};
}

/// x[0..h], the transform of n real numbers, from z, that of h pairs.
template <class C, class T>
void split_real(const C* z, C* x, int64_t h, const complex<T>* roots, int64_t begin, int64_t end) {
  for (int64_t k = begin; k < end; ++k) {
    const C a = halved<T>(z[k]), b = halved<T>(z[k == 0 ? 0 : h - k]);
    const complex<T> w = roots[k];
    // The transforms of the even and of the odd elements; the odd ones times -i w.
    const auto even_re = a.re + b.re, even_im = a.im - b.im;
    const auto odd_re = a.re - b.re, odd_im = a.im + b.im;
    const auto p_re = odd_im * w.re + odd_re * w.im, p_im = odd_im * w.im - odd_re * w.re;
    x[k] = C{even_re + p_re, even_im + p_im};
    x[h - k] = C{even_re - p_re, p_im - even_im};
  }
}

/// The way back: half of z from x, each z with its real and imaginary part exchanged.
template <class C, class T>
void join_real(const C* x, C* z, int64_t h, const complex<T>* roots, int64_t begin, int64_t end) {
  for (int64_t k = begin; k < end; ++k) {
    C a = halved<T>(x[k]), b = halved<T>(x[h - k]);
    if (k == 0) a.im = b.im = decltype(a.im){};
    const complex<T> w = roots[k];
    const auto even_re = a.re + b.re, even_im = a.im - b.im;
    const auto odd_re = a.re - b.re, odd_im = a.im + b.im;
    const auto q_re = odd_re * w.im - odd_im * w.re, q_im = odd_im * w.im + odd_re * w.re;
    z[k] = C{even_im + q_im, even_re + q_re};
    if (k > 0) z[h - k] = C{q_im - even_im, even_re - q_re};
  }
}

/// All n numbers of an odd length from the first n / 2 + 1, in place, each with its real and
/// imaginary part exchanged.
template <class C>
void extend_conjugates(C* x, int64_t n) {
  x[0] = C{decltype(x[0].im){}, x[0].re};
  for (int64_t k = 1; k <= n / 2; ++k) {
    const C z = x[k];
    x[k] = C{z.im, z.re};
    x[n - k] = C{-z.im, z.re};
  }
}

}  // namespace taeda::cpu::TAEDA_CPU_NAMESPACE::fft
