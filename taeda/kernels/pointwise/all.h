// Every pointwise formula, for backends and for tests of coverage.
#pragma once

#include "taeda/kernels/pointwise/activation.h"
#include "taeda/kernels/pointwise/activation_backward.h"
#include "taeda/kernels/pointwise/arithmetic.h"
#include "taeda/kernels/pointwise/compare.h"
#include "taeda/kernels/pointwise/complex.h"
#include "taeda/kernels/pointwise/composed.h"
#include "taeda/kernels/pointwise/loss.h"
#include "taeda/kernels/pointwise/special.h"
#include "taeda/kernels/pointwise/special_functions.h"
#include "taeda/kernels/pointwise/transcendental.h"
#include "taeda/kernels/pointwise/unary.h"

namespace taeda::inline v0_2 {

template <class F>
void for_each_pointwise_slot(F&& f) {
  const auto each = [&f]<class Op>() { f.template operator()<&pointwise_slot<Op>>(); };
  ActivationOps::for_each(each);
  ActivationBackwardOps::for_each(each);
  ArithmeticOps::for_each(each);
  CompareOps::for_each(each);
  ComplexOps::for_each(each);
  ComposedOps::for_each(each);
  LossOps::for_each(each);
  SpecialOps::for_each(each);
  SpecialFunctionOps::for_each(each);
  TranscendentalOps::for_each(each);
  UnaryOps::for_each(each);
}

}  // namespace taeda
