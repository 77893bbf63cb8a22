// Hooks of state dicts; hooks.h has those of a module's calls. Not part of taeda.h.
#pragma once

#include "taeda/nn/hooks.h"

namespace taeda::inline v0_2::nn {

/// What hooks of state dicts are.
struct StateHooks {
  using State = OrderedDict<std::string, Tensor>;
  /// Runs before a state dict takes the module's tensors, whose keys begin with `prefix`.
  using Pre = std::function<void(Module&, const std::string& prefix)>;
  /// May change what a state dict has of the module and its children.
  using Post = std::function<void(Module&, State& state, const std::string& prefix)>;
  /// May change what is loaded before it is compared with the module's own keys.
  using LoadPre = std::function<void(Module&, State& state, const std::string& prefix)>;
  /// May change what `load_state_dict` reports, and throws, of keys.
  using LoadPost = std::function<void(Module&, IncompatibleKeys& keys)>;
};

/// Each returns a handle for `remove_hook`. Throws ValueError for an empty function.
HookHandle register_state_dict_pre_hook(Module& module, StateHooks::Pre hook);
HookHandle register_state_dict_post_hook(Module& module, StateHooks::Post hook);
HookHandle register_load_state_dict_pre_hook(Module& module, StateHooks::LoadPre hook);
HookHandle register_load_state_dict_post_hook(Module& module, StateHooks::LoadPost hook);

}  // namespace taeda::inline v0_2::nn
