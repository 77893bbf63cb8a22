#include "taeda/ops/gradient_lists.h"

#include <algorithm>
#include <cmath>

#include "taeda/autograd/record.h"
#include "taeda/kernels/optim.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::detail {

void add_gradient(std::vector<ParamList>& lists, const Tensor& parameter) {
  if (parameter.grad().is_sparse())
    parameter.mutable_grad() = parameter.grad().coalesce();
  else if (!parameter.grad().layout().is_non_overlapping_and_dense())
    parameter.mutable_grad() = parameter.grad().clone(MemoryFormat::Contiguous);
  add_to_lists(lists, parameter.grad().is_sparse() ? parameter.grad()._values() : parameter.grad());
}

void add_to_lists(std::vector<ParamList>& lists, const Tensor& grad) {
  auto list = std::find_if(lists.begin(), lists.end(), [&](const ParamList& l) {
    return l.device() == grad.device() && l.dtype() == grad.dtype();
  });
  if (list == lists.end()) list = lists.insert(lists.end(), {grad.device(), grad.dtype()});
  list->add_gradient(grad);
}

double gradient_norm(const std::vector<ParamList>& lists, double p) {
  std::vector<double> norms;
  for (const ParamList& list : lists) {
    const Tensor norm = make_tensor(IntArrayRef(), kDouble, list.device());
    grad_norm_slot(list.device().type(), norm, list, p);
    norms.push_back(norm.item().toDouble());
  }
  if (norms.size() == 1) return norms[0];
  double total = 0;
  for (const double n : norms) {
    if (std::isinf(p))
      total = n > total || std::isnan(n) ? n : total;
    else
      total += std::pow(n, p);
  }
  return std::isinf(p) ? total : std::pow(total, 1 / p);
}

bool clip_gradients(const std::vector<ParamList>& lists, double norm, double max_norm) {
  const double factor = max_norm / (norm + 1e-6);
  if (factor >= 1) return false;
  for (const ParamList& list : lists) grad_scale_slot(list.device().type(), list, factor);
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
