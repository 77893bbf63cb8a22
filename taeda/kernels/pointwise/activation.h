// Formulas of activations that are not compositions of others.
#pragma once

#include "taeda/kernels/math.h"
#include "taeda/kernels/normal_cdf.h"
#include "taeda/kernels/pointwise.h"

namespace taeda::inline v0_2 {

namespace detail {

constexpr double kInverseRootTwoPi = 0.39894228040143267794;  // 1 / sqrt(2 pi)
constexpr double kRootTwoOverPi = 0.79788456080286535588, kGeluCubic = 0.044715;

/// An activation's base: one input, floating dtypes.
struct FloatUnary {
  static constexpr int arity = 1;
  using Types = FloatTypes;
};
/// A gradient's base: the gradient of the result, and the input or the result.
struct FloatBinary {
  static constexpr int arity = 2;
  using Types = FloatTypes;
};

/// log(1 + e^x), which for large x is x.
template <class T>
TAEDA_HD T softplus(T x) {
  return (x > T(0) ? x : T(0)) + math::log1p(math::exp(-math::fabs(x)));
}

/// sqrt(2/pi) (x + 0.044715 x^3), the argument of tanh in the approximated GELU.
template <class T>
TAEDA_HD T gelu_inner(T x) {
  return T(kRootTwoOverPi) * (x + T(kGeluCubic) * x * x * x);
}

}  // namespace detail

/// x > 0 ? x : 0; NaN stays NaN.
struct Relu : Pointwise<1, RealTypes> {
  static constexpr const char* name = "relu";
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return x < T(0) ? T(0) : x;
  }
};

/// x > threshold ? x : value
struct Threshold : detail::FloatUnary {
  static constexpr const char* name = "threshold";
  double threshold, value;
  Threshold(double t = 0, double v = 0) : threshold(t), value(v) {}

  template <class T>
  struct Bound {
    T threshold, value;
    TAEDA_HD T operator()(T x) const { return x <= threshold ? value : x; }
  };
  template <class T>
  Bound<T> bind() const {
    return {static_cast<T>(threshold), static_cast<T>(value)};
  }
};

struct LeakyRelu : detail::FloatUnary {
  static constexpr const char* name = "leaky_relu";
  double slope;
  explicit LeakyRelu(double s = 0.01) : slope(s) {}

  template <class T>
  struct Bound {
    T slope;
    TAEDA_HD T operator()(T x) const { return x > T(0) ? x : x * slope; }
  };
  template <class T>
  Bound<T> bind() const {
    return {static_cast<T>(slope)};
  }
};

/// x > 0 ? x : weight x
struct Prelu : Pointwise<2, FloatTypes> {
  static constexpr const char* name = "prelu";
  template <class T>
  TAEDA_HD T operator()(T x, T weight) const {
    return x > T(0) ? x : x * weight;
  }
};

/// x > 0 ? scale x : scale alpha (e^(input_scale x) - 1)
struct Elu : detail::FloatUnary {
  static constexpr const char* name = "elu";
  double alpha, scale, input_scale;
  Elu(double a = 1, double s = 1, double i = 1) : alpha(a), scale(s), input_scale(i) {}

  template <class T>
  struct Bound {
    T negative, scale, input_scale;
    TAEDA_HD T operator()(T x) const {
      return x <= T(0) ? negative * math::expm1(x * input_scale) : x * scale;
    }
  };
  template <class T>
  Bound<T> bind() const {
    return {static_cast<T>(alpha * scale), static_cast<T>(scale), static_cast<T>(input_scale)};
  }
};

/// x Phi(x), Phi the normal distribution function.
struct Gelu : detail::FloatUnary {
  static constexpr const char* name = "gelu";
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return x * math::normal_cdf(x);
  }
};

/// The approximation of GELU with tanh (Hendrycks and Gimpel, arXiv:1606.08415), by
/// (1 + tanh(u)) / 2 = 1 / (1 + e^-2u).
struct GeluTanh : detail::FloatUnary {
  static constexpr const char* name = "gelu_tanh";
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return x / (T(1) + math::exp(T(-2) * detail::gelu_inner(x)));
  }
};

/// x sigmoid(x)
struct Silu : detail::FloatUnary {
  static constexpr const char* name = "silu";
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return x * math::sigmoid(x);
  }
};

/// x tanh(log(1 + e^x)) (Misra, arXiv:1908.08681)
struct Mish : detail::FloatUnary {
  static constexpr const char* name = "mish";
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return x * math::tanh(detail::softplus(x));
  }
};

/// log(1 + e^(beta x)) / beta; x itself where beta x is above the threshold.
struct Softplus : detail::FloatUnary {
  static constexpr const char* name = "softplus";
  double beta, threshold;
  Softplus(double b = 1, double t = 20) : beta(b), threshold(t) {}

  template <class T>
  struct Bound {
    T beta, threshold;
    TAEDA_HD T operator()(T x) const {
      const T y = detail::softplus(x * beta) / beta;
      return x * beta > threshold ? x : y;
    }
  };
  template <class T>
  Bound<T> bind() const {
    return {static_cast<T>(beta), static_cast<T>(threshold)};
  }
};

/// log(sigmoid(x)) = -log(1 + e^-x)
struct LogSigmoid : detail::FloatUnary {
  static constexpr const char* name = "log_sigmoid";
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return -detail::softplus(-x);
  }
};

/// min(max(x + 3, 0), 6) / 6
struct Hardsigmoid : detail::FloatUnary {
  static constexpr const char* name = "hardsigmoid";
  template <class T>
  TAEDA_HD T operator()(T x) const {
    const T y = x + T(3);
    const T up = y < T(0) ? T(0) : y;
    return (up > T(6) ? T(6) : up) / T(6);
  }
};

/// x hardsigmoid(x)
struct Hardswish : detail::FloatUnary {
  static constexpr const char* name = "hardswish";
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return x * Hardsigmoid()(x);
  }
};

/// x moved by lambd towards 0; 0 within lambd of it.
struct Softshrink : detail::FloatUnary {
  static constexpr const char* name = "softshrink";
  double lambd;
  explicit Softshrink(double l = 0.5) : lambd(l) {}

  template <class T>
  struct Bound {
    T lambd;
    TAEDA_HD T operator()(T x) const {
      return x > lambd ? x - lambd : x < -lambd ? x + lambd : x != x ? x : T(0);
    }
  };
  template <class T>
  Bound<T> bind() const {
    return {static_cast<T>(lambd)};
  }
};

using ActivationOps = OpList<Relu, Threshold, LeakyRelu, Prelu, Elu, Gelu, GeluTanh, Silu, Mish,
                             Softplus, LogSigmoid, Hardsigmoid, Hardswish, Softshrink>;

}  // namespace taeda::inline v0_2
