#include "taeda/optim/optimizer.h"

#include <algorithm>
#include <cmath>
#include <typeinfo>
#include <unordered_set>

#include "taeda/base/error.h"
#include "taeda/device/graph.h"
#include "taeda/ops/gradient_lists.h"
#include "taeda/optim/rule_step.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::optim {

namespace {

static_assert(ParamState::kMaxTensors == ParamRef::kMaxStates);

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
  if (const Rule* of = defaults_->rule(); of && of->check_param)
    for (size_t i = 0; i < group.params().size(); ++i)
      of->check_param(group.params()[i], size() + i);
  // A state that is left from a tensor that lay at the same address is none of theirs.
  for (const Tensor& p : group.params()) state_.erase(p.unsafe_impl());
  param_groups_.push_back(std::move(group));
}

void OptimizerOptions::check() const {
  if (!rule()) return;
  double values[Rule::kMostFields];
  read_values(*rule(), *this, values);
  if (const RuleField* wrong = wrong_field(*rule(), values))
    throw ValueError(taeda::detail::concat(wrong->refusal, values[wrong - rule()->fields.begin()]));
}

void OptimizerOptions::visit(const NumberVisitor& visitor) {
  if (!rule()) return;
  for (const RuleField& field : rule()->fields)
    if (field.read) field.write(field, config(), visitor(field.name, field.read(field, config())));
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
  if (rule()) {
    // All are read before the first is written, which names the other parts of a tuple, too.
    double values[Rule::kMostFields], given[Rule::kMostFields];
    read_values(*rule(), *this, values);
    read_values(*rule(), defaults, given);
    for (size_t i = 0; i < rule()->fields.size(); ++i) {
      const RuleField& field = rule()->fields[i];
      const bool named = values[i] != field.fallback || (field.read && field.is_named(config()));
      if (!named) values[i] = given[i];
    }
    return write_values(*rule(), *this, values);
  }
  const std::unique_ptr<OptimizerOptions> own = all_named_ ? nullptr : stock();
  all_named_ = true;
  if (!own) return;
  const std::vector<double> before = numbers_of(*own), given = numbers_of(defaults);
  size_t i = 0;
  visit([&](const char*, double value) {
    const size_t at = i++;
    return value != before[at] ? value : given[at];
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
  const Rule* rule = this->rule();
  if (!rule)
    throw NotImplementedError(taeda::detail::concat(kind(), " does not say what its step() does"));
  NoGradGuard no_grad;
  bring_up_to_date();
  if (!planned_) planned_ = std::make_unique<RuleStep>(*rule, rule->name, /*replaces=*/true);
  const struct Cleared {
    RuleStep& step;
    ~Cleared() { step.clear(); }
  } cleared{*planned_};
  if (captures_under_way() > 0) replay_at_captures(*rule);
  for (size_t g = 0; g < param_groups_.size(); ++g) lend_group(*rule, g);
  try {
    planned_->run();
  } catch (...) {
    take_back();
    throw;
  }
  take_back();
  return loss;
}

namespace {

StepCount count_of(const ParamState& state) {
  StepCount count{.step = static_cast<double>(state.step)};
  std::copy_n(state.numbers, ParamState::kMaxNumbers, count.numbers);
  return count;
}

void set_count(ParamState& state, const StepCount& count) {
  state.step = static_cast<int64_t>(count.step);
  std::copy_n(count.numbers, ParamState::kMaxNumbers, state.numbers);
}

}  // namespace

void Optimizer::lend_group(const Rule& rule, size_t g) {
  OptimizerParamGroup& group = param_groups_[g];
  double values[Rule::kMostFields];
  read_values(rule, std::as_const(group).options(), values);
  planned_->begin_group(values);
  for (size_t i = 0; i < group.params().size(); ++i) {
    const Tensor& p = group.params()[i];
    TAEDA_CHECK(p.defined(), kind(), ": parameter ", i, " of group ", g, " is undefined");
    if (!p.grad().defined() || p.numel() == 0) continue;
    ParamState& state = state_of(p);
    planned_->add({.group = g,
                   .index = i,
                   .param = &p,
                   .grad = &p.grad(),
                   .states = state.tensors,
                   .face = &state,
                   .count = count_of(state),
                   .new_numbers = state.step == 0});
  }
}

/// Counts the steps that were made; captured ones count when they are replayed.
void Optimizer::take_back() {
  for (const Lent& l : planned_->lent()) {
    if (!l.done) continue;
    if (!l.captured)
      set_count(*static_cast<ParamState*>(l.face), l.count);
    else if (skip_.defined())
      skippable(skip_).params.try_emplace({l.group, l.index});
  }
}

/// Where only the host can take a step that was left out off a parameter's count, a replay waits
/// for whether the one before was.
void Optimizer::replay_at_captures(const Rule& rule) {
  const bool waits = rule.waits && skip_.defined();
  planned_->when_replayed(
      [this, alive = std::weak_ptr<int>(alive_), skip = skip_, waits](
          ArrayRef<RuleStep::Member> members, const RuleStep::Next& next) {
        TAEDA_CHECK(!alive.expired(), "the optimizer whose step was captured is gone");
        if (waits) bring_up_to_date();
        for (const RuleStep::Member& m : members) {
          const OptimizerParamGroup& group = param_groups_[m.group];
          ParamState& state = state_of(group.params()[m.index]);
          if (waits) skippable(skip).params[{m.group, m.index}] = std::to_array(state.numbers);
          StepCount count = count_of(state);
          next(group.get_lr(), count);
          set_count(state, count);
        }
      },
      skip_);
}

Optimizer::Skippable& Optimizer::skippable(const Tensor& skip) {
  for (Skippable& s : skippable_)
    if (s.skip.is_same(skip)) return s;
  return skippable_.emplace_back(Skippable{skip, {}});
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
    for (const auto& [place, numbers] : s.params) {
      ParamState& state = state_of(param_groups_[place.first].params()[place.second]);
      state.step -= skipped;
      std::copy(numbers.begin(), numbers.end(), state.numbers);
    }
  }
}

void Optimizer::zero_grad(bool set_to_none) {
  for (OptimizerParamGroup& group : param_groups_)
    for (const Tensor& p : group.params()) taeda::detail::clear_gradient(p, set_to_none);
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

const char* Optimizer::kind() const { return rule() ? rule()->name : "Optimizer"; }

ArrayRef<const char*> Optimizer::number_names() const {
  return rule() ? rule()->numbers : ArrayRef<const char*>();
}

size_t Optimizer::lasting_states() const {
  size_t n = 0;
  while (rule() && n < rule()->states.size() && !rule()->states[n].wanted) ++n;
  return n;
}

std::optional<DimVector> Optimizer::state_sizes(size_t k, const Tensor& param) const {
  return rule() ? rule()->sizes(k, param.sizes()) : DimVector(param.sizes());
}

Tensor Optimizer::empty_for(const Tensor& param) {
  DimVector strides =
      has_gaps(param) ? contiguous_strides(param.sizes()) : DimVector(param.strides());
  return make_tensor(Layout{param.sizes(), std::move(strides), 0}, param.dtype(), param.device());
}

}  // namespace taeda::inline v0_2::optim
