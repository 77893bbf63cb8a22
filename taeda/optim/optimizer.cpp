#include "taeda/optim/optimizer.h"

#include <algorithm>
#include <cmath>
#include <typeinfo>
#include <unordered_set>

#include "taeda/autograd/record.h"
#include "taeda/base/error.h"
#include "taeda/device/graph.h"
#include "taeda/kernels/memory_order.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::optim {

namespace {

bool has_gaps(const Tensor& t) {
  return !t.is_contiguous() && !t.layout().is_non_overlapping_and_dense();
}

}  // namespace

OptimizerParamGroup::OptimizerParamGroup(std::vector<Tensor> params) : params_(std::move(params)) {}
OptimizerParamGroup::OptimizerParamGroup(std::vector<Tensor> params,
                                         std::unique_ptr<OptimizerOptions> options)
    : params_(std::move(params)), options_(std::move(options)) {}
OptimizerParamGroup::OptimizerParamGroup(const OptimizerParamGroup& o)
    : params_(o.params_),
      options_(o.options_ ? o.options_->clone() : nullptr),
      initial_lr_(o.initial_lr_) {}
OptimizerParamGroup::OptimizerParamGroup(OptimizerParamGroup&&) noexcept = default;
OptimizerParamGroup::~OptimizerParamGroup() = default;

OptimizerOptions& OptimizerParamGroup::options() {
  TAEDA_CHECK(options_,
              "this parameter group has no options: it was not added to an optimizer yet");
  return *options_;
}

Optimizer::Optimizer(std::vector<OptimizerParamGroup> groups,
                     std::unique_ptr<OptimizerOptions> defaults)
    : defaults_(std::move(defaults)) {
  defaults_->check();
  TAEDA_CHECK_VALUE(!groups.empty(), "optimizer got an empty parameter list");
  for (OptimizerParamGroup& group : groups) add_param_group(std::move(group));
  TAEDA_CHECK_VALUE(size() > 0, "optimizer got an empty parameter list");
}

Optimizer::Optimizer(std::vector<Tensor> params, std::unique_ptr<OptimizerOptions> defaults)
    : Optimizer(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))},
                std::move(defaults)) {}

Optimizer::~Optimizer() = default;

void Optimizer::add_param_group(OptimizerParamGroup group) {
  std::unordered_set<const TensorImpl*> known;
  for (const OptimizerParamGroup& g : param_groups_)
    for (const Tensor& p : g.params()) known.insert(p.unsafe_impl());
  for (const Tensor& p : group.params()) {
    TAEDA_CHECK_VALUE(p.defined(),
                      "optimizer can only optimize Tensors, but one of the params is undefined");
    TAEDA_CHECK_VALUE(p.is_leaf(), "can't optimize a non-leaf Tensor");
    TAEDA_CHECK_VALUE(known.insert(p.unsafe_impl()).second,
                      "some parameters appear in more than one parameter group");
  }
  if (!group.has_options()) group.set_options(defaults_->clone());
  const OptimizerOptions &given = group.options(), &own = *defaults_;
  TAEDA_CHECK_TYPE(typeid(given) == typeid(own), kind(),
                   ": a parameter group has the options of another optimizer");
  group.options().inherit(*defaults_);
  group.options().check();
  // A state that is left from a tensor that lay at the same address is none of theirs.
  for (const Tensor& p : group.params()) state_.erase(p.unsafe_impl());
  param_groups_.push_back(std::move(group));
}

void OptimizerOptions::note(const char* option) {
  for (const char* known : named_)
    if (std::string_view(known) == option) return;
  named_.push_back(option);
}

bool OptimizerOptions::is_named(std::string_view number) const {
  // Options that are several numbers, by the numbers' names.
  constexpr std::string_view kParts[][2] = {{"beta1", "betas"},
                                            {"beta2", "betas"},
                                            {"beta3", "betas"},
                                            {"eps1", "eps"},
                                            {"eps2", "eps"},
                                            {"etaminus", "etas"},
                                            {"etaplus", "etas"},
                                            {"step_size_min", "step_sizes"},
                                            {"step_size_max", "step_sizes"},
                                            {"ns_coefficients.0", "ns_coefficients"},
                                            {"ns_coefficients.1", "ns_coefficients"},
                                            {"ns_coefficients.2", "ns_coefficients"},
                                            {"strong_wolfe", "line_search_fn"}};
  for (const auto& [part, option] : kParts)
    if (number == part) number = option;
  for (const char* name : named_)
    if (number == name) return true;
  return false;
}

namespace {
std::vector<double> numbers_of(const OptimizerOptions& options) {
  std::vector<double> out;
  options.clone()->visit([&](const char*, double value) {
    out.push_back(value);
    return value;
  });
  return out;
}
}  // namespace

bool operator==(const OptimizerOptions& a, const OptimizerOptions& b) {
  return typeid(a) == typeid(b) && numbers_of(a) == numbers_of(b);
}

void OptimizerOptions::inherit(const OptimizerOptions& defaults) {
  const std::unique_ptr<OptimizerOptions> own = all_named_ ? nullptr : stock();
  all_named_ = true;
  if (!own) return;
  const std::vector<double> before = numbers_of(*own), given = numbers_of(defaults);
  size_t i = 0;
  visit([&](const char* name, double value) {
    const size_t at = i++;
    return value != before[at] || is_named(name) ? value : given[at];
  });
}

double OptimizerOptions::get_lr() const {
  throw Error("get_lr: these options of an optimizer have no learning rate");
}

void OptimizerOptions::check_lr(double lr) {
  TAEDA_CHECK_VALUE(!std::isnan(lr), "Invalid learning rate: ", lr);
}

void OptimizerOptions::set_lr(double) {
  throw Error("set_lr: these options of an optimizer have no learning rate");
}

Tensor Optimizer::evaluate(const LossClosure& closure) {
  if (!closure) return {};
  AutoGradMode with_gradients(true);
  return closure();
}

Tensor Optimizer::step(LossClosure closure) {
  Tensor loss = evaluate(closure);
  NoGradGuard no_grad;
  bring_up_to_date();
  const struct Cleared {
    std::vector<Call>& calls;
    std::vector<SparseCall>& sparse_calls;
    ~Cleared() {
      for (Call& call : calls) call.clear();
      sparse_calls.clear();
    }
  } cleared{calls_, sparse_calls_};
  for (size_t g = 0; g < param_groups_.size(); ++g) plan(g);
  run_all();
  return loss;
}

// Note [All or nothing]
// A step is planned before anything happens: every parameter of every group is checked, and what
// the kernels need besides - first states, gradients and states in their parameter's memory order,
// dense copies of parameters with gaps - is allocated apart. Only then kernels are launched, and
// only what was launched counts. A parameter on the wrong device and memory that runs out half-way
// therefore leave parameters, states and counts as they were, and the step can be made again.
// Launching for a simulated device needs memory, too: for handles of what is queued. So rows of
// sparse gradients, which take a launch for each parameter and state, are put back if one fails.

void Optimizer::Call::clear() {
  list.clear();
  params.clear();
  states.clear();
  keep_alive.clear();
  results.clear();
}

void Optimizer::plan(size_t g) {
  OptimizerParamGroup& group = param_groups_[g];
  Wanted wanted{state_names(), {}};
  for (size_t k = 0; k < wanted.names.size(); ++k)
    wanted.states[k] = wants_state(group.options(), k);
  for (size_t i = 0; i < group.params().size(); ++i) {
    const Tensor& p = group.params()[i];
    TAEDA_CHECK(p.defined(), kind(), ": parameter ", i, " of group ", g, " is undefined");
    if (!p.grad().defined() || p.numel() == 0) continue;
    if (captures_under_way() > 0) check_capturable(group, i);
    check_gradient_kind(group.options(), p.grad());
    if (!p.grad().is_sparse())
      plan_parameter(g, i, wanted, p.grad());
    else if (sparse_gradients(group.options()) == SparseGradients::Rows)
      plan_sparse(g, i, wanted);
    else
      plan_parameter(g, i, wanted, p.grad().to_dense());
  }
}

void Optimizer::plan_parameter(size_t g, size_t i, const Wanted& wanted, const Tensor& given) {
  OptimizerParamGroup& group = param_groups_[g];
  const Tensor& original = group.params()[i];
  Call& call = call_for(g, original);
  if (has_gaps(original))
    call.results.emplace_back(original, original.detach().clone(MemoryFormat::Contiguous));
  const Tensor& param = has_gaps(original) ? call.results.back().second : original;

  const Tensor* grad = &given;
  if (original.grad().is_sparse()) call.keep_alive.push_back(given);
  if (grad->sizes() == param.sizes() && grad->device() == param.device() &&
      (grad->dtype() != param.dtype() || !same_memory_order(*grad, param))) {
    Tensor& in_order = call.keep_alive.emplace_back(empty_for(param));
    in_order.copy_(*grad);
    grad = &in_order;
  }

  const ParamState& state = state_of(original);
  const Tensor* states[ParamState::kMaxTensors] = {};
  Tensor renewed[ParamState::kMaxTensors];
  for (size_t k = 0; k < wanted.names.size(); ++k) {
    if (!wanted.states[k]) continue;
    states[k] = &state.tensors[k];
    const bool same_sizes = states[k]->defined() && states[k]->sizes() == param.sizes();
    if (states[k]->defined() && (!same_sizes || same_memory_order(*states[k], param))) continue;
    renewed[k] = renewed_state(group, i, k, param);
    call.states.push_back({i, k, renewed[k]});
    states[k] = &renewed[k];
  }
  const bool fresh = wanted.states[0] && !state.tensors[0].defined();
  call.list.add({.op = kind(),
                 .group = g,
                 .index = i,
                 .param = param,
                 .grad = *grad,
                 .states = {states, wanted.names.size()},
                 .state_names = wanted.names},
                numbers(group.options(), state.step + 1, fresh));
  call.params.push_back(i);
}

/// A first state, or the one that is there in the memory order that `param` has by now.
Tensor Optimizer::renewed_state(const OptimizerParamGroup& group, size_t i, size_t k,
                                const Tensor& param) {
  TAEDA_CHECK(captures_under_way() == 0 || !is_current_stream_capturing(param.device()),
              "a captured step cannot make the state ", state_names()[k],
              " that later steps need: run some steps before the capture");
  const Tensor& present = known_state(group.params()[i]).tensors[k];
  if (!present.defined()) return make_state(group.options(), k, param);
  Tensor in_order =
      make_tensor(Layout{param.sizes(), param.strides(), 0}, present.dtype(), present.device());
  in_order.copy_(present);
  return in_order;
}

Optimizer::Call& Optimizer::call_for(size_t group, const Tensor& param) {
  for (Call& call : calls_)
    if (call.group == group && call.list.device() == param.device() &&
        call.list.dtype() == param.dtype())
      return call;
  return calls_.emplace_back(group, param.device(), param.dtype());
}

void Optimizer::run(Call& call) {
  if (call.params.empty()) return;
  const bool capturing = is_current_stream_capturing(call.list.device());
  if (capturing) make_live(call);
  OptimizerParamGroup& group = param_groups_[call.group];
  launch(group.options(), call.list);
  for (Call::NewState& s : call.states)
    state_of(group.params()[s.param]).tensors[s.which] = std::move(s.tensor);
  for (size_t i : call.params) {
    if (!capturing) ++state_of(group.params()[i]).step;
    bump_version(group.params()[i]);
  }
  for (const auto& [original, dense] : call.results) original.copy_(dense);
}

/// Throws Error, before anything has changed, for a step that a graph could not repeat.
void Optimizer::check_capturable(const OptimizerParamGroup& group, size_t i) const {
  const Tensor& p = group.params()[i];
  if (!is_current_stream_capturing(p.device())) return;
  TAEDA_CHECK(known_state(p).step > 0,
              "an optimizer's first step cannot be captured, because it makes the state that "
              "later steps need: run some steps before the capture");
  TAEDA_CHECK(!has_gaps(p),
              "a step cannot be captured for parameters whose elements lie apart in memory");
}

/// A captured step counts at each replay, not now: the numbers that depend on the count come from
/// memory that a replay fills in.
void Optimizer::make_live(Call& call) {
  const size_t which = call.group;
  ParamList& list = call.list;
  const std::weak_ptr<int> alive = alive_;
  const auto fill = [this, alive, which, indices = call.params](double* out) {
    TAEDA_CHECK(!alive.expired(), "the optimizer whose step was captured is gone");
    OptimizerParamGroup& g = param_groups_[which];
    for (size_t i : indices) {
      const int64_t step = ++state_of(g.params()[i]).step;
      const StepNumbers n = numbers(g.options(), step, false);
      *out++ = n.a;
      *out++ = n.b;
      *out++ = g.get_lr();
      *out++ = static_cast<double>(step);
    }
  };
  list.set_live(graph_numbers(list.device(), 4 * call.params.size(), fill), 4);
  if (!skip_.defined()) return;
  TAEDA_CHECK(skip_.device() == list.device(), "a gradient scaler on ", skip_.device(),
              " cannot decide about a captured step on ", list.device());
  list.set_skip(Numbers(skip_));
  auto entry = std::find_if(skippable_.begin(), skippable_.end(),
                            [&](const Skippable& s) { return s.skip.is_same(skip_); });
  if (entry == skippable_.end()) entry = skippable_.insert(entry, {skip_, {}});
  for (size_t i : call.params) entry->params.insert({which, i});
}

void Optimizer::step_unless(const Tensor& skip) {
  skip_ = skip;
  try {
    step();
  } catch (...) {
    skip_.reset();
    throw;
  }
  skip_.reset();
}

/// Takes steps that replays left out off the counts.
void Optimizer::bring_up_to_date() const {
  if (skippable_.empty()) return;
  NoGradGuard no_grad;
  for (const Skippable& s : skippable_) {
    if (is_current_stream_capturing(s.skip.device())) continue;
    Tensor counter = s.skip.select(0, 1);
    const auto skipped = static_cast<int64_t>(counter.item<double>());
    if (skipped == 0) continue;
    counter.zero_();
    for (const auto& [group, i] : s.params)
      state_of(param_groups_[group].params()[i]).step -= skipped;
  }
}

void Optimizer::zero_grad(bool set_to_none) {
  for (OptimizerParamGroup& group : param_groups_) {
    for (const Tensor& p : group.params()) {
      if (!p.grad().defined()) continue;
      if (set_to_none) {
        p.mutable_grad().reset();
      } else {
        Tensor& grad = p.mutable_grad();
        if (grad.requires_grad()) grad = grad.detach();
        NoGradGuard no_grad;
        grad.zero_();
      }
    }
  }
}

std::vector<Tensor> Optimizer::parameters() const {
  std::vector<Tensor> out;
  for (const OptimizerParamGroup& g : param_groups_)
    out.insert(out.end(), g.params().begin(), g.params().end());
  return out;
}

size_t Optimizer::size() const {
  size_t n = 0;
  for (const OptimizerParamGroup& g : param_groups_) n += g.params().size();
  return n;
}

const ParamState& Optimizer::state(const Tensor& param) const {
  bring_up_to_date();
  for (const OptimizerParamGroup& g : param_groups_)
    for (const Tensor& p : g.params())
      if (p.is_same(param)) return known_state(param);
  throw Error("this optimizer does not hold the given parameter");
}

ParamStateMap& Optimizer::state() {
  bring_up_to_date();
  return state_;
}

const ParamStateMap& Optimizer::state() const {
  bring_up_to_date();
  return state_;
}

std::unique_ptr<OptimizerParamState> Optimizer::make_param_state() const {
  return std::make_unique<OptimizerParamState>();
}

ParamState& Optimizer::state_of(const Tensor& param) const {
  ParamStateMap::Pointer& state = state_[param.unsafe_impl()];
  if (!state) state = make_param_state();
  return *state;
}

const ParamState& Optimizer::known_state(const Tensor& param) const {
  static const ParamState none;
  const auto found = state_.find(param.unsafe_impl());
  return found == state_.end() || !found->second ? none : *found->second;
}

void Optimizer::launch(const OptimizerOptions&, const ParamList&) {
  throw NotImplementedError(taeda::detail::concat(kind(), " does not say what its step() does"));
}

Tensor Optimizer::empty_for(const Tensor& param) {
  DimVector strides =
      has_gaps(param) ? contiguous_strides(param.sizes()) : DimVector(param.strides());
  return make_tensor(Layout{param.sizes(), std::move(strides), 0}, param.dtype(), param.device());
}

std::optional<DimVector> Optimizer::state_sizes(size_t, const Tensor& param) const {
  return DimVector(param.sizes());
}

Tensor Optimizer::make_state(const OptimizerOptions&, size_t, const Tensor& param) const {
  Tensor state = empty_for(param);
  state.zero_();
  return state;
}

StepNumbers Optimizer::numbers(const OptimizerOptions&, int64_t, bool) { return {}; }

double Optimizer::bias_correction(int which, double beta, int64_t step) {
  auto& c = corrections_[which];
  if (c.beta != beta || c.step != step)
    c = {beta, step, 1 - std::pow(beta, static_cast<double>(step))};
  return c.value;
}

}  // namespace taeda::inline v0_2::optim
