#include "taeda/distributed/cost/measured_step.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "taeda/autograd/node.h"
#include "taeda/base/error.h"
#include "taeda/device/allocator.h"
#include "taeda/device/registry.h"
#include "taeda/device/sim_cost.h"
#include "taeda/device/stream.h"
#include "taeda/nn/hooks.h"

namespace taeda::inline v0_2::distributed::cost {

namespace {

int64_t allocated(Device device) { return allocator::memory_stats(device).allocated; }

int64_t bytes_of(const OrderedDict<std::string, Tensor>& tensors) {
  int64_t bytes = 0;
  for (const auto& [name, t] : tensors) bytes += t.nbytes();
  return bytes;
}

/// Listens to one step: what hooks see, as events on the device's clock.
class StepObserver {
 public:
  StepObserver(const TrainingStep& step, Device device)
      : step_(step), stream_(current_stream(device)), device_(device) {
    watch_gradients();
    cuts_.resize(step.cuts.size());
    for (size_t i = 0; i < step.cuts.size(); ++i) watch_cut(i);
    begin_ = mark();
    memory_at_begin_ = allocated(device_);
  }
  ~StepObserver() {
    for (auto& [tensor, handle] : tensor_hooks_)
      if (const autograd::Edge edge = autograd::gradient_edge(tensor))
        edge.node->remove_hook(handle);
    for (size_t i = 0; i < module_hooks_.size(); ++i)
      nn::remove_hook(*step_.cuts[i], module_hooks_[i]);
  }
  StepObserver(const StepObserver&) = delete;
  StepObserver& operator=(const StepObserver&) = delete;

  void forward_is_over() {
    forward_end_ = mark();
    memory_at_forward_end_ = allocated(device_);
  }
  void backward_is_over() { backward_end_ = mark(); }
  /// After the optimizer. Throws Error where a cut was not called as it must be.
  MeasuredStep result();

 private:
  /// Where a cut was passed, both ways.
  struct Cut {
    std::optional<Event> forward, backward;
    int64_t memory = 0, bytes = 0;
  };
  struct Arrival {
    Tensor parameter;
    size_t layer;
    Event when;
  };

  Event mark() const {
    Event event(/*enable_timing=*/true);
    event.record(stream_);
    return event;
  }
  double seconds(const Event& event) const { return begin_.elapsed_time(event) * 1e-3; }
  void watch_gradients();
  void watch_cut(size_t i);
  std::vector<Part> parts() const;

  const TrainingStep& step_;
  const Stream stream_;
  const Device device_;
  std::vector<std::pair<Tensor, unsigned>> tensor_hooks_;
  std::vector<HookHandle> module_hooks_;
  Event begin_, forward_end_, backward_end_;
  int64_t memory_at_begin_ = 0, memory_at_forward_end_ = 0;
  std::vector<Cut> cuts_;
  std::vector<Arrival> arrivals_;
};

void StepObserver::watch_gradients() {
  std::map<std::string, size_t> layers;
  for (const auto& [name, parameter] : step_.model->named_parameters()) {
    TAEDA_CHECK(parameter.device() == device_, "measure_step: expected the model on ", device_,
                ", but ", name, " is on ", parameter.device());
    const size_t dot = name.rfind('.');
    const std::string module = dot == std::string::npos ? "" : name.substr(0, dot);
    const size_t layer = layers.try_emplace(module, layers.size()).first->second;
    const unsigned handle =
        parameter.register_post_accumulate_grad_hook([this, layer](const Tensor& p) {
          arrivals_.push_back({p, layer, mark()});
        });
    tensor_hooks_.emplace_back(parameter, handle);
  }
}

void StepObserver::watch_cut(size_t i) {
  const auto pass = [this, i](nn::Module&, nn::ModuleHooks::Inputs& inputs) {
    Cut& cut = cuts_[i];
    cut.forward = mark();
    cut.memory = allocated(device_);
    if (inputs.empty()) return;
    cut.bytes = inputs[0].nbytes();
    // Gone with the step's graph; to keep the tensor would keep its memory.
    inputs[0].register_hook([this, i](const Tensor&) {
      cuts_[i].backward = mark();
      return Tensor();
    });
  };
  module_hooks_.push_back(nn::register_forward_pre_hook(*step_.cuts[i], pass));
}

std::vector<Part> StepObserver::parts() const {
  std::vector<Part> out(cuts_.size() + 1);
  double forward = 0, backward = seconds(forward_end_);
  int64_t memory = memory_at_begin_;
  for (size_t i = 0; i < out.size(); ++i) {
    const bool last = i + 1 == out.size();
    const double end = last ? seconds(forward_end_) : seconds(*cuts_[i].forward);
    const int64_t kept = last ? memory_at_forward_end_ : cuts_[i].memory;
    out[i].forward = end - forward;
    out[i].kept_bytes = std::max<int64_t>(0, kept - memory);
    out[i].input_bytes = i == 0 ? 0 : cuts_[i - 1].bytes;
    forward = end;
    memory = kept;
  }
  for (size_t i = out.size(); i-- > 0;) {
    const double end = i == 0 ? seconds(backward_end_) : seconds(*cuts_[i - 1].backward);
    out[i].backward_begin = backward;
    out[i].backward = end - backward;
    backward = end;
  }
  return out;
}

MeasuredStep StepObserver::result() {
  for (const Cut& cut : cuts_)
    TAEDA_CHECK(cut.forward && cut.backward,
                "measure_step: a module before which a pipeline can be cut was not called with a "
                "tensor that gets a gradient");
  TAEDA_CHECK(!arrivals_.empty(), "measure_step: no parameter got a gradient");
  const Event end = mark();
  synchronize(device_);  // where kernels run, their events must have come to be asked
  MeasuredStep out;
  out.forward_end = seconds(forward_end_);
  out.backward_end = seconds(backward_end_);
  out.end = seconds(end);
  out.parts = parts();
  for (const Arrival& a : arrivals_) {
    const double ready = seconds(a.when);
    out.gradients.push_back({a.parameter, a.layer, ready});
    out.gradient_bytes += a.parameter.nbytes();
    // The last part whose backward had begun.
    for (Part& part : out.parts)
      if (part.backward_begin < ready) {
        part.parameter_bytes += a.parameter.nbytes();
        break;
      }
  }
  std::ranges::stable_sort(out.gradients, {}, &Gradient::ready);
  out.parameter_bytes = bytes_of(step_.model->named_parameters());
  out.buffer_bytes = bytes_of(step_.model->named_buffers());
  return out;
}

}  // namespace

MeasuredStep measure_step(const TrainingStep& step, Device device) {
  const auto run = [&](StepObserver* observer) {
    step.optimizer->zero_grad();
    const Tensor loss = step.loss();
    if (observer) observer->forward_is_over();
    loss.backward();
    if (observer) observer->backward_is_over();
    step.optimizer->step();
  };
  const int64_t before_state = allocated(device);
  run(nullptr);
  step.optimizer->zero_grad();
  synchronize(device);
  const int64_t state = allocated(device) - before_state;
  allocator::reset_peak_memory_stats(device);
  const double flops = sim::predicted_use(device).flops;
  StepObserver observer(step, device);
  run(&observer);
  MeasuredStep out = observer.result();
  out.flops = sim::predicted_use(device).flops - flops;
  out.state_bytes = state;
  out.peak_bytes = allocator::memory_stats(device).peak_allocated;
  return out;
}

}  // namespace taeda::inline v0_2::distributed::cost
