// Stretches of 16-bit floats to float and back; Half by the instructions for it where there are,
// because the compiler converts one number at a time.
#pragma once

#include <cstdint>

#include "taeda/base/dtype.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace taeda::cpu::TAEDA_CPU_NAMESPACE {

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

inline void narrow(BFloat16* out, const float* in, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = in[i];
}

}  // namespace taeda::cpu::TAEDA_CPU_NAMESPACE
