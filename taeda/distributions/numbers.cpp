#include "taeda/distributions/numbers.h"

#include <cmath>
#include <limits>

#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/activation.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/special.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/random/random.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::distributions {

double epsilon_of(ScalarType dtype) {
  switch (dtype) {
    case kDouble: return std::numeric_limits<double>::epsilon();
    case kHalf: return std::ldexp(1.0, -10);
    case kBFloat16: return std::ldexp(1.0, -7);
    default: return std::numeric_limits<float>::epsilon();
  }
}

double tiny_of(ScalarType dtype) {
  switch (dtype) {
    case kDouble: return std::numeric_limits<double>::min();
    case kHalf: return std::ldexp(1.0, -14);
    default: return std::numeric_limits<float>::min();  // bfloat16 has float's exponents
  }
}

double largest_of(ScalarType dtype) {
  switch (dtype) {
    case kDouble: return std::numeric_limits<double>::max();
    case kHalf: return 65504;
    case kBFloat16: return std::ldexp(2 - std::ldexp(1.0, -7), 127);
    default: return std::numeric_limits<float>::max();
  }
}

Tensor uniform_like(const Tensor& like, IntArrayRef shape, double from, double to,
                    Generator* generator) {
  NoGradGuard guard;
  return empty(shape, like.options().requires_grad(false)).uniform_(from, to, generator);
}

Tensor standard_normal(const Tensor& like, IntArrayRef shape, Generator* generator) {
  return randn(shape, like.options().requires_grad(false), generator);
}

Tensor standard_exponential(const Tensor& like, IntArrayRef shape, Generator* generator) {
  NoGradGuard guard;
  return empty(shape, like.options().requires_grad(false)).exponential_(1, generator);
}

Tensor clamp_probs(const Tensor& probs) {
  const double eps = epsilon_of(probs.dtype());
  return probs.clamp(eps, 1 - eps);
}

Tensor logits_of_binary(const Tensor& probs) {
  const Tensor p = clamp_probs(probs);
  return p.log().sub(p.neg().log1p());
}

Tensor log1p_exp(const Tensor& x) { return log_sigmoid(x.neg()).neg(); }

Tensor log_beta(const Tensor& a, const Tensor& b) {
  return a.lgamma().add(b.lgamma()).sub(a.add(b).lgamma());
}

Tensor where_inside(const Tensor& inside, const Tensor& density) {
  return density.masked_fill(inside.logical_not(), -INFINITY);
}

}  // namespace taeda::inline v0_2::distributions
