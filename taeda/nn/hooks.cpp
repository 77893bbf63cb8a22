#include "taeda/nn/hooks.h"

#include <map>
#include <memory>
#include <mutex>

#include "taeda/autograd/engine.h"
#include "taeda/autograd/record.h"
#include "taeda/nn/libtorch_style.h"

namespace taeda::inline v0_2::nn {

namespace {

/// Connects the gradient of a call's output with those of its inputs, for the backward hooks. It
/// hangs on the graph, so it owns neither the module, which may own the output, nor a gradient,
/// which may have a graph of its own, beyond the pass that computed it.
class BackwardTap : public std::enable_shared_from_this<BackwardTap> {
 public:
  BackwardTap(Module& module, HookList<ModuleHooks::Backward>::Snapshot hooks)
      : module_(&module), owned_(module.weak_from_this()), hooks_(std::move(hooks)) {}

  /// Stands in for the inputs: their gradients pass through the hooks.
  void wrap_inputs(ModuleHooks::Inputs& inputs) {
    if (!any_wants_grad(inputs)) return;
    std::vector<autograd::Input> originals;
    ModuleHooks::Inputs wrapped;
    for (const Tensor& t : inputs) {
      originals.emplace_back(t);
      wrapped.push_back(make_view(t, t.layout(), ViewKind::MultiOutput));
    }
    record_multi("BackwardHookFunctionBackward", wrapped, originals,
                 [self = shared_from_this()](const TensorVec& grads, Needs) {
                   return self->run({grads.begin(), grads.end()}, self->grad_output());
                 });
    has_inputs_ = true;
    inputs = std::move(wrapped);
  }

  void watch_output(const Tensor& output) {
    if (!output.defined() || !output.requires_grad()) return;
    output.register_hook([self = shared_from_this()](const Tensor& grad) {
      if (self->has_inputs_)
        self->keep(grad);
      else
        self->run({}, grad);
      return Tensor();
    });
  }

 private:
  TensorVec run(ModuleHooks::Inputs grads, const Tensor& grad_output) {
    const std::shared_ptr<Module> owner = owned_.lock();
    const bool gone = !owner && was_owned_;
    for (const auto& entry : *hooks_) {
      if (gone) break;
      ModuleHooks::Inputs replaced = entry.hook(*module_, grads, grad_output);
      for (size_t i = 0; i < replaced.size() && i < grads.size(); ++i)
        if (replaced[i].defined()) grads[i] = std::move(replaced[i]);
    }
    return {grads.begin(), grads.end()};
  }

  /// Until the pass is over; several may run at once.
  void keep(const Tensor& grad) {
    const void* pass = autograd::current_pass_id();
    {
      std::lock_guard lock(mutex_);
      grad_outputs_[pass] = grad;
    }
    autograd::queue_callback([self = shared_from_this(), pass] {
      std::lock_guard lock(self->mutex_);
      self->grad_outputs_.erase(pass);
    });
  }
  Tensor grad_output() {
    std::lock_guard lock(mutex_);
    const auto at = grad_outputs_.find(autograd::current_pass_id());
    return at == grad_outputs_.end() ? Tensor() : at->second;
  }

  Module* module_;
  const std::weak_ptr<Module> owned_;
  const bool was_owned_ = !owned_.expired();
  const HookList<ModuleHooks::Backward>::Snapshot hooks_;
  bool has_inputs_ = false;
  std::mutex mutex_;
  std::map<const void*, Tensor> grad_outputs_;  // by pass
};

}  // namespace

ModuleHooks* SharedHooks::retained(ModuleHooks* hooks) {
  if (hooks) hooks->retain();
  return hooks;
}

void SharedHooks::release(ModuleHooks* hooks) {
  if (hooks && hooks->release()) delete hooks;
}

SharedHooks& SharedHooks::operator=(const SharedHooks& other) {
  release(hooks_.exchange(retained(other.get())));
  return *this;
}

ModuleHooks& SharedHooks::ensure() {
  if (ModuleHooks* have = get()) return *have;
  ModuleHooks* made = retained(new ModuleHooks);
  ModuleHooks* first = nullptr;
  if (hooks_.compare_exchange_strong(first, made)) return *made;
  release(made);  // another thread was faster
  return *first;
}

HookHandle register_forward_pre_hook(Module& module, ModuleHooks::Pre hook) {
  return module.ensure_hooks().pre.add(std::move(hook));
}

HookHandle register_forward_hook(Module& module, ModuleHooks::Post hook) {
  return module.ensure_hooks().post.add(std::move(hook));
}

HookHandle register_full_backward_hook(Module& module, ModuleHooks::Backward hook) {
  return module.ensure_hooks().backward.add(std::move(hook));
}

void remove_hook(Module& module, HookHandle handle) {
  ModuleHooks* h = module.hooks();
  if (!h) return;
  (void)(h->pre.remove(handle) || h->post.remove(handle) || h->backward.remove(handle));
}

void detail::enter_call(tracing::Span& span, const Module& module) {
  const std::string& key = module.key();
  const std::string around = tracing::module_path();
  const std::string shown = key.empty()      ? detail::short_name(module)
                            : around.empty() ? key
                                             : around + "." + key;
  span.enter(tracing::Kind::Module, key.c_str(), shown.c_str());
}

Tensor detail::call_with_hooks(Module& module, ModuleHooks::Inputs inputs,
                               const std::function<Tensor(const ModuleHooks::Inputs&)>& forward) {
  const ModuleHooks& hooks = *module.hooks();
  const auto pre = hooks.pre.snapshot();
  const auto post = hooks.post.snapshot();
  auto backward = hooks.backward.snapshot();
  if (pre)
    for (const auto& entry : *pre) entry.hook(module, inputs);
  std::shared_ptr<BackwardTap> tap;
  if (backward && GradMode::is_enabled()) {
    tap = std::make_shared<BackwardTap>(module, std::move(backward));
    tap->wrap_inputs(inputs);
  }
  Tensor output = forward(inputs);
  if (tap) tap->watch_output(output);
  if (!post) return output;
  for (const auto& entry : *post) {
    Tensor replaced = entry.hook(module, inputs, output);
    if (replaced.defined()) output = std::move(replaced);
  }
  return output;
}

}  // namespace taeda::inline v0_2::nn
