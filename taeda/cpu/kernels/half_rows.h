// Stretches of 16-bit floats to float and back; Half by the instructions for it where there are,
// because the compiler converts one number at a time. It does better with BFloat16, but compares
// twice for NaN and masks what is already narrow.
#pragma once

#include <cstdint>

#include "taeda/base/dtype.h"

#if defined(__F16C__) || defined(__AVX2__)
#include <immintrin.h>
#endif

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

inline void widen(float* out, const Half* in, int64_t n) {
  int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(out + i,
                     _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i))));
#endif
  for (; i < n; ++i) out[i] = in[i];
}

inline void narrow(Half* out, const float* in, int64_t n) {
  int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(in + i), 0));
#endif
  for (; i < n; ++i) out[i] = in[i];
}

inline void widen(float* out, const BFloat16* in, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = in[i];
}

#if defined(__AVX2__) && !defined(__AVX512F__)
/// The bits of eight floats, rounded to BFloat16 as its constructor does.
inline __m256i round_to_bfloat16(__m256 x) {
  const __m256i bits = _mm256_castps_si256(x);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i rounded = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
  const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fc00000));
  const __m256 kept =
      _mm256_blendv_ps(_mm256_castsi256_ps(rounded), nan, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
  return _mm256_srli_epi32(_mm256_castps_si256(kept), 16);
}
#endif

inline void narrow(BFloat16* out, const float* in, int64_t n) {
  int64_t i = 0;
#if defined(__AVX2__) && !defined(__AVX512F__)
  for (; i + 16 <= n; i += 16) {
    const __m256i low = round_to_bfloat16(_mm256_loadu_ps(in + i)),
                  high = round_to_bfloat16(_mm256_loadu_ps(in + i + 8));
    // Packing works on halves of a register: the middle quarters change places.
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i),
                        _mm256_permute4x64_epi64(_mm256_packus_epi32(low, high), 0xd8));
  }
#endif
  for (; i < n; ++i) out[i] = in[i];
}

}  // namespace taeda::cpu::TAEDA_CPU_NAMESPACE
