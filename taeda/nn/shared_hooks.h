// Where a module keeps its hooks.
#pragma once

#include <atomic>

namespace taeda::inline v0_2::nn {

struct ModuleHooks;

/// Hooks that are made when the first is registered, on whatever thread, and that copies of a
/// module share. Asking whether there are any costs one load.
class SharedHooks {
 public:
  SharedHooks() = default;
  SharedHooks(const SharedHooks& other) : hooks_(retained(other.get())) {}
  SharedHooks& operator=(const SharedHooks& other);
  ~SharedHooks() { release(get()); }

  ModuleHooks* get() const { return hooks_.load(std::memory_order_acquire); }
  ModuleHooks& ensure();

 private:
  static ModuleHooks* retained(ModuleHooks* hooks);
  static void release(ModuleHooks* hooks);

  std::atomic<ModuleHooks*> hooks_{nullptr};
};

}  // namespace taeda::nn
