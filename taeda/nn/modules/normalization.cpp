#include "taeda/nn/modules/normalization.h"

#include "taeda/nn/functional/padding.h"
#include "taeda/nn/modules/batch_norm_base.h"
#include "taeda/ops/create/create.h"

namespace taeda::inline v0_2::nn {

using detail::ones_or_none, detail::register_statistics, detail::zeros_or_none;

template class BatchNormImplBase<BatchNorm1dImpl>;
template class BatchNormImplBase<BatchNorm2dImpl>;
template class BatchNormImplBase<BatchNorm3dImpl>;

Tensor BatchNorm1dImpl::forward(const Tensor& input) {
  TAEDA_CHECK_VALUE(input.dim() == 2 || input.dim() == 3, "expected 2D or 3D input (got ",
                    input.dim(), "D input)");
  return normalize(input);
}

Tensor BatchNorm2dImpl::forward(const Tensor& input) {
  TAEDA_CHECK_VALUE(input.dim() == 4, "expected 4D input (got ", input.dim(), "D input)");
  return normalize(input);
}

Tensor BatchNorm3dImpl::forward(const Tensor& input) {
  TAEDA_CHECK_VALUE(input.dim() == 5, "expected 5D input (got ", input.dim(), "D input)");
  return normalize(input);
}

template <class Derived>
void InstanceNormImplBase<Derived>::reset() {
  register_statistics(
      *this,
      [this](const char* name, Tensor t) { return this->register_parameter(name, std::move(t)); },
      [this](const char* name, Tensor t) { return this->register_buffer(name, std::move(t)); });
}

template <class Derived>
void InstanceNormImplBase<Derived>::reset_running_stats() {
  detail::reset_statistics(*this);
}

template <class Derived>
void InstanceNormImplBase<Derived>::reset_parameters() {
  reset_running_stats();
  detail::reset_affine(weight, bias);
}

template <class Derived>
void InstanceNormImplBase<Derived>::settings(Settings& out) const {
  detail::show_norm(out.of(typeid(Derived)), options);
}

template <class Derived>
Tensor InstanceNormImplBase<Derived>::normalize(const Tensor& input, int64_t spatial) {
  TAEDA_CHECK_VALUE(input.dim() == spatial + 1 || input.dim() == spatial + 2, "expected ",
                    spatial + 1, "D or ", spatial + 2, "D input (got ", input.dim(), "D input)");
  const bool batched = input.dim() == spatial + 2;
  // A second run of one forward does not count again.
  const bool counted = !this->is_training() || !RecomputeMode::is_enabled();
  const Tensor out =
      functional::instance_norm(batched ? input : input.unsqueeze(0),
                                {.running_mean = counted ? running_mean : Tensor(),
                                 .running_var = counted ? running_var : Tensor(),
                                 .weight = weight,
                                 .bias = bias,
                                 .use_input_stats = this->is_training() || !running_mean.defined(),
                                 .momentum = options.momentum,
                                 .eps = options.eps});
  return batched ? out : out.squeeze(0);
}

template class InstanceNormImplBase<InstanceNorm1dImpl>;
template class InstanceNormImplBase<InstanceNorm2dImpl>;
template class InstanceNormImplBase<InstanceNorm3dImpl>;

void LayerNormImpl::reset() {
  weight = register_parameter("weight",
                              ones_or_none(options.elementwise_affine, options.normalized_shape));
  bias = register_parameter("bias",
                            zeros_or_none(options.elementwise_affine, options.normalized_shape));
}

void LayerNormImpl::reset_parameters() { detail::reset_affine(weight, bias); }

void LayerNormImpl::settings(Settings& out) const {
  out.of(typeid(LayerNormImpl)).value(IntArrayRef(options.normalized_shape));
  out("eps", options.eps)("elementwise_affine", options.elementwise_affine);
}

void GroupNormImpl::reset() {
  TAEDA_CHECK_VALUE(options.num_groups > 0 && options.num_channels % options.num_groups == 0,
                    "num_channels must be divisible by num_groups");
  weight = register_parameter("weight", ones_or_none(options.affine, {options.num_channels}));
  bias = register_parameter("bias", zeros_or_none(options.affine, {options.num_channels}));
}

void GroupNormImpl::reset_parameters() { detail::reset_affine(weight, bias); }

void GroupNormImpl::settings(Settings& out) const {
  out.of(typeid(GroupNormImpl)).value(options.num_groups).value(options.num_channels);
  out("eps", options.eps)("affine", options.affine);
}

namespace {
void show_response(Settings& out, const auto& o) {
  out.value(o.size)("alpha", o.alpha)("beta", o.beta)("k", o.k);
}
}  // namespace

void LocalResponseNormImpl::settings(Settings& out) const {
  show_response(out.of(typeid(LocalResponseNormImpl)), options);
}

void CrossMapLRN2dImpl::settings(Settings& out) const {
  show_response(out.of(typeid(CrossMapLRN2dImpl)), options);
}

Tensor CrossMapLRN2dImpl::forward(const Tensor& input) {
  TAEDA_CHECK(input.dim() == 4, "CrossMapLRN2d: Expected input to be 4D, got ", input.dim(),
              "D instead.");
  const int64_t half = (options.size - 1) / 2;
  const Tensor squares = input.square();
  Tensor sums =
      functional::pad(squares, {0, 0, 0, 0, half, half}).unfold(1, 2 * half + 1, 1).sum({-1});
  // PyTorch never takes the first channel out of its running sum.
  if (const int64_t later = input.size(1) - half - 1; later > 0)
    sums = sums.add(functional::pad(squares.narrow(1, 0, 1).expand({-1, later, -1, -1}),
                                    {0, 0, 0, 0, half + 1, 0}));
  const double scale = options.alpha / static_cast<double>(options.size);
  return input.mul(sums.mul(scale).add(options.k()).pow(-options.beta));
}

}  // namespace taeda::inline v0_2::nn
