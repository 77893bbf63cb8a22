// The functions of kernels/math.h in device code: the toolkit's own. Included by math.h only.
#pragma once

namespace taeda::inline v0_2::math {

#define TAEDA_DEVICE_UNARY(name)                               \
  inline TAEDA_HD float name(float x) { return ::name##f(x); } \
  inline TAEDA_HD double name(double x) { return ::name(x); }
TAEDA_DEVICE_UNARY(exp)
TAEDA_DEVICE_UNARY(exp2)
TAEDA_DEVICE_UNARY(expm1)
TAEDA_DEVICE_UNARY(log)
TAEDA_DEVICE_UNARY(log2)
TAEDA_DEVICE_UNARY(log10)
TAEDA_DEVICE_UNARY(log1p)
TAEDA_DEVICE_UNARY(tanh)
TAEDA_DEVICE_UNARY(erf)
TAEDA_DEVICE_UNARY(erfc)
TAEDA_DEVICE_UNARY(erfinv)
TAEDA_DEVICE_UNARY(asin)
TAEDA_DEVICE_UNARY(acos)
TAEDA_DEVICE_UNARY(atan)
TAEDA_DEVICE_UNARY(atanh)
TAEDA_DEVICE_UNARY(sinh)
TAEDA_DEVICE_UNARY(cosh)
#undef TAEDA_DEVICE_UNARY

/// Any argument is allowed: the bound is that of the host's own formulas.
inline TAEDA_HD float sin_bounded(float x) { return ::sinf(x); }
inline TAEDA_HD float cos_bounded(float x) { return ::cosf(x); }
inline TAEDA_HD float tan_bounded(float x) { return ::tanf(x); }
inline TAEDA_HD double sin_bounded(double x) { return ::sin(x); }
inline TAEDA_HD double cos_bounded(double x) { return ::cos(x); }
inline TAEDA_HD double tan_bounded(double x) { return ::tan(x); }

inline TAEDA_HD float pow(float x, float y) { return ::powf(x, y); }
inline TAEDA_HD double pow(double x, double y) { return ::pow(x, y); }
inline TAEDA_HD float atan2(float y, float x) { return ::atan2f(y, x); }
inline TAEDA_HD double atan2(double y, double x) { return ::atan2(y, x); }
inline TAEDA_HD float hypot(float x, float y) { return ::hypotf(x, y); }
inline TAEDA_HD double hypot(double x, double y) { return ::hypot(x, y); }
template <class T>
TAEDA_HD T sigmoid(T x) {
  const T e = exp(x < T(0) ? x : -x);
  return (x >= T(0) ? T(1) : e) / (T(1) + e);
}

}  // namespace taeda::inline v0_2::math
