#include "taeda/optim/lr_scheduler.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "taeda/base/checked_int.h"
#include "taeda/base/error.h"
#include "taeda/optim/rates.h"
#include "taeda/optim/scheduler_checks.h"

namespace taeda::inline v0_2::optim {

namespace {

using detail::for_group;

std::vector<double> rates_of(const Optimizer& optimizer) {
  std::vector<double> out;
  for (const OptimizerParamGroup& g : optimizer.param_groups()) out.push_back(g.get_lr());
  return out;
}

void check_per_group(const char* name, const std::vector<double>& values,
                     const Optimizer& optimizer) {
  TAEDA_CHECK_VALUE(values.size() == 1 || values.size() == optimizer.param_groups().size(),
                    "expected ", optimizer.param_groups().size(), " values for ", name, ", got ",
                    values.size());
}

std::string child_key(size_t i, const std::string& key) { return std::to_string(i) + "." + key; }

void save_children(SchedulerState& out, const std::vector<std::shared_ptr<LRScheduler>>& children) {
  for (size_t i = 0; i < children.size(); ++i)
    for (const auto& [key, value] : children[i]->state_dict()) out.insert(child_key(i, key), value);
}

/// The part of `state` that is the i-th child's.
SchedulerState child_state(const SchedulerState& state, size_t i) {
  SchedulerState out;
  for (const auto& [key, value] : state)
    if (key.starts_with(child_key(i, ""))) out.insert(key.substr(child_key(i, "").size()), value);
  return out;
}

/// What one of them misses leaves all of them as they were.
void load_children(const SchedulerState& state,
                   const std::vector<std::shared_ptr<LRScheduler>>& children) {
  SchedulerState before;
  save_children(before, children);
  try {
    for (size_t i = 0; i < children.size(); ++i)
      children[i]->load_state_dict(child_state(state, i));
  } catch (...) {
    for (size_t i = 0; i < children.size(); ++i)
      children[i]->load_state_dict(child_state(before, i));
    throw;
  }
}

}  // namespace

double detail::checked_number(const char* name, double value) {
  TAEDA_CHECK_VALUE(!std::isnan(value), "Expected a number as ", name, ", but got ", value);
  return value;
}

void LRScheduler::step() {
  move_to(epoch_ + 1);
  ++step_count_;
}

std::vector<double> LRScheduler::get_lrs() {
  std::vector<double> out;
  auto& groups = optimizer_.param_groups();
  for (size_t i = 0; i < groups.size(); ++i)
    out.push_back(rate(i, groups[i].initial_lr(), groups[i].get_lr(), epoch_));
  return out;
}

std::vector<double> LRScheduler::checked_lrs() {
  auto& groups = optimizer_.param_groups();
  std::vector<double> rates = get_lrs();
  TAEDA_CHECK_VALUE(rates.size() == groups.size(), "expected ", groups.size(),
                    " learning rates from get_lrs(), got ", rates.size());
  for (size_t i = 0; i < groups.size(); ++i)
    TAEDA_CHECK_VALUE(!std::isnan(rates[i]), "the learning rate of group ", i, " in epoch ", epoch_,
                      " is not a number: it follows from ", groups[i].get_lr(), ", initially ",
                      groups[i].initial_lr());
  return rates;
}

void LRScheduler::move_to(int64_t epoch) {
  const int64_t before = std::exchange(epoch_, epoch);
  try {
    const std::vector<double> rates = checked_lrs();
    for (size_t i = 0; i < rates.size(); ++i) optimizer_.param_groups()[i].set_lr(rates[i]);
  } catch (...) {
    epoch_ = before;
    throw;
  }
}

std::vector<double> LRScheduler::get_current_lrs() const { return rates_of(optimizer_); }

std::vector<double> LRScheduler::get_last_lr() const { return rates_of(optimizer_); }

SchedulerState LRScheduler::state_dict() const {
  SchedulerState out;
  out.insert("last_epoch", static_cast<double>(epoch_));
  for (size_t i = 0; i < optimizer_.param_groups().size(); ++i)
    out.insert("initial_lr." + std::to_string(i), optimizer_.param_groups()[i].initial_lr());
  return out;
}

void LRScheduler::load_state_dict(const SchedulerState& state) {
  auto& groups = optimizer_.param_groups();
  const double epoch = detail::checked_number("last_epoch", state["last_epoch"]);
  std::vector<double> initial;  // all of it is there before anything changes
  for (size_t i = 0; i < groups.size(); ++i)
    initial.push_back(state["initial_lr." + std::to_string(i)]);
  epoch_ = static_cast<int64_t>(epoch);
  for (size_t i = 0; i < groups.size(); ++i) groups[i].set_initial_lr(initial[i]);
}

void LRScheduler::load_with(const SchedulerState& state,
                            const std::vector<std::shared_ptr<LRScheduler>>& children) {
  const SchedulerState before = LRScheduler::state_dict();
  LRScheduler::load_state_dict(state);
  try {
    load_children(state, children);
  } catch (...) {
    LRScheduler::load_state_dict(before);
    throw;
  }
}

StepLR::StepLR(Optimizer& optimizer, int64_t step_size, double gamma)
    : LRScheduler(optimizer),
      step_size_(step_size),
      gamma_(detail::checked_number("gamma", gamma)) {
  TAEDA_CHECK_VALUE(step_size > 0, "Expected positive integer step_size, but got ", step_size);
  begin();
}

double StepLR::rate(size_t, double, double current, int64_t epoch) {
  return current *
         rates::stepped_change(static_cast<double>(epoch), static_cast<double>(step_size_), gamma_);
}

MultiStepLR::MultiStepLR(Optimizer& optimizer, std::vector<int64_t> milestones, double gamma)
    : LRScheduler(optimizer),
      milestones_(std::move(milestones)),
      gamma_(detail::checked_number("gamma", gamma)) {
  begin();
}

double MultiStepLR::rate(size_t, double, double current, int64_t epoch) {
  const auto times = std::count(milestones_.begin(), milestones_.end(), epoch);
  return current * rates::stepped(static_cast<double>(times), 1, gamma_);
}

ExponentialLR::ExponentialLR(Optimizer& optimizer, double gamma)
    : LRScheduler(optimizer), gamma_(detail::checked_number("gamma", gamma)) {
  begin();
}

double ExponentialLR::rate(size_t, double, double current, int64_t epoch) {
  return epoch == 0 ? current : current * gamma_;
}

CosineAnnealingLR::CosineAnnealingLR(Optimizer& optimizer, int64_t t_max, double eta_min)
    : LRScheduler(optimizer), t_max_(t_max), eta_min_(detail::checked_number("eta_min", eta_min)) {
  TAEDA_CHECK_VALUE(t_max > 0, "Expected positive integer T_max, but got ", t_max);
  begin();
}

double CosineAnnealingLR::rate(size_t, double base, double current, int64_t epoch) {
  if (epoch == 0) return current;
  return rates::cosine_next(current, base, eta_min_, static_cast<double>(epoch),
                            static_cast<double>(t_max_));
}

LinearLR::LinearLR(Optimizer& optimizer, double start_factor, double end_factor,
                   int64_t total_iters)
    : LRScheduler(optimizer), start_(start_factor), end_(end_factor), total_(total_iters) {
  TAEDA_CHECK_VALUE(
      start_factor > 0 && start_factor <= 1,
      "Starting multiplicative factor expected to be greater than 0 and less or equal to 1.");
  TAEDA_CHECK_VALUE(end_factor >= 0 && end_factor <= 1,
                    "Ending multiplicative factor expected to be between 0 and 1.");
  TAEDA_CHECK_VALUE(total_iters > 0, "Expected positive integer total_iters, but got ",
                    total_iters);
  begin();
}

double LinearLR::rate(size_t, double, double current, int64_t epoch) {
  return current * rates::linear_change(static_cast<double>(epoch), start_, end_,
                                        static_cast<double>(total_));
}

LambdaLR::LambdaLR(Optimizer& optimizer, Function f)
    : LambdaLR(optimizer, std::vector<Function>{std::move(f)}) {}

LambdaLR::LambdaLR(Optimizer& optimizer, std::vector<Function> functions)
    : LRScheduler(optimizer), functions_(std::move(functions)) {
  detail::check_functions(functions_, optimizer.param_groups().size());
  begin();
}

double LambdaLR::rate(size_t group, double base, double, int64_t epoch) {
  return base * for_group(functions_, group)(epoch);
}

OneCycleLR::OneCycleLR(Optimizer& optimizer, OneCycleLROptions options)
    : LRScheduler(optimizer), options_(std::move(options)) {
  const OneCycleLROptions& o = options_;
  if (o.total_steps() == 0 && o.epochs() == 0 && o.steps_per_epoch() == 0)
    throw ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)");
  if (o.total_steps() != 0) {
    TAEDA_CHECK_VALUE(o.total_steps() > 0, "Expected positive integer total_steps, but got ",
                      o.total_steps());
    total_ = o.total_steps();
  } else {
    TAEDA_CHECK_VALUE(o.epochs() > 0, "Expected positive integer epochs, but got ", o.epochs());
    TAEDA_CHECK_VALUE(o.steps_per_epoch() > 0,
                      "Expected positive integer steps_per_epoch, but got ", o.steps_per_epoch());
    total_ = (CheckedInt(o.epochs()) * o.steps_per_epoch()).value("OneCycleLR");
  }
  TAEDA_CHECK_VALUE(o.pct_start() >= 0 && o.pct_start() <= 1,
                    "Expected float between 0 and 1 pct_start, but got ", o.pct_start());
  check_per_group("max_lr", o.max_lr(), optimizer);
  for (const double lr : o.max_lr()) detail::checked_number("max_lr", lr);
  detail::checked_number("base_momentum", o.base_momentum());
  detail::checked_number("max_momentum", o.max_momentum());
  for (const double factor : {o.div_factor(), o.final_div_factor()})
    TAEDA_CHECK_VALUE(factor > 0, "Expected div_factor and final_div_factor above 0, but got ",
                      factor);
  auto& groups = optimizer.param_groups();
  for (size_t i = 0; i < groups.size(); ++i) {
    TAEDA_CHECK_VALUE(!o.cycle_momentum() || groups[i].options().momentum_like(),
                      "optimizer must support momentum with `cycle_momentum` option enabled");
    groups[i].set_initial_lr(for_group(o.max_lr(), i) / o.div_factor());
  }
  begin();
}

double OneCycleLR::anneal(double start, double end, double part) const {
  return rates::annealed(start, end, part, options_.cosine());
}

std::vector<OneCycleLR::Phase> OneCycleLR::phases(double max_lr) const {
  const OneCycleLROptions& o = options_;
  const double initial = max_lr / o.div_factor(), last = initial / o.final_div_factor();
  const double lrs[] = {initial, max_lr, last};
  const double momenta[] = {o.max_momentum(), o.base_momentum(), o.max_momentum()};
  std::vector<Phase> out;
  for (const auto& [end, from, to] :
       rates::one_cycle(static_cast<double>(total_), o.pct_start(), o.three_phase()))
    out.push_back({end, lrs[from], lrs[to], momenta[from], momenta[to]});
  return out;
}

double OneCycleLR::rate(size_t group, double, double, int64_t step) {
  TAEDA_CHECK_VALUE(step <= total_, "Tried to step ", step + 1,
                    " times. The specified number of total steps is ", total_);
  const std::vector<Phase> list = phases(for_group(options_.max_lr(), group));
  std::vector<double> ends;
  for (const Phase& phase : list) ends.push_back(phase.end_step);
  const auto [number, part] = rates::phase_of(static_cast<double>(step), ends);
  const Phase& phase = list[number];
  if (options_.cycle_momentum())
    *optimizer().param_groups()[group].options().momentum_like() =
        anneal(phase.start_momentum, phase.end_momentum, part);
  return anneal(phase.start_lr, phase.end_lr, part);
}

SequentialLR::SequentialLR(Optimizer& optimizer,
                           std::vector<std::shared_ptr<LRScheduler>> schedulers,
                           std::vector<int64_t> milestones)
    : LRScheduler(optimizer),
      schedulers_(std::move(schedulers)),
      milestones_(std::move(milestones)) {
  for (size_t i = 0; i < schedulers_.size(); ++i) {
    TAEDA_CHECK_VALUE(schedulers_[i], "Sequential Schedulers got no scheduler at index ", i);
    TAEDA_CHECK_VALUE(&schedulers_[i]->optimizer() == &optimizer,
                      "Sequential Schedulers expects all schedulers to belong to "
                      "the same optimizer, but got schedulers at index ",
                      i, " to be different than the optimizer passed in.");
  }
  TAEDA_CHECK_VALUE(!schedulers_.empty() && milestones_.size() + 1 == schedulers_.size(),
                    "Sequential Schedulers expects number of schedulers provided to be one more "
                    "than the number of milestone "
                    "points, but got number of schedulers ",
                    schedulers_.size(), " and the number of milestones to be equal to ",
                    milestones_.size());
  // All of them set rates when they were made: only the first one's shall count.
  for (OptimizerParamGroup& g : optimizer.param_groups()) g.set_lr(g.initial_lr());
  begin();
  schedulers_[0]->move_to(0);
}

void SequentialLR::step() {
  LRScheduler::step();
  const auto at = std::upper_bound(milestones_.begin(), milestones_.end(), last_epoch());
  LRScheduler& active = *schedulers_[static_cast<size_t>(at - milestones_.begin())];
  if (at == milestones_.begin() || at[-1] != last_epoch()) {
    active.step();
    return;
  }
  for (OptimizerParamGroup& g : optimizer().param_groups()) g.set_lr(g.initial_lr());
  active.move_to(0);
}

SchedulerState SequentialLR::state_dict() const {
  SchedulerState out = LRScheduler::state_dict();
  save_children(out, schedulers_);
  return out;
}

void SequentialLR::load_state_dict(const SchedulerState& state) { load_with(state, schedulers_); }

namespace {
Optimizer& optimizer_of(const std::vector<std::shared_ptr<LRScheduler>>& schedulers) {
  TAEDA_CHECK_VALUE(!schedulers.empty(),
                    "ChainedScheduler expects at least one scheduler to be chained, but got none");
  for (size_t i = 0; i < schedulers.size(); ++i)
    TAEDA_CHECK_VALUE(schedulers[i], "ChainedScheduler: no scheduler at index ", i);
  for (size_t i = 1; i < schedulers.size(); ++i)
    TAEDA_CHECK_VALUE(&schedulers[i]->optimizer() == &schedulers[0]->optimizer(),
                      "ChainedScheduler expects all schedulers to "
                      "belong to the same optimizer, but got schedulers at index 0 and ",
                      i, " to be different");
  return schedulers[0]->optimizer();
}
}  // namespace

ChainedScheduler::ChainedScheduler(std::vector<std::shared_ptr<LRScheduler>> schedulers)
    : LRScheduler(optimizer_of(schedulers)), schedulers_(std::move(schedulers)) {
  begin();
}

void ChainedScheduler::step() {
  LRScheduler::step();
  for (const auto& s : schedulers_) s->step();
}

SchedulerState ChainedScheduler::state_dict() const {
  SchedulerState out = LRScheduler::state_dict();
  save_children(out, schedulers_);
  return out;
}

void ChainedScheduler::load_state_dict(const SchedulerState& state) {
  load_with(state, schedulers_);
}

ReduceLROnPlateauScheduler::ReduceLROnPlateauScheduler(Optimizer& optimizer,
                                                       ReduceLROnPlateauOptions options)
    : optimizer_(optimizer), options_(std::move(options)) {
  TAEDA_CHECK_VALUE(options_.factor() < 1, "Factor should be < 1.0, but got ", options_.factor());
  check_per_group("min_lr", options_.min_lr(), optimizer);
  for (const double lr : options_.min_lr()) detail::checked_number("min_lr", lr);
  detail::checked_number("threshold", options_.threshold());
  detail::checked_number("eps", options_.eps());
  constexpr double inf = std::numeric_limits<double>::infinity();
  best_ = options_.mode() == ReduceLROnPlateauOptions::min ? inf : -inf;
}

ReduceLROnPlateauScheduler::ReduceLROnPlateauScheduler(
    Optimizer& optimizer, SchedulerMode mode, double factor, int64_t patience, double threshold,
    ThresholdMode threshold_mode, int64_t cooldown, const std::vector<float>& min_lr, double eps,
    bool /*verbose*/)
    : ReduceLROnPlateauScheduler(
          optimizer,
          ReduceLROnPlateauOptions{
              .mode = mode,
              .factor = factor,
              .patience = patience,
              .threshold = threshold,
              .threshold_mode = threshold_mode,
              .cooldown = cooldown,
              .min_lr = min_lr.empty() ? std::vector<double>{0.0}
                                       : std::vector<double>(min_lr.begin(), min_lr.end()),
              .eps = eps}) {}

void ReduceLROnPlateauScheduler::step(double metric) {
  const bool better = rates::is_better(metric, best_, options_.threshold(),
                                       options_.mode() == ReduceLROnPlateauOptions::max,
                                       options_.threshold_mode() == ReduceLROnPlateauOptions::rel);
  if (better) best_ = metric;
  if (rates::plateau_ends(better, static_cast<double>(options_.patience()), options_.cooldown(),
                          bad_steps_, cooldown_left_))
    reduce();
}

void ReduceLROnPlateauScheduler::reduce() {
  auto& groups = optimizer_.param_groups();
  for (size_t i = 0; i < groups.size(); ++i) {
    const double before = groups[i].get_lr();
    groups[i].set_lr(
        rates::fallen(before, options_.factor(), for_group(options_.min_lr(), i), options_.eps()));
  }
}

std::vector<double> ReduceLROnPlateauScheduler::get_last_lr() const { return rates_of(optimizer_); }

SchedulerState ReduceLROnPlateauScheduler::state_dict() const {
  SchedulerState out;
  out.insert("best", best_);
  out.insert("num_bad_epochs", static_cast<double>(bad_steps_));
  out.insert("cooldown_counter", static_cast<double>(cooldown_left_));
  return out;
}

void ReduceLROnPlateauScheduler::load_state_dict(const SchedulerState& state) {
  const double best = state["best"], bad = state["num_bad_epochs"],
               cooldown = state["cooldown_counter"];
  best_ = best;
  bad_steps_ = static_cast<int64_t>(bad);
  cooldown_left_ = static_cast<int64_t>(cooldown);
}

}  // namespace taeda::inline v0_2::optim
