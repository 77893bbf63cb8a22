#include "tools/taeda/plan/layers.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "taeda/device/allocator.h"
#include "taeda/device/registry.h"
#include "taeda/device/stream.h"
#include "taeda/nn/hooks.h"

namespace taeda::tool {

namespace {

class LayerObserver {
 public:
  LayerObserver(nn::Module& model, Device device) : device_(device) {
    std::vector<Tensor> seen;
    for (const auto& [path, module] : model.named_modules()) {
      if (!module->children().empty()) continue;
      Layer& layer = layers_.emplace_back();
      layer.use.path = path;
      layer.module = module;
      for (const Tensor& p : module->parameters()) {
        if (std::ranges::any_of(seen, [&](const Tensor& t) { return t.is_same(p); })) continue;
        seen.push_back(p);
        layer.use.parameter_bytes += p.nbytes();
      }
    }
    for (size_t i = 0; i < layers_.size(); ++i) watch(i);
  }
  ~LayerObserver() {
    for (Layer& layer : layers_)
      for (const HookHandle handle : layer.hooks) nn::remove_hook(*layer.module, handle);
  }
  LayerObserver(const LayerObserver&) = delete;
  LayerObserver& operator=(const LayerObserver&) = delete;

  std::vector<LayerUse> observe(const std::function<Tensor()>& forward) {
    Call whole(mark(), allocated());
    const Tensor result = forward();
    whole.end = mark();
    whole.kept = allocated() - whole.before;
    synchronize(device_);  // events of what has run can be asked
    std::vector<LayerUse> out;
    LayerUse rest;
    rest.kept_bytes = whole.kept;
    rest.forward_seconds = seconds(whole);
    for (Layer& layer : layers_) {
      for (const Call& call : layer.calls) {
        layer.use.kept_bytes += call.kept;
        layer.use.forward_seconds += seconds(call);
      }
      rest.kept_bytes -= layer.use.kept_bytes;
      rest.forward_seconds -= layer.use.forward_seconds;
      if (!layer.calls.empty()) out.push_back(layer.use);
    }
    rest.kept_bytes = std::max<int64_t>(0, rest.kept_bytes);
    rest.forward_seconds = std::max(0.0, rest.forward_seconds);
    out.push_back(rest);
    return out;
  }

 private:
  struct Call {
    Call(Event b, int64_t memory) : begin(std::move(b)), before(memory) {}
    Event begin, end;
    int64_t before, kept = 0;
  };
  struct Layer {
    LayerUse use;
    std::shared_ptr<nn::Module> module;
    std::vector<HookHandle> hooks;
    std::vector<Call> calls;
  };

  int64_t allocated() const { return allocator::memory_stats(device_).allocated; }
  Event mark() const {
    Event event(/*enable_timing=*/true);
    event.record(current_stream(device_));
    return event;
  }
  static double seconds(const Call& call) { return call.begin.elapsed_time(call.end) * 1e-3; }

  void watch(size_t i) {
    Layer& layer = layers_[i];
    layer.hooks.push_back(nn::register_forward_pre_hook(
        *layer.module, [this, i](nn::Module&, nn::ModuleHooks::Inputs&) {
          layers_[i].calls.emplace_back(mark(), allocated());
        }));
    layer.hooks.push_back(nn::register_forward_hook(
        *layer.module, [this, i](nn::Module&, const nn::ModuleHooks::Inputs&, const Tensor&) {
          Call& call = layers_[i].calls.back();
          call.end = mark();
          call.kept = std::max<int64_t>(0, allocated() - call.before);
          return Tensor();
        }));
  }

  const Device device_;
  std::vector<Layer> layers_;
};

}  // namespace

std::vector<LayerUse> observe_layers(const distributed::cost::TrainingStep& step, Device device) {
  return LayerObserver(*step.model, device).observe(step.loss);
}

}  // namespace taeda::tool
