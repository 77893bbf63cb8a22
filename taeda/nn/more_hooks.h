// Hooks of state dicts, of the gradients that reach a module, and of all modules of the process;
// hooks.h has those of one module's calls. Not part of taeda.h.
#pragma once

#include "taeda/nn/hooks.h"

namespace taeda::inline v0_2::nn {

/// What the hooks below are.
struct MoreHooks {
  using State = OrderedDict<std::string, Tensor>;
  /// Sees the gradient of the output before the backward hooks; a defined result replaces it.
  using BackwardPre = std::function<Tensor(Module&, const Tensor& grad_output)>;
  /// Runs before a state dict takes the module's tensors, whose keys begin with `prefix`.
  using StatePre = std::function<void(Module&, const std::string& prefix)>;
  /// May change what a state dict has of the module and its children.
  using StatePost = std::function<void(Module&, State& state, const std::string& prefix)>;
  /// May change what is loaded before it is compared with the module's own keys.
  using LoadPre = std::function<void(Module&, State& state, const std::string& prefix)>;
  /// May change what `load_state_dict` reports, and throws, of keys.
  using LoadPost = std::function<void(Module&, IncompatibleKeys& keys)>;
};

/// Each returns a handle for `remove_hook`. Throws ValueError for an empty function.
HookHandle register_full_backward_pre_hook(Module& module, MoreHooks::BackwardPre hook);
HookHandle register_state_dict_pre_hook(Module& module, MoreHooks::StatePre hook);
HookHandle register_state_dict_post_hook(Module& module, MoreHooks::StatePost hook);
HookHandle register_load_state_dict_pre_hook(Module& module, MoreHooks::LoadPre hook);
HookHandle register_load_state_dict_post_hook(Module& module, MoreHooks::LoadPost hook);

/// Hooks around the calls of all modules of the process; they run before a module's own. Each
/// returns a handle for `remove_module_hook`. Throws ValueError for an empty function.
HookHandle register_module_forward_pre_hook(ModuleHooks::Pre hook);
HookHandle register_module_forward_hook(ModuleHooks::Post hook);
HookHandle register_module_full_backward_hook(ModuleHooks::Backward hook);
HookHandle register_module_full_backward_pre_hook(MoreHooks::BackwardPre hook);
/// Removes a hook of all modules; nothing if there is none of that handle.
void remove_module_hook(HookHandle handle);

}  // namespace taeda::inline v0_2::nn
