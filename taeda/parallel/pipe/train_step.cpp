#include <optional>

#include "taeda/autograd/engine.h"
#include "taeda/autograd/record.h"
#include "taeda/base/rethrow.h"
#include "taeda/device/registry.h"
#include "taeda/nn/checkpoint.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/parallel/pipe/pipeline.h"
#include "taeda/parallel/pipe/schedule.h"

namespace taeda::inline v0_2::nn::detail {

/// What a second run of a stage needs: its inputs, unless they were changed in place since, and the
/// random numbers.
class Replay {
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

TrainStep::TrainStep(const Pipeline& pipeline, Batch batch, PipeImpl::Loss loss, Meter& meter)
    : pipeline_(pipeline), batch_(std::move(batch)), loss_(std::move(loss)), meter_(meter) {
  const size_t n = batch_.inputs.size();
  input_gradients.resize(n);
  slots_.resize(pipeline_.stages().size());
  for (size_t s = 0; s < slots_.size(); ++s) {
    slots_[s] = std::vector<Slot>(n);
    for (Slot& slot : slots_[s]) {
      slot.pops.resize(pipeline_.arriving(s).size());
      slot.stash_gradients.resize(pipeline_.leaving(s).size());
    }
  }
  for (size_t i = 0; i < n; ++i) {
    at(0, i).values.tensors = {batch_.inputs[i].detach()};
    at(0, i).values.wanted = {batch_.inputs[i].requires_grad()};
  }
}

Tensor TrainStep::run(PipeSchedule schedule) {
  const AutoGradMode recording(true);
  run_schedule(schedule, slots_.size(), batch_.inputs.size(), [&](size_t s, const Action& a) {
    if (a.backward)
      backward(s, a.micro_batch);
    else
      forward(s, a.micro_batch);
  });
  return total_;
}

namespace {

/// Takes what was sent as leaves.
void take(Parcel& parcel, std::vector<Tensor>& out) {
  const std::vector<bool> wanted = parcel.wanted;
  const std::vector<Tensor> tensors = receive(std::move(parcel));
  for (size_t i = 0; i < tensors.size(); ++i)
    out.push_back(tensors[i].defined() ? tensors[i].detach().requires_grad_(wanted[i]) : Tensor());
}

std::vector<Tensor> detached(const std::vector<Tensor>& tensors, size_t begin, size_t end) {
  std::vector<Tensor> out;
  for (size_t i = begin; i < end; ++i)
    out.push_back(tensors[i].defined() ? tensors[i].detach() : Tensor());
  return out;
}

}  // namespace

std::vector<Tensor> TrainStep::run_stage(size_t s, size_t i, const std::vector<Tensor>& inputs,
                                         Form& form) const {
  const Stage& stage = *pipeline_.stages()[s];
  std::vector<Tensor> out = stage.run(i, slots_[s][i].forms, stand_ins(inputs), form);
  if (s + 1 < slots_.size()) return out;
  TAEDA_CHECK_TYPE(form.kind == Form::One, "Pipe: the output of the last stage must be a tensor");
  try {
    const DeviceGuard on_device(stage.device());
    Tensor loss = loss_(out[0], batch_.targets[i]);
    TAEDA_CHECK(loss.defined() && loss.numel() == 1,
                "Pipe: train_step expected the loss to be a scalar, but it has shape ",
                loss.defined() ? loss.sizes() : IntArrayRef());
    if (batch_.weights[i] != 1) loss = loss * batch_.weights[i];
    return {loss};
  } catch (...) {
    rethrow_from(
        taeda::detail::concat("in the loss of micro-batch ", i, " on device ", stage.device()));
  }
}

void TrainStep::forward(size_t s, size_t i) {
  Slot& slot = at(s, i);
  take(slot.values, slot.given);
  for (Parcel& p : slot.pops) take(p, slot.given);
  const bool checkpointed = i < batch_.checkpointed;
  if (checkpointed) slot.replay = std::make_shared<Replay>(slot.given);
  meter_.keep(s, 1);
  meter_.start(s);
  Form form;
  std::vector<Tensor> outputs = [&] {
    const AutoGradMode recording(!checkpointed);
    return run_stage(s, i, slot.given, form);
  }();
  meter_.stop(s);
  if (s + 1 == slots_.size()) {
    const NoGradGuard values_only;
    total_ = total_.defined() ? total_ + outputs[0] : outputs[0].detach();
  } else {
    send_on(s, i, outputs, form);
  }
  if (!checkpointed) slot.outputs = std::move(outputs);
}

void TrainStep::send_on(size_t s, size_t i, const std::vector<Tensor>& outputs, const Form& form) {
  const auto wanted = [&](Parcel& parcel, size_t first) {
    for (size_t k = 0; k < parcel.wanted.size(); ++k) {
      const Tensor& t = outputs[first + k];
      // What is yet to be recorded may turn out to want a gradient.
      parcel.wanted[k] = t.defined() && (i < batch_.checkpointed ? is_differentiable(t.dtype())
                                                                 : t.requires_grad());
    }
  };
  Slot& next = at(s + 1, i);
  next.values = send(detached(outputs, 0, form.size), pipeline_.lanes(s, s + 1));
  next.forms.assign(1, form);
  wanted(next.values, 0);
  for (const Route& r : pipeline_.leaving(s)) {
    const size_t k = form.size + r.stash;
    Parcel& place = at(r.to, i).pops[r.pop];
    place = send(detached(outputs, k, k + 1), pipeline_.lanes(s, r.to));
    wanted(place, k);
  }
}

void TrainStep::backward(size_t s, size_t i) {
  Slot& slot = at(s, i);
  if (slot.replay) {
    // Before the gradients are waited for: the device computes while they are on their way.
    meter_.start(s);
    Form form;
    slot.outputs = slot.replay->run([&] { return run_stage(s, i, slot.given, form); });
    meter_.stop(s);
  }
  std::vector<Tensor> weights;
  if (s + 1 == slots_.size()) {
    weights.emplace_back();
  } else {
    weights = receive(std::move(slot.gradients));
    for (Parcel& p : slot.stash_gradients) weights.push_back(receive(std::move(p))[0]);
  }
  std::vector<Tensor> outputs, given_weights;
  for (size_t k = 0; k < slot.outputs.size(); ++k) {
    const bool is_loss = s + 1 == slots_.size();
    const Tensor& output = slot.outputs[k];
    if (!output.defined() || !output.requires_grad() || (!is_loss && !weights[k].defined()))
      continue;
    outputs.push_back(output);
    given_weights.push_back(is_loss ? Tensor() : weights[k].to(output.device()));
  }
  meter_.start(s);
  try {
    if (!outputs.empty()) autograd::backward(outputs, given_weights);
  } catch (...) {
    rethrow_from("in the backward pass " + place_of(*pipeline_.stages()[s], i));
  }
  meter_.stop(s);
  meter_.keep(s, -1);
  std::vector<Tensor> gradients;
  for (const Tensor& t : slot.given) gradients.push_back(t.defined() ? t.grad() : Tensor());
  send_back(s, i, gradients);
  slot = Slot();
}

void TrainStep::send_back(size_t s, size_t i, const std::vector<Tensor>& gradients) {
  const NoGradGuard values_only;
  const size_t values = gradients.size() - pipeline_.arriving(s).size();
  if (s == 0)
    input_gradients[i] = gradients[0];
  else
    at(s - 1, i).gradients = send({gradients.begin(), gradients.begin() + std::ptrdiff_t(values)},
                                  pipeline_.lanes(s, s - 1));
  for (const Route& r : pipeline_.arriving(s))
    at(r.from, i).stash_gradients[r.stash] =
        send({gradients[values + r.pop]}, pipeline_.lanes(s, r.from));
}

}  // namespace taeda::inline v0_2::nn::detail
