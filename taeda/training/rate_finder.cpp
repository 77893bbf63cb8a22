#include "taeda/training/rate_finder.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "taeda/base/error.h"
#include "taeda/ops/create/copy.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::training {

namespace {

/// Model and optimizer as they are, until it brings them back.
class Snapshot {
 public:
  Snapshot(nn::Module& model, optim::Optimizer& optimizer) : optimizer_(optimizer) {
    for (const auto& item : model.named_parameters()) keep(item.value());
    for (const auto& item : model.named_buffers()) keep(item.value());
    state_ = optimizer.state_dict();
    for (auto& item : state_.tensors) item.value() = item.value().clone();
  }
  ~Snapshot() {
    const NoGradGuard no_grad;
    for (const auto& [tensor, value] : values_) Tensor(tensor).copy_(value);
    optimizer_.zero_grad();
    optimizer_.state().clear();
    optimizer_.load_state_dict(state_);
  }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

 private:
  void keep(const Tensor& t) { values_.emplace_back(t, t.detach().clone()); }

  optim::Optimizer& optimizer_;
  std::vector<std::pair<Tensor, Tensor>> values_;
  optim::OptimizerState state_;
};

/// The position of the steepest fall; 0 where there is none.
size_t steepest(const RateTrial& t) {
  if (t.losses.size() < 3) return 0;
  const auto lowest = std::ranges::min_element(t.losses) - t.losses.begin();
  size_t best = 0;
  double fall = 1e-6 * std::abs(t.losses[0]);  // less is rounding
  for (size_t i = 1; i + 1 <= static_cast<size_t>(lowest); ++i) {
    const double here = t.losses[i - 1] - t.losses[i + 1];
    if (here <= fall) continue;
    fall = here;
    best = i;
  }
  return best;
}

/// Two digits are all that such a curve can tell.
double two_digits(double rate) {
  const double unit = std::pow(10, std::floor(std::log10(rate)) - 1);
  return std::round(rate / unit) * unit;
}

void check(const RateFinderOptions& o) {
  TAEDA_CHECK_VALUE(o.lowest > 0 && o.lowest < o.highest && std::isfinite(o.highest),
                    "find_rate: expected 0 < lowest < highest, but got ", o.lowest, " and ",
                    o.highest);
  TAEDA_CHECK_VALUE(o.steps >= 3, "find_rate: expected at least 3 steps, but got ", o.steps);
  TAEDA_CHECK_VALUE(o.smoothing >= 0 && o.smoothing < 1,
                    "find_rate: expected smoothing from 0 to less than 1, but got ", o.smoothing);
  TAEDA_CHECK_VALUE(o.diverged > 1, "find_rate: expected diverged above 1, but got ", o.diverged);
}

}  // namespace

RateTrial find_rate(nn::Module& model, optim::Optimizer& optimizer,
                    const std::function<Tensor()>& loss, const RateFinderOptions& o) {
  check(o);
  TAEDA_CHECK_VALUE(loss, "find_rate: expected a function as loss, but got an empty one");
  const Snapshot before(model, optimizer);
  RateTrial out;
  double mean = 0, lowest = 0;
  for (int64_t n = 0; n < o.steps; ++n) {
    const double part = static_cast<double>(n) / static_cast<double>(o.steps - 1);
    const double rate = o.lowest * std::pow(o.highest / o.lowest, part);
    for (optim::OptimizerParamGroup& group : optimizer.param_groups()) group.set_lr(rate);
    optimizer.zero_grad();
    const Tensor value = loss();
    if (!value.defined()) break;
    value.backward();
    optimizer.step();
    mean = o.smoothing * mean + (1 - o.smoothing) * value.item().toDouble();
    // The mean of what has been there so far: it began with a zero.
    const double smooth = mean / (1 - std::pow(o.smoothing, static_cast<double>(n + 1)));
    if (!std::isfinite(smooth)) break;
    lowest = n == 0 ? smooth : std::min(lowest, smooth);
    out.rates.push_back(rate);
    out.losses.push_back(smooth);
    if (smooth > o.diverged * lowest) break;
  }
  if (const size_t at = steepest(out); at > 0) out.suggestion = two_digits(out.rates[at]);
  return out;
}

}  // namespace taeda::inline v0_2::training
