#include "taeda/nn/functional/dropout.h"

#include "taeda/ops/nn/dropout.h"

namespace taeda::inline v0_2::nn::functional {

namespace {

void check_probability(double p) {
  TAEDA_CHECK_VALUE(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
}

/// The result takes the input's place if asked to.
Tensor finish(const Tensor& input, Tensor result, bool inplace) {
  return inplace ? input.copy_(result) : result;
}

}  // namespace

Tensor dropout(const Tensor& input, double p, bool training, bool inplace) {
  check_probability(p);
  if (!training) return input;
  return finish(input, taeda::dropout(input, p, true), inplace);
}

Tensor dropout2d(const Tensor& input, double p, bool training, bool inplace) {
  check_probability(p);
  if (!training) return input;
  return finish(input, taeda::feature_dropout(input, p, true), inplace);
}

Tensor alpha_dropout(const Tensor& input, double p, bool training, bool inplace) {
  check_probability(p);
  if (!training) return input;
  return finish(input, taeda::alpha_dropout(input, p, true), inplace);
}

Tensor dropout3d(const Tensor& input, double p, bool training, bool inplace) {
  return dropout2d(input, p, training, inplace);
}

Tensor feature_alpha_dropout(const Tensor& input, double p, bool training, bool inplace) {
  check_probability(p);
  if (!training) return input;
  return finish(input, taeda::feature_alpha_dropout(input, p, true), inplace);
}

}  // namespace taeda::nn::functional
