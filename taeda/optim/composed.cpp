#include "taeda/optim/composed.h"

#include <algorithm>

#include "taeda/base/error.h"
#include "taeda/device/graph.h"
#include "taeda/ops/create/copy.h"
#include "taeda/optim/take_step.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::optim {

namespace {

Lent lent_state(const Rule& rule, size_t group, size_t index, const Tensor& param,
                const ParamState& state) {
  Lent lent{.group = group, .index = index, .param = param, .grad = param.grad()};
  std::copy_n(state.tensors, rule.states.size(), lent.states);
  lent.count.step = static_cast<double>(state.step);
  std::copy_n(state.numbers, rule.numbers.size(), lent.count.numbers);
  lent.new_numbers = state.step == 0;
  return lent;
}

void take_back(const Rule& rule, Lent& lent, ParamState& state) {
  state.step = static_cast<int64_t>(lent.count.step);
  std::move(lent.states, lent.states + rule.states.size(), state.tensors);
  std::copy_n(lent.count.numbers, rule.numbers.size(), state.numbers);
}

}  // namespace

ComposedOptimizer::Update ComposedOptimizer::prepared(size_t g, size_t i) const {
  const OptimizerParamGroup& group = param_groups()[g];
  const Tensor& param = group.params()[i];
  if (!is_floating_point(param.dtype())) taeda::detail::throw_no_dtype(kind(), param.dtype());
  TAEDA_CHECK(captures_under_way() == 0 || !is_current_stream_capturing(param.device()), kind(),
              ".step() cannot be captured into a graph");
  check_gradient_kind(group.options(), param.grad());
  Update u{param.detach().clone(), param.grad().detach(), known_state(param)};
  if (u.grad.device() == param.device()) u.grad = u.grad.to(param.dtype());
  check_like(kind(), "gradient", "", g, i, u.grad, param.sizes(), param);
  ++u.state.step;
  for (size_t k = 0; k < state_names().size(); ++k) {
    const std::optional<DimVector> sizes = state_sizes(k, param);
    if (!sizes) continue;
    Tensor& state = u.state.tensors[k];
    state = state.defined() ? state.clone() : make_state(group.options(), k, u.param);
    check_like(kind(), "state ", state_names()[k], g, i, state, *sizes, param);
  }
  if (u.state.step == 1)
    for (size_t k = 0; k < number_names().size(); ++k)
      u.state.numbers[k] = first_number(group.options(), k);
  return u;
}

Tensor ComposedOptimizer::step(LossClosure closure) {
  Tensor loss = evaluate(closure);
  NoGradGuard no_grad;
  struct Planned {
    Tensor param;
    Update update;
  };
  std::vector<Planned> planned;  // of optimizers of programs, which are `update` alone
  const Rule* rule = rule_of(defaults());
  std::optional<RuleStep> of_rule;
  if (rule) of_rule.emplace(*rule, kind(), /*replaces=*/true);
  double values[Rule::kMostFields];
  for (size_t g = 0; g < param_groups().size(); ++g) {
    OptimizerParamGroup& group = param_groups()[g];
    if (rule) read_values(*rule, group.options(), values);
    for (size_t i = 0; i < group.params().size(); ++i) {
      const Tensor& p = group.params()[i];
      TAEDA_CHECK(p.defined(), kind(), ": parameter ", i, " of group ", g, " is undefined");
      if (!p.grad().defined() || p.numel() == 0) continue;
      if (rule) {
        TAEDA_CHECK(captures_under_way() == 0 || !is_current_stream_capturing(p.device()), kind(),
                    ".step() cannot be captured into a graph");
        check_gradient_kind(group.options(), p.grad());
        of_rule->add(values, lent_state(*rule, g, i, p, known_state(p)));
      } else {
        planned.push_back({p, prepared(g, i)});
        update(group.options(), planned.back().update);
      }
      state_of(p);  // makes room
    }
  }
  if (rule) {
    of_rule->run();
    for (Lent& l : of_rule->lent())
      take_back(*rule, l, state_of(param_groups()[l.group].params()[l.index]));
  }
  for (Planned& p : planned) {
    p.param.copy_(p.update.param);
    state_of(p.param) = std::move(p.update.state);
  }
  return loss;
}

}  // namespace taeda::inline v0_2::optim
