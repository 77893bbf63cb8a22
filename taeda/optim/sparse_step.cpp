// Steps with sparse gradients: what they touch is taken out, changed apart, and put back.
#include <string_view>

#include "taeda/autograd/record.h"
#include "taeda/base/error.h"
#include "taeda/device/graph.h"
#include "taeda/kernels/index.h"
#include "taeda/ops/index/index.h"
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

/// Everything that a kernel needs to put rows at `indices` [dims, n] (Note [Rows]).
Optimizer::RowsToPut::RowsToPut(const Tensor& to, const Tensor& indices, const Tensor& rows)
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

void Optimizer::RowsToPut::write(const Tensor& rows) const {
  if (rows.numel() > 0)
    index_put_slot(block.device().type(), block, offsets, rows, /*accumulate=*/false);
}

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
  SparseCall call{g, i, {}, {}};
  const Tensor indices = grad._indices();
  const std::vector<TensorIndex> at = elements(indices);
  Rows rows;
  rows.step = known.step + 1;
  rows.grad = grad._values().to(param.dtype());
  rows.param = param.detach().index(at);
  for (size_t k = 0; k < wanted.names.size(); ++k) {
    if (!wanted.states[k]) continue;
    const Tensor& have = known.tensors[k];
    TAEDA_CHECK(
        !have.defined() || (have.sizes() == param.sizes() && have.device() == param.device()),
        kind(), ": expected the state ", wanted.names[k], " of parameter ", i, " of group ", g,
        " to be like the parameter, but it is ", have.sizes(), " on ", have.device());
    call.states[k] = have.defined() ? have : make_state(group.options(), k, param);
    rows.states[k] = call.states[k].index(at);
  }
  update_rows(group.options(), rows);
  call.puts.emplace_back(param.detach(), indices, rows.param);
  for (size_t k = 0; k < ParamState::kMaxTensors; ++k)
    if (call.states[k].defined()) call.puts.emplace_back(call.states[k], indices, rows.states[k]);
  sparse_calls_.push_back(std::move(call));
}

void Optimizer::run_all() {
  size_t done = 0;
  try {
    for (const SparseCall& call : sparse_calls_)
      for (const RowsToPut& rows : call.puts) {
        rows.put();
        ++done;
      }
    for (Call& call : calls_) run(call);
  } catch (...) {
    for (const SparseCall& call : sparse_calls_)
      for (const RowsToPut& rows : call.puts)
        if (done > 0) {
          --done;
          rows.put_back();
        }
    throw;
  }
  for (SparseCall& call : sparse_calls_) run(call);
}

/// Its rows have been put.
void Optimizer::run(SparseCall& call) {
  const Tensor& param = param_groups_[call.group].params()[call.param];
  ParamState& state = state_of(param);
  for (size_t k = 0; k < ParamState::kMaxTensors; ++k)
    if (call.states[k].defined()) state.tensors[k] = std::move(call.states[k]);
  bump_version(param);
  ++state.step;
}

}  // namespace taeda::inline v0_2::optim
