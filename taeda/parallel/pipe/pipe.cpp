#include "taeda/parallel/pipe/pipe.h"

#include <algorithm>
#include <unordered_set>

#include "taeda/autograd/engine.h"
#include "taeda/device/registry.h"
#include "taeda/nn/containers/lists.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/shape/join.h"
#include "taeda/parallel/pipe/pipeline.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::nn {

namespace {

using detail::PipeSequentialImpl;
using detail::Stage;

/// The one device of a module's tensors; nothing for a module without.
std::optional<Device> device_of(const Module& module) {
  std::optional<Device> out;
  for (const Tensor& p : module.parameters()) {
    TAEDA_CHECK_VALUE(!out || *out == p.device(), "nn.Module: ", module,
                      ", should have all parameters on a single device, please use .to() to place "
                      "the module on a single device");
    out = p.device();
  }
  if (!out)
    for (const Tensor& b : module.buffers()) return b.device();
  return out;
}

/// A child with the device it runs on.
struct Placed {
  AnyModule module;
  std::optional<Device> device;
};

std::vector<Placed> place(const SequentialImpl& module) {
  std::vector<Placed> out;
  for (const AnyModule& child : module) {
    if (const auto* with = child->as<WithDeviceImpl>()) {
      with->module()->to(with->device());
      out.push_back({with->module(), resolve(with->device())});
    } else {
      out.push_back({child, device_of(*child)});
    }
  }
  // A module without tensors runs where the one before it does; at the beginning, the one behind.
  for (size_t i = 1; i < out.size(); ++i)
    if (!out[i].device) out[i].device = out[i - 1].device;
  for (size_t i = out.size(); i-- > 0;)
    if (!out[i].device) out[i].device = i + 1 < out.size() ? *out[i + 1].device : Device(kCPU);
  return out;
}

/// A nested Sequential's modules become the stage's own.
void append(PipeSequentialImpl& stage, const AnyModule& module) {
  if (const auto* nested = module->as<SequentialImpl>()) {
    for (const AnyModule& m : *nested) stage.push_back(m);
  } else {
    stage.push_back(module);
  }
}

std::vector<std::shared_ptr<Stage>> split(const SequentialImpl& module) {
  std::vector<std::shared_ptr<PipeSequentialImpl>> parts;
  std::vector<Device> devices;
  for (const Placed& p : place(module)) {
    if (devices.empty() || devices.back() != *p.device || p.device->is_cpu()) {
      parts.push_back(std::make_shared<PipeSequentialImpl>());
      devices.push_back(*p.device);
    }
    append(*parts.back(), p.module);
  }
  std::vector<std::shared_ptr<Stage>> out;
  for (size_t i = 0; i < parts.size(); ++i)
    out.push_back(std::make_shared<Stage>(
        i, taeda::detail::concat("device ", devices[i]), devices[i],
        std::vector<AnyModule>(parts[i]->begin(), parts[i]->end()), parts[i]));
  return out;
}

void check_children(const SequentialImpl& module) {
  std::unordered_set<const Module*> seen;
  for (const AnyModule& m : module)
    TAEDA_CHECK_VALUE(seen.insert(m.ptr().get()).second,
                      "module with duplicate children is not supported");
}

/// A parameter that two stages share must be on the device of both.
void check_sharing(const std::vector<std::shared_ptr<Stage>>& stages) {
  std::map<const TensorImpl*, Device> seen;
  for (const auto& s : stages)
    for (const Tensor& p : s->parent()->parameters())
      TAEDA_CHECK_VALUE(seen.emplace(p.unsafe_impl(), s->device()).first->second == s->device(),
                        "module with duplicate parameters on distinct devices is not supported");
}

void check_options(const PipeOptions& options) {
  TAEDA_CHECK_VALUE(options.chunks() > 0, "number of chunks must be positive integer");
  const std::string& c = options.checkpoint();
  TAEDA_CHECK_VALUE(c == "always" || c == "except_last" || c == "never",
                    "checkpoint is not one of 'always', 'except_last', or 'never'");
}

/// How many micro-batches, from the first, are checkpointed.
size_t checkpointed(const PipeImpl& pipe, size_t micro_batches) {
  const std::string& mode = pipe.options().checkpoint();
  if (!pipe.is_training() || mode == "never") return 0;
  return mode == "always" ? micro_batches : micro_batches - 1;
}

Tensor weighted_sum(const std::vector<Tensor>& losses, const std::vector<double>& weights) {
  const NoGradGuard values_only;
  Tensor out;
  for (size_t i = 0; i < losses.size(); ++i) {
    const Tensor loss = weights[i] == 1 ? losses[i] : losses[i] * weights[i];
    out = out.defined() ? out + loss : loss;
  }
  return out;
}

[[noreturn]] void deny_moving() {
  throw TypeError(
      "denied to move parameters and buffers, because Pipe should manage device "
      "placement");
}

}  // namespace

WithDeviceImpl::WithDeviceImpl(AnyModule module, Device device)
    : module_(std::move(module)), device_(device) {
  register_module("_module", module_.ptr());
}

PipeImpl::PipeImpl(const Sequential& module, int64_t chunks, const std::string& checkpoint)
    : PipeImpl(module, PipeConfig{.chunks = chunks, .checkpoint = checkpoint}) {}

PipeImpl::PipeImpl(const Sequential& module, const PipeOptions& options) : options_(options) {
  check_options(options_);
  check_children(*module);
  verify_skippables(*module);
  const std::vector<std::shared_ptr<Stage>> stages = split(*module);
  check_sharing(stages);
  const auto partitions = register_module("partitions", ModuleList());
  for (const auto& s : stages) partitions->push_back(std::shared_ptr<Module>(s->parent()));
  train(module->is_training());
  pipeline_ = std::make_shared<detail::Pipeline>(stages);
}

PipeImpl::~PipeImpl() = default;

Tensor PipeImpl::run(const std::vector<Tensor>& inputs) {
  check_options(options_);
  const auto& stages = pipeline_->stages();
  if (stages.empty()) return inputs[0];
  for (const Tensor& t : inputs)
    TAEDA_CHECK_VALUE(t.device() == stages[0]->device(),
                      "All inputs should be on the same device as the first partition");
  std::vector<std::vector<Tensor>> micro_batches;
  for (const Tensor& t : inputs) {
    const std::vector<Tensor> parts = t.chunk(options_.chunks());
    if (micro_batches.empty()) micro_batches.resize(parts.size());
    TAEDA_CHECK(parts.size() == micro_batches.size(),
                "Found different number of chunks produced for inputs: ", micro_batches.size(),
                " and ", parts.size());
    for (size_t i = 0; i < parts.size(); ++i) micro_batches[i].push_back(parts[i]);
  }
  auto meter = std::make_unique<detail::Meter>(options_.measure(), stages);
  meter->micro_batches = micro_batches.size();
  const Tensor out =
      pipeline_->forward(micro_batches, checkpointed(*this, micro_batches.size()), *meter);
  meter->finish();
  pipeline_->last = std::move(meter);
  return out;
}

Tensor PipeImpl::train_step(const Tensor& input, const Tensor& target, const Loss& loss,
                            Reduction reduction) {
  check_options(options_);
  const auto& stages = pipeline_->stages();
  TAEDA_CHECK_VALUE(loss, "Pipe: train_step expected a loss function, but got an empty one");
  TAEDA_CHECK_VALUE(!stages.empty(), "Pipe: train_step needs at least one module");
  TAEDA_CHECK_VALUE(reduction != Reduction::None,
                    "Pipe: train_step expected reduction Mean or Sum");
  TAEDA_CHECK_VALUE(input.device() == stages[0]->device(),
                    "All inputs should be on the same device as the first partition");
  TAEDA_CHECK_VALUE(target.dim() > 0 && input.dim() > 0 && target.size(0) == input.size(0),
                    "Expected input batch_size (", input.dim() > 0 ? input.size(0) : 0,
                    ") to match target batch_size (", target.dim() > 0 ? target.size(0) : 0, ").");
  detail::LastStage last{loss, {}, {}, {}, {}};
  const Tensor moved = target.to(stages.back()->device());
  const std::vector<Tensor> inputs = input.chunk(options_.chunks());
  int64_t start = 0;
  for (const Tensor& t : inputs) {
    last.targets.push_back(moved.narrow(0, start, t.size(0)));
    start += t.size(0);
    last.weights.push_back(reduction == Reduction::Mean && input.size(0) > 0
                               ? static_cast<double>(t.size(0)) / static_cast<double>(input.size(0))
                               : 1);
  }
  auto meter = std::make_unique<detail::Meter>(options_.measure(), stages);
  meter->schedule = options_.schedule();
  meter->micro_batches = inputs.size();
  meter->backward = true;
  std::vector<Tensor> gradients;
  pipeline_->train_step(options_.schedule(), inputs, checkpointed(*this, inputs.size()), last,
                        *meter, gradients);
  meter->finish();
  pipeline_->last = std::move(meter);
  if (input.requires_grad() && gradients[0].defined())
    autograd::backward({input}, {gradients.size() == 1 ? gradients[0] : cat(gradients, 0)});
  return weighted_sum(last.losses, last.weights);
}

PipeReport PipeImpl::report() const {
  TAEDA_CHECK(pipeline_->last, "Pipe: there is no report before the first step");
  return pipeline_->last->report();
}

std::vector<Device> PipeImpl::devices() const {
  std::vector<Device> out;
  for (const auto& s : pipeline_->stages()) out.push_back(s->device());
  return out;
}

std::vector<int64_t> PipeImpl::balance() const {
  std::vector<int64_t> out;
  for (const auto& s : pipeline_->stages()) out.push_back(std::ssize(s->modules()));
  return out;
}

size_t PipeImpl::size() const {
  size_t out = 0;
  for (const auto& s : pipeline_->stages()) out += s->modules().size();
  return out;
}

std::shared_ptr<Module> PipeImpl::operator[](size_t i) const {
  for (const auto& s : pipeline_->stages()) {
    if (i < s->modules().size()) return s->modules()[i].ptr();
    i -= s->modules().size();
  }
  throw IndexError("Index out of range");
}

void PipeImpl::to(Device, ScalarType, bool) { deny_moving(); }
void PipeImpl::to(Device, bool) { deny_moving(); }
Module& PipeImpl::cuda(int) { deny_moving(); }
Module& PipeImpl::cpu() { deny_moving(); }

}  // namespace taeda::inline v0_2::nn
