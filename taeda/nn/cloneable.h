// Deep copies of modules.
#pragma once

#include "taeda/nn/init.h"
#include "taeda/nn/make_module.h"

namespace taeda::nn {

/// While one lives on a thread, clones share the memory of their originals' tensors: for those who
/// give them other memory right after.
class ShallowCloneGuard {
 public:
  ShallowCloneGuard();
  ~ShallowCloneGuard();
  ShallowCloneGuard(const ShallowCloneGuard&) = delete;
  ShallowCloneGuard& operator=(const ShallowCloneGuard&) = delete;

 private:
  bool previous_;
};

/// Gives Derived a `clone()`. Derived registers everything it owns in `reset()`, which its
/// constructor calls, so that a copy can register its own.
template <class Derived>
class Cloneable : public Module {
 public:
  using Module::Module;

  /// Registers parameters, buffers and submodules, with initial values.
  virtual void reset() = 0;

  /// Values, gradient flags and the training mode are copied; the graph and gradients are not.
  std::shared_ptr<Module> clone(const std::optional<Device>& device = {}) const override {
    const auto copy = make_module<Derived>(static_cast<const Derived&>(*this));
    copy->forget_members();
    {
      init::SkipInitGuard values_are_copied_below;
      copy->reset();
    }
    this->copy_members_to(*copy, device);
    return copy;
  }

 private:
  void clone_from(const Module& other, const std::optional<Device>& device) final {
    const std::shared_ptr<Module> copy = other.clone(device);
    const auto* same = dynamic_cast<const Derived*>(copy.get());
    TAEDA_CHECK(same,
                "Attempted to clone submodule, but it is of a different type than the submodule it "
                "was to be cloned "
                "into");
    static_cast<Derived&>(*this) = *same;
  }

  std::string_view member_bytes() const final {
    const auto* begin = reinterpret_cast<const char*>(static_cast<const Module*>(this) + 1);
    const auto* end = reinterpret_cast<const char*>(static_cast<const Derived*>(this) + 1);
    return {begin, static_cast<size_t>(end - begin)};
  }
};

}  // namespace taeda::nn
