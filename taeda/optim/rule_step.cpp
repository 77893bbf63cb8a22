#include "taeda/optim/rule_step.h"

#include <algorithm>

#include "taeda/autograd/record.h"
#include "taeda/base/error.h"
#include "taeda/device/graph.h"
#include "taeda/kernels/memory_order.h"
#include "taeda/kernels/optim.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
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

bool same_count(const StepCount& a, const StepCount& b) {
  return a.step == b.step && a.fresh == b.fresh && a.numbers[0] == b.numbers[0] &&
         a.numbers[1] == b.numbers[1];
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
  const std::optional<DimVector> sizes = rule.sizes(k, param.sizes());
  if (!sizes) return std::nullopt;
  Tensor made = IntArrayRef(*sizes) == param.sizes()
                    ? empty_in_order(param, param.dtype())
                    : make_tensor(Layout::contiguous(*sizes), param.dtype(), param.device());
  const double start = rule.states[k].start ? rule.states[k].start(values) : 0;
  start == 0 ? made.zero_() : made.fill_(start);
  return made;
}

void RuleStep::when_replayed(Replay replay, const Tensor& skip) {
  replay_ = std::move(replay);
  skip_ = skip;
}

void RuleStep::clear() {
  when_replayed(nullptr);
  lent_.clear();
  for (Part& part : parts_) {
    part.list.clear();
    part.members.clear();
  }
  keep_alive_.clear();
  made_.clear();
  results_.clear();
  rows_.clear();
  launched_ = 0;
}

void RuleStep::begin_group(const double* values) {
  values_ = values;
  wanted_count_ = 0;
  for (size_t k = 0; k < rule_.states.size(); ++k) {
    if (!rule_.wants(values, k)) continue;
    names_[wanted_count_] = rule_.states[k].name;
    wanted_[wanted_count_++] = k;
  }
}

void RuleStep::check(const Lent& l, bool apart) const {
  const ScalarType dtype = l.param->dtype();
  if (!is_floating_point(dtype)) taeda::detail::throw_no_dtype(op_, dtype);
  if (!l.captured) return;
  TAEDA_CHECK(!rule_.counts || l.count.step > 0,
              "an optimizer's first step cannot be captured, because it makes the state that later "
              "steps need: run some steps before the capture");
  TAEDA_CHECK(!apart,
              "a step cannot be captured for parameters whose elements lie apart in memory");
}

void RuleStep::check_has_state(const Lent& l, size_t k) const {
  TAEDA_CHECK(!l.captured, "a captured step cannot make the state ", rule_.states[k].name,
              " that later steps need: run some steps before the capture");
}

void RuleStep::add(const Lent& given) {
  Lent& l = lent_.emplace_back(given);
  l.captured = captures_under_way() > 0 && is_current_stream_capturing(l.param->device());
  if (l.recorded) return record(l);
  if (l.grad->is_sparse()) return add_sparse(l);
  TAEDA_CHECK(rule_.dense, rule_.name,
              " does not support dense gradients, please consider Adam instead");
  rule_.update ? compose(l) : launch_later(l, *l.grad);
}

/// On copies: what they are in the end is taken over by `run`.
void RuleStep::compose(Lent& l) {
  const Tensor& param = *l.param;
  check(l, is_spread_out(param));
  const StepCount before = l.count;
  begin_count(l);
  StepTensors t{l.grad->detach(), param.detach().clone(), {}, l.count.step};
  t.numbers = rule_.formula(values_, l.count);
  if (t.grad.device() == param.device()) t.grad = t.grad.to(param.dtype());
  check_like(op_, "gradient", "", l.group, l.index, t.grad, param.sizes(), param);
  for (size_t n = 0; n < wanted_count_; ++n) {
    const size_t k = wanted_[n];
    const std::optional<DimVector> sizes = rule_.sizes(k, param.sizes());
    if (!sizes) continue;
    const Tensor& present = l.states[k];
    if (!present.defined()) {
      check_has_state(l, k);
      t.states[k] = *first_state(rule_, values_, k, t.param);
      continue;
    }
    check_like(op_, "state ", rule_.states[k].name, l.group, l.index, present, *sizes, param);
    t.states[k] = present.clone();
  }
  if (l.captured) {
    l.count = before;
    const GraphNumbers live = live_numbers(param.device(), values_, {last_member()});
    t.live = from_blob(live.data(), {static_cast<int64_t>(live.count())},
                       TensorOptions(kDouble).device(param.device()));
  }
  rule_.update(values_, t);
  results_.push_back({param, t.param});
  for (size_t k = 0; k < rule_.states.size(); ++k) {
    if (!t.states[k].defined()) continue;
    if (l.states[k].defined() && (l.captured || !replaces_))
      results_.push_back({l.states[k], t.states[k]});
    else
      made_.push_back({lent_.size() - 1, k, t.states[k]});
  }
}

void RuleStep::begin_count(Lent& l) const {
  if (l.new_numbers && rule_.first_numbers) rule_.first_numbers(values_, l.count);
  ++l.count.step;
}

RuleStep::Member RuleStep::last_member() const {
  return {lent_.size() - 1, lent_.back().group, lent_.back().index};
}

/// A first state, or the one that is there in the order of a parameter's memory.
const Tensor& RuleStep::state_like(Lent& l, size_t k, const Tensor& param) {
  const Tensor& present = l.states[k];
  if (present.defined() &&
      (present.sizes() != param.sizes() || present.device() != param.device() ||
       same_memory_order(present, param)))
    return present;
  check_has_state(l, k);
  Tensor state;
  if (present.defined()) {
    state = empty_in_order(param, present.dtype());
    state.copy_(present);
    if (!replaces_) {
      results_.push_back({present, state});
      return keep_alive_.emplace_back(std::move(state));
    }
  } else {
    state = *first_state(rule_, values_, k, param);
    if (k == 0) l.count.fresh = true;
  }
  return made_.emplace_back(Made{lent_.size() - 1, k, std::move(state)}).tensor;
}

void RuleStep::launch_later(Lent& l, const Tensor& given) {
  Tensor dense;
  const bool apart = is_spread_out(*l.param);
  check(l, apart);
  if (apart) {
    dense = l.param->detach().clone(MemoryFormat::Contiguous);
    results_.push_back({*l.param, dense});
  }
  const Tensor& param = apart ? dense : *l.param;
  const Tensor* grad = &given;
  if (grad->sizes() == param.sizes() && grad->device() == param.device() &&
      (grad->dtype() != param.dtype() || !same_memory_order(*grad, param))) {
    Tensor& in_order = keep_alive_.emplace_back(empty_in_order(param, param.dtype()));
    in_order.copy_(*grad);
    grad = &in_order;
  }
  const Tensor* states[ParamRef::kMaxStates];
  for (size_t n = 0; n < wanted_count_; ++n) states[n] = &state_like(l, wanted_[n], param);
  Part& part = part_for(l, param);
  part.list.add({.op = op_,
                 .group = l.group,
                 .index = l.index,
                 .param = param,
                 .grad = *grad,
                 .states = {states, wanted_count_},
                 .state_names = {names_, wanted_count_}});
  part.members.push_back(last_member());
}

/// The kernel call that takes this parameter: those of one device, dtype and step together.
RuleStep::Part& RuleStep::part_for(Lent& l, const Tensor& param) {
  const StepCount before = l.count;
  begin_count(l);
  Part* unused = nullptr;
  for (Part& p : parts_) {
    if (p.group != l.group || p.list.device() != param.device() || p.list.dtype() != param.dtype())
      continue;
    if (p.members.empty()) {
      unused = &p;
    } else if (l.captured || same_count(p.begun, l.count)) {
      l.count = l.captured ? before : p.done;
      return p;
    }
  }
  Part& p = unused ? *unused : parts_.emplace_back(l.group, param.device(), param.dtype());
  std::copy_n(values_, rule_.fields.size(), p.values);
  p.begun = l.count;
  p.step = rule_.formula(values_, l.count);
  p.done = l.count;
  if (l.captured) l.count = before;
  return p;
}

/// A captured step counts at each replay: its numbers come from memory that a replay fills in.
GraphNumbers RuleStep::live_numbers(Device device, const double* values,
                                    std::vector<Member> members) const {
  const size_t count = StepValues::kMost * members.size();
  return graph_numbers(
      device, count,
      [&rule = rule_, options = std::vector<double>(values, values + rule_.fields.size()),
       members = std::move(members), replay = replay_](double* out) mutable {
        auto next = [&](double lr, StepCount& of_param) {
          options[0] = lr;
          ++of_param.step;
          out = std::copy_n(rule.formula(options.data(), of_param).numbers, StepValues::kMost, out);
        };
        replay(members, std::ref(next));  // which allocates nothing
      });
}

void RuleStep::launch_all() {
  for (; launched_ < parts_.size(); ++launched_) {
    Part& part = parts_[launched_];
    if (part.members.empty()) continue;
    const Device device = part.list.device();
    if (lent_[part.members[0].number].captured) {
      part.list.set_live(live_numbers(device, part.values, part.members), StepValues::kMost);
      if (skip_.defined()) part.list.set_skip(Numbers(skip_));
    }
    formula_step_slot(device.type(), part.list, part.step);
  }
  for (auto& [to, from, recorded] : results_) {
    const AutoGradMode recording(recorded);
    to.copy_(skip_.defined() ? where(skip_.select(0, 0).ne(0), to, from) : from);
  }
}

/// Hands over what belongs to steps that were made: all, or those that were launched.
void RuleStep::take_over(bool all) {
  if (!all)
    for (size_t i = 0; i < launched_; ++i)
      for (const Member& m : parts_[i].members) lent_[m.number].done = true;
  for (Lent& l : lent_) {
    l.done = l.done || all;
    if (l.done) bump_version(*l.param);
  }
  for (Made& m : made_)
    if (lent_[m.lent].done) lent_[m.lent].states[m.k] = std::move(m.tensor);
}

void RuleStep::run() {
  size_t put = 0;
  try {
    for (; put < rows_.size(); ++put) rows_[put].put();
    launch_all();
  } catch (...) {
    while (put > 0) rows_[--put].put_back();
    take_over(/*all=*/false);
    throw;
  }
  take_over(/*all=*/true);
}

namespace {

/// Calls f(wide, dtype) with the tensor, if it is of 16 bits with a copy that is brought back.
template <class F>
void in_wide(Tensor& t, F&& f) {
  if (!is_reduced_floating(t.dtype())) return f(t, t.dtype());
  Tensor wide = t.to(kFloat);
  f(wide, kFloat);
  t.copy_(wide);
}

}  // namespace

void StepTensors::scale(Tensor& t, int k) const {
  if (!live.defined()) return void(t.mul_(numbers.numbers[k]));
  in_wide(t, [&](Tensor& wide, ScalarType dtype) { wide.mul_(live.select(0, k).to(dtype)); });
}

void StepTensors::approach(Tensor& t, const Tensor& end, int k) const {
  if (!live.defined()) return void(t.lerp_(end, numbers.numbers[k]));
  in_wide(t, [&](Tensor& wide, ScalarType dtype) {
    wide.lerp_(end.to(dtype), live.select(0, k).to(dtype));
  });
}

void StepTensors::add(Tensor& t, const Tensor& change, int k, double factor) const {
  if (!live.defined()) return void(t.add_(change, numbers.numbers[k] * factor));
  add(t, change, live.select(0, k).mul(factor));
}

void StepTensors::add(Tensor& t, const Tensor& change, const Tensor& by) {
  in_wide(t,
          [&](Tensor& wide, ScalarType dtype) { wide.addcmul_(change.to(dtype), by.to(dtype)); });
}

}  // namespace taeda::inline v0_2::optim
