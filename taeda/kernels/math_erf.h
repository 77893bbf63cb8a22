// The error function of double, its complement, and its inverse: a part of kernels/math.h, which
// includes it and has exp and log. See Note [Vector math] there.
#pragma once

#include "taeda/kernels/math_detail.h"

namespace taeda::inline v0_2::math {

namespace detail {

/// erf(a) - a for a in [0, 0.88]; erf(a) / a - 1 of a^2.
TAEDA_ALWAYS_INLINE double erf_tail(double a) {
  const double z = a * a;
  return a * poly(z, 0.128379167095512574, -0.376126389031837388, 0.112837916709542797,
                  -0.0268661706449262792, 0.00522397762287547538, -0.000854832683366463082,
                  0.000120553240742830321, -0.0000149253745735999149, 1.64563982915671215e-6,
                  -1.62870962575375713e-7, 1.41103794422732978e-8, -8.63543905190035543e-10);
}

/// erfc(a) for a in [0.69, 27.3]: e^(-a^2) / (a + 2) times a polynomial in (a - 2) / (a + 2). The
/// square is that of the leading 26 bits, which is exact, and a rest.
TAEDA_ALWAYS_INLINE double erfc_far(double a) {
  const double h = from_bits(to_bits(a) & ~int64_t{0x7ffffff}), square = h * h;
  const Rounded<double> n = round_int(square * -1.4426950408889634074);
  const double r = reduce_ln2(-square, n.value) - (a - h) * (a + h);
  const double t = (a - 2.0) / (a + 2.0);
  const double p = poly(t, 1.02158270524202298, -0.68716068441381062, 0.279472092556054911,
                        -0.0364422315068730188, -0.0215106618895116271, 0.00647918506737399466,
                        0.00309061206053461837, -0.00083729605235540767, -0.00066307354022637214,
                        0.0000343712880835125211, 0.000144471272924905697, 0.0000341500668780988948,
                        -0.0000217010669144168985, -0.0000161252147694298955,
                        -1.0979161579106228e-6, 3.6421291476579712e-6, 1.91001100301117709e-6,
                        7.55429541612135954e-8, -4.24577366752863342e-7, -5.66164860873022854e-7,
                        -1.88263081036109878e-8, 3.69909173268212762e-7, -1.20429734190522279e-7);
  const double q = p / (a + 2.0);
  return scale(q + q * (r + r * r * exp_tail(r)), n.bits);
}

}  // namespace detail

/// Above 0.88 1 - e^(-x^2) times a polynomial in (x - 3) / (x + 3), which needs few digits.
TAEDA_ALWAYS_INLINE double erf(double x) {
  const double a = detail::clamp(detail::absolute(x), 0.0, 5.95), t = (a - 3.0) / (a + 3.0);
  const double p = detail::poly(
      t, 0.179001151181383568, -0.326233560043656531, 0.245603801699968994, -0.150115936509796006,
      0.0716658396859039733, -0.0243924615834623236, 0.00426942671429333283,
      0.000709137276402419802, -0.000592657370010627987, 0.0000545642046852636707,
      0.0000767475647400953144, -2.95528845884719059e-6, -5.53637668604461635e-6);
  const double far = 1.0 - exp(-a * a) * p;
  return detail::with_sign_of(a < 0.88 ? a + detail::erf_tail(a) : far, x);
}

TAEDA_ALWAYS_INLINE double erfc(double x) {
  const double a = detail::clamp(detail::absolute(x), 0.0, 27.3);
  const double tail = detail::erf_tail(a), far = detail::erfc_far(a);
  const double near = x < 0.0 ? 1.0 + (a + tail) : (0.5 - a) + (0.5 - tail);
  const double y = x < 0.0 ? 2.0 - far : far;
  return a < 0.7 ? near : y;
}

/// erf^-1(x) / x of w = -log(1 - x^2), of its root from 5 on (Giles, "Approximating the erfinv
/// function", 2012, has the idea).
TAEDA_ALWAYS_INLINE float erfinv(float x) {
  const float w = -log((1.0f - x) * (1.0f + x)), v = w - 1.0f, s = std::sqrt(w) - 3.0f;
  const float near = detail::poly(v, 1.1273744f, 0.24783289f, 0.00425064287f, -0.00237644275f,
                                  0.000100281351f, 3.82289952e-5f, -4.40159769e-6f, -5.24684636e-7f,
                                  1.41909358e-7f, -8.79086096e-9f);
  const float far = detail::poly(s, 2.8329768f, 1.00167497f, 0.00944529697f, -0.00763728691f,
                                 0.00568691036f, -0.00359740674f, 0.0014852259f, -0.0000568083731f,
                                 -0.000309668642f, 0.000115750366f);
  const float y = (w < 5.0f ? near : far) * x;
  return w > 1e3f ? detail::with_sign_of(detail::kInfinity<float>, x) : y;
}

/// The same to 1e-6, then a step of Halley's method, whose residual is that of erfc where erf has
/// no digits left.
TAEDA_ALWAYS_INLINE double erfinv(double x) {
  const double a = detail::absolute(x), w = -log((1.0 - a) * (1.0 + a));
  const double v = w - 2.5, s = std::sqrt(w) - 3.0;
  const double near =
      detail::poly(v, 1.50140942160007438, 0.246640725931774029, -0.00417770820055136326,
                   -0.00125370742132520093, 0.000218602516661009401, -4.39678486250465489e-6,
                   -3.52892893162585423e-6, 3.43725898782454428e-7, 2.85394662647478869e-8);
  const double far = detail::poly(
      s, 2.83297639143890873, 1.00168906948968186, 0.00945718499798367124, -0.00776911821016113985,
      0.00570557855478233483, -0.00325807846387865118, 0.0012203263500335686,
      -0.000266617937036559772, 0.0000287998020738276319, -9.8543842109402036e-7);
  const double y = (w < 5.0 ? near : far) * a;
  const double residual =
      a < 0.78 ? (y - a) + detail::erf_tail(y) : (1.0 - a) - detail::erfc_far(y);
  const double newton = residual * exp(y * y) * 0.88622692545275801365;
  const double result = y - newton / (1.0 + y * newton);
  return detail::with_sign_of(w > 1e3 ? detail::kInfinity<double> : result, x);
}

}  // namespace taeda::inline v0_2::math
