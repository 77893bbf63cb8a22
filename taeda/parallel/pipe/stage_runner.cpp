#include "taeda/parallel/pipe/stage_runner.h"

#include <utility>

#include "taeda/autograd/engine.h"
#include "taeda/autograd/record.h"
#include "taeda/base/rethrow.h"
#include "taeda/device/registry.h"
#include "taeda/nn/forward_state.h"
#include "taeda/ops/elementwise/arithmetic.h"

namespace taeda::inline v0_2::nn::detail {

/// What a second run of a stage needs: its inputs, unless they were changed in place since, and the
/// random numbers.
class StageRunner::Replay {
 public:
  explicit Replay(const std::vector<Tensor>& inputs) : state_(inputs) {
    for (const Tensor& t : inputs) inputs_.push_back(autograd::save_tensor(t));
    autograd::take_saved_count();
  }
  template <class F>
  std::vector<Tensor> run(const F& f) const {
    const NoGradGuard values;
    for (const autograd::Saved& s : inputs_) (void)s.unpack();
    const taeda::utils::checkpoint::ForwardState::Scope state(state_);
    const taeda::utils::checkpoint::RecomputingGuard recomputing;
    const AutoGradMode recording(true);
    return f();
  }

 private:
  taeda::utils::checkpoint::ForwardState state_;
  std::vector<autograd::Saved> inputs_;
};

void StageRunner::begin(size_t micro_batches, bool trains, size_t checkpointed, LastStage* last,
                        Meter* meter) {
  trains_ = trains;
  checkpointed_ = checkpointed;
  last_ = last;
  meter_ = meter;
  slots_.clear();
  slots_.resize(micro_batches);
}

void StageRunner::perform(const StageAction& action) {
  if (action.backward)
    backward(action.micro_batch);
  else
    forward(action.micro_batch);
}

void StageRunner::forward(size_t i) {
  const bool again = i < checkpointed_;
  Slot slot{ways_.take_values(stage_.index(), i), {}, {}};
  for (size_t k = 0; k < slot.given.tensors.size(); ++k)
    if (Tensor& t = slot.given.tensors[k]; t.defined())
      t = t.to(stage_.device()).detach().requires_grad_(slot.given.wanted[k]);
  if (again) slot.replay = std::make_shared<Replay>(slot.given.tensors);
  if (trains_) kept_.add(1);
  Form form;
  const AutoGradMode recording(trains_ && !again);
  slot.outputs = run(i, slot.given, form);
  if (!last_) {
    Ways::Values values{{form}, {}, {}};
    for (const Tensor& t : slot.outputs) {
      values.tensors.push_back(t.defined() ? t.detach() : t);
      // What is yet to be recorded may turn out to want a gradient.
      values.wanted.push_back(trains_ && t.defined() &&
                              (again ? is_differentiable(t.dtype()) : t.requires_grad()));
    }
    ways_.pass_values(stage_.index(), i, std::move(values));
  }
  if (again) slot.outputs.clear();
  if (trains_) slots_[i] = std::move(slot);
}

std::vector<Tensor> StageRunner::run(size_t i, const Ways::Values& given, Form& form) const {
  if (meter_) meter_->start(stage_.index());
  std::vector<Tensor> out = stage_.run(i, given.forms, stand_ins(given.tensors), form);
  if (last_) out = {finish(i, form, out.data())};
  if (meter_) meter_->stop(stage_.index());
  return out;
}

/// Notes the output of the whole, if it is asked for, and its loss, if there is one.
Tensor StageRunner::finish(size_t i, const Form& form, const Tensor* output) const try {
  check_last(form);
  const DeviceGuard on_device(stage_.device());
  if (i < last_->outputs.size()) last_->outputs[i] = output->detach();
  if (!last_->loss) return *output;
  const Tensor loss = last_->loss(*output, last_->targets[i].to(stage_.device()));
  TAEDA_CHECK(loss.defined() && loss.numel() == 1, "expected the loss to be a scalar, but it ",
              loss.defined() ? taeda::detail::concat("has shape ", loss.sizes()) : "is undefined");
  last_->losses[i] = loss.detach();
  return last_->weights[i] == 1 ? loss : loss * last_->weights[i];
} catch (...) {
  rethrow_from("in the loss of " + stage_.place_of(i));
}

void StageRunner::backward(size_t i) {
  Slot slot = std::exchange(slots_[i], Slot());
  if (slot.replay) {
    // Before the gradients are waited for: the device computes while they are on their way.
    Form form;
    slot.outputs = slot.replay->run([&] { return run(i, slot.given, form); });
  }
  const std::vector<Tensor> weights =
      last_ ? std::vector<Tensor>(1) : ways_.take_gradients(stage_.index(), i);
  std::vector<Tensor> outputs, gradients;
  for (size_t k = 0; k < slot.outputs.size(); ++k) {
    const Tensor& output = slot.outputs[k];
    if (!output.defined() || !output.requires_grad() || (!last_ && !weights[k].defined())) continue;
    outputs.push_back(output);
    gradients.push_back(last_ ? Tensor() : weights[k].to(output.device()));
  }
  run_backward(i, outputs, gradients);
  kept_.add(-1);
  ways_.pass_gradients(stage_.index(), i, slot.given.tensors);
}

void StageRunner::run_backward(size_t i, const std::vector<Tensor>& outputs,
                               const std::vector<Tensor>& gradients) const try {
  if (meter_) meter_->start(stage_.index());
  if (!outputs.empty()) autograd::backward(outputs, gradients);
  if (meter_) meter_->stop(stage_.index());
} catch (...) {
  rethrow_from("in the backward pass of " + stage_.place_of(i));
}

}  // namespace taeda::inline v0_2::nn::detail
