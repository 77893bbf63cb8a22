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
#include "taeda/optim/rule.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::optim {

namespace {

constexpr const char* kSearches[] = {"", "strong_wolfe"};
constexpr RuleField kLbfgsFields[] = {
    rate_field<&LBFGSConfig::lr>(),
    field<&LBFGSConfig::max_iter>({"max_iter", Range::AtLeast1, "Invalid max_iter value: "}),
    field<&LBFGSConfig::max_eval>(
        {"max_eval", Range::AtLeast0, "Invalid max_eval value: ", "max_eval", -1}),
    field<&LBFGSConfig::tolerance_grad>(
        {"tolerance_grad", Range::Number, "Invalid tolerance_grad value: "}),
    field<&LBFGSConfig::tolerance_change>(
        {"tolerance_change", Range::Number, "Invalid tolerance_change value: "}),
    field<&LBFGSConfig::history_size>(
        {"history_size", Range::AtLeast1, "Invalid history_size value: "}),
    field<&LBFGSConfig::line_search_fn>(
        {.name = "strong_wolfe",
         .refusal = "only 'strong_wolfe' is supported for line_search_fn, but got '",
         .option = "line_search_fn",
         .words = kSearches,
         .refusal_end = "'",
         .plain_error = true}),
    {"maximize"}};

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

/// A step on its way.
class LbfgsStep {
 public:
  LbfgsStep(const LBFGSConfig& options, LBFGSParamState& state, const std::vector<Tensor>& params,
            const std::function<double()>& evaluate, bool maximize)
      : o_(options), s_(state), params_(params), evaluate_(evaluate), maximize_(maximize) {}
  void run(double loss);
  std::vector<Tensor> copies() const;
  void put_back(const std::vector<Tensor>& copies) const;

 private:
  double loss() const { return maximize_ ? -evaluate_() : evaluate_(); }
  Tensor flat_gradient() const;
  void move(double t) const;
  void remember(const Tensor& flat_grad);
  void update_direction(const Tensor& flat_grad);
  bool advance(double& loss, Tensor& flat_grad, double slope, int64_t iteration);

  const LBFGSConfig& o_;
  LBFGSParamState& s_;
  const std::vector<Tensor>& params_;
  const std::function<double()>& evaluate_;
  bool maximize_;
  int64_t evaluations_ = 1;
};

std::vector<Tensor> LbfgsStep::copies() const {
  std::vector<Tensor> out;
  for (const Tensor& p : params_) out.push_back(p.detach().clone());
  return out;
}

void LbfgsStep::put_back(const std::vector<Tensor>& copies) const {
  for (size_t i = 0; i < params_.size(); ++i) Tensor(params_[i]).copy_(copies[i]);
}

/// Complex numbers are pairs of reals.
Tensor as_real(const Tensor& t) { return t.is_complex() ? view_as_real(t) : t; }

/// All gradients one after the other; zeros for parameters without one.
Tensor LbfgsStep::flat_gradient() const {
  std::vector<Tensor> parts;
  for (const Tensor& p : params_) {
    const Tensor grad =
        p.grad().defined() ? p.grad().detach().to_dense() : zeros(p.sizes(), p.detach().options());
    parts.push_back(as_real(grad).reshape({-1}));
  }
  const Tensor flat = cat(parts, 0);
  return maximize_ ? flat.neg() : flat;
}

/// Moves the parameters by t * d.
void LbfgsStep::move(double t) const {
  int64_t at = 0;
  for (const Tensor& p : params_) {
    Tensor real = as_real(p);
    real.add_(s_.d().narrow(0, at, real.numel()).view_as(real), t);
    at += real.numel();
  }
}

/// Keeps the last step, if the slope grew along it.
void LbfgsStep::remember(const Tensor& flat_grad) {
  const Tensor y = flat_grad - s_.prev_flat_grad(), step = s_.d() * s_.t(), ys = y.dot(step);
  if (ys.item<double>() <= 1e-10) return;
  if (static_cast<int64_t>(s_.old_dirs().size()) >= o_.history_size())
    each_history(s_, [](const char*, std::deque<Tensor>& list) { list.pop_front(); });
  s_.old_dirs().push_back(y);
  s_.old_stps().push_back(step);
  s_.ro().push_back(ys.reciprocal());
  s_.H_diag(ys / y.dot(y));
}

/// The next direction, from the differences of the steps so far (Nocedal's two loops).
void LbfgsStep::update_direction(const Tensor& flat_grad) {
  if (s_.n_iter() == 1) {
    s_.d(flat_grad.neg());
    each_history(s_, [](const char*, std::deque<Tensor>& list) { list.clear(); });
    s_.H_diag(ones({}, flat_grad.options()));
    return;
  }
  remember(flat_grad);
  std::vector<Tensor> alpha(s_.old_dirs().size());
  Tensor q = flat_grad.neg();
  for (size_t i = alpha.size(); i-- > 0;) {
    alpha[i] = s_.old_stps()[i].dot(q) * s_.ro()[i];
    q.add_(s_.old_dirs()[i], -alpha[i].item<double>());
  }
  Tensor r = q * s_.H_diag();
  for (size_t i = 0; i < alpha.size(); ++i) {
    const Tensor beta = s_.old_dirs()[i].dot(r) * s_.ro()[i];
    r.add_(s_.old_stps()[i], (alpha[i] - beta).item<double>());
  }
  s_.d(r);
  s_.al(std::move(alpha));
}

/// Goes along the direction: a step of t, or what a line search finds. False if the gradient that
/// is there then is not known, because nothing needs it.
bool LbfgsStep::advance(double& loss, Tensor& flat_grad, double slope, int64_t iteration) {
  if (!o_.line_search_fn()) {
    move(s_.t());
    if (iteration == o_.max_iter()) return false;
    loss = this->loss();
    flat_grad = flat_gradient();
    ++evaluations_;
    return true;
  }
  const std::vector<Tensor> start = copies();
  const auto at = [&](double t) {
    move(t);
    const double value = this->loss();
    const Tensor grad = flat_gradient();
    put_back(start);
    return LinePoint{t, value, grad, product(grad, s_.d())};
  };
  const LinePoint here{0, loss, flat_grad, slope};
  const LineSearchResult found = strong_wolfe(at, here, s_.t(), largest(s_.d()));
  s_.t(found.point.t);
  loss = found.point.loss;
  flat_grad = found.point.grad;
  evaluations_ += found.evaluations;
  move(s_.t());
  return true;
}

void LbfgsStep::run(double loss) {
  if (maximize_) loss = -loss;
  const int64_t most = o_.max_eval().value_or(o_.max_iter() * 5 / 4);
  Tensor flat_grad = flat_gradient();
  bool flat = largest(flat_grad) <= o_.tolerance_grad();
  for (int64_t i = 1; i <= o_.max_iter() && !flat; ++i) {
    s_.n_iter() += 1;
    update_direction(flat_grad);
    s_.prev_flat_grad(flat_grad.clone());
    s_.prev_loss(loss);
    s_.t(s_.n_iter() == 1 ? std::min(1.0, 1.0 / flat_grad.abs().sum().item<double>()) * o_.lr()
                          : o_.lr());
    const double slope = product(flat_grad, s_.d());
    if (slope > -o_.tolerance_change()) break;
    if (advance(loss, flat_grad, slope, i)) flat = largest(flat_grad) <= o_.tolerance_grad();
    if (evaluations_ >= most || largest(s_.d() * s_.t()) <= o_.tolerance_change() ||
        std::abs(loss - s_.prev_loss()) < o_.tolerance_change())
      break;
  }
  s_.func_evals() += evaluations_;
}

}  // namespace

constinit const Rule lbfgs_rule = {.name = "LBFGS", .fields = kLbfgsFields};

void lbfgs_step(const LBFGSConfig& options, LBFGSParamState& state,
                const std::vector<Tensor>& params, double loss,
                const std::function<double()>& evaluate, bool maximize) {
  const NoGradGuard no_grad;
  LbfgsStep step(options, state, params, evaluate, maximize);
  const std::vector<Tensor> start = step.copies();
  const LBFGSParamState before = state;
  try {
    step.run(loss);
  } catch (...) {  // the closure is called half-way, and may throw
    step.put_back(start);
    state = before;
    throw;
  }
}

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

bool LBFGS::check_groups() const {
  TAEDA_CHECK_VALUE(param_groups().size() == 1,
                    "LBFGS doesn't support per-parameter options (parameter groups)");
  return true;
}

LBFGSParamState& LBFGS::history() const {
  return static_cast<LBFGSParamState&>(state_of(param_groups()[0].params()[0]));
}

Tensor LBFGS::step(LossClosure closure) {
  TAEDA_CHECK(closure, "LBFGS requires a closure function");
  NoGradGuard no_grad;
  const Tensor first = evaluate(closure);
  TAEDA_CHECK(first.defined(), "LBFGS: the closure returned no loss");
  const OptimizerParamGroup& group = param_groups()[0];
  LBFGSParamState& s = history();
  lbfgs_step(static_cast<const LBFGSOptions&>(group.options()), s, group.params(),
             first.item<double>(), [&] { return evaluate(closure).item<double>(); });
  s.ParamState::step += 1;
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
