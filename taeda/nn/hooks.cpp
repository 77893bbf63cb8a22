#include "taeda/nn/hooks.h"

#include <algorithm>

#include "taeda/autograd/record.h"

namespace taeda::nn {

namespace {

template <class List, class F>
unsigned add(ModuleHooks& hooks, List& list, F hook) {
  list.push_back({hooks.next_handle, std::move(hook)});
  return hooks.next_handle++;
}

/// Connects the gradient of a call's output with those of its inputs, for the backward hooks.
struct BackwardTap {
  explicit BackwardTap(Module& m) : module(m), hooks(m.hooks()->backward) {}

  /// Stands in for the inputs: their gradients pass through the hooks.
  void wrap_inputs(const std::shared_ptr<BackwardTap>& self, ModuleHooks::Inputs& inputs) {
    if (!any_wants_grad(inputs)) return;
    std::vector<autograd::Input> originals;
    ModuleHooks::Inputs wrapped;
    for (const Tensor& t : inputs) {
      originals.emplace_back(t);
      wrapped.push_back(make_view(t, t.layout(), ViewKind::MultiOutput));
    }
    record_multi("BackwardHookFunctionBackward", wrapped, originals,
                 [self](const TensorVec& grads, Needs) {
                   return self->run({grads.begin(), grads.end()});
                 });
    has_inputs = true;
    inputs = std::move(wrapped);
  }

  TensorVec run(ModuleHooks::Inputs grads) {
    for (const auto& entry : hooks) {
      ModuleHooks::Inputs replaced = entry.hook(module, grads, grad_output);
      for (size_t i = 0; i < replaced.size() && i < grads.size(); ++i)
        if (replaced[i].defined()) grads[i] = std::move(replaced[i]);
    }
    return {grads.begin(), grads.end()};
  }

  void watch_output(const std::shared_ptr<BackwardTap>& self, const Tensor& output) {
    if (!output.defined() || !output.requires_grad()) return;
    output.register_hook([self](const Tensor& grad) {
      self->grad_output = grad;
      if (!self->has_inputs) self->run({});
      return Tensor();
    });
  }

  Module& module;
  std::vector<ModuleHooks::Entry<ModuleHooks::Backward>> hooks;
  Tensor grad_output;
  bool has_inputs = false;
};

}  // namespace

unsigned register_forward_pre_hook(Module& module, ModuleHooks::Pre hook) {
  ModuleHooks& hooks = module.ensure_hooks();
  return add(hooks, hooks.pre, std::move(hook));
}

unsigned register_forward_hook(Module& module, ModuleHooks::Post hook) {
  ModuleHooks& hooks = module.ensure_hooks();
  return add(hooks, hooks.post, std::move(hook));
}

unsigned register_full_backward_hook(Module& module, ModuleHooks::Backward hook) {
  ModuleHooks& hooks = module.ensure_hooks();
  return add(hooks, hooks.backward, std::move(hook));
}

void remove_hook(Module& module, unsigned handle) {
  if (!module.hooks()) return;
  ModuleHooks& hooks = module.ensure_hooks();
  const auto matches = [handle](const auto& entry) { return entry.handle == handle; };
  std::erase_if(hooks.pre, matches);
  std::erase_if(hooks.post, matches);
  std::erase_if(hooks.backward, matches);
}

void detail::enter_call(tracing::Span& span, const Module& module) {
  const std::string& key = module.key();
  const std::string around = tracing::module_path();
  const std::string shown = key.empty() ? module.name() : around.empty() ? key : around + "." + key;
  span.enter(tracing::Kind::Module, key.c_str(), shown.c_str());
}

Tensor detail::call_with_hooks(Module& module, ModuleHooks::Inputs inputs,
                               const std::function<Tensor(const ModuleHooks::Inputs&)>& forward) {
  const ModuleHooks hooks = *module.hooks();  // a hook may remove itself
  for (const auto& entry : hooks.pre) entry.hook(module, inputs);
  std::shared_ptr<BackwardTap> tap;
  if (!hooks.backward.empty() && GradMode::is_enabled()) {
    tap = std::make_shared<BackwardTap>(module);
    tap->wrap_inputs(tap, inputs);
  }
  Tensor output = forward(inputs);
  if (tap) tap->watch_output(tap, output);
  for (const auto& entry : hooks.post) {
    Tensor replaced = entry.hook(module, inputs, output);
    if (replaced.defined()) output = std::move(replaced);
  }
  return output;
}

}  // namespace taeda::nn
