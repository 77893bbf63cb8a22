#include "taeda/optim/lbfgs.h"

#include <algorithm>
#include <cmath>

#include "taeda/base/error.h"
#include "taeda/io/keyed_archive.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/optim/line_search.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::optim {

namespace {

double largest(const Tensor& t) { return t.abs().max().item<double>(); }
double product(const Tensor& a, const Tensor& b) { return a.dot(b).item<double>(); }

/// Tensors as "<name>.0", "<name>.1", ..., and back.
template <class Put>
void each_named(const std::string& name, const std::deque<Tensor>& list, const Put& put) {
  for (size_t i = 0; i < list.size(); ++i) put(name + "." + std::to_string(i), list[i]);
}

/// Calls f(name, list) for the three histories.
template <class State, class F>
void each_history(State& s, const F& f) {
  f("old_dirs", s.old_dirs());
  f("old_stps", s.old_stps());
  f("ro", s.ro());
}

/// Calls f(name, tensor) for the single tensors.
template <class State, class F>
void each_tensor(State& s, const F& f) {
  f("d", s.d());
  f("H_diag", s.H_diag());
  f("prev_flat_grad", s.prev_flat_grad());
}

std::vector<Tensor> copies_of(const std::vector<Tensor>& params) {
  std::vector<Tensor> out;
  for (const Tensor& p : params) out.push_back(p.detach().clone());
  return out;
}

void put_back(const std::vector<Tensor>& params, const std::vector<Tensor>& copies) {
  for (size_t i = 0; i < params.size(); ++i) Tensor(params[i]).copy_(copies[i]);
}

}  // namespace

LBFGSParamState::LBFGSParamState() = default;
LBFGSParamState::LBFGSParamState(const LBFGSParamState& other) = default;
LBFGSParamState& LBFGSParamState::operator=(const LBFGSParamState& other) = default;

LBFGSParamState& LBFGSParamState::old_dirs(std::deque<Tensor> value) {
  old_dirs_ = std::move(value);
  return *this;
}
LBFGSParamState& LBFGSParamState::old_stps(std::deque<Tensor> value) {
  old_stps_ = std::move(value);
  return *this;
}
LBFGSParamState& LBFGSParamState::ro(std::deque<Tensor> value) {
  ro_ = std::move(value);
  return *this;
}

void LBFGSOptions::check() const {
  TAEDA_CHECK_VALUE(lr_ >= 0, "Invalid learning rate: ", lr_);
  TAEDA_CHECK_VALUE(!std::isnan(tolerance_grad_),
                    "Invalid tolerance_grad value: ", tolerance_grad_);
  TAEDA_CHECK_VALUE(!std::isnan(tolerance_change_),
                    "Invalid tolerance_change value: ", tolerance_change_);
  TAEDA_CHECK_VALUE(history_size_ > 0, "Invalid history_size value: ", history_size_);
  TAEDA_CHECK_VALUE(max_iter_ > 0, "Invalid max_iter value: ", max_iter_);
  TAEDA_CHECK_VALUE(!line_search_fn_ || *line_search_fn_ == "strong_wolfe",
                    "only 'strong_wolfe' is supported for line_search_fn, but got '",
                    line_search_fn_.value_or(""), "'");
}

void LBFGSOptions::visit(const NumberVisitor& f) {
  const auto whole = [&](const char* name, int64_t value) {
    return static_cast<int64_t>(f(name, static_cast<double>(value)));
  };
  lr_ = f("lr", lr_);
  max_iter_ = whole("max_iter", max_iter_);
  const int64_t evaluations = whole("max_eval", max_eval_.value_or(-1));
  max_eval_ = evaluations < 0 ? std::nullopt : std::optional(evaluations);
  tolerance_grad_ = f("tolerance_grad", tolerance_grad_);
  tolerance_change_ = f("tolerance_change", tolerance_change_);
  history_size_ = whole("history_size", history_size_);
  const bool searches = f("strong_wolfe", line_search_fn_ ? 1 : 0) != 0;
  line_search_fn_ = searches ? std::optional<std::string>("strong_wolfe") : std::nullopt;
}

void LBFGSParamState::serialize(serialize::OutputArchive& archive) const {
  archive.write("func_evals", IValue(func_evals()));
  archive.write("n_iter", IValue(n_iter()));
  archive.write("t", IValue(t()));
  archive.write("prev_loss", IValue(prev_loss()));
  each_tensor(*this, [&](const char* name, const Tensor& value) {
    if (value.defined()) archive.write(name, value, true);
  });
  each_history(*this, [&](const char* name, const std::deque<Tensor>& list) {
    archive.write(name, IValue(std::vector<Tensor>(list.begin(), list.end())));
  });
}

void LBFGSParamState::serialize(serialize::InputArchive& archive) {
  const auto number = [&](const char* name) {
    IValue value;
    archive.read(name, value);
    return value;
  };
  func_evals(number("func_evals").toInt());
  n_iter(number("n_iter").toInt());
  t(number("t").toDouble());
  prev_loss(number("prev_loss").toDouble());
  each_tensor(*this, [&](const char* name, Tensor& value) { archive.try_read(name, value, true); });
  each_history(*this, [&](const char* name, std::deque<Tensor>& list) {
    const std::vector<Tensor> read = number(name).toTensorVector();
    list.assign(read.begin(), read.end());
  });
}

LBFGS::LBFGS(std::vector<OptimizerParamGroup> groups, LBFGSOptions defaults)
    : Optimizer(std::move(groups), std::make_unique<LBFGSOptions>(std::move(defaults))) {
  TAEDA_CHECK_VALUE(param_groups().size() == 1,
                    "LBFGS doesn't support per-parameter options (parameter groups)");
}

const LBFGSOptions& LBFGS::options() const {
  return static_cast<const LBFGSOptions&>(param_groups()[0].options());
}

LBFGSParamState& LBFGS::history() const {
  return static_cast<LBFGSParamState&>(state_of(param_groups()[0].params()[0]));
}

/// All gradients one after the other; zeros for parameters without one.
Tensor LBFGS::flat_gradient() const {
  std::vector<Tensor> parts;
  for (const Tensor& p : param_groups()[0].params())
    parts.push_back(p.grad().defined() ? p.grad().detach().to_dense().reshape({-1})
                                       : zeros({p.numel()}, p.options()));
  return cat(parts, 0);
}

/// Moves the parameters by t * direction.
void LBFGS::move(double t, const Tensor& direction) {
  int64_t at = 0;
  for (Tensor p : param_groups()[0].params()) {
    p.add_(direction.narrow(0, at, p.numel()).view_as(p), t);
    at += p.numel();
  }
}

/// The next direction, from the differences of the steps so far (Nocedal's two loops).
void LBFGS::update_direction(LBFGSParamState& s, const Tensor& flat_grad) const {
  if (s.n_iter() == 1) {
    s.d(flat_grad.neg());
    each_history(s, [](const char*, std::deque<Tensor>& list) { list.clear(); });
    s.H_diag(ones({}, flat_grad.options()));
    return;
  }
  const Tensor y = flat_grad - s.prev_flat_grad(), step = s.d() * s.t(), ys = y.dot(step);
  if (ys.item<double>() > 1e-10) {
    if (static_cast<int64_t>(s.old_dirs().size()) >= options().history_size())
      each_history(s, [](const char*, std::deque<Tensor>& list) { list.pop_front(); });
    s.old_dirs().push_back(y);
    s.old_stps().push_back(step);
    s.ro().push_back(ys.reciprocal());
    s.H_diag(ys / y.dot(y));
  }
  std::vector<Tensor> alpha(s.old_dirs().size());
  Tensor q = flat_grad.neg();
  for (size_t i = alpha.size(); i-- > 0;) {
    alpha[i] = s.old_stps()[i].dot(q) * s.ro()[i];
    q.add_(s.old_dirs()[i], -alpha[i].item<double>());
  }
  Tensor r = q * s.H_diag();
  for (size_t i = 0; i < alpha.size(); ++i) {
    const Tensor beta = s.old_dirs()[i].dot(r) * s.ro()[i];
    r.add_(s.old_stps()[i], (alpha[i] - beta).item<double>());
  }
  s.d(r);
  s.al(std::move(alpha));
}

/// Goes along the direction: a step of t, or what a line search finds. False if the gradient that
/// is there then is not known, because nothing needs it.
bool LBFGS::advance(const LossClosure& closure, double& loss, Tensor& flat_grad, double slope,
                    int64_t iteration, int64_t& evaluations) {
  LBFGSParamState& s = history();
  if (!options().line_search_fn()) {
    move(s.t(), s.d());
    if (iteration == options().max_iter()) return false;
    loss = evaluate(closure).item<double>();
    flat_grad = flat_gradient();
    ++evaluations;
    return true;
  }
  const std::vector<Tensor>& params = param_groups()[0].params();
  const std::vector<Tensor> start = copies_of(params);
  const auto at = [&](double t) {
    move(t, s.d());
    const double value = evaluate(closure).item<double>();
    const Tensor grad = flat_gradient();
    put_back(params, start);
    return LinePoint{t, value, grad, product(grad, s.d())};
  };
  const LinePoint here{0, loss, flat_grad, slope};
  const LineSearchResult found = strong_wolfe(at, here, s.t(), largest(s.d()));
  s.t(found.point.t);
  loss = found.point.loss;
  flat_grad = found.point.grad;
  evaluations += found.evaluations;
  move(s.t(), s.d());
  return true;
}

Tensor LBFGS::step(LossClosure closure) {
  TAEDA_CHECK(closure, "LBFGS requires a closure function");
  NoGradGuard no_grad;
  const Tensor first = evaluate(closure);
  TAEDA_CHECK(first.defined(), "LBFGS: the closure returned no loss");
  const LBFGSOptions& o = options();
  const int64_t most = o.max_eval().value_or(o.max_iter() * 5 / 4);
  LBFGSParamState& s = history();
  const auto minimize = [&](double loss) {
    int64_t evaluations = 1;
    s.ParamState::step += 1;
    Tensor flat_grad = flat_gradient();
    bool flat = largest(flat_grad) <= o.tolerance_grad();
    for (int64_t i = 1; i <= o.max_iter() && !flat; ++i) {
      s.n_iter() += 1;
      update_direction(s, flat_grad);
      s.prev_flat_grad(flat_grad.clone());
      s.prev_loss(loss);
      s.t(s.n_iter() == 1 ? std::min(1.0, 1.0 / flat_grad.abs().sum().item<double>()) * o.lr()
                          : o.lr());
      const double slope = product(flat_grad, s.d());
      if (slope > -o.tolerance_change()) break;
      if (advance(closure, loss, flat_grad, slope, i, evaluations))
        flat = largest(flat_grad) <= o.tolerance_grad();
      if (evaluations >= most || largest(s.d() * s.t()) <= o.tolerance_change() ||
          std::abs(loss - s.prev_loss()) < o.tolerance_change())
        break;
    }
    s.func_evals() += evaluations;
  };
  const std::vector<Tensor>& params = param_groups()[0].params();
  const std::vector<Tensor> start = copies_of(params);
  const LBFGSParamState before = s;
  try {
    minimize(first.item<double>());
  } catch (...) {  // the closure is called half-way, and may throw
    put_back(params, start);
    s = before;
    throw;
  }
  return first;
}

OptimizerState LBFGS::state_dict() const {
  OptimizerState out = Optimizer::state_dict();
  const LBFGSParamState& s = history();
  if (s.ParamState::step == 0) return out;
  const auto number = [&](const char* name, double value) {
    out.numbers.insert(std::string("state.") + name, value);
  };
  number("func_evals", static_cast<double>(s.func_evals()));
  number("n_iter", static_cast<double>(s.n_iter()));
  number("t", s.t());
  number("prev_loss", s.prev_loss());
  each_tensor(s, [&](const char* name, const Tensor& value) {
    if (value.defined()) out.tensors.insert(std::string("state.") + name, value);
  });
  each_history(s, [&](const char* name, const std::deque<Tensor>& list) {
    each_named(std::string("state.") + name, list,
               [&](const std::string& key, const Tensor& t) { out.tensors.insert(key, t); });
  });
  return out;
}

void LBFGS::load_state_dict(const OptimizerState& state) {
  OptimizerState groups{state.kind, OrderedDict<std::string, Tensor>(),
                        OrderedDict<std::string, double>()};
  for (const auto& [name, value] : state.numbers)
    if (!name.starts_with("state.") || name == "state.0.step") groups.numbers.insert(name, value);
  const Tensor& param = param_groups()[0].params()[0];
  int64_t total = 0;
  for (const Tensor& p : param_groups()[0].params()) total += p.numel();
  LBFGSParamState loaded;
  const auto number = [&](const char* name) {
    const double* found = state.numbers.find(std::string("state.") + name);
    TAEDA_CHECK_VALUE(found, "loaded state dict lacks state.", name);
    return *found;
  };
  const auto taken = [&](const std::string& name, const Tensor& t) {
    TAEDA_CHECK_VALUE(t.dim() == 0 || (t.dim() == 1 && t.numel() == total),
                      "loaded state dict has ", name, " of shape ", t.sizes(), " for ", total,
                      " numbers of parameters");
    return t.to(param.device(), param.dtype()).clone();
  };
  if (state.numbers.contains("state.n_iter")) {
    loaded.func_evals(static_cast<int64_t>(number("func_evals")));
    loaded.n_iter(static_cast<int64_t>(number("n_iter")));
    loaded.t(number("t")).prev_loss(number("prev_loss"));
    each_tensor(loaded, [&](const char* name, Tensor& value) {
      const std::string key = std::string("state.") + name;
      if (const Tensor* found = state.tensors.find(key)) value = taken(key, *found);
    });
    each_history(loaded, [&](const char* name, std::deque<Tensor>& list) {
      const std::string prefix = std::string("state.") + name + ".";
      while (const Tensor* found = state.tensors.find(prefix + std::to_string(list.size())))
        list.push_back(taken(prefix, *found));
    });
    TAEDA_CHECK_VALUE(loaded.old_dirs().size() == loaded.old_stps().size() &&
                          loaded.old_dirs().size() == loaded.ro().size(),
                      "loaded state dict has histories of different lengths");
  }
  Optimizer::load_state_dict(groups);
  loaded.ParamState::step = history().ParamState::step;
  history() = std::move(loaded);
}

}  // namespace taeda::inline v0_2::optim
