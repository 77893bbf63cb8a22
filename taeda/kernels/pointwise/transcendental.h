// Formulas of exponentials, logarithms, trigonometry and the error function.
#pragma once

#include <limits>

#include "taeda/kernels/math.h"
#include "taeda/kernels/pointwise.h"
#include "taeda/kernels/pointwise/complex.h"

namespace taeda::inline v0_2 {

namespace detail {
/// Where e^re alone overflows, a part of the exponent is taken out and comes back in two steps; a
/// real number stays real, and e^-inf is 0 at every angle (C99, Annex G.6.3.1).
template <class T>
TAEDA_HD complex<T> complex_exp(complex<T> x) {
  constexpr T most = sizeof(T) == 4 ? T(88) : T(709), part = sizeof(T) == 4 ? T(50) : T(372);
  constexpr T grown = sizeof(T) == 4 ? T(5.184705528587072464e21) : T(3.610333058129022556e161);
  const bool large = x.re > most, vanishes = x.re == -std::numeric_limits<T>::infinity();
  const T size = math::exp(large ? x.re - 2 * part : x.re), factor = large ? grown : T(1);
  T c = math::cos(x.im), s = math::sin(x.im);
  c = vanishes & (c != c) ? T(0) : c;
  s = vanishes & (s != s) ? T(0) : s;
  const bool is_real = x.im == T(0);
  c = is_real ? T(1) : c;
  return {x.re == std::numeric_limits<T>::infinity() && c != c ? x.re : size * c * factor * factor,
          is_real ? x.im : size * s * factor * factor};
}
}  // namespace detail

struct Exp : Pointwise<1, FloatComplexTypes> {
  static constexpr const char* name = "exp";
  static constexpr bool promotes_to_float = true;
  template <class T>
  TAEDA_HD T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return math::exp(x);
    else
      return detail::complex_exp(x);
  }
  template <class T>
  static bool fits(complex<T> x) {
    constexpr T most = sizeof(T) == 4 ? T(87) : T(708);
    return (x.re > -most) & (x.re < most) & (x.im - x.im == T(0));
  }
  template <class T>
  complex<T> bounded(complex<T> x) const {
    const T size = math::exp(x.re);
    return {size * math::cos(x.im), size * math::sin(x.im)};
  }
};

struct Exp2 : FloatPointwise<1> {
  static constexpr const char* name = "exp2";
  static constexpr ComplexOfOne complex_form{ComplexFunction::Exp2};
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return math::exp2(x);
  }
};

struct Expm1 : FloatPointwise<1> {
  static constexpr const char* name = "expm1";
  static constexpr ComplexOfOne complex_form{ComplexFunction::Expm1};
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return math::expm1(x);
  }
};

struct Log : FloatPointwise<1> {
  static constexpr const char* name = "log";
  static constexpr ComplexOfOne complex_form{ComplexFunction::Log};
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return math::log(x);
  }
};

struct Log2 : FloatPointwise<1> {
  static constexpr const char* name = "log2";
  static constexpr ComplexOfOne complex_form{ComplexFunction::Log2};
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return math::log2(x);
  }
};

struct Log10 : FloatPointwise<1> {
  static constexpr const char* name = "log10";
  static constexpr ComplexOfOne complex_form{ComplexFunction::Log10};
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return math::log10(x);
  }
};

struct Log1p : FloatPointwise<1> {
  static constexpr const char* name = "log1p";
  static constexpr ComplexOfOne complex_form{ComplexFunction::Log1p};
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return math::log1p(x);
  }
};

struct Sin : FloatPointwise<1> {
  static constexpr const char* name = "sin";
  static constexpr ComplexOfOne complex_form{ComplexFunction::Sin};
  static constexpr float bound = 1e6f;
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return math::sin(x);
  }
  template <class T>
  T bounded(T x) const {
    return math::sin_bounded(x);
  }
};

struct Cos : FloatPointwise<1> {
  static constexpr const char* name = "cos";
  static constexpr ComplexOfOne complex_form{ComplexFunction::Cos};
  static constexpr float bound = 1e6f;
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return math::cos(x);
  }
  template <class T>
  T bounded(T x) const {
    return math::cos_bounded(x);
  }
};

struct Tan : FloatPointwise<1> {
  static constexpr const char* name = "tan";
  static constexpr ComplexOfOne complex_form{ComplexFunction::Tan};
  static constexpr float bound = 1e6f;
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return math::tan(x);
  }
  template <class T>
  T bounded(T x) const {
    return math::tan_bounded(x);
  }
};

struct Asin : FloatPointwise<1> {
  static constexpr const char* name = "asin";
  static constexpr ComplexOfOne complex_form{ComplexFunction::Asin};
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return math::asin(x);
  }
};

struct Acos : FloatPointwise<1> {
  static constexpr const char* name = "acos";
  static constexpr ComplexOfOne complex_form{ComplexFunction::Acos};
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return math::acos(x);
  }
};

struct Atan : FloatPointwise<1> {
  static constexpr const char* name = "atan";
  static constexpr ComplexOfOne complex_form{ComplexFunction::Atan};
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return math::atan(x);
  }
};

struct Sinh : FloatPointwise<1> {
  static constexpr const char* name = "sinh";
  static constexpr ComplexOfOne complex_form{ComplexFunction::Sinh};
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return math::sinh(x);
  }
};

struct Cosh : FloatPointwise<1> {
  static constexpr const char* name = "cosh";
  static constexpr ComplexOfOne complex_form{ComplexFunction::Cosh};
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return math::cosh(x);
  }
};

struct Tanh : FloatPointwise<1> {
  static constexpr const char* name = "tanh";
  static constexpr ComplexOfOne complex_form{ComplexFunction::Tanh};
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return math::tanh(x);
  }
};

struct Erf : FloatPointwise<1> {
  static constexpr const char* name = "erf";
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return math::erf(x);
  }
};

struct Erfc : FloatPointwise<1> {
  static constexpr const char* name = "erfc";
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return math::erfc(x);
  }
};

struct Sigmoid : FloatPointwise<1> {
  static constexpr const char* name = "sigmoid";
  static constexpr ComplexOfOne complex_form{ComplexFunction::Sigmoid};
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return math::sigmoid(x);
  }
};

using TranscendentalOps = OpList<Exp, Exp2, Expm1, Log, Log2, Log10, Log1p, Sin, Cos, Tan, Asin,
                                 Acos, Atan, Sinh, Cosh, Tanh, Erf, Erfc, Sigmoid>;

}  // namespace taeda::inline v0_2
