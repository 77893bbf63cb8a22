#include "taeda/training/trainer.h"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <utility>

#include "taeda/base/error.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/gradient_lists.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::training {

namespace {

using Numbers = std::vector<double>;

/// What a schedule may change: the rates, and the numbers of the groups' options.
Numbers numbers_of(optim::Optimizer& optimizer) {
  Numbers out;
  for (optim::OptimizerParamGroup& group : optimizer.param_groups()) {
    out.push_back(group.get_lr());
    group.options().visit([&](const char*, double value) {
      out.push_back(value);
      return value;
    });
  }
  return out;
}

void set_numbers(optim::Optimizer& optimizer, const Numbers& numbers) {
  size_t i = 0;
  for (optim::OptimizerParamGroup& group : optimizer.param_groups()) {
    group.set_lr(numbers[i++]);
    group.options().visit([&](const char*, double) { return numbers[i++]; });
  }
}

}  // namespace

/// Note [Steps that fail] A schedule can fail (one of a fixed length that is over), and so can an
/// optimizer, which changes nothing then, but cannot be undone when it did not fail. So the
/// schedule moves first; the numbers that it leaves wait until the optimizer has stepped with those
/// from before, and are forgotten, with the schedule's own, if it fails.
struct Trainer::Schedule {
  Schedule(optim::LRScheduler& s, optim::Optimizer& o)
      : schedule(s), optimizer(o), state(s.state_dict()), now(numbers_of(o)) {
    s.step();
    next = numbers_of(o);
    set_numbers(o, now);
  }
  ~Schedule() {
    if (!taken) schedule.load_state_dict(state);
  }
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;
  void take() {
    set_numbers(optimizer, next);
    taken = true;
  }

  optim::LRScheduler& schedule;
  optim::Optimizer& optimizer;
  const optim::SchedulerState state;
  const Numbers now;
  Numbers next;
  bool taken = false;
};

std::string StepReport::str() const {
  using taeda::detail::concat;
  if (outcome == Outcome::Gathered)
    return concat("after step ", step, ": ", losses, losses == 1 ? " loss" : " losses",
                  " gathered, lr ", lr, ", scale ", scale);
  std::string out =
      outcome == Outcome::Skipped ? concat("skipped after step ", step) : concat("step ", step);
  out += concat(": loss ", loss, ", gradient norm ", grad_norm, clipped ? " (clipped)" : "");
  if (non_finite) out += " (not finite: " + non_finite->str() + ")";
  return out + concat(", lr ", lr, ", scale ", scale);
}

std::ostream& operator<<(std::ostream& out, const StepReport& report) {
  return out << report.str();
}

Trainer::Trainer(nn::Module& model, optim::Optimizer& optimizer, TrainerOptions options)
    : model_(model), optimizer_(optimizer), options_(options) {
  TAEDA_CHECK_VALUE(options.max_norm > 0, "Trainer: expected a max_norm above 0, but got ",
                    options.max_norm);
  TAEDA_CHECK_VALUE(options.accumulate > 0,
                    "Trainer: expected accumulate to be at least 1, but got ", options.accumulate);
  TAEDA_CHECK_VALUE(!options.schedule || &options.schedule->optimizer() == &optimizer,
                    "Trainer: the schedule is of another optimizer");
}

StepReport Trainer::begin_report() const {
  StepReport report;
  report.step = steps_;
  report.losses = losses_;
  report.lr = optimizer_.param_groups()[0].get_lr();
  if (const amp::GradScaler* s = scaler()) report.scale = s->get_scale();
  return report;
}

/// Does a part of a step; if that fails, what the step has left so far is removed.
template <class F>
StepReport Trainer::whole_or_nothing(F&& work) {
  try {
    return work();
  } catch (...) {
    losses_ = 0;
    sum_ = Tensor();
    optimizer_.zero_grad();
    if (std::exchange(unscaled_, false)) {
      // Ends the scaler's iteration, whose numbers come back.
      const auto numbers = options_.scaler->state_dict();
      options_.scaler->update();
      options_.scaler->load_state_dict(numbers);
    }
    throw;
  }
}

StepReport Trainer::step(const Tensor& loss) {
  return whole_or_nothing([&] {
    if (losses_ == 0) optimizer_.zero_grad();
    const Tensor part =
        options_.accumulate == 1 ? loss : loss.div(static_cast<double>(options_.accumulate));
    (scaler() ? scaler()->scale(part) : part).backward();
    const Tensor value =
        is_reduced_floating(loss.dtype()) ? loss.detach().to(kFloat) : loss.detach();
    sum_ = losses_ == 0 ? value : sum_.add(value);
    ++losses_;
    return losses_ < options_.accumulate ? begin_report() : close();
  });
}

StepReport Trainer::finish() {
  if (losses_ == 0) return begin_report();
  return whole_or_nothing([&] {
    NoGradGuard no_grad;
    const double missing = static_cast<double>(options_.accumulate) / static_cast<double>(losses_);
    for (const Tensor& p : optimizer_.parameters())
      if (p.grad().defined()) p.mutable_grad().mul_(missing);
    return close();
  });
}

StepReport Trainer::close() {
  NoGradGuard no_grad;
  StepReport report = begin_report();
  if (scaler()) {
    scaler()->unscale_(optimizer_);
    unscaled_ = true;
  }
  const std::vector<Tensor> parameters = optimizer_.parameters();
  std::vector<ParamList> gradients;
  for (const Tensor& p : parameters)
    if (p.grad().defined()) taeda::detail::add_gradient(gradients, p);
  TAEDA_CHECK(!gradients.empty(), "Trainer: no parameter of the optimizer got a gradient");
  check_gradients(gradients, report);
  if (report.clipped) taeda::detail::bump_gradients(parameters);
  report.loss = sum_.item().toDouble() / static_cast<double>(losses_);
  if (report.outcome == Outcome::Stepped) {
    change();
    report.step = ++steps_;
  }
  if (scaler()) scaler()->update();
  unscaled_ = false;
  losses_ = 0;
  sum_ = Tensor();
  optimizer_.zero_grad();
  return report;
}

/// Whether there can be a step, and with which gradients.
void Trainer::check_gradients(const std::vector<ParamList>& lists, StepReport& report) const {
  const Tensor norm = taeda::detail::gradient_norm(lists, 2).cpu();
  report.grad_norm = norm.item<double>();
  if (!std::isfinite(report.grad_norm)) {
    report.outcome = Outcome::Skipped;
    report.non_finite = first_non_finite();
    return;
  }
  report.outcome = Outcome::Stepped;
  report.clipped = taeda::detail::clip_gradients(lists, norm, options_.max_norm);
}

void Trainer::change() {
  std::optional<Schedule> schedule;
  if (options_.schedule) schedule.emplace(*options_.schedule, optimizer_);
  if (scaler())
    scaler()->step(optimizer_);
  else
    optimizer_.step();
  if (schedule) schedule->take();
}

amp::NonFiniteGradient Trainer::first_non_finite() const {
  const auto names = model_.named_parameters();
  const auto& groups = optimizer_.param_groups();
  for (size_t g = 0; g < groups.size(); ++g)
    for (size_t i = 0; i < groups[g].params().size(); ++i) {
      const Tensor& p = groups[g].params()[i];
      if (!p.grad().defined() || p.grad().isfinite().all().item<bool>()) continue;
      const auto named =
          std::ranges::find_if(names, [&](const auto& item) { return item.value().is_same(p); });
      return {g, i, named == names.end() ? "" : named->key()};
    }
  return {};
}

}  // namespace taeda::inline v0_2::training
