// Hooks around the calls of all modules of the process; they run before a module's own (hooks.h).
// Not part of taeda.h.
#pragma once

#include "taeda/nn/hooks.h"

namespace taeda::inline v0_2::nn {

/// Each returns a handle for `remove_module_hook`. Throws ValueError for an empty function.
HookHandle register_module_forward_pre_hook(ModuleHooks::Pre hook);
HookHandle register_module_forward_hook(ModuleHooks::Post hook);
HookHandle register_module_full_backward_hook(ModuleHooks::Backward hook);
HookHandle register_module_full_backward_pre_hook(ModuleHooks::BackwardPre hook);
/// Removes a hook of all modules; nothing if there is none of that handle.
void remove_module_hook(HookHandle handle);

}  // namespace taeda::inline v0_2::nn
