// Gradients of activations: operand g is the gradient of the result, x the input (or, where said,
// the result).
#pragma once

#include "taeda/kernels/pointwise/activation.h"

namespace taeda::inline v0_2 {

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

/// By x, and by the weight.
struct PreluBackward : Pointwise<3, FloatTypes> {
  static constexpr const char* name = "prelu_backward";
  template <class T>
  TAEDA_HD T operator()(T g, T x, T weight) const {
    return x > T(0) ? g : g * weight;
  }
};
struct PreluWeightBackward : detail::FloatBinary {
  static constexpr const char* name = "prelu_weight_backward";
  template <class T>
  TAEDA_HD T operator()(T g, T x) const {
    return x > T(0) ? T(0) : g * x;
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

struct GeluBackward : detail::FloatBinary {
  static constexpr const char* name = "gelu_backward";
  template <class T>
  TAEDA_HD T operator()(T g, T x) const {
    const T cdf = math::normal_cdf(x);
    const T density = T(detail::kInverseRootTwoPi) * math::exp(T(-0.5) * x * x);
    return g * (cdf + x * density);
  }
};

struct GeluTanhBackward : detail::FloatBinary {
  static constexpr const char* name = "gelu_tanh_backward";
  template <class T>
  TAEDA_HD T operator()(T g, T x) const {
    const T t = math::tanh(detail::gelu_inner(x));
    // From 20 on the slope of tanh is 0; the square of larger numbers may overflow.
    const T square = x * x > T(400) ? T(400) : x * x;
    const T slope = T(detail::kRootTwoOverPi) * (T(1) + T(3 * detail::kGeluCubic) * square);
    return g * (T(0.5) * (T(1) + t) + T(0.5) * x * (T(1) - t * t) * slope);
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

struct MishBackward : detail::FloatBinary {
  static constexpr const char* name = "mish_backward";
  template <class T>
  TAEDA_HD T operator()(T g, T x) const {
    const T t = math::tanh(detail::softplus(x));
    return g * (t + x * math::sigmoid(x) * (T(1) - t * t));
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

struct LogSigmoidBackward : detail::FloatBinary {
  static constexpr const char* name = "log_sigmoid_backward";
  template <class T>
  TAEDA_HD T operator()(T g, T x) const {
    return g * math::sigmoid(-x);
  }
};

struct HardswishBackward : detail::FloatBinary {
  static constexpr const char* name = "hardswish_backward";
  template <class T>
  TAEDA_HD T operator()(T g, T x) const {
    const T middle = g * (x / T(3) + T(0.5));
    return x <= T(-3) ? T(0) : x >= T(3) ? g : middle;
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

using ActivationBackwardOps =
    OpList<ThresholdBackward, LeakyReluBackward, PreluBackward, PreluWeightBackward, EluBackward,
           GeluBackward, GeluTanhBackward, SiluBackward, MishBackward, SoftplusBackward,
           LogSigmoidBackward, HardswishBackward, InsideBackward, OutsideBackward>;

}  // namespace taeda::inline v0_2
