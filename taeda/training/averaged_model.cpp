#include "taeda/training/averaged_model.h"

#include "taeda/base/error.h"
#include "taeda/nn/modules/normalization.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/optim/averaging_rules.h"

namespace taeda::inline v0_2::optim::swa_utils {

MultiAvgFn get_swa_multi_avg_fn() {
  return [](const std::vector<Tensor>& averages, const std::vector<Tensor>& values, int64_t n) {
    move_averages(averages, values, 1.0 / (static_cast<double>(n) + 1));
  };
}

MultiAvgFn get_ema_multi_avg_fn(double decay) {
  TAEDA_CHECK_VALUE(decay >= 0 && decay <= 1, "Invalid decay value ", decay,
                    " provided. Please provide a value in [0,1] range.");
  return [decay](const std::vector<Tensor>& averages, const std::vector<Tensor>& values, int64_t) {
    move_averages(averages, values, 1 - decay);
  };
}

std::shared_ptr<nn::Module> AveragedModelBase::copy_of(const nn::Module* model,
                                                       const AveragedModelOptions& options) {
  TAEDA_CHECK_VALUE(model, "AveragedModel expects a module, but got a null pointer");
  return model->clone(options.device);
}

AveragedModelBase::AveragedModelBase(std::shared_ptr<nn::Module> copy, AveragedModelOptions options)
    : Module("AveragedModel"), copy_(std::move(copy)), options_(std::move(options)) {
  if (!options_.multi_avg_fn) options_.multi_avg_fn = get_swa_multi_avg_fn();
  n_averaged = register_buffer(
      "n_averaged", zeros({}, TensorOptions(kLong).device(options_.device.value_or(kCPU))));
  register_module("module", copy_);
}

int64_t AveragedModelBase::num_averaged() const { return n_averaged.item<int64_t>(); }

void AveragedModelBase::update_parameters(const nn::Module& model) {
  std::vector<Tensor> averages, values, copies, copied;
  const auto take = [](const std::vector<Tensor>& from, std::vector<Tensor>& to) {
    for (const Tensor& t : from) to.push_back(t.detach());
  };
  take(copy_->parameters(), averages);
  take(model.parameters(), values);
  take(copy_->buffers(), options_.use_buffers ? averages : copies);
  take(model.buffers(), options_.use_buffers ? values : copied);
  for (const auto& [own, given] : {std::pair(&averages, &values), std::pair(&copies, &copied)}) {
    bool fit = own->size() == given->size();
    for (size_t i = 0; fit && i < own->size(); ++i) fit = (*own)[i].sizes() == (*given)[i].sizes();
    TAEDA_CHECK(fit, "update_parameters() expected a model with the shapes of the averaged one");
  }
  for (size_t i = 0; i < values.size(); ++i) values[i] = values[i].to(averages[i].device());
  if (const int64_t n = num_averaged(); n == 0)
    move_averages(averages, values, 1.0);
  else
    options_.multi_avg_fn(averages, values, n);
  move_averages(copies, copied, 1.0);
  n_averaged.add_(1);
}

namespace {

template <class Norm>
std::optional<double>* restarted(nn::Module& module) {
  auto* const norm = dynamic_cast<Norm*>(&module);
  if (!norm) return nullptr;
  norm->reset_running_stats();
  return &norm->options.momentum();
}

}  // namespace

FreshStatistics::FreshStatistics(nn::Module& model)
    : model_(model), training_(model.is_training()) {
  model.apply([&](nn::Module& module) {
    std::optional<double>* momentum = restarted<nn::BatchNorm1dImpl>(module);
    if (!momentum) momentum = restarted<nn::BatchNorm2dImpl>(module);
    if (!momentum) momentum = restarted<nn::BatchNorm3dImpl>(module);
    if (momentum) norms_.emplace_back(momentum, std::exchange(*momentum, std::nullopt));
  });
  if (has_norms()) model.train();
}

FreshStatistics::~FreshStatistics() {
  for (const auto& [momentum, value] : norms_) *momentum = value;
  if (has_norms()) model_.train(training_);
}

}  // namespace taeda::inline v0_2::optim::swa_utils
