#include "taeda/nn/functional/normalization.h"

#include <cmath>

#include "taeda/ops/arithmetic.h"
#include "taeda/ops/norm.h"
#include "taeda/ops/dropout.h"
#include "taeda/ops/embedding.h"

namespace taeda::nn::functional {

namespace {

/// Values in one channel, over the batch and the spatial dimensions.
void check_more_than_one_value(const Tensor& input) {
  int64_t n = input.size(0);
  for (int64_t d = 2; d < input.dim(); ++d) n *= input.size(d);
  TAEDA_CHECK_VALUE(n != 1, "Expected more than 1 value per channel when training, got input size torch.Size(",
                    input.sizes(), ")");
}

void check_probability(double p) {
  TAEDA_CHECK_VALUE(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
}

/// The result takes the input's place if asked to.
Tensor finish(const Tensor& input, Tensor result, bool inplace) { return inplace ? input.copy_(result) : result; }

}  // namespace

Tensor batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight,
                  const Tensor& bias, bool training, double momentum, double eps) {
  if (training) check_more_than_one_value(input);
  return taeda::batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps);
}

Tensor instance_norm(const Tensor& input, const InstanceNormFuncOptions& o) {
  TAEDA_CHECK(o.use_input_stats() || (o.running_mean().defined() && o.running_var().defined()),
              "Expected running_mean and running_var to be defined when use_input_stats is false");
  const int64_t batch = input.size(0), channels = input.size(1);
  if (o.use_input_stats()) {
    int64_t n = 1;
    for (int64_t d = 2; d < input.dim(); ++d) n *= input.size(d);
    TAEDA_CHECK_VALUE(n != 1, "Expected more than 1 spatial element when training, got input size torch.Size(",
                      input.sizes(), ")");
  }
  // Each sample's channels become channels of one big sample.
  const auto repeated = [batch](const Tensor& t) { return t.defined() ? t.repeat({batch}) : t; };
  DimVector sizes = input.sizes();
  sizes[0] = 1;
  sizes[1] = batch * channels;
  const Tensor mean = repeated(o.running_mean()), var = repeated(o.running_var());
  const Tensor out = taeda::batch_norm(input.contiguous().view(sizes), repeated(o.weight()), repeated(o.bias()), mean, var,
                                       o.use_input_stats(), o.momentum(), o.eps());
  if (o.use_input_stats() && mean.defined()) {
    NoGradGuard no_grad;
    o.running_mean().copy_(mean.view({batch, channels}).mean(0, false));
    o.running_var().copy_(var.view({batch, channels}).mean(0, false));
  }
  return out.view(input.sizes());
}

Tensor layer_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight, const Tensor& bias, double eps) {
  return taeda::layer_norm(input, normalized_shape, weight, bias, eps);
}

Tensor group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight, const Tensor& bias, double eps) {
  return taeda::group_norm(input, num_groups, weight, bias, eps);
}

Tensor normalize(const Tensor& input, double p, int64_t dim, double eps) {
  return input.div(input.norm(p, dim, /*keepdim=*/true).clamp_min(eps).expand_as(input));
}

Tensor dropout(const Tensor& input, double p, bool training, bool inplace) {
  check_probability(p);
  if (!training) return input;
  return finish(input, taeda::dropout(input, p, true), inplace);
}

Tensor dropout2d(const Tensor& input, double p, bool training, bool inplace) {
  check_probability(p);
  if (!training || p == 0) return input;
  TAEDA_CHECK(input.dim() >= 2, "Feature dropout requires at least 2 dimensions in the input");
  DimVector sizes(static_cast<size_t>(input.dim()), 1);
  sizes[0] = input.size(0);
  sizes[1] = input.size(1);
  Tensor noise = make_tensor(sizes, input.dtype(), input.device());
  if (p == 1) noise.zero_();
  else noise.bernoulli_(1 - p).div_(1 - p);
  return finish(input, input.mul(noise), inplace);
}

Tensor alpha_dropout(const Tensor& input, double p, bool training, bool inplace) {
  check_probability(p);
  if (!training || p == 0) return input;
  if (p == 1) return finish(input, input.mul(0), inplace);
  constexpr double alpha = 1.7580993408473766;  // -SELU's limit at minus infinity
  const double a = 1 / std::sqrt((alpha * alpha * p + 1) * (1 - p));
  Tensor noise = make_tensor(input.sizes(), input.dtype(), input.device());
  noise.bernoulli_(1 - p);
  const Tensor shift = noise.add(-1).mul_(alpha * a).add_(alpha * a * p);
  noise.mul_(a);
  return finish(input, input.mul(noise).add(shift), inplace);
}

Tensor embedding(const Tensor& input, const Tensor& weight, const EmbeddingFuncOptions& options) {
  int64_t padding = -1;
  if (options.padding_idx()) {
    padding = *options.padding_idx();
    TAEDA_CHECK(padding >= -weight.size(0) && padding < weight.size(0), "Padding_idx must be within num_embeddings");
    if (padding < 0) padding += weight.size(0);
  }
  return taeda::embedding(weight, input, padding);
}

}  // namespace taeda::nn::functional
