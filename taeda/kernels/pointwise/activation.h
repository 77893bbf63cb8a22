// Formulas of activations that are not compositions of others.
#pragma once

#include "taeda/kernels/math.h"
#include "taeda/kernels/pointwise.h"

namespace taeda {

namespace detail {

constexpr double kRootHalf = 0.70710678118654752440;          // sqrt(1/2)
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

/// tanh(sqrt(2/pi) (x + 0.044715 x^3)), the inner part of the approximated GELU.
template <class T>
TAEDA_HD T gelu_inner(T x) {
  return math::tanh(T(kRootTwoOverPi) * (x + T(kGeluCubic) * x * x * x));
}

}  // namespace detail

/// x > 0 ? x : 0; NaN stays NaN.
struct Relu {
  static constexpr const char* name = "relu";
  static constexpr int arity = 1;
  using Types = RealTypes;
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

/// x > threshold ? g : 0
struct ThresholdBackward : detail::FloatBinary {
  static constexpr const char* name = "threshold_backward";
  double threshold;
  explicit ThresholdBackward(double t = 0) : threshold(t) {}

  template <class T>
  struct Bound {
    T threshold;
    TAEDA_HD T operator()(T g, T x) const { return x <= threshold ? T(0) : g; }
  };
  template <class T>
  Bound<T> bind() const {
    return {static_cast<T>(threshold)};
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

struct LeakyReluBackward : detail::FloatBinary {
  static constexpr const char* name = "leaky_relu_backward";
  double slope;
  explicit LeakyReluBackward(double s = 0.01) : slope(s) {}

  template <class T>
  struct Bound {
    T slope;
    TAEDA_HD T operator()(T g, T x) const { return x > T(0) ? g : g * slope; }
  };
  template <class T>
  Bound<T> bind() const {
    return {static_cast<T>(slope)};
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

struct EluBackward : detail::FloatBinary {
  static constexpr const char* name = "elu_backward";
  double alpha, scale, input_scale;
  EluBackward(double a = 1, double s = 1, double i = 1) : alpha(a), scale(s), input_scale(i) {}

  template <class T>
  struct Bound {
    T negative, scale, input_scale;
    TAEDA_HD T operator()(T g, T x) const {
      return g * (x <= T(0) ? negative * math::exp(x * input_scale) : scale);
    }
  };
  template <class T>
  Bound<T> bind() const {
    return {static_cast<T>(alpha * scale * input_scale), static_cast<T>(scale),
            static_cast<T>(input_scale)};
  }
};

/// x Phi(x), Phi the normal distribution function.
struct Gelu : detail::FloatUnary {
  static constexpr const char* name = "gelu";
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return T(0.5) * x * (T(1) + math::erf(x * T(detail::kRootHalf)));
  }
};

struct GeluBackward : detail::FloatBinary {
  static constexpr const char* name = "gelu_backward";
  template <class T>
  TAEDA_HD T operator()(T g, T x) const {
    const T cdf = T(0.5) * (T(1) + math::erf(x * T(detail::kRootHalf)));
    const T density = T(detail::kInverseRootTwoPi) * math::exp(T(-0.5) * x * x);
    return g * (cdf + x * density);
  }
};

/// The approximation of GELU with tanh (Hendrycks and Gimpel, arXiv:1606.08415).
struct GeluTanh : detail::FloatUnary {
  static constexpr const char* name = "gelu_tanh";
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return T(0.5) * x * (T(1) + detail::gelu_inner(x));
  }
};

struct GeluTanhBackward : detail::FloatBinary {
  static constexpr const char* name = "gelu_tanh_backward";
  template <class T>
  TAEDA_HD T operator()(T g, T x) const {
    const T t = detail::gelu_inner(x);
    const T slope = T(detail::kRootTwoOverPi) * (T(1) + T(3 * detail::kGeluCubic) * x * x);
    return g * (T(0.5) * (T(1) + t) + T(0.5) * x * (T(1) - t * t) * slope);
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

struct SiluBackward : detail::FloatBinary {
  static constexpr const char* name = "silu_backward";
  template <class T>
  TAEDA_HD T operator()(T g, T x) const {
    const T s = math::sigmoid(x);
    return g * s * (T(1) + x * (T(1) - s));
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

struct MishBackward : detail::FloatBinary {
  static constexpr const char* name = "mish_backward";
  template <class T>
  TAEDA_HD T operator()(T g, T x) const {
    const T t = math::tanh(detail::softplus(x));
    return g * (t + x * math::sigmoid(x) * (T(1) - t * t));
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

struct SoftplusBackward : detail::FloatBinary {
  static constexpr const char* name = "softplus_backward";
  double beta, threshold;
  SoftplusBackward(double b = 1, double t = 20) : beta(b), threshold(t) {}

  template <class T>
  struct Bound {
    T beta, threshold;
    TAEDA_HD T operator()(T g, T x) const {
      const T y = g * math::sigmoid(x * beta);
      return x * beta > threshold ? g : y;
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

struct LogSigmoidBackward : detail::FloatBinary {
  static constexpr const char* name = "log_sigmoid_backward";
  template <class T>
  TAEDA_HD T operator()(T g, T x) const {
    return g * math::sigmoid(-x);
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

struct HardswishBackward : detail::FloatBinary {
  static constexpr const char* name = "hardswish_backward";
  template <class T>
  TAEDA_HD T operator()(T g, T x) const {
    const T middle = g * (x / T(3) + T(0.5));
    return x < T(-3) ? T(0) : x > T(3) ? g : middle;
  }
};

/// low < x < high ? g : 0
struct InsideBackward : detail::FloatBinary {
  static constexpr const char* name = "inside_backward";
  double low, high;
  InsideBackward(double l = -1, double h = 1) : low(l), high(h) {}

  template <class T>
  struct Bound {
    T low, high;
    TAEDA_HD T operator()(T g, T x) const { return x <= low || x >= high ? T(0) : g; }
  };
  template <class T>
  Bound<T> bind() const {
    return {static_cast<T>(low), static_cast<T>(high)};
  }
};

/// -lambd <= x <= lambd ? 0 : g
struct OutsideBackward : detail::FloatBinary {
  static constexpr const char* name = "outside_backward";
  double lambd;
  explicit OutsideBackward(double l = 0.5) : lambd(l) {}

  template <class T>
  struct Bound {
    T lambd;
    TAEDA_HD T operator()(T g, T x) const { return x >= -lambd && x <= lambd ? T(0) : g; }
  };
  template <class T>
  Bound<T> bind() const {
    return {static_cast<T>(lambd)};
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

using ActivationOps =
    OpList<Relu, Threshold, ThresholdBackward, LeakyRelu, LeakyReluBackward, Elu, EluBackward, Gelu,
           GeluBackward, GeluTanh, GeluTanhBackward, Silu, SiluBackward, Mish, MishBackward,
           Softplus, SoftplusBackward, LogSigmoid, LogSigmoidBackward, Hardsigmoid, Hardswish,
           HardswishBackward, InsideBackward, OutsideBackward, Softshrink>;

}  // namespace taeda
