#include "taeda/ops/gradient_lists.h"

#include <algorithm>
#include <cmath>

#include "taeda/autograd/record.h"
#include "taeda/kernels/optim.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::detail {

void add_gradient(std::vector<ParamList>& lists, const Tensor& parameter) {
  if (parameter.grad().is_sparse())
    parameter.mutable_grad() = parameter.grad().coalesce();
  else if (!parameter.grad().layout().is_non_overlapping_and_dense())
    parameter.mutable_grad() = parameter.grad().clone(MemoryFormat::Contiguous);
  const Tensor& grad = parameter.grad();
  const Tensor dense = grad.is_sparse() ? grad._values() : grad;
  add_to_lists(lists, dense.is_complex() ? view_as_real(dense.detach()) : dense);
}

void add_to_lists(std::vector<ParamList>& lists, const Tensor& grad) {
  auto list = std::find_if(lists.begin(), lists.end(), [&](const ParamList& l) {
    return l.device() == grad.device() && l.dtype() == grad.dtype();
  });
  if (list == lists.end()) list = lists.insert(lists.end(), {grad.device(), grad.dtype()});
  list->add_gradient(grad);
}

Tensor gradient_norm(const std::vector<ParamList>& lists, double p) {
  std::vector<Tensor> norms;
  for (const ParamList& list : lists) {
    const Tensor norm = make_tensor(IntArrayRef(), kDouble, list.device());
    grad_norm_slot(list.device().type(), norm, list, p);
    norms.push_back(norm.to(lists[0].device()));
  }
  return norms.size() == 1 ? norms[0] : vector_norm(stack(norms), p);
}

bool clip_gradients(std::vector<ParamList> lists, const Tensor& norm, double max_norm) {
  if (norm.device().is_cpu()) {
    const double factor = max_norm / (norm.item<double>() + 1e-6);
    if (factor >= 1) return false;
    for (const ParamList& list : lists) grad_scale_slot(list.device().type(), list, factor);
    return true;
  }
  const Tensor factor = norm.detach().to(kDouble).add(1e-6).reciprocal().mul(max_norm).clamp_max(1);
  for (ParamList& list : lists) {
    const Tensor here = factor.to(list.device());
    list.set_live(Numbers(here), 0);
    grad_scale_slot(list.device().type(), list, 1);
  }
  return true;
}

void clear_gradient(const Tensor& parameter, bool set_to_none) {
  if (!parameter.grad().defined()) return;
  Tensor& grad = parameter.mutable_grad();
  if (set_to_none) return grad.reset();
  if (grad.requires_grad()) grad = grad.detach();
  const NoGradGuard guard;
  grad.zero_();
}

void bump_gradients(const std::vector<Tensor>& parameters) {
  for (const Tensor& p : parameters)
    if (p.grad().defined()) bump_version(p.grad());
}

}  // namespace taeda::inline v0_2::detail
