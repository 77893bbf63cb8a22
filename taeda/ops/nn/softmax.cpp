#include "taeda/ops/nn/softmax.h"

#include "bodies/softmax.h"
#include "taeda/autograd/record.h"
#include "taeda/kernels/softmax.h"
#include "taeda/ops/destination.h"
#include "taeda/ops/elementwise/pointwise.h"
#include "taeda/ops/nn/fused_backward.h"

namespace taeda::inline v0_2 {

namespace {

SoftmaxShape softmax_shape(const Tensor& x, int64_t dim) {
  SoftmaxShape s{1, 1, 1};
  for (int64_t d = 0; d < x.dim(); ++d)
    (d < dim ? s.outer : d == dim ? s.n : s.inner) *= x.sizes()[d];
  return s;
}

Tensor fused_backward(const SoftmaxBackwardSlot& slot, const Tensor& g, const Tensor& y,
                      int64_t dim) {
  const Tensor grad = make_tensor(y.sizes(), y.dtype(), y.device());
  if (y.numel() > 0) slot(y.device().type(), grad, g.contiguous(), y, softmax_shape(y, dim));
  return grad;
}

Tensor softmax_backward(const Tensor& g, const Tensor& y, int64_t dim) {
  return detail::fused_or_differentiable(
      [&] { return fused_backward(softmax_backward_slot, g, y, dim); },
      [&] { return y.mul(g.sub(g.mul(y).sum(dim, true))); });
}

Tensor log_softmax_backward(const Tensor& g, const Tensor& y, int64_t dim) {
  return detail::fused_or_differentiable(
      [&] { return fused_backward(log_softmax_backward_slot, g, y, dim); },
      [&] { return g.sub(y.exp().mul(g.sum(dim, true))); });
}

Tensor forward(const SoftmaxSlot& slot, const Tensor& x, int64_t dim) {
  check_floating(slot.name(), x);
  const Tensor y = detail::make_result(slot.name(), {&x}, x.sizes(), x.dtype(), x.device());
  NoGradGuard guard;
  if (x.numel() > 0) slot(x.device().type(), y, x.contiguous(), softmax_shape(x, dim));
  return y;
}

}  // namespace

Tensor do_softmax(const Tensor& self, int64_t dim, OptionalDtype dtype) {
  dim = wrap_dim(dim, self.dim());
  const Tensor x = dtype ? self.to(*dtype) : self;
  const Tensor y = forward(softmax_slot, x, dim);
  if (wants_grad(x))
    record("SoftmaxBackward0", y, {x}, [y = save_output(y), dim](const Tensor& g) {
      return softmax_backward(g, y.unpack(), dim);
    });
  return y;
}

Tensor do_log_softmax(const Tensor& self, int64_t dim, OptionalDtype dtype) {
  dim = wrap_dim(dim, self.dim());
  const Tensor x = dtype ? self.to(*dtype) : self;
  const Tensor y = forward(log_softmax_slot, x, dim);
  if (wants_grad(x))
    record("LogSoftmaxBackward0", y, {x}, [y = save_output(y), dim](const Tensor& g) {
      return log_softmax_backward(g, y.unpack(), dim);
    });
  return y;
}

Tensor do_softmin(const Tensor& self, int64_t dim, OptionalDtype dtype) {
  return softmax(self.neg(), dim, dtype);
}

}  // namespace taeda
