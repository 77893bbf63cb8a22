#include "taeda/nn/hooks.h"

#include <map>
#include <memory>
#include <mutex>

#include "taeda/autograd/engine.h"
#include "taeda/autograd/record.h"
#include "taeda/nn/global_hooks.h"
#include "taeda/nn/hook_lists.h"
#include "taeda/nn/libtorch_style.h"

namespace taeda::inline v0_2::nn {

namespace {

/// Connects the gradient of a call's output with those of its inputs, for the backward hooks. It
/// hangs on the graph, so it owns neither the module, which may own the output, nor a gradient,
/// which may have a graph of its own, beyond the pass that computed it.
class BackwardTap : public std::enable_shared_from_this<BackwardTap> {
 public:
  using Hooks = std::vector<ModuleHooks::Backward>;
  using PreHooks = std::vector<ModuleHooks::BackwardPre>;

  BackwardTap(Module& module, PreHooks pre, Hooks hooks)
      : module_(&module),
        owned_(module.weak_from_this()),
        pre_(std::move(pre)),
        hooks_(std::move(hooks)) {}

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
      const Tensor replaced = self->run_before(grad);
      const Tensor& passed = replaced.defined() ? replaced : grad;
      if (self->has_inputs_)
        self->keep(passed);
      else
        self->run({}, passed);
      return replaced;
    });
  }

 private:
  /// What takes the place of the output's gradient, if anything does.
  Tensor run_before(const Tensor& grad) {
    const std::shared_ptr<Module> owner = owned_.lock();
    const bool gone = !owner && was_owned_;
    Tensor out;
    for (const ModuleHooks::BackwardPre& hook : pre_) {
      if (gone) break;
      Tensor replaced = detail::run("full backward pre-hook", *module_,
                                    [&] { return hook(*module_, out.defined() ? out : grad); });
      if (replaced.defined()) out = std::move(replaced);
    }
    return out;
  }

  TensorVec run(ModuleHooks::Inputs grads, const Tensor& grad_output) {
    const std::shared_ptr<Module> owner = owned_.lock();
    const bool gone = !owner && was_owned_;
    for (const ModuleHooks::Backward& hook : hooks_) {
      if (gone) break;
      ModuleHooks::Inputs replaced = detail::run(
          "full backward hook", *module_, [&] { return hook(*module_, grads, grad_output); });
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
  const PreHooks pre_;
  const Hooks hooks_;
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
  if (hooks && hooks->release()) delete static_cast<detail::HookLists*>(hooks);
}

SharedHooks& SharedHooks::operator=(const SharedHooks& other) {
  release(hooks_.exchange(retained(other.get())));
  return *this;
}

ModuleHooks& SharedHooks::ensure() {
  if (ModuleHooks* have = get()) return *have;
  ModuleHooks* made = retained(new detail::HookLists);
  ModuleHooks* first = nullptr;
  if (hooks_.compare_exchange_strong(first, made)) return *made;
  release(made);  // another thread was faster
  return *first;
}

std::atomic<int> detail::hooks_of_all_modules{0};

namespace {

using detail::HookLists;

HookLists& all_modules() {
  static HookLists hooks;
  return hooks;
}

template <class Hook, class Owner>
HookHandle add_to_all(HookList<Hook> Owner::*list, Hook hook, const char* caller) {
  const HookHandle handle = (all_modules().*list).add(std::move(hook), caller);
  detail::hooks_of_all_modules.fetch_add(1);
  return handle;
}

HookLists& made_hooks(Module& module) { return static_cast<HookLists&>(module.ensure_hooks()); }

/// What there is now of one kind: the hooks of all modules, then the module's own.
template <class Hook, class Owner>
std::vector<Hook> current_hooks(const Module& module, HookList<Hook> Owner::*list) {
  std::vector<Hook> out;
  const auto add = [&](const HookLists& hooks) {
    if (const auto snapshot = (hooks.*list).snapshot())
      for (const auto& entry : *snapshot) out.push_back(entry.hook);
  };
  if (detail::hooks_of_all_modules.load() > 0) add(all_modules());
  if (const HookLists* own = detail::hooks_of(module)) add(*own);
  return out;
}

}  // namespace

HookHandle register_forward_pre_hook(Module& module, ModuleHooks::Pre hook) {
  return module.ensure_hooks().pre.add(std::move(hook), "register_forward_pre_hook");
}
HookHandle register_forward_hook(Module& module, ModuleHooks::Post hook) {
  return module.ensure_hooks().post.add(std::move(hook), "register_forward_hook");
}
HookHandle register_full_backward_hook(Module& module, ModuleHooks::Backward hook) {
  return module.ensure_hooks().backward.add(std::move(hook), "register_full_backward_hook");
}
HookHandle register_full_backward_pre_hook(Module& module, ModuleHooks::BackwardPre hook) {
  return made_hooks(module).backward_pre.add(std::move(hook), "register_full_backward_pre_hook");
}
HookHandle register_state_dict_pre_hook(Module& module, StateHooks::Pre hook) {
  return made_hooks(module).state_pre.add(std::move(hook), "register_state_dict_pre_hook");
}
HookHandle register_state_dict_post_hook(Module& module, StateHooks::Post hook) {
  return made_hooks(module).state_post.add(std::move(hook), "register_state_dict_post_hook");
}
HookHandle register_load_state_dict_pre_hook(Module& module, StateHooks::LoadPre hook) {
  return made_hooks(module).load_pre.add(std::move(hook), "register_load_state_dict_pre_hook");
}
HookHandle register_load_state_dict_post_hook(Module& module, StateHooks::LoadPost hook) {
  return made_hooks(module).load_post.add(std::move(hook), "register_load_state_dict_post_hook");
}

void remove_hook(Module& module, HookHandle handle) {
  if (HookLists* hooks = detail::hooks_of(module)) hooks->remove(handle);
}

HookHandle register_module_forward_pre_hook(ModuleHooks::Pre hook) {
  return add_to_all(&ModuleHooks::pre, std::move(hook), "register_module_forward_pre_hook");
}
HookHandle register_module_forward_hook(ModuleHooks::Post hook) {
  return add_to_all(&ModuleHooks::post, std::move(hook), "register_module_forward_hook");
}
HookHandle register_module_full_backward_hook(ModuleHooks::Backward hook) {
  return add_to_all(&ModuleHooks::backward, std::move(hook), "register_module_full_backward_hook");
}
HookHandle register_module_full_backward_pre_hook(ModuleHooks::BackwardPre hook) {
  return add_to_all(&HookLists::backward_pre, std::move(hook),
                    "register_module_full_backward_pre_hook");
}

void remove_module_hook(HookHandle handle) {
  if (all_modules().remove(handle)) detail::hooks_of_all_modules.fetch_sub(1);
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
  const auto post = current_hooks(module, &ModuleHooks::post);
  auto before = current_hooks(module, &HookLists::backward_pre);
  auto backward = current_hooks(module, &ModuleHooks::backward);
  for (const ModuleHooks::Pre& hook : current_hooks(module, &ModuleHooks::pre))
    detail::run("forward pre-hook", module, [&] { hook(module, inputs); });
  std::shared_ptr<BackwardTap> tap;
  if ((!before.empty() || !backward.empty()) && GradMode::is_enabled()) {
    const bool taps_inputs = !backward.empty();
    tap = std::make_shared<BackwardTap>(module, std::move(before), std::move(backward));
    if (taps_inputs) tap->wrap_inputs(inputs);
  }
  Tensor output = forward(inputs);
  if (tap) tap->watch_output(output);
  for (const ModuleHooks::Post& hook : post) {
    Tensor replaced =
        detail::run("forward hook", module, [&] { return hook(module, inputs, output); });
    if (replaced.defined()) output = std::move(replaced);
  }
  return output;
}

}  // namespace taeda::inline v0_2::nn
