// The losses over classes: cross_entropy and nll_loss.
#include "bodies/loss.h"
#include "taeda/autograd/record.h"
#include "taeda/autograd/zero_derivative.h"
#include "taeda/kernels/loss.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/pointwise.h"
#include "taeda/ops/nn/fused_backward.h"
#include "taeda/ops/nn/loss.h"
#include "taeda/ops/nn/softmax.h"

namespace taeda::inline v0_2 {

namespace {

int64_t class_dim(const Tensor& input) { return input.dim() == 1 ? 0 : 1; }

/// input's sizes without the class dimension.
DimVector position_sizes(const Tensor& input) {
  DimVector sizes(input.sizes());
  sizes.erase(static_cast<size_t>(class_dim(input)));
  return sizes;
}

void check_weight(const Tensor& weight, int64_t classes) {
  TAEDA_CHECK(!weight.defined() || (weight.dim() == 1 && weight.numel() == classes),
              "weight tensor should be defined either for all ", classes,
              " classes or no classes but got weight tensor of shape: ", weight.sizes());
}

void check_class_indices(const char* op, const Tensor& input, const Tensor& target,
                         const Tensor& weight) {
  TAEDA_CHECK_VALUE(input.dim() >= 1, "Expected 1 or more dimensions (got 0)");
  check_same_device(op, {&input, &target, &weight});
  if (input.dim() == 1) {
    TAEDA_CHECK(target.dim() <= 1, "0D or 1D target tensor expected, multi-target not supported");
    TAEDA_CHECK_VALUE(
        target.dim() == 0 || target.numel() == 1,
        "For 1D input, 1D target must have size 1, but got target size: ", target.numel());
  } else {
    const int64_t got = target.dim() > 0 ? target.size(0) : 1;
    TAEDA_CHECK_VALUE(input.size(0) == got, "Expected input batch_size (", input.size(0),
                      ") to match target batch_size (", got, ").");
    TAEDA_CHECK(input.dim() != 2 || target.dim() == 1,
                "0D or 1D target tensor expected, multi-target not supported");
    TAEDA_CHECK(
        input.dim() != 4 || target.dim() == 3,
        "only batches of spatial targets supported (3D tensors) but got targets of dimension: ",
        target.dim());
    const DimVector sizes = position_sizes(input);
    TAEDA_CHECK(target.sizes() == IntArrayRef(sizes), "Expected target size ", sizes, ", got ",
                target.sizes());
  }
  TAEDA_CHECK(target.dtype() == kLong || target.dtype() == kByte,
              "expected target dtype to be Long or Byte, but got ", target.dtype());
  TAEDA_CHECK(target.dtype() == kLong || input.dim() <= 2, "expected scalar type Long but found ",
              target.dtype());
  check_weight(weight, input.size(class_dim(input)));
  check_floating(op, input);
}

SoftmaxShape class_shape(const Tensor& x) {
  SoftmaxShape s{1, x.size(class_dim(x)), 1};
  for (int64_t d = 0; d < x.dim(); ++d)
    if (d != class_dim(x)) (d < class_dim(x) ? s.outer : s.inner) *= x.sizes()[d];
  return s;
}

/// What the forward pass of a class loss leaves for its gradient.
struct ClassLossState {
  ClassLoss spec;
  autograd::Saved input, target;
  Tensor weight, total_weight, log_sum;  // contiguous, in the computing dtype, without history
};

Tensor fused_gradient(const ClassLossState& s, const Tensor& g) {
  const Tensor x = s.input.unpack().contiguous();
  const Tensor grad = make_tensor(x.sizes(), x.dtype(), x.device());
  if (x.numel() > 0)
    class_loss_backward_slot(x.device().type(), grad, g.contiguous(), s.total_weight, s.log_sum, x,
                             s.target.unpack().contiguous(), s.weight, s.spec);
  return grad;
}

/// The same from differentiable operations: (softmax - onehot) times the weight of the position.
Tensor composed_gradient(const ClassLossState& s, const Tensor& g) {
  const Tensor x = s.input.unpack();
  const int64_t dim = class_dim(x);
  const Tensor target = s.target.unpack().reshape(position_sizes(x));
  const Tensor ignored = target.eq(s.spec.ignore_index), index = target.masked_fill(ignored, 0);
  Tensor scale =
      s.weight.defined() ? s.weight.take(index) : ones(index.sizes(), s.total_weight.options());
  if (s.spec.reduction == Reduction::Mean) scale = scale.div(s.total_weight);
  scale = scale.masked_fill(ignored, 0);  // last: the total is 0 if every position is ignored
  const Tensor onehot = zeros(x.sizes(), x.options()).scatter_(dim, index.unsqueeze(dim), 1);
  const Tensor direction = s.spec.logits ? x.softmax(dim).sub(onehot) : onehot.neg();
  return direction.mul(scale.mul(g).to(x.dtype()).unsqueeze(dim));
}

struct ClassLossResult {
  Tensor loss, total_weight;
};

ClassLossResult class_loss(const char* node, const Tensor& input, const Tensor& classes,
                           const Tensor& weight, ClassLoss spec) {
  const Tensor target = classes.to(kLong);
  const ScalarType dtype = computing_dtype(input.dtype());
  const TensorOptions options = TensorOptions(dtype).device(input.device());
  ClassLossState s{spec, {}, {}, {}, {}, {}};
  ClassLossResult result;
  {
    NoGradGuard guard;
    if (weight.defined()) s.weight = weight.detach().to(dtype).contiguous();
    s.total_weight = empty({}, options);
    if (spec.logits) s.log_sum = empty({spec.shape.outer * spec.shape.inner}, options);
    const DimVector sizes = spec.reduction == Reduction::None ? position_sizes(input) : DimVector();
    result = {make_tensor(sizes, input.dtype(), input.device()), s.total_weight};
    class_loss_slot(input.device().type(), result.loss, s.total_weight, s.log_sum,
                    input.contiguous(), target.contiguous(), s.weight, spec);
  }
  if (wants_grad(input)) {
    s.input = save_tensor(input, "input");
    s.target = save_tensor(target, "target");
    record(node, result.loss, {input}, [s](const Tensor& g) {
      return detail::fused_or_differentiable(
          [&] { return fused_gradient(s, g); },
          [&] {
            const Tensor grad = composed_gradient(s, g);
            return s.spec.logits ? grad : autograd::with_zero_derivative(grad);
          });
    });
  }
  return result;
}

Tensor reduce(const Tensor& loss, Reduction reduction, const Tensor& divisor) {
  if (reduction == Reduction::None) return loss;
  return reduction == Reduction::Sum ? loss.sum() : loss.sum().div(divisor);
}

/// One factor per class, in a shape that broadcasts against `x`.
Tensor weight_like(const Tensor& weight, const Tensor& x) {
  DimVector sizes(static_cast<size_t>(x.dim()), 1);
  sizes[static_cast<size_t>(class_dim(x))] = weight.numel();
  return weight.to(x.dtype()).reshape(sizes);
}

Tensor cross_entropy_probabilities(const Tensor& input, const Tensor& target, const Tensor& weight,
                                   Reduction reduction, double smoothing) {
  const int64_t dim = class_dim(input), classes = input.size(dim);
  TAEDA_CHECK(is_floating_point(target.dtype()),
              "Expected floating point type for target with class probabilities, got ",
              to_string(target.dtype()));
  check_weight(weight, classes);
  const Tensor mixed = smoothing > 0
                           ? target.mul(1 - smoothing).add(smoothing / static_cast<double>(classes))
                           : target;
  Tensor log_p = input.log_softmax(dim);
  if (weight.defined()) log_p = log_p.mul(weight_like(weight, log_p));
  const Tensor loss = log_p.mul(mixed).sum(dim).neg();
  if (reduction == Reduction::None) return loss;
  return reduction == Reduction::Sum ? loss.sum() : loss.sum().div(Scalar(loss.numel()));
}

Tensor cross_entropy_smoothed(const Tensor& input, const Tensor& target, const Tensor& weight,
                              Reduction reduction, int64_t ignore_index, double smoothing) {
  const int64_t dim = class_dim(input), classes = input.size(dim);
  const Tensor log_p = input.log_softmax(dim);
  const auto [nll, total_weight] = class_loss("NllLossBackward0", log_p, target, weight,
                                              {class_shape(log_p), ignore_index, reduction, false});
  const Tensor ignored = target.eq(ignore_index).reshape(position_sizes(input));
  const Tensor spread =
      (weight.defined() ? log_p.mul(weight_like(weight, log_p)) : log_p).sum(dim).neg();
  const Tensor smooth =
      reduce(spread.masked_fill(ignored, 0), reduction, total_weight.to(input.dtype()));
  return nll.mul(1 - smoothing).add(smooth.mul(smoothing / static_cast<double>(classes)));
}

}  // namespace

Tensor do_cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight,
                        ReductionArg reduction, int64_t ignore_index, double label_smoothing) {
  TAEDA_CHECK(label_smoothing >= 0 && label_smoothing <= 1,
              "label_smoothing must be between 0.0 and 1.0. Got: ", label_smoothing);
  if (input.dim() > 0 && input.sizes() == target.sizes() &&
      !(input.dim() == 1 && target.dtype() == kLong && input.numel() == 1))
    return cross_entropy_probabilities(input, target, weight, reduction, label_smoothing);
  check_class_indices("cross_entropy", input, target, weight);
  if (label_smoothing > 0)
    return cross_entropy_smoothed(input, target, weight, reduction, ignore_index, label_smoothing);
  return class_loss("NllLossBackward0", input, target, weight,
                    {class_shape(input), ignore_index, reduction, true})
      .loss;
}

Tensor do_nll_loss(const Tensor& input, const Tensor& target, const Tensor& weight,
                   ReductionArg reduction, int64_t ignore_index) {
  check_class_indices("nll_loss", input, target, weight);
  const char* node = input.dim() > 2 ? "NllLoss2DBackward0" : "NllLossBackward0";
  return class_loss(node, input, target, weight,
                    {class_shape(input), ignore_index, reduction, false})
      .loss;
}

}  // namespace taeda::inline v0_2
