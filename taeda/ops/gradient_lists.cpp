#include "taeda/ops/gradient_lists.h"

#include <algorithm>

#include "taeda/autograd/record.h"

namespace taeda::inline v0_2::detail {

void add_gradient(std::vector<ParamList>& lists, const Tensor& parameter) {
  if (parameter.grad().is_sparse())
    parameter.mutable_grad() = parameter.grad().coalesce();
  else if (!parameter.grad().layout().is_non_overlapping_and_dense())
    parameter.mutable_grad() = parameter.grad().clone(MemoryFormat::Contiguous);
  const Tensor grad = parameter.grad().is_sparse() ? parameter.grad()._values() : parameter.grad();
  auto list = std::find_if(lists.begin(), lists.end(), [&](const ParamList& l) {
    return l.device() == grad.device() && l.dtype() == grad.dtype();
  });
  if (list == lists.end()) list = lists.insert(lists.end(), {grad.device(), grad.dtype()});
  list->add_gradient(grad);
}

void bump_gradients(const std::vector<Tensor>& parameters) {
  for (const Tensor& p : parameters)
    if (p.grad().defined()) bump_version(p.grad());
}

}  // namespace taeda::detail
