// layer_norm, rms_norm and group_norm: rows of contiguous data that are normalised each by itself.
#include <limits>

#include "bodies/norm.h"
#include "taeda/kernels/norm.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/pointwise.h"
#include "taeda/ops/nn/fused_backward.h"
#include "taeda/ops/nn/norm.h"
#include "taeda/ops/nn/norm_common.h"

namespace taeda::inline v0_2 {

using detail::computing_form;

namespace {

struct RowNormState {
  autograd::Saved input, weight;
  Tensor mean, rstd;  // one per row, without history
  RowNorm shape;
  double eps;
  DimVector affine;  // sizes of weight and bias
};

TensorVec fused_gradients(const RowNormState& s, const Tensor& g, Needs needs) {
  const Tensor x = s.input.unpack().contiguous(),
               weight = s.weight.defined() ? s.weight.unpack() : Tensor();
  const TensorOptions options = s.mean.options();
  const int64_t weights = s.shape.groups * s.shape.channels;
  const Tensor grad_weight = empty({weights}, options), grad_bias = empty({weights}, options);
  const Tensor grad_in = make_tensor(x.sizes(), x.dtype(), x.device());
  row_norm_backward_slot(x.device().type(), grad_in, grad_weight, grad_bias, g.contiguous(), x,
                         computing_form(weight, x), s.mean, s.rstd, s.shape);
  return {grad_in, needs[1] ? grad_weight.view(s.affine) : Tensor(),
          needs[2] ? grad_bias.view(s.affine) : Tensor()};
}

/// The same from differentiable operations. Data is seen as (samples, groups, channels, spatial).
TensorVec composed_gradients(const RowNormState& s, const Tensor& grad, Needs needs) {
  const RowNorm n = s.shape;
  const DimVector shape{n.rows / n.groups, n.groups, n.channels, n.spatial};
  const Tensor x = s.input.unpack().to(s.mean.dtype()).reshape(shape),
               g = grad.to(s.mean.dtype()).reshape(shape);
  const DimVector row{2, 3}, others{0, 3};
  const Tensor centered = n.center ? x.sub(x.mean(row, true)) : x;
  const Tensor rstd = centered.square().mean(row, true).add(s.eps).rsqrt(),
               xhat = centered.mul(rstd);
  const Tensor h =
      s.weight.defined()
          ? g.mul(s.weight.unpack().to(g.dtype()).reshape({1, n.groups, n.channels, 1}))
          : g;
  Tensor dx;
  if (needs[0]) {
    const Tensor projected = h.sub(xhat.mul(h.mul(xhat).mean(row, true)));
    dx = (n.center ? projected.sub(h.mean(row, true)) : projected)
             .mul(rstd)
             .reshape(grad.sizes())
             .to(grad.dtype());
  }
  return {dx, needs[1] ? g.mul(xhat).sum(others).reshape(s.affine) : Tensor(),
          needs[2] ? g.sum(others).reshape(s.affine) : Tensor()};
}

Tensor row_norm(const char* node, const Tensor& input, const Tensor& weight, const Tensor& bias,
                RowNorm shape, double eps) {
  RowNormState s{{},
                 {},
                 {},
                 {},
                 shape,
                 eps,
                 weight.defined() ? weight.sizes()
                 : bias.defined() ? bias.sizes()
                                  : IntArrayRef()};
  const Tensor out = make_tensor(input.sizes(), input.dtype(), input.device());
  {
    NoGradGuard guard;
    const TensorOptions options =
        TensorOptions(computing_dtype(input.dtype())).device(input.device());
    s.mean = empty({shape.rows}, options);
    s.rstd = empty({shape.rows}, options);
    const Tensor x = input.contiguous();
    if (x.numel() > 0)
      row_norm_slot(x.device().type(), out, s.mean, s.rstd, x, computing_form(weight, x),
                    computing_form(bias, x), shape, eps);
  }
  if (wants_grad(input, weight, bias)) {
    s.input = save_tensor(input, "input");
    s.weight = save_tensor(weight, "weight");
    record(node, out, {input, weight, bias}, [s](const Tensor& g, Needs needs) {
      return detail::fused_or_differentiable([&] { return fused_gradients(s, g, needs); },
                                             [&] { return composed_gradients(s, g, needs); });
    });
  }
  return out;
}

/// Rows over the last dimensions.
RowNorm trailing_rows(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight,
                      const Tensor& bias, bool center) {
  const size_t n = normalized_shape.size();
  TAEDA_CHECK(n >= 1,
              "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least "
              "one element, "
              "but got normalized_shape = ",
              normalized_shape);
  TAEDA_CHECK(!weight.defined() || weight.sizes() == normalized_shape,
              "Expected weight to be of same shape as normalized_shape, but got weight of shape ",
              weight.sizes(), " and normalized_shape = ", normalized_shape);
  TAEDA_CHECK(!bias.defined() || bias.sizes() == normalized_shape,
              "Expected bias to be of same shape as normalized_shape, but got bias of shape ",
              bias.sizes(), " and normalized_shape = ", normalized_shape);
  const size_t dims = input.sizes().size();
  if (dims < n || !(input.sizes().slice(dims - n, n) == normalized_shape)) {
    std::string tail;
    for (const int64_t size : normalized_shape) tail += ", " + std::to_string(size);
    throw Error(detail::concat("Given normalized_shape=", normalized_shape,
                               ", expected input with shape [*", tail, "], but got input of size",
                               input.sizes()));
  }
  const int64_t length = product(normalized_shape);
  return {length > 0 ? input.numel() / length : 0, 1, length, 1, center};
}

}  // namespace

Tensor do_layer_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight,
                     const Tensor& bias, double eps) {
  check_floating("layer_norm", input);
  check_same_device("layer_norm", {&input, &weight, &bias});
  return row_norm("NativeLayerNormBackward0", input, weight, bias,
                  trailing_rows(input, normalized_shape, weight, bias, true), eps);
}

Tensor do_rms_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight,
                   std::optional<double> eps) {
  check_floating("rms_norm", input);
  check_same_device("rms_norm", {&input, &weight});
  const double epsilon = input.dtype() == kDouble
                             ? std::numeric_limits<double>::epsilon()
                             : static_cast<double>(std::numeric_limits<float>::epsilon());
  return row_norm("RmsNormBackward0", input, weight, {},
                  trailing_rows(input, normalized_shape, weight, {}, false), eps.value_or(epsilon));
}

Tensor do_group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight,
                     const Tensor& bias, double eps) {
  check_floating("group_norm", input);
  check_same_device("group_norm", {&input, &weight, &bias});
  TAEDA_CHECK(input.dim() >= 2, "Expected at least 2 dimensions for input tensor but received ",
              input.dim());
  const int64_t batch = input.size(0), channels = input.size(1);
  TAEDA_CHECK(num_groups > 0, "Expected num groups to be greater than 0, got ", num_groups);
  TAEDA_CHECK(
      channels % num_groups == 0,
      "Expected number of channels in input to be divisible by num_groups, but got input of shape ",
      input.sizes(), " and num_groups=", num_groups);
  const auto check_vector = [&](const char* what, const Tensor& t) {
    TAEDA_CHECK(!t.defined() || (t.dim() == 1 && t.numel() == channels), "Expected ", what,
                " to be a vector of size equal to the number of channels in input, but got ", what,
                " of shape ", t.sizes(), " and input of shape ", input.sizes());
  };
  check_vector("weight", weight);
  check_vector("bias", bias);
  const int64_t per_group = channels / num_groups;
  const int64_t spatial = input.numel() > 0 ? input.numel() / (batch * channels) : 0;
  return row_norm("NativeGroupNormBackward0", input, weight, bias,
                  {batch * num_groups, num_groups, per_group, spatial, true}, eps);
}

}  // namespace taeda::inline v0_2
