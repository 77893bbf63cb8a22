#include "taeda/optim/averaging.h"

#include "taeda/base/error.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/optim/averaging_rules.h"
#include "taeda/optim/rates.h"
#include "taeda/optim/scheduler_checks.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::optim {

namespace {

/// Beyond it a double counts no single steps.
constexpr double kMostUpdates = 9007199254740992;

/// What an average moves towards, or becomes: nothing is changed yet.
Tensor next_value(const Tensor& average, const Tensor& value, double weight) {
  const Tensor here = value.detach().to(average.device());
  if (weight == 1 || is_differentiable(average.dtype())) return here.to(average.dtype());
  return average.mul(1 - weight).add(here.mul(weight)).to(average.dtype());
}

}  // namespace

void move_averages(const std::vector<Tensor>& averages, const std::vector<Tensor>& values,
                   double weight) {
  detail::checked_number("weight", weight);
  TAEDA_CHECK(averages.size() == values.size(), "expected as many values as the ", averages.size(),
              " averages, but got ", values.size());
  NoGradGuard no_grad;
  std::vector<Tensor> next;
  for (size_t i = 0; i < averages.size(); ++i) {
    TAEDA_CHECK(averages[i].sizes() == values[i].sizes(), "expected value ", i, " to be of shape ",
                averages[i].sizes(), " like its average, but got ", values[i].sizes());
    next.push_back(next_value(averages[i], values[i], weight));
  }
  for (size_t i = 0; i < averages.size(); ++i) {
    Tensor average = averages[i];
    if (weight == 1 || !is_differentiable(average.dtype()))
      average.copy_(next[i]);
    else
      average.lerp_(next[i], weight);
  }
}

AveragedParameters::AveragedParameters(std::vector<Tensor> params)
    : AveragedParameters(std::move(params),
                         [](int64_t updates) { return 1.0 / (static_cast<double>(updates) + 1); }) {
}

AveragedParameters::AveragedParameters(std::vector<Tensor> params, Weight weight)
    : params_(std::move(params)), weight_(std::move(weight)) {
  TAEDA_CHECK_VALUE(!params_.empty(), "AveragedParameters got an empty list of parameters");
  TAEDA_CHECK_VALUE(weight_,
                    "AveragedParameters: expected a function as weight, but got an empty one");
  NoGradGuard no_grad;
  for (const Tensor& p : params_) averages_.push_back(p.detach().clone());
}

AveragedParameters AveragedParameters::ema(std::vector<Tensor> params, double decay) {
  TAEDA_CHECK_VALUE(decay >= 0 && decay <= 1, "Invalid decay value ", decay,
                    ". Please provide a value in [0,1] range.");
  return AveragedParameters(std::move(params), [decay](int64_t) { return 1 - decay; });
}

void AveragedParameters::update() {
  move_averages(averages_, params_, updates_ == 0 ? 1 : weight_(updates_));
  ++updates_;
}

void AveragedParameters::copy_to_params() const {
  NoGradGuard no_grad;
  for (size_t i = 0; i < params_.size(); ++i) Tensor(params_[i]).copy_(averages_[i]);
}

void AveragedParameters::swap() {
  NoGradGuard no_grad;
  for (size_t i = 0; i < params_.size(); ++i) {
    const Tensor value = params_[i].detach().clone();
    params_[i].copy_(averages_[i]);
    averages_[i].copy_(value);
  }
}

OptimizerState AveragedParameters::state_dict() const {
  OptimizerState out;
  out.kind = "AveragedParameters";
  for (size_t i = 0; i < averages_.size(); ++i)
    out.tensors.insert("average." + std::to_string(i), averages_[i]);
  out.numbers.insert("n_averaged", static_cast<double>(updates_));
  return out;
}

void AveragedParameters::load_state_dict(const OptimizerState& state) {
  const double* updates = state.numbers.find("n_averaged");
  TAEDA_CHECK_VALUE(updates && state.tensors.size() == averages_.size(),
                    "loaded state dict is not one of ", averages_.size(), " averaged parameters");
  std::vector<const Tensor*> loaded;
  for (size_t i = 0; i < averages_.size(); ++i) {
    const Tensor* found = state.tensors.find("average." + std::to_string(i));
    TAEDA_CHECK_VALUE(found && found->sizes() == averages_[i].sizes(),
                      "loaded state dict has no average.", i, " of shape ", averages_[i].sizes());
    loaded.push_back(found);
  }
  TAEDA_CHECK_VALUE(*updates >= 0 && *updates < kMostUpdates, "loaded state dict has n_averaged ",
                    *updates);
  NoGradGuard no_grad;
  for (size_t i = 0; i < loaded.size(); ++i) averages_[i].copy_(*loaded[i]);
  updates_ = static_cast<int64_t>(*updates);
}

SWALR::SWALR(Optimizer& optimizer, double swa_lr, int64_t anneal_epochs, bool cosine)
    : LRScheduler(optimizer), swa_lr_(swa_lr), anneal_epochs_(anneal_epochs), cosine_(cosine) {
  TAEDA_CHECK_VALUE(anneal_epochs >= 0, "anneal_epochs must be equal or greater than 0, got ",
                    anneal_epochs);
  begin();
}

double SWALR::rate(size_t, double, double current, int64_t epoch) {
  if (epoch == 0) return current;
  return rates::approached(current, swa_lr_, static_cast<double>(epoch),
                           static_cast<double>(anneal_epochs_), cosine_);
}

}  // namespace taeda::inline v0_2::optim
