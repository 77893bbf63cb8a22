#include "taeda/nn/functional/normalization.h"

namespace taeda::inline v0_2::nn::functional {

namespace {

double given_momentum(const std::optional<double>& momentum) {
  TAEDA_CHECK_VALUE(momentum, "batch_norm: momentum must be a number here, got none");
  return *momentum;
}

}  // namespace

Tensor group_norm(const Tensor& x, const GroupNormFuncOptions& o) {
  return taeda::group_norm(x, o.num_groups, o.weight, o.bias, o.eps);
}

Tensor normalize(const Tensor& x, const NormalizeFuncOptions& o) {
  const Tensor y = taeda::normalize(x, o.p, o.dim, o.eps);
  return o.out ? o.out->resize_(y.sizes()).copy_(y) : y;
}

Tensor local_response_norm(const Tensor& input, const LocalResponseNormFuncOptions& o) {
  return taeda::local_response_norm(input, o.size, o.alpha, o.beta, o.k);
}

Tensor batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                  const BatchNormFuncOptions& o) {
  return taeda::batch_norm(x, o.weight, o.bias, running_mean, running_var, o.training,
                           given_momentum(o.momentum), o.eps);
}

Tensor instance_norm(const Tensor& x, const InstanceNormFuncOptions& o) {
  return taeda::instance_norm(x, o.weight, o.bias, o.running_mean, o.running_var, o.use_input_stats,
                              o.momentum, o.eps);
}

}  // namespace taeda::inline v0_2::nn::functional
