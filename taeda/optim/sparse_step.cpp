// Steps with sparse gradients: what they touch is taken out, changed apart, and put back.
#include <string_view>

#include "taeda/autograd/record.h"
#include "taeda/base/error.h"
#include "taeda/device/graph.h"
#include "taeda/ops/index.h"
#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::optim {

namespace {

/// The elements at `indices` [dims, n] in the first dimensions, as an index.
std::vector<TensorIndex> elements(const Tensor& indices) {
  std::vector<TensorIndex> out;
  for (int64_t d = 0; d < indices.size(0); ++d) out.push_back(indices.select(0, d));
  return out;
}

}  // namespace

void Optimizer::check_gradient_kind(const OptimizerOptions& options, const Tensor& grad) const {
  TAEDA_CHECK(grad.is_sparse() || takes_dense_gradients(), kind(),
              " does not support dense gradients, please consider Adam instead");
  if (!grad.is_sparse()) return;
  const std::string_view name = kind();
  TAEDA_CHECK(sparse_gradients(options) != SparseGradients::Refused, name,
              " does not support sparse gradients",
              name == "Adam" || name == "AdamW" ? ", please consider SparseAdam instead" : "");
}

void Optimizer::update_rows(const OptimizerOptions&, Rows&) const {
  throw NotImplementedError(
      taeda::detail::concat(kind(), " does not say what it does with sparse gradients"));
}

void Optimizer::plan_sparse(size_t g, size_t i, const Wanted& wanted) {
  OptimizerParamGroup& group = param_groups_[g];
  const Tensor& param = group.params()[i];
  const Tensor grad = param.grad().detach().coalesce();
  TAEDA_CHECK(grad.sizes() == param.sizes() && grad.device() == param.device(), kind(),
              ": expected the gradient of parameter ", i, " of group ", g, " to be ", param.sizes(),
              " on ", param.device(), ", but got ", grad.sizes(), " on ", grad.device());
  TAEDA_CHECK(captures_under_way() == 0 || !is_current_stream_capturing(param.device()),
              "a step with a sparse gradient cannot be captured: how many rows it has is not known "
              "before");
  const ParamState& known = state_of(param);
  SparseCall call{g, i, grad._indices(), {}, {}};
  const std::vector<TensorIndex> at = elements(call.indices);
  call.rows.step = known.step + 1;
  call.rows.grad = grad._values().to(param.dtype());
  call.rows.param = param.detach().index(at);
  for (size_t k = 0; k < wanted.names.size(); ++k) {
    if (!wanted.states[k]) continue;
    const Tensor& have = known.tensors[k];
    TAEDA_CHECK(
        !have.defined() || (have.sizes() == param.sizes() && have.device() == param.device()),
        kind(), ": expected the state ", wanted.names[k], " of parameter ", i, " of group ", g,
        " to be like the parameter, but it is ", have.sizes(), " on ", have.device());
    call.states[k] = have.defined() ? have : make_state(group.options(), k, param);
    call.rows.states[k] = call.states[k].index(at);
  }
  update_rows(group.options(), call.rows);
  sparse_calls_.push_back(std::move(call));
}

void Optimizer::run(SparseCall& call) {
  const Tensor& param = param_groups_[call.group].params()[call.param];
  ParamState& state = state_of(param);
  const std::vector<TensorIndex> at = elements(call.indices);
  param.index_put_(at, call.rows.param);
  for (size_t k = 0; k < ParamState::kMaxTensors; ++k) {
    if (!call.states[k].defined()) continue;
    call.states[k].index_put_(at, call.rows.states[k]);
    state.tensors[k] = std::move(call.states[k]);
  }
  ++state.step;
}

}  // namespace taeda::inline v0_2::optim
