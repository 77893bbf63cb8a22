// Steps that gradients flow through: the formula of a rule over tensors, by operations that
// autograd records. It works on copies, so that what a step saves for its gradient outlives the
// next one.
#include <array>
#include <cstring>

#include "taeda/autograd/record.h"
#include "taeda/base/error.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/optim/rule_step.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::optim {

namespace {

/// A number of a step; where gradients flow to it, a tensor of that value, too.
struct RecordedNumber {
  double value;
  const Tensor* tensor;
  RecordedNumber(double v = 0, const Tensor* t = nullptr) : value(v), tensor(t) {}
  bool operator<(double other) const { return value < other; }
  bool operator==(double other) const { return value == other; }
};

/// Calls f with the number as what operations take.
template <class F>
Tensor with_number(RecordedNumber n, F&& f) {
  return n.tensor ? f(*n.tensor) : f(Scalar(n.value));
}

/// A value of a formula.
struct Recorded {
  Tensor t;
  Recorded& operator+=(const Recorded& b);
  Recorded& operator-=(const Recorded& b);
  Recorded& operator*=(RecordedNumber n);
};

using RecordedRef = const Recorded&;
Recorded operator-(RecordedRef a) { return {a.t.neg()}; }
Recorded operator+(RecordedRef a, RecordedRef b) { return {a.t.add(b.t)}; }
Recorded operator-(RecordedRef a, RecordedRef b) { return {a.t.sub(b.t)}; }
Recorded operator*(RecordedRef a, RecordedRef b) { return {a.t.mul(b.t)}; }
Recorded operator/(RecordedRef a, RecordedRef b) { return {a.t.div(b.t)}; }
Recorded operator+(RecordedRef a, RecordedNumber n) {
  return {with_number(n, [&](const auto& x) { return a.t.add(x); })};
}
Recorded operator-(RecordedRef a, RecordedNumber n) {
  return {with_number(n, [&](const auto& x) { return a.t.sub(x); })};
}
Recorded operator*(RecordedRef a, RecordedNumber n) {
  return {with_number(n, [&](const auto& x) { return a.t.mul(x); })};
}
Recorded operator*(RecordedNumber n, RecordedRef a) { return a * n; }
Recorded operator/(RecordedRef a, RecordedNumber n) {
  return {with_number(n, [&](const auto& x) { return a.t.div(x); })};
}
Recorded operator/(RecordedNumber n, RecordedRef a) {
  return {with_number(n, [&](const auto& x) { return x / a.t; })};
}
Recorded& Recorded::operator+=(RecordedRef b) { return *this = *this + b; }
Recorded& Recorded::operator-=(RecordedRef b) { return *this = *this - b; }
Recorded& Recorded::operator*=(RecordedNumber n) { return *this = *this * n; }

Tensor operator<(RecordedRef a, RecordedRef b) { return a.t.lt(b.t); }
Tensor operator>(RecordedRef a, RecordedRef b) { return a.t.gt(b.t); }
Tensor operator!=(RecordedRef a, RecordedRef b) { return a.t.ne(b.t); }
Tensor operator<(RecordedRef a, RecordedNumber n) { return a.t.lt(n.value); }
Tensor operator>(RecordedRef a, RecordedNumber n) { return a.t.gt(n.value); }
Recorded chosen(const Tensor& condition, RecordedRef yes, RecordedRef no) {
  return {where(condition, yes.t, no.t)};
}
Recorded chosen(const Tensor& condition, RecordedNumber yes, RecordedRef no) {
  return {where(condition, yes.value, no.t)};
}
Recorded root_of(RecordedRef a) { return {a.t.sqrt()}; }

}  // namespace

}  // namespace taeda::inline v0_2::optim

namespace taeda::inline v0_2 {

template <>
struct FormulaNumber<optim::Recorded> {
  using Type = optim::RecordedNumber;
};

}  // namespace taeda::inline v0_2

namespace taeda::inline v0_2::optim {

namespace {

using LiveNumbers = std::array<Tensor, StepValues::kMost>;

/// The numbers of a step as they follow from the learning rate, in which all of them are linear;
/// none where they do not.
LiveNumbers live_by_rate(const Rule& rule, const double* values, const Lent& l,
                         const StepValues& now, const Tensor& rate) {
  const auto at = [&](double lr) {
    double options[Rule::kMostFields];
    std::copy_n(values, rule.fields.size(), options);
    options[0] = lr;
    StepCount count = l.count;
    if (l.new_numbers && rule.first_numbers) rule.first_numbers(options, count);
    ++count.step;
    return rule.formula(options, count);
  };
  const StepValues none = at(0), one = at(1);
  const Tensor number = rate.reshape(IntArrayRef()).to(kDouble), change = number - number.detach();
  LiveNumbers live;
  for (size_t i = 0; i < live.size(); ++i) {
    const double slope = one.numbers[i] - none.numbers[i];
    if (slope != 0) live[i] = change.mul(slope).add(now.numbers[i]);
  }
  return live;
}

/// That of tensors, with the numbers of this step.
template <template <class> class F>
F<Recorded> recorded_formula(const StepValues& values, const LiveNumbers& live) {
  constexpr size_t count = sizeof(F<double>) / sizeof(double);
  RecordedNumber numbers[count];
  for (size_t i = 0; i < count; ++i)
    numbers[i] = {values.numbers[i], live[i].defined() ? &live[i] : nullptr};
  F<Recorded> out;
  static_assert(sizeof out == sizeof numbers);
  std::memcpy(static_cast<void*>(&out), numbers, sizeof out);
  return out;
}

/// A copy to compute with, as kernels do: 16-bit floats in float32.
Recorded recorded_copy(const Tensor& t) {
  return {is_reduced_floating(t.dtype()) ? t.to(kFloat) : t.clone()};
}

}  // namespace

void RuleStep::record(Lent& l) {
  const Tensor& param = *l.param;
  check(l, /*apart=*/false);
  TAEDA_CHECK(!l.captured && rule_.formula && !rule_.update && !l.grad->is_sparse(), op_,
              ": a step that gradients flow through takes dense gradients, and is no part of a "
              "captured graph");
  const AutoGradMode recording(true);
  autograd::check_inplace(op_, param, /*recorded=*/true);
  Tensor grad = *l.grad;
  if (grad.device() == param.device()) grad = grad.to(param.dtype());
  check_like(op_, "gradient", "", l.group, l.index, grad, param.sizes(), param);
  Recorded p = recorded_copy(param), states[ParamRef::kMaxStates];
  for (size_t n = 0; n < wanted_count_; ++n) {
    const size_t k = wanted_[n];
    const Tensor& present = l.states[k];
    if (present.defined()) {
      check_like(op_, "state ", names_[n], l.group, l.index, present, param.sizes(), param);
      autograd::check_inplace(op_, present, /*recorded=*/true);
    } else if (k == 0) {
      l.count.fresh = true;
    }
    states[n] = recorded_copy(present.defined() ? present : *first_state(rule_, values_, k, param));
  }
  const Lent before = l;
  begin_count(l);
  const StepValues numbers = rule_.formula(values_, l.count);
  LiveNumbers live;
  if (l.rate) live = live_by_rate(rule_, values_, before, numbers, *l.rate);
  StepFormulas::with(numbers.formula, [&]<template <class> class F>() {
    recorded_formula<F>(numbers, live)(p, recorded_copy(grad), states);
  });
  results_.push_back({param, p.t, /*recorded=*/true});
  for (size_t n = 0; n < wanted_count_; ++n) {
    const size_t k = wanted_[n];
    if (l.states[k].defined())
      results_.push_back({l.states[k], states[n].t, /*recorded=*/true});
    else  // a tensor of its own, which later steps may change
      made_.push_back({lent_.size() - 1, k, states[n].t.clone().to(param.dtype())});
  }
}

}  // namespace taeda::inline v0_2::optim
