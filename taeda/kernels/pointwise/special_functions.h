// Formulas of higher transcendental functions. Each family is one formula with the function as its
// parameter: beside their cost the choice costs nothing, and every dtype has one kernel for all.
// They compute in double, and are called rather than inlined: a GPU's compiler would repeat each
// for every dtype, access and element of a pack, for minutes.
#pragma once

#include "taeda/kernels/bessel.h"
#include "taeda/kernels/gamma.h"
#include "taeda/kernels/math.h"
#include "taeda/kernels/normal.h"
#include "taeda/kernels/orthogonal.h"
#include "taeda/kernels/pointwise.h"

namespace taeda::inline v0_2 {

enum class SpecialFunction : int32_t {
  AiryAi,
  BesselJ0,
  BesselJ1,
  BesselY0,
  BesselY1,
  BesselI0,
  BesselI1,
  ScaledBesselI0,
  ScaledBesselI1,
  BesselK0,
  BesselK1,
  ScaledBesselK0,
  ScaledBesselK1,
  SphericalBesselJ0,
  Erfcx,
  LogNdtr,
  Ndtri,
};

/// A function of one number.
struct SpecialOfOne {
  static constexpr const char* name = "special";
  static constexpr int arity = 1;
  static constexpr bool promotes_to_float = true;
  using Types = FloatTypes;
  SpecialFunction function = SpecialFunction::AiryAi;

  TAEDA_HD float operator()(float x) const { return static_cast<float>((*this)(double(x))); }
  TAEDA_NOINLINE TAEDA_HD double operator()(double x) const {
    switch (function) {
      case SpecialFunction::AiryAi: return math::airy_ai(x);
      case SpecialFunction::BesselJ0: return math::bessel_j(0, x);
      case SpecialFunction::BesselJ1: return math::bessel_j(1, x);
      case SpecialFunction::BesselY0: return math::bessel_y(0, x);
      case SpecialFunction::BesselY1: return math::bessel_y(1, x);
      case SpecialFunction::BesselI0: return math::bessel_i(0, x);
      case SpecialFunction::BesselI1: return math::bessel_i(1, x);
      case SpecialFunction::ScaledBesselI0: return math::scaled_bessel_i(0, x);
      case SpecialFunction::ScaledBesselI1: return math::scaled_bessel_i(1, x);
      case SpecialFunction::BesselK0: return math::bessel_k(0, x);
      case SpecialFunction::BesselK1: return math::bessel_k(1, x);
      case SpecialFunction::ScaledBesselK0: return math::scaled_bessel_k(0, x);
      case SpecialFunction::ScaledBesselK1: return math::scaled_bessel_k(1, x);
      case SpecialFunction::SphericalBesselJ0:
        return x == 0 ? 1 : std::isinf(x) ? 0 : std::sin(x) / x;
      case SpecialFunction::Erfcx: return math::erfcx(x);
      case SpecialFunction::LogNdtr: return math::log_ndtr(x);
      case SpecialFunction::Ndtri: return math::ndtri(x);
    }
    return double(NAN);
  }
};

/// The normal distribution function.
struct Ndtr : FloatPointwise<1> {
  static constexpr const char* name = "ndtr";
  /// erfc(y) falls like e^(-y^2): what y lost when it was rounded counts 2 y times.
  TAEDA_HD float operator()(float x) const {
    const double exact = -static_cast<double>(x) * math::detail::kSqrtHalf;
    const float y = static_cast<float>(exact), lost = static_cast<float>(exact - y);
    const float rest = y > 0.0f ? 2.0f * y * lost : 0.0f;
    return 0.5f * math::erfc(y) * (1.0f - (y < 20.0f ? rest : 0.0f));
  }
  TAEDA_HD double operator()(double x) const {
    return 0.5 * math::erfc(-x * math::detail::kSqrtHalf);
  }
};

enum class SpecialPair : int32_t { GammaInc, GammaIncc, Zeta };

/// A function of two numbers.
struct SpecialOfTwo {
  static constexpr const char* name = "special_of_two";
  static constexpr int arity = 2;
  static constexpr bool promotes_to_float = true;
  using Types = FloatTypes;
  SpecialPair function = SpecialPair::GammaInc;

  TAEDA_HD float operator()(float a, float b) const {
    return static_cast<float>((*this)(double(a), double(b)));
  }
  TAEDA_NOINLINE TAEDA_HD double operator()(double a, double b) const {
    if (function == SpecialPair::Zeta) return math::hurwitz_zeta(a, b);
    return math::incomplete_gamma(a, b, function == SpecialPair::GammaInc);
  }
};

/// An orthogonal polynomial at x, of 2 x - 1 if `shifted`, of a degree for each element.
struct OrthogonalPolynomial {
  static constexpr const char* name = "polynomial";
  static constexpr int arity = 2;
  static constexpr bool promotes_to_float = true;
  using Types = FloatTypes;
  math::Polynomial polynomial = math::Polynomial::ChebyshevT;
  bool shifted = false;

  TAEDA_HD float operator()(float x, float n) const {
    return static_cast<float>((*this)(double(x), double(n)));
  }
  TAEDA_NOINLINE TAEDA_HD double operator()(double x, double n) const {
    return math::polynomial(polynomial, shifted ? 2 * x - 1 : x, n);
  }
};

using SpecialFunctionOps = OpList<SpecialOfOne, Ndtr, SpecialOfTwo, OrthogonalPolynomial>;

}  // namespace taeda::inline v0_2
