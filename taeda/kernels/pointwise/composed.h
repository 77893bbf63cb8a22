// Formulas that other formulas could be combined to, in one pass.
#pragma once

#include "taeda/kernels/math.h"
#include "taeda/kernels/pointwise.h"

namespace taeda::inline v0_2 {

/// 0 below 0, 1 above, the second operand at 0; 0 for NaN.
struct Heaviside : Pointwise<2, RealBoolTypes> {
  static constexpr const char* name = "heaviside";
  template <class T>
  TAEDA_HD T operator()(T x, T at_zero) const {
    const T step = x > T(0) ? T(1) : T(0);
    return x == T(0) ? at_zero : step;
  }
};

/// The larger one; of a number and NaN the number.
struct Fmax : Pointwise<2, RealBoolTypes> {
  static constexpr const char* name = "fmax";
  template <class T>
  TAEDA_HD T operator()(T a, T b) const {
    return (a >= b) | (b != b) ? a : b;
  }
};

/// The smaller one; of a number and NaN the number.
struct Fmin : Pointwise<2, RealBoolTypes> {
  static constexpr const char* name = "fmin";
  template <class T>
  TAEDA_HD T operator()(T a, T b) const {
    return (a <= b) | (b != b) ? a : b;
  }
};

namespace detail {

/// max(a, b) and what the smaller one is behind.
template <class T>
struct LogSum {
  T top, ahead;
  TAEDA_HD LogSum(T a, T b) : top((a != a) | (a > b) ? a : b), ahead(a > b ? b - a : a - b) {}
  /// inf - inf is no difference.
  TAEDA_HD T add(T tail, T a, T b) const { return (a == b) & (ahead != ahead) ? a : top + tail; }
};

}  // namespace detail

/// log(e^a + e^b).
struct LogAddExp : Pointwise<2, FloatTypes> {
  static constexpr const char* name = "logaddexp";
  template <class T>
  TAEDA_HD T operator()(T a, T b) const {
    const detail::LogSum<T> sum(a, b);
    return sum.add(math::log1p(math::exp(sum.ahead)), a, b);
  }
};

/// log2(2^a + 2^b).
struct LogAddExp2 : Pointwise<2, FloatTypes> {
  static constexpr const char* name = "logaddexp2";
  template <class T>
  TAEDA_HD T operator()(T a, T b) const {
    const detail::LogSum<T> sum(a, b);
    return sum.add(math::log1p(math::exp2(sum.ahead)) * T(1.44269504088896340736), a, b);
  }
};

/// x log(y), 0 where x is 0 and y is a number.
struct Xlogy : FloatPointwise<2> {
  static constexpr const char* name = "xlogy";
  template <class T>
  TAEDA_HD T operator()(T x, T y) const {
    const T product = x * math::log(y);
    return (x == T(0)) & (y == y) ? T(0) : product;
  }
};

/// log(x / (1 - x)) of an x that is brought into [eps, 1 - eps], unless eps is NaN.
struct Logit {
  static constexpr const char* name = "logit";
  static constexpr int arity = 1;
  static constexpr bool promotes_to_float = true;
  using Types = FloatTypes;
  double eps;

  template <class T>
  struct Bound {
    T low, high;
    TAEDA_HD T operator()(T x) const {
      const T below = x > high ? high : x, z = x < low ? low : below;
      return math::log(z / (T(1) - z));
    }
  };
  template <class T>
  Bound<T> bind() const {
    return {static_cast<T>(eps), static_cast<T>(1 - eps)};
  }
};

/// sin(pi x) / (pi x), 1 at 0.
struct Sinc : FloatPointwise<1> {
  static constexpr const char* name = "sinc";
  static constexpr float bound = 3e5f;  // times pi it is below math::kTrigBound
  template <class T>
  TAEDA_HD T operator()(T x) const {
    const T angle = x * T(kPi), y = math::sin(angle) / angle;
    return x == T(0) ? T(1) : y;
  }
  template <class T>
  T bounded(T x) const {
    const T angle = x * T(kPi), y = math::sin_bounded(angle) / angle;
    return x == T(0) ? T(1) : y;
  }

 private:
  static constexpr double kPi = 3.14159265358979323846;
};

/// d sinc / dx. Near 0, where cos a and sin a / a cancel, by the series of their difference.
struct SincSlope : Pointwise<1, FloatTypes> {
  static constexpr const char* name = "sinc_slope";
  static constexpr float bound = Sinc::bound;
  template <class T>
  TAEDA_HD T operator()(T x) const {
    const T angle = x * T(kPi);
    return slope(angle, math::sin(angle), math::cos(angle));
  }
  template <class T>
  T bounded(T x) const {
    const T angle = x * T(kPi);
    return slope(angle, math::sin_bounded(angle), math::cos_bounded(angle));
  }
  /// sum (-1)^n 2n a^(2n - 1) / (2n + 1)! from its second term on, for |a| < 1/2.
  TAEDA_HD static constexpr double series(int n) {
    constexpr double terms[] = {1.0 / 30,       -1.0 / 840,      1.0 / 45360,
                                -1.0 / 3991680, 1.0 / 518918400, -1.0 / 93405312000};
    return terms[n];
  }

 private:
  static constexpr double kPi = 3.14159265358979323846;

  template <class T>
  TAEDA_HD static T slope(T a, T sine, T cosine) {
    const T square = a * a;
    T sum = T(series(5));
    for (int n = 4; n >= 0; --n) sum = sum * square + T(series(n));
    const T far = (cosine - sine / a) / a, near = a * (sum * square - T(1.0 / 3));
    return T(kPi) * (square < T(0.25) ? near : far);
  }
};

/// The inverse of erf.
struct Erfinv : FloatPointwise<1> {
  static constexpr const char* name = "erfinv";
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return math::erfinv(x);
  }
};

using ComposedOps =
    OpList<Heaviside, Fmax, Fmin, LogAddExp, LogAddExp2, Xlogy, Logit, Sinc, SincSlope, Erfinv>;

}  // namespace taeda::inline v0_2
