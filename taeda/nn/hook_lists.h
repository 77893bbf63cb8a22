// All that hangs on a module; programs' own code sees the part that is ModuleHooks. Not part of the
// public interface.
#pragma once

#include "taeda/base/rethrow.h"
#include "taeda/nn/libtorch_style.h"
#include "taeda/nn/state_hooks.h"

namespace taeda::inline v0_2::nn::detail {

struct HookLists : ModuleHooks {
  HookList<BackwardPre> backward_pre;
  HookList<StateHooks::Pre> state_pre;
  HookList<StateHooks::Post> state_post;
  HookList<StateHooks::LoadPre> load_pre;
  HookList<StateHooks::LoadPost> load_post;

  /// False if there is no such hook.
  bool remove(HookHandle handle) {
    return pre.remove(handle) || post.remove(handle) || backward.remove(handle) ||
           backward_pre.remove(handle) || state_pre.remove(handle) || state_post.remove(handle) ||
           load_pre.remove(handle) || load_post.remove(handle);
  }
};

/// The module's, or nullptr: SharedHooks makes no others.
inline HookLists* hooks_of(const Module& module) { return static_cast<HookLists*>(module.hooks()); }

/// What a hook of `module` gives; what it throws says so.
template <class Hook>
auto run(const char* kind, const Module& module, Hook&& hook) {
  const auto title = [&module] {
    const std::string type = short_name(module);
    return module.key().empty() ? type : module.key() + " (" + type + ")";
  };
  return run_hook(kind, title, hook);
}

}  // namespace taeda::inline v0_2::nn::detail
