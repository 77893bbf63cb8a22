#include "taeda/optim/composed.h"

#include "taeda/base/error.h"
#include "taeda/device/graph.h"
#include "taeda/ops/create/copy.h"
#include "taeda/optim/rule_step.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::optim {

Tensor ComposedOptimizer::make_state(const OptimizerOptions&, size_t, const Tensor& param) const {
  Tensor state = empty_for(param);
  state.zero_();
  return state;
}

ComposedOptimizer::Update ComposedOptimizer::prepared(size_t g, size_t i) const {
  const OptimizerParamGroup& group = param_groups()[g];
  const Tensor& param = group.params()[i];
  if (!is_floating_point(param.dtype())) taeda::detail::throw_no_dtype(kind(), param.dtype());
  TAEDA_CHECK(captures_under_way() == 0 || !is_current_stream_capturing(param.device()), kind(),
              ".step() cannot be captured into a graph");
  TAEDA_CHECK(!param.grad().is_sparse(), kind(), " does not support sparse gradients");
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
  std::vector<Planned> planned;
  for (size_t g = 0; g < param_groups().size(); ++g) {
    OptimizerParamGroup& group = param_groups()[g];
    for (size_t i = 0; i < group.params().size(); ++i) {
      const Tensor& p = group.params()[i];
      TAEDA_CHECK(p.defined(), kind(), ": parameter ", i, " of group ", g, " is undefined");
      if (!p.grad().defined() || p.numel() == 0) continue;
      planned.push_back({p, prepared(g, i)});
      update(group.options(), planned.back().update);
      state_of(p);  // makes room
    }
  }
  for (Planned& p : planned) {
    p.param.copy_(p.update.param);
    state_of(p.param) = std::move(p.update.state);
  }
  return loss;
}

}  // namespace taeda::inline v0_2::optim
