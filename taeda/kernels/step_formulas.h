// Formulas of optimizers' steps that go element by element, for every device: what becomes of a
// parameter, whose gradient is `g`, and of its state `s`. In PyTorch's order of operations.
//
// A formula is a template of numbers alone: those that the host works out for a step, in double,
// are the formula of double, and a kernel has them in the type that it computes with. Which states
// there are is known when a formula is compiled, so options that need one make a formula of their
// own. A step that gradients flow through is the same formula of tensors (optim/recorded_step.cpp),
// whose numbers are no values: what depends on a value is `chosen`, and what depends on a number
// alone is a condition.
#pragma once

#include <cmath>
#include <cstring>
#include <type_traits>

#include "taeda/base/macros.h"
#include "taeda/kernels/formula.h"

namespace taeda::inline v0_2 {

/// What comes before: a sign below 0 to maximize, and a decay that goes through the gradient. What
/// a formula adds has one product at a time, or vectors and what is left over would round
/// differently.
template <class V>
struct Descent {
  NumberFor<V> sign, decay;
  TAEDA_HD V gradient(V p, V g) const {
    g = sign < 0 ? -g : g;
    return decay != 0 ? g + decay * p : g;
  }
  /// Takes steps off the count that the numbers were worked out for, if they depend on it.
  TAEDA_HD void leave_out(NumberFor<V>) {}
};

/// Likewise, after a decay that shrinks the parameter.
template <class V>
struct ShrinkingDescent : Descent<V> {
  NumberFor<V> shrink;
  TAEDA_HD V gradient(V& p, V g) const {
    p *= shrink;
    return Descent<V>::gradient(p, g);
  }
};

template <class V>
struct SgdFormula : Descent<V> {
  static constexpr int kStates = 0;
  NumberFor<V> lr;
  TAEDA_HD void operator()(V& p, V g, V*) const { p -= lr * this->gradient(p, g); }
};

/// s: momentum. fresh: the gradient's weight in it; nesterov: whether steps go by the next one.
template <class V>
struct MomentumFormula : Descent<V> {
  static constexpr int kStates = 1;
  NumberFor<V> momentum, fresh, nesterov, lr;
  TAEDA_HD void operator()(V& p, V g, V* s) const {
    g = this->gradient(p, g);
    s[0] = s[0] * momentum + fresh * g;
    p -= lr * (nesterov != 0 ? g + momentum * s[0] : s[0]);
  }
};

/// s: mean, mean square, with AMSGrad the largest mean square. rate: lr / (1 - beta1^step);
/// root: sqrt(1 - beta2^step).
template <class V, bool amsgrad>
struct AdamFormulas : ShrinkingDescent<V> {
  static constexpr int kStates = amsgrad ? 3 : 2;
  NumberFor<V> beta1, fresh1, beta2, fresh2, eps, rate, root, lr, step;
  TAEDA_HD void leave_out(NumberFor<V> steps) {
    rate = lr / (1 - std::pow(beta1, step - steps));
    root = std::sqrt(1 - std::pow(beta2, step - steps));
  }
  TAEDA_HD void operator()(V& p, V g, V* s) const {
    g = this->gradient(p, g);
    s[0] = s[0] * beta1 + fresh1 * g;
    s[1] = s[1] * beta2 + fresh2 * g * g;
    V square = s[1];
    if constexpr (amsgrad) square = s[2] = chosen(s[2] < square, square, s[2]);
    p -= rate * s[0] / (root_of(square) / root + eps);
  }
};
template <class V>
using AdamFormula = AdamFormulas<V, false>;
template <class V>
using AmsgradFormula = AdamFormulas<V, true>;

/// s: mean square; with momentum the sum of past steps; where it is centred, the mean.
template <class V, bool momentum_too, bool centered>
struct RmspropFormulas : Descent<V> {
  static constexpr int kStates = 1 + momentum_too + centered;
  NumberFor<V> alpha, fresh, eps, momentum, lr;
  TAEDA_HD void operator()(V& p, V g, V* s) const {
    g = this->gradient(p, g);
    s[0] = s[0] * alpha + fresh * g * g;
    V variance = s[0];
    if constexpr (centered) {
      V& mean = s[kStates - 1];
      mean = mean * alpha + fresh * g;
      variance -= mean * mean;
    }
    const V root = root_of(variance) + eps;
    if constexpr (momentum_too) {
      s[1] = s[1] * momentum + g / root;
      p -= lr * s[1];
    } else {
      p -= lr * g / root;
    }
  }
};
template <class V>
using RmspropFormula = RmspropFormulas<V, false, false>;
template <class V>
using CenteredRmspropFormula = RmspropFormulas<V, false, true>;
template <class V>
using RmspropMomentumFormula = RmspropFormulas<V, true, false>;
template <class V>
using CenteredRmspropMomentumFormula = RmspropFormulas<V, true, true>;

/// s: sum of squares. rate: lr / (1 + (step - 1) * lr_decay).
template <class V>
struct AdagradFormula : Descent<V> {
  static constexpr int kStates = 1;
  NumberFor<V> eps, rate, lr, lr_decay, step;
  TAEDA_HD void leave_out(NumberFor<V> steps) { rate = lr / (1 + (step - steps - 1) * lr_decay); }
  TAEDA_HD void operator()(V& p, V g, V* s) const {
    g = this->gradient(p, g);
    s[0] += g * g;
    p -= rate * g / (root_of(s[0]) + eps);
  }
};

/// s: mean, largest. rate: lr / (1 - beta1^t).
template <class V>
struct AdamaxFormula : Descent<V> {
  static constexpr int kStates = 2;
  NumberFor<V> beta1, fresh1, beta2, eps, rate;
  TAEDA_HD void operator()(V& p, V g, V* s) const {
    g = this->gradient(p, g);
    s[0] = s[0] * beta1 + fresh1 * g;
    const V known = s[1] * beta2, seen = chosen(g < 0, -g, g) + eps;
    s[1] = chosen(seen > known, seen, chosen(seen != seen, seen, known));
    p -= rate * s[0] / s[1];
  }
};

/// s: mean, mean square. root: sqrt(1 - beta2^t); of_grad, of_mean: rates.
template <class V>
struct NAdamFormula : ShrinkingDescent<V> {
  static constexpr int kStates = 2;
  NumberFor<V> beta1, fresh1, beta2, fresh2, eps, root, of_grad, of_mean;
  TAEDA_HD void operator()(V& p, V g, V* s) const {
    g = this->gradient(p, g);
    s[0] = s[0] * beta1 + fresh1 * g;
    s[1] = s[1] * beta2 + fresh2 * g * g;
    p -= (of_grad * g + of_mean * s[0]) / (root_of(s[1]) / root + eps);
  }
};

/// s: mean, mean square. rate: lr / (1 - beta1^t); rectified: 0 while the variance is not known.
template <class V>
struct RAdamFormula : ShrinkingDescent<V> {
  static constexpr int kStates = 2;
  NumberFor<V> beta1, fresh1, beta2, fresh2, eps, rate, rectified;
  TAEDA_HD void operator()(V& p, V g, V* s) const {
    g = this->gradient(p, g);
    s[0] = s[0] * beta1 + fresh1 * g;
    s[1] = s[1] * beta2 + fresh2 * g * g;
    const V step = rate * s[0];
    p -= rectified != 0 ? step * (rectified / (root_of(s[1]) + eps)) : step;
  }
};

/// s: mean square of gradients, of steps.
template <class V>
struct AdadeltaFormula : Descent<V> {
  static constexpr int kStates = 2;
  NumberFor<V> rho, fresh, eps, lr;
  TAEDA_HD void operator()(V& p, V g, V* s) const {
    g = this->gradient(p, g);
    s[0] = s[0] * rho + fresh * g * g;
    const V step = root_of(s[1] + eps) / root_of(s[0] + eps) * g;
    s[1] = s[1] * rho + fresh * step * step;
    p -= lr * step;
  }
};

/// s: the gradient before, the size of the step.
template <class V>
struct RpropFormula : Descent<V> {
  static constexpr int kStates = 2;
  NumberFor<V> down, up, least, most;
  TAEDA_HD void operator()(V& p, V g, V* s) const {
    g = this->gradient(p, g);
    const V agreement = g * s[0];
    const V size = chosen(agreement < 0, s[1] * down, chosen(agreement > 0, s[1] * up, s[1]));
    s[0] = chosen(agreement < 0, NumberFor<V>(0), g);
    s[1] = chosen(size < least, least, chosen(size > most, most, size));
    p = chosen(s[0] > 0, p - s[1], chosen(s[0] < 0, p + s[1], p));
  }
};

/// s: mean of the parameter. weight: of the new one; shrunk: 1 - lambd * eta.
template <class V>
struct AsgdFormula : Descent<V> {
  static constexpr int kStates = 1;
  NumberFor<V> shrunk, eta, weight;
  TAEDA_HD void operator()(V& p, V g, V* s) const {
    g = this->gradient(p, g);
    p = p * shrunk - eta * g;
    s[0] = weight == 1 ? p : s[0] + weight * (p - s[0]);
  }
};

/// s: mean.
template <class V>
struct LionFormula : ShrinkingDescent<V> {
  static constexpr int kStates = 1;
  NumberFor<V> beta1, fresh1, beta2, fresh2, lr;
  TAEDA_HD void operator()(V& p, V g, V* s) const {
    g = this->gradient(p, g);
    const V mixed = s[0] * beta1 + fresh1 * g;
    p = chosen(mixed > 0, p - lr, chosen(mixed < 0, p + lr, p));
    s[0] = s[0] * beta2 + fresh2 * g;
  }
};

/// s: fast mean, slow mean, mean square. fast, slow: rates of the means.
template <class V>
struct AdEMAMixFormula : ShrinkingDescent<V> {
  static constexpr int kStates = 3;
  NumberFor<V> beta1, fresh1, beta2, fresh2, beta3, fresh3, eps, root, fast, slow;
  TAEDA_HD void operator()(V& p, V g, V* s) const {
    g = this->gradient(p, g);
    s[0] = s[0] * beta1 + fresh1 * g;
    s[1] = s[1] * beta3 + fresh3 * g;
    s[2] = s[2] * beta2 + fresh2 * g * g;
    p -= (fast * s[0] + slow * s[1]) / (root_of(s[2]) / root + eps);
  }
};

/// All formulas: one more is a row here.
using StepFormulas =
    FormulaList<SgdFormula, MomentumFormula, AdamFormula, AmsgradFormula, RmspropFormula,
                CenteredRmspropFormula, RmspropMomentumFormula, CenteredRmspropMomentumFormula,
                AdagradFormula, AdamaxFormula, NAdamFormula, RAdamFormula, AdadeltaFormula,
                RpropFormula, AsgdFormula, LionFormula, AdEMAMixFormula>;

/// The numbers of a formula as they are sent to a kernel.
template <template <class> class F>
StepValues step_values(const F<double>& numbers) {
  static_assert(std::is_trivially_copyable_v<F<double>>);
  static_assert(sizeof numbers <= sizeof StepValues::numbers);
  StepValues out{StepFormulas::number_of<F>(), {}};
  std::memcpy(out.numbers, &numbers, sizeof numbers);
  return out;
}

/// The formula in the type that a kernel computes with.
template <template <class> class F, class V>
TAEDA_HD F<V> formula_of(const double* numbers) {
  using N = NumberFor<V>;
  N converted[sizeof(F<V>) / sizeof(N)];
  for (size_t i = 0; i < sizeof(F<V>) / sizeof(N); ++i) converted[i] = static_cast<N>(numbers[i]);
  F<V> out;
  memcpy(&out, converted, sizeof out);
  return out;
}

/// That of a parameter in a graph, from the numbers of its replay.
template <template <class> class F, class V>
TAEDA_HD F<V> formula_of(const double* live, const double* skip) {
  if (!skip) return formula_of<F, V>(live);
  double numbers[sizeof(F<double>) / sizeof(double)];
  F<double> known = formula_of<F, double>(live);
  known.leave_out(skip[1]);
  memcpy(numbers, &known, sizeof numbers);
  return formula_of<F, V>(numbers);
}

}  // namespace taeda::inline v0_2
