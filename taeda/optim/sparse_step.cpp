// Steps with sparse gradients: what they touch is taken out, changed apart, and put back.
#include "taeda/base/error.h"
#include "taeda/kernels/index.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/sparse/sparse.h"
#include "taeda/optim/rule_step.h"
#include "taeda/tensor/indexing.h"

namespace taeda::inline v0_2::optim {

namespace {

/// The elements at `indices` [dims, n] in the first dimensions, as an index.
std::vector<TensorIndex> elements(const Tensor& indices) {
  std::vector<TensorIndex> out;
  for (int64_t d = 0; d < indices.size(0); ++d) out.push_back(indices.select(0, d));
  return out;
}

}  // namespace

/// Everything that a kernel needs to put rows at `indices` [dims, n] (Note [Rows]).
RuleStep::RowsToPut::RowsToPut(const Tensor& to, const Tensor& indices, const Tensor& rows)
    : values(rows),
      before(to.index(elements(indices))),
      offsets(make_tensor({indices.size(1)}, kLong, to.device())) {
  const auto picked = static_cast<size_t>(indices.size(0));
  const DimVector sizes(to.sizes()), strides(to.strides());
  for (size_t d = 0; d < picked; ++d)
    index_offsets_slot(to.device().type(), offsets, indices.select(0, static_cast<int64_t>(d)),
                       {sizes[d], strides[d], static_cast<int64_t>(d), true, d == 0});
  Layout rest = to.layout();
  rest.sizes = DimVector(sizes.begin() + picked, sizes.end());
  rest.strides = DimVector(strides.begin() + picked, strides.end());
  block = make_view(to, std::move(rest));
}

void RuleStep::RowsToPut::write(const Tensor& rows) const {
  if (rows.numel() > 0)
    index_put_slot(block.device().type(), block, offsets, rows, /*accumulate=*/false);
}

void RuleStep::add_sparse(Lent& l) {
  TAEDA_CHECK(rule_.rows, rule_.name, " does not support sparse gradients", rule_.instead);
  if (rule_.sparse_as_dense && rule_.sparse_as_dense(values_))
    return launch_later(l, keep_alive_.emplace_back(l.grad->to_dense()));
  TAEDA_CHECK(!l.captured,
              "a step with a sparse gradient cannot be captured: how many rows it has is not known "
              "before");
  const Tensor grad = l.grad->detach().coalesce(), param = l.param->detach();
  TAEDA_CHECK(grad.sizes() == param.sizes() && grad.device() == param.device(), op_,
              ": expected the gradient of parameter ", l.index, " of group ", l.group, " to be ",
              param.sizes(), " on ", param.device(), ", but got ", grad.sizes(), " on ",
              grad.device());
  begin_count(l);
  const Tensor indices = grad._indices();
  const std::vector<TensorIndex> at = elements(indices);
  StepTensors now{grad._values().to(param.dtype()), param.index(at), {}, l.count.step};
  Tensor states[ParamRef::kMaxStates];
  for (size_t n = 0; n < wanted_count_; ++n) {
    const size_t k = wanted_[n];
    states[k] = l.states[k];
    if (!states[k].defined()) {
      states[k] = *first_state(rule_, values_, k, param);
      made_.push_back({lent_.size() - 1, k, states[k]});
    }
    check_like(op_, "state ", rule_.states[k].name, l.group, l.index, states[k], param.sizes(),
               param);
    now.states[k] = states[k].index(at);
  }
  rule_.rows(values_, now);
  rows_.emplace_back(param, indices, now.param);
  for (size_t k = 0; k < rule_.states.size(); ++k)
    if (states[k].defined()) rows_.emplace_back(states[k], indices, now.states[k]);
}

}  // namespace taeda::inline v0_2::optim
