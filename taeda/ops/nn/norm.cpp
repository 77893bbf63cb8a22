// batch_norm, and the normalisations that are made of other operations.
#include "taeda/ops/nn/norm.h"

#include "bodies/norm.h"
#include "taeda/autograd/record.h"
#include "taeda/kernels/memory_order.h"
#include "taeda/kernels/norm.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/pointwise.h"
#include "taeda/ops/nn/fused_backward.h"
#include "taeda/ops/nn/norm_common.h"
#include "taeda/ops/shape/join.h"

namespace taeda::inline v0_2 {

using detail::computing_form;

namespace {

void check_channels(const char* what, const Tensor& t, int64_t channels) {
  TAEDA_CHECK(!t.defined() || t.numel() == channels, what, " should contain ", channels,
              " elements not ", t.numel());
}

void check_batch_norm(const Tensor& x, const Tensor& weight, const Tensor& bias,
                      const Tensor& running_mean, const Tensor& running_var, bool training) {
  check_floating("batch_norm", x);
  TAEDA_CHECK(x.dim() >= 2, "batch_norm expects an input with at least 2 dimensions, got ",
              x.dim());
  check_same_device("batch_norm", {&x, &weight, &bias, &running_mean, &running_var});
  const int64_t channels = x.size(1);
  TAEDA_CHECK(training || running_mean.defined(),
              "running_mean must be defined in evaluation mode");
  TAEDA_CHECK(training || running_var.defined(), "running_var must be defined in evaluation mode");
  check_channels("running_mean", running_mean, channels);
  check_channels("running_var", running_var, channels);
  check_channels("weight", weight, channels);
  check_channels("bias", bias, channels);
  TAEDA_CHECK_VALUE(!training || x.numel() != channels,
                    "Expected more than 1 value per channel when training, got input size ",
                    x.sizes());
}

/// The kernel takes contiguous and channels-last data as it is.
Tensor dense_form(const Tensor& x) {
  return x.is_contiguous(channels_last_of(x.dim())) ? x : x.contiguous();
}
Tensor with_layout_of(const Tensor& t, const Tensor& model) {
  if (t.strides() == model.strides()) return t;
  const Tensor out = make_tensor(Layout{model.sizes(), model.strides(), 0}, t.dtype(), t.device());
  out.copy_(t);
  return out;
}

struct BatchNormState {
  autograd::Saved input, weight;
  Tensor mean, rstd;  // without history
  bool training;
  double eps;
};

TensorVec fused_gradients(const BatchNormState& s, const Tensor& g, Needs needs) {
  const Tensor x = dense_form(s.input.unpack()),
               weight = s.weight.defined() ? s.weight.unpack() : Tensor();
  if (x.numel() == 0) return {zeros_like(x), zeros_like(s.mean), zeros_like(s.mean)};
  const Tensor grad_weight = empty_like(s.mean), grad_bias = empty_like(s.mean);
  const Tensor grad_in =
      needs[0] ? make_tensor(Layout{x.sizes(), x.strides(), 0}, x.dtype(), x.device()) : Tensor();
  batch_norm_backward_slot(x.device().type(), grad_in, grad_weight, grad_bias, with_layout_of(g, x),
                           x, computing_form(weight, x), s.mean, s.rstd, s.training);
  return {grad_in, needs[1] ? grad_weight : Tensor(), needs[2] ? grad_bias : Tensor()};
}

/// The same from differentiable operations; the batch's statistics are computed again, with
/// history.
TensorVec composed_gradients(const BatchNormState& s, const Tensor& grad, Needs needs) {
  const Tensor x = s.input.unpack().to(s.mean.dtype()), g = grad.to(s.mean.dtype());
  DimVector dims, per_channel(static_cast<size_t>(x.dim()), 1);
  for (int64_t d = 0; d < x.dim(); ++d)
    if (d != 1) dims.push_back(d);
  per_channel[1] = x.size(1);
  Tensor mean = s.mean.reshape(per_channel), rstd = s.rstd.reshape(per_channel);
  if (s.training) {
    mean = x.mean(dims, true);
    rstd = x.sub(mean).square().mean(dims, true).add(s.eps).rsqrt();
  }
  const Tensor xhat = x.sub(mean).mul(rstd);
  const Tensor h =
      s.weight.defined() ? g.mul(s.weight.unpack().to(g.dtype()).reshape(per_channel)) : g;
  Tensor dx;
  if (needs[0]) {
    dx = s.training
             ? h.sub(h.mean(dims, true)).sub(xhat.mul(h.mul(xhat).mean(dims, true))).mul(rstd)
             : h.mul(rstd);
    dx = dx.to(grad.dtype());
  }
  return {dx, needs[1] ? g.mul(xhat).sum(dims) : Tensor(), needs[2] ? g.sum(dims) : Tensor()};
}

/// Mean over the batch of per-sample statistics: how instance_norm keeps running ones.
Tensor repeat_for_batch(const Tensor& t, int64_t batch) {
  return t.defined() ? t.repeat(batch) : Tensor();
}

void store_batch_mean(const Tensor& running, const Tensor& per_sample, int64_t batch) {
  if (!running.defined()) return;
  NoGradGuard guard;
  running.copy_(per_sample.reshape({batch, running.numel()}).mean(0));
}

}  // namespace

Tensor do_batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                     const Tensor& running_mean, const Tensor& running_var, bool training,
                     double momentum, double eps) {
  check_batch_norm(input, weight, bias, running_mean, running_var, training);
  BatchNormState s{{}, {}, {}, {}, training, eps};
  Tensor out;
  {
    NoGradGuard guard;
    const Tensor x = dense_form(input);
    const TensorOptions options = TensorOptions(computing_dtype(x.dtype())).device(x.device());
    const Tensor old_mean = computing_form(running_mean, x),
                 old_var = computing_form(running_var, x);
    s.mean = training ? empty({x.size(1)}, options) : old_mean;
    s.rstd = training ? empty({x.size(1)}, options) : old_var.add(eps).rsqrt();
    out = make_tensor(Layout{x.sizes(), x.strides(), 0}, x.dtype(), x.device());
    if (x.numel() > 0)
      batch_norm_slot(x.device().type(), out, s.mean, s.rstd, x, computing_form(weight, x),
                      computing_form(bias, x), training ? old_mean : Tensor(),
                      training ? old_var : Tensor(), training, momentum, eps);
    else if (training)
      s.mean.zero_(), s.rstd.zero_();  // of no examples: running statistics stay
    if (training) {
      detail::write_back(running_mean, old_mean);
      detail::write_back(running_var, old_var);
    } else {
      s.mean = s.mean.clone();  // training may go on before the gradient is computed
    }
  }
  if (wants_grad(input, weight, bias)) {
    s.input = save_tensor(input, "input");
    s.weight = save_tensor(weight, "weight");
    record(
        "NativeBatchNormBackward0", out, {input, weight, bias}, [s](const Tensor& g, Needs needs) {
          return detail::fused_or_differentiable([&] { return fused_gradients(s, g, needs); },
                                                 [&] { return composed_gradients(s, g, needs); });
        });
  }
  return out;
}

Tensor do_instance_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                        const Tensor& running_mean, const Tensor& running_var, bool use_input_stats,
                        double momentum, double eps) {
  TAEDA_CHECK(use_input_stats || (running_mean.defined() && running_var.defined()),
              "Expected running_mean and running_var to be defined when use_input_stats is false");
  TAEDA_CHECK(input.dim() >= 2, "instance_norm expects an input with at least 2 dimensions, got ",
              input.dim());
  const int64_t batch = input.size(0), channels = input.size(1);
  TAEDA_CHECK_VALUE(!use_input_stats || input.numel() != batch * channels,
                    "Expected more than 1 spatial element when training, got input size ",
                    input.sizes());
  if (use_input_stats && !running_mean.defined() && !running_var.defined())
    return group_norm(input, channels, weight, bias, eps);
  // Samples side by side are the channels of one sample.
  DimVector merged(input.sizes());
  merged[0] = 1;
  merged[1] = batch * channels;
  const Tensor mean = repeat_for_batch(running_mean, batch),
               var = repeat_for_batch(running_var, batch);
  const Tensor out =
      batch_norm(input.contiguous().view(merged), repeat_for_batch(weight, batch),
                 repeat_for_batch(bias, batch), mean, var, use_input_stats, momentum, eps);
  if (use_input_stats) {
    store_batch_mean(running_mean, mean, batch);
    store_batch_mean(running_var, var, batch);
  }
  return out.view(input.sizes());
}

Tensor do_local_response_norm(const Tensor& input, int64_t size, double alpha, double beta,
                              double k) {
  TAEDA_CHECK_VALUE(input.dim() >= 3, "Expected 3D or higher dimensionality input (got ",
                    input.dim(), " dimensions)");
  const int64_t channels = input.size(1);
  DimVector before(input.sizes()), after(input.sizes());
  before[1] = size / 2;
  after[1] = (size - 1) / 2;
  const Tensor padded =
      cat({zeros(before, input.options()), input.square(), zeros(after, input.options())}, 1);
  Tensor sum = padded.narrow(1, 0, channels);
  for (int64_t i = 1; i < size; ++i) sum = sum.add(padded.narrow(1, i, channels));
  return input.div(sum.mul(alpha / static_cast<double>(size)).add(k).pow(beta));
}

Tensor do_normalize(const Tensor& input, double p, int64_t dim, double eps) {
  return input.div(input.norm(p, dim, true).clamp_min(eps));
}

}  // namespace taeda::inline v0_2
