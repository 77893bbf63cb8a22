#include "taeda/optim/composed.h"

#include "taeda/base/error.h"
#include "taeda/device/graph.h"
#include "taeda/ops/copy.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::optim {

ComposedOptimizer::Update ComposedOptimizer::prepared(const OptimizerOptions& options,
                                                      const Tensor& param) const {
  const Tensor& grad = param.grad();
  TAEDA_CHECK(grad.device() == param.device(), kind(), ".step(): a parameter is on ",
              param.device(), ", but its gradient is on ", grad.device());
  TAEDA_CHECK(captures_under_way() == 0 || !is_current_stream_capturing(param.device()), kind(),
              ".step() cannot be captured into a graph");
  Update u{param.detach().clone(), grad.detach().to(param.dtype()), known_state(param)};
  ++u.state.step;
  for (size_t k = 0; k < state_names().size(); ++k) {
    Tensor& state = u.state.tensors[k];
    state = state.defined() ? state.clone() : make_state(options, k, u.param);
    TAEDA_CHECK(state.sizes() == param.sizes(), kind(), ".step(): the state ", state_names()[k],
                " has shape ", state.sizes(), " for a parameter of shape ", param.sizes());
  }
  if (u.state.step == 1)
    for (size_t k = 0; k < number_names().size(); ++k)
      u.state.numbers[k] = first_number(options, k);
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
  for (const OptimizerParamGroup& group : param_groups()) {
    for (const Tensor& p : group.params()) {
      if (!p.grad().defined() || p.numel() == 0) continue;
      planned.push_back({p, prepared(group.options(), p)});
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

}  // namespace taeda::optim
