#include "taeda/optim/rule_step.h"

#include <algorithm>

#include "taeda/autograd/record.h"
#include "taeda/base/error.h"
#include "taeda/device/graph.h"
#include "taeda/kernels/memory_order.h"
#include "taeda/kernels/optim.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/sparse/sparse.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::optim {

namespace {

bool is_spread_out(const Tensor& t) {
  return !t.is_contiguous() && !t.layout().is_non_overlapping_and_dense();
}

/// Uninitialised, in a parameter's memory order but without its gaps.
Tensor empty_in_order(const Tensor& param, ScalarType dtype) {
  DimVector strides =
      is_spread_out(param) ? contiguous_strides(param.sizes()) : DimVector(param.strides());
  return make_tensor(Layout{param.sizes(), std::move(strides), 0}, dtype, param.device());
}

/// The elements at `indices` [dims, n] in the first dimensions, as an index.
std::vector<TensorIndex> at_indices(const Tensor& indices) {
  std::vector<TensorIndex> out;
  for (int64_t d = 0; d < indices.size(0); ++d) out.push_back(indices.select(0, d));
  return out;
}

/// Nothing where a parameter of these sizes has no such state.
std::optional<DimVector> sizes_of(const RuleState& state, IntArrayRef param) {
  return state.sizes ? state.sizes(param) : DimVector(param);
}

bool same_count(const StepCount& a, const StepCount& b) {
  return a.step == b.step && a.numbers[0] == b.numbers[0] && a.numbers[1] == b.numbers[1];
}

}  // namespace

void check_like(const char* op, const char* what, const char* name, size_t group, size_t index,
                const Tensor& t, IntArrayRef sizes, const Tensor& param) {
  const auto text = [](const Tensor& like, IntArrayRef shape) {
    return taeda::detail::concat(to_string(like.dtype()), " ", shape, " on ", like.device());
  };
  TAEDA_CHECK(t.sizes() == sizes && t.device() == param.device() && t.dtype() == param.dtype(), op,
              ": expected the ", what, name, " of parameter ", index, " of group ", group,
              " to be ", text(param, sizes), " like the parameter, but got ", text(t, t.sizes()));
}

std::optional<Tensor> first_state(const Rule& rule, const double* values, size_t k,
                                  const Tensor& param) {
  const RuleState& state = rule.states[k];
  const std::optional<DimVector> sizes = sizes_of(state, param.sizes());
  if (!sizes) return std::nullopt;
  Tensor made = IntArrayRef(*sizes) == param.sizes()
                    ? empty_in_order(param, param.dtype())
                    : make_tensor(Layout::contiguous(*sizes), param.dtype(), param.device());
  const double start = state.start ? state.start(values) : 0;
  start == 0 ? made.zero_() : made.fill_(start);
  return made;
}

void RuleStep::check(const Lent& l, bool apart) const {
  if (!is_floating_point(l.param.dtype())) taeda::detail::throw_no_dtype(op_, l.param.dtype());
  if (!l.captured) return;
  TAEDA_CHECK(!rule_.update, op_, " cannot be captured into a graph");
  TAEDA_CHECK(rule_.counts ? l.count.step > 0 : true,
              "an optimizer's first step cannot be captured, because it makes the state that later "
              "steps need: run some steps before the capture");
  TAEDA_CHECK(!apart,
              "a step cannot be captured for parameters whose elements lie apart in memory");
}

void RuleStep::add(const double* values, Lent given) {
  const NoGradGuard no_grad;
  Lent& l = lent_.emplace_back(std::move(given));
  l.captured = captures_under_way() > 0 && is_current_stream_capturing(l.param.device());
  if (l.grad.is_sparse()) return add_sparse(values, l);
  TAEDA_CHECK(rule_.dense, rule_.name,
              " does not support dense gradients, please consider Adam instead");
  check(l, is_spread_out(l.param));
  rule_.update ? compose(values, l) : launch_later(values, l);
}

/// On copies: what they are in the end is taken over by `run`.
void RuleStep::compose(const double* values, Lent& l) {
  begin_count(values, l);
  StepTensors t{l.grad.detach(), l.param.detach().clone(), {}, l.count.step};
  if (t.grad.device() == t.param.device()) t.grad = t.grad.to(t.param.dtype());
  check_like(op_, "gradient", "", l.group, l.index, t.grad, l.param.sizes(), l.param);
  Tensor before[ParamRef::kMaxStates];
  for (size_t k = 0; k < rule_.states.size(); ++k) {
    if (!wants(values, k)) continue;
    const std::optional<DimVector> sizes = sizes_of(rule_.states[k], l.param.sizes());
    if (!sizes) continue;
    before[k] = l.states[k];
    if (before[k].defined())
      check_like(op_, "state ", rule_.states[k].name, l.group, l.index, before[k], *sizes, l.param);
    t.states[k] = before[k].defined() ? before[k].clone() : *first_state(rule_, values, k, t.param);
  }
  rule_.update(values, t);
  results_.emplace_back(l.param, t.param);
  for (size_t k = 0; k < rule_.states.size(); ++k) {
    if (!t.states[k].defined()) continue;
    if (before[k].defined() && !replaces_)
      results_.emplace_back(before[k], t.states[k]);
    else
      l.states[k] = t.states[k];
  }
}

void RuleStep::add_sparse(const double* values, Lent& l) {
  TAEDA_CHECK(rule_.rows, rule_.name, " does not support sparse gradients", rule_.instead);
  if (rule_.sparse_as_dense && rule_.sparse_as_dense(values)) {
    l.grad = l.grad.to_dense();
    check(l, is_spread_out(l.param));
    return launch_later(values, l);
  }
  TAEDA_CHECK(!l.captured,
              "a step with a sparse gradient cannot be captured: how many rows it has is not known "
              "before");
  const Tensor grad = l.grad.detach().coalesce();
  TAEDA_CHECK(grad.sizes() == l.param.sizes() && grad.device() == l.param.device(), op_,
              ": expected the gradient of parameter ", l.index, " of group ", l.group, " to be ",
              l.param.sizes(), " on ", l.param.device(), ", but got ", grad.sizes(), " on ",
              grad.device());
  begin_count(values, l);
  Rows rows{lent_.size() - 1, at_indices(grad._indices()), {}};
  rows.now = {
      grad._values().to(l.param.dtype()), l.param.detach().index(rows.at), {}, l.count.step};
  for (size_t k = 0; k < rule_.states.size(); ++k) {
    if (!wants(values, k)) continue;
    if (!l.states[k].defined()) l.states[k] = *first_state(rule_, values, k, l.param.detach());
    check_like(op_, "state ", rule_.states[k].name, l.group, l.index, l.states[k], l.param.sizes(),
               l.param);
    rows.now.states[k] = l.states[k].index(rows.at);
  }
  rule_.rows(values, rows.now);
  rows_.push_back(std::move(rows));
}

/// States in the order of a parameter's memory; copies whose values go back when the step is made.
void RuleStep::bring_states(const double* values, Lent& l, const Tensor& param,
                            const Tensor** ordered) {
  for (size_t k = 0; k < rule_.states.size(); ++k) {
    if (!wants(values, k)) continue;
    Tensor& state = l.states[k];
    const bool there = state.defined();
    TAEDA_CHECK(there || !l.captured, "a captured step cannot make the state ",
                rule_.states[k].name, " that later steps need: run some steps before the capture");
    if (!there) state = *first_state(rule_, values, k, param);
    if (k == 0) l.fresh = !there;
    ordered[k] = &state;
    if (!there || state.sizes() != param.sizes() || same_memory_order(state, param)) continue;
    TAEDA_CHECK(!l.captured, "a captured step needs the state ", rule_.states[k].name,
                " in its parameter's memory order: run some steps before the capture");
    Tensor copy = empty_in_order(param, state.dtype());
    copy.copy_(state);
    ordered[k] = &in_order_.emplace_back(std::move(copy));
    results_.emplace_back(state, *ordered[k]);
  }
}

void RuleStep::begin_count(const double* values, Lent& l) const {
  if (l.new_numbers)
    for (size_t k = 0; k < rule_.numbers.size(); ++k)
      l.count.set(k, rule_.numbers[k].start(values));
  ++l.count.step;
}

void RuleStep::launch_later(const double* values, Lent& l) {
  Tensor dense, grad = l.grad;
  if (is_spread_out(l.param)) {
    dense = l.param.detach().clone(MemoryFormat::Contiguous);
    results_.emplace_back(l.param, dense);
  }
  const Tensor& param = dense.defined() ? dense : l.param;
  if (rule_.negated && rule_.negated(values)) grad = keep_alive_.emplace_back(grad.neg());
  if (grad.sizes() == param.sizes() && grad.device() == param.device() &&
      (grad.dtype() != param.dtype() || !same_memory_order(grad, param)))
    grad = keep_alive_.emplace_back(empty_in_order(param, param.dtype())).copy_(grad);
  const Tensor* ordered[ParamRef::kMaxStates] = {};
  bring_states(values, l, param, ordered);
  const Tensor* states[ParamRef::kMaxStates] = {};
  const char* names[ParamRef::kMaxStates] = {};
  for (size_t k = 0; k < rule_.states.size(); ++k) {
    if (!ordered[k]) continue;
    states[rule_.states[k].place] = ordered[k];
    names[rule_.states[k].place] = rule_.states[k].name;
  }
  Part& part = part_for(values, l, param);
  part.list.add({.op = op_,
                 .group = l.group,
                 .index = l.index,
                 .param = param,
                 .grad = grad,
                 .states = states,
                 .state_names = names},
                part.numbers);
  part.members.push_back(lent_.size() - 1);
}

/// The kernel call that takes this parameter: those of one device, dtype and, where a formula has
/// them, numbers together.
RuleStep::Part& RuleStep::part_for(const double* values, Lent& l, const Tensor& param) {
  const StepCount before = l.count;
  if (!l.captured) begin_count(values, l);
  for (size_t i = parts_.size(); i-- > 0;) {
    Part& p = parts_[i];
    if (p.group != l.group || p.list.device() != param.device() ||
        p.list.dtype() != param.dtype() || p.members.empty())
      continue;
    const bool same = same_count(p.begun, l.count) && p.fresh == l.fresh;
    if (same && rule_.formula) l.count = p.done;
    if (same || l.captured) return p;
    if (rule_.formula) continue;
    p.begun = l.count;
    p.fresh = l.fresh;
    p.numbers = rule_.own_numbers(values, l.count.step, l.fresh);
    return p;
  }
  Part& p = parts_.emplace_back(l.group, param.device(), param.dtype());
  std::copy_n(values, rule_.fields.size(), p.values);
  p.begun = l.count;
  p.fresh = l.fresh;
  if (rule_.formula)
    p.step = rule_.formula(values, l.count);
  else
    p.numbers = rule_.own_numbers(values, l.count.step, l.fresh);
  p.done = l.count;
  if (l.captured) l.count = before;
  return p;
}

/// A captured step counts at each replay: its numbers come from memory that a replay fills in.
void RuleStep::make_live(Part& part, const Replay& replay) {
  const size_t stride = rule_.formula ? StepValues::kMost : 4;
  std::vector<double> values(part.values, part.values + rule_.fields.size());
  auto fill = [&rule = rule_, values = std::move(values), members = part.members, replay,
               stride](double* out) mutable {
    for (const size_t number : members) {
      replay(number, [&](double lr, StepCount& count) {
        values[0] = lr;
        ++count.step;
        if (rule.formula) {
          const StepValues step = rule.formula(values.data(), count);
          std::copy_n(step.numbers, stride, out);
        } else {
          const StepNumbers n = rule.own_numbers(values.data(), count.step, false);
          const double numbers[] = {n.a, n.b, lr, count.step};
          std::copy_n(numbers, stride, out);
        }
      });
      out += stride;
    }
  };
  const Device device = part.list.device();
  const size_t count = stride * part.members.size();
  part.list.set_live(graph_numbers(device, count, std::move(fill)), static_cast<int64_t>(stride));
}

void RuleStep::run(const Replay& replay) {
  const NoGradGuard no_grad;
  for (Rows& rows : rows_) {
    if (rows.now.grad.numel() == 0) continue;
    const Lent& l = lent_[rows.lent];
    l.param.detach().index_put_(rows.at, rows.now.param);
    for (size_t k = 0; k < rule_.states.size(); ++k)
      if (rows.now.states[k].defined()) Tensor(l.states[k]).index_put_(rows.at, rows.now.states[k]);
  }
  for (Part& part : parts_) {
    if (lent_[part.members[0]].captured) make_live(part, replay);
    const DeviceType type = part.list.device().type();
    rule_.formula ? formula_step_slot(type, part.list, part.step)
                  : rule_.launch(part.values, part.list);
  }
  for (auto& [to, from] : results_) to.copy_(from);
  for (const Lent& l : lent_) bump_version(l.param);
}

}  // namespace taeda::inline v0_2::optim
