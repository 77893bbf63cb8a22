// Formulas of the losses that go element by element: (input, target) -> loss.
#pragma once

#include "taeda/kernels/math.h"
#include "taeda/kernels/pointwise.h"

namespace taeda::inline v0_2 {

struct MseLoss : Pointwise<2, FloatTypes> {
  static constexpr const char* name = "mse_loss";
  template <class T>
  TAEDA_HD T operator()(T x, T t) const {
    return (x - t) * (x - t);
  }
};

struct L1Loss : Pointwise<2, FloatTypes> {
  static constexpr const char* name = "l1_loss";
  template <class T>
  TAEDA_HD T operator()(T x, T t) const {
    return x < t ? t - x : x - t;
  }
};

struct SmoothL1Loss {
  static constexpr const char* name = "smooth_l1_loss";
  static constexpr int arity = 2;
  using Types = FloatTypes;
  double beta;

  template <class T>
  struct Bound {
    T beta;
    TAEDA_HD T operator()(T x, T t) const {
      const T d = x < t ? t - x : x - t;
      return d < beta ? T(0.5) * d * d / beta : d - T(0.5) * beta;
    }
  };
  template <class T>
  Bound<T> bind() const {
    return {static_cast<T>(beta)};
  }
};

struct HuberLoss {
  static constexpr const char* name = "huber_loss";
  static constexpr int arity = 2;
  using Types = FloatTypes;
  double delta;

  template <class T>
  struct Bound {
    T delta;
    TAEDA_HD T operator()(T x, T t) const {
      const T d = x < t ? t - x : x - t;
      return d <= delta ? T(0.5) * d * d : delta * (d - T(0.5) * delta);
    }
  };
  template <class T>
  Bound<T> bind() const {
    return {static_cast<T>(delta)};
  }
};

/// -(t log x + (1 - t) log(1 - x)), logarithms cut off at -100.
struct BinaryCrossEntropy : Pointwise<2, FloatTypes> {
  static constexpr const char* name = "binary_cross_entropy";
  template <class T>
  TAEDA_HD T operator()(T x, T t) const {
    const T a = math::log(x), b = math::log1p(-x);
    return (t - T(1)) * (b < T(-100) ? T(-100) : b) - t * (a < T(-100) ? T(-100) : a);
  }
};

/// The same of sigmoid(x): max(x, 0) - x t + log(1 + exp(-|x|)).
struct BinaryCrossEntropyLogits : Pointwise<2, FloatTypes> {
  static constexpr const char* name = "binary_cross_entropy_with_logits";
  template <class T>
  TAEDA_HD T operator()(T x, T t) const {
    const T a = x < T(0) ? -x : x;
    return (x > T(0) ? x : x != x ? x : T(0)) - x * t + math::log1p(math::exp(-a));
  }
};

/// t (log t - x), 0 where t = 0; of log-probabilities t, exp(t) (t - x).
struct KlDiv {
  static constexpr const char* name = "kl_div";
  static constexpr int arity = 2;
  using Types = FloatTypes;
  bool log_target;

  template <class T>
  struct Bound {
    bool log_target;
    TAEDA_HD T operator()(T x, T t) const {
      if (log_target) return math::exp(t) * (t - x);
      return t == T(0) ? T(0) : t * (math::log(t) - x);
    }
  };
  template <class T>
  Bound<T> bind() const {
    return {log_target};
  }
};

using LossOps = OpList<MseLoss, L1Loss, SmoothL1Loss, HuberLoss, BinaryCrossEntropy,
                       BinaryCrossEntropyLogits, KlDiv>;

}  // namespace taeda
