#include "taeda/distributed/pipeline/stage_step.h"

#include <utility>

#include "taeda/autograd/engine.h"
#include "taeda/base/error.h"
#include "taeda/base/rethrow.h"
#include "taeda/device/registry.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::distributed::pipelining::detail {

namespace {

/// Adds where it happened to what is thrown.
template <class F>
auto named(const PipelineStage& stage, const char* what, size_t micro_batch, F&& f) {
  try {
    return f();
  } catch (...) {
    rethrow_from(
        taeda::detail::concat("in ", what, stage.str(), " (micro-batch ", micro_batch, ")"));
  }
}

}  // namespace

StageRunner::StageRunner(PipelineStage stage, Loss loss, bool trains, double scale,
                         Traffic& traffic)
    : stage_(std::move(stage)),
      loss_(std::move(loss)),
      trains_(trains),
      scale_(scale),
      replicas_(dynamic_cast<DistributedDataParallelBase*>(stage_.module().ptr().get())) {
  if (!stage_.is_first()) before_.emplace(stage_, false, traffic);
  if (!stage_.is_last()) behind_.emplace(stage_, true, traffic);
}

void StageRunner::begin(StepBatch& batch, size_t micro_batches) {
  batch_ = &batch;
  slots_.clear();
  slots_.resize(micro_batches);
  to_go_back_ = micro_batches;
}

void StageRunner::expect(bool backward, size_t micro_batch) {
  if (auto& link = backward ? behind_ : before_) link->expect(micro_batch);
}

std::vector<Tensor> StageRunner::run(const std::vector<Tensor>& inputs, nn::detail::Form& form) {
  const DeviceGuard on_device(stage_.device());
  nn::AnyModule module = stage_.module();
  std::vector<nn::AnyValue> values;
  if (before_)
    values.push_back(nn::detail::packed(before_->shape().form, inputs.data()));
  else
    for (const Tensor& t : inputs) values.emplace_back(t);
  std::optional<DistributedDataParallelBase::NoSync> gradients_stay;
  if (replicas_ && trains_) gradients_stay.emplace(*replicas_);
  const nn::AnyValue result = module.call_values(values.data(), values.size());
  form = nn::detail::form_of(result, "the output of a pipeline stage");
  return nn::detail::tensors_of(result, form);
}

void StageRunner::forward(size_t i) {
  const AutoGradMode recording(trains_);
  Slot slot;
  if (before_)
    slot.given = before_->receive_inputs(i);
  else
    for (const Tensor& t : batch_->arguments[i]) slot.given.push_back(t.to(stage_.device()));
  nn::detail::Form form;
  slot.outputs = named(stage_, "", i, [&] { return run(nn::detail::stand_ins(slot.given), form); });
  if (behind_)
    behind_->send_outputs(i, form, slot.outputs, trains_);
  else
    named(stage_, "the loss of ", i, [&] { finish_last(i, form, slot.outputs); });
  if (trains_) slots_[i] = std::move(slot);
}

void StageRunner::finish_last(size_t i, const nn::detail::Form& form,
                              std::vector<Tensor>& outputs) {
  TAEDA_CHECK_TYPE(form.kind == nn::detail::Form::One,
                   "the output of the last pipeline stage must be a tensor");
  batch_->outputs.push_back(outputs[0].detach());
  if (!loss_) return;
  const Tensor loss = loss_of(outputs[0], batch_->targets[i]);
  batch_->losses.push_back(loss.detach());
  outputs[0] = scale_ == 1 ? loss : loss * scale_;
}

Tensor StageRunner::loss_of(const Tensor& output, const Tensor& target) const {
  const Tensor loss = loss_(output, target.to(stage_.device()));
  TAEDA_CHECK(loss.defined() && loss.numel() == 1, "expected the loss to be a scalar, but it ",
              loss.defined() ? taeda::detail::concat("has shape ", loss.sizes()) : "is undefined");
  return loss;
}

/// With the last micro-batch replicas exchange what came together.
void StageRunner::run_backward(const std::vector<Tensor>& outputs,
                               const std::vector<Tensor>& gradients) {
  if (--to_go_back_ == 0 && replicas_) replicas_->synchronize_next_backward();
  if (!outputs.empty()) autograd::backward(outputs, gradients);
}

void StageRunner::backward(size_t i) {
  Slot slot = std::exchange(slots_[i], Slot());
  const std::vector<Tensor> weights =
      behind_ ? behind_->receive_gradients(i) : std::vector<Tensor>(1);
  std::vector<Tensor> outputs, given;
  for (size_t k = 0; k < slot.outputs.size(); ++k)
    if (slot.outputs[k].requires_grad() && (!behind_ || weights[k].defined())) {
      outputs.push_back(slot.outputs[k]);
      given.push_back(weights[k]);
    }
  named(stage_, "the backward pass of ", i, [&] { run_backward(outputs, given); });
  if (before_) before_->send_gradients(i, slot.given);
}

}  // namespace taeda::distributed::pipelining::detail
