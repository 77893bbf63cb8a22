// Deep copies of modules.
#pragma once

#include "taeda/nn/init.h"
#include "taeda/nn/make_module.h"

namespace taeda::inline v0_2::nn {

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

/// The part of cloning that does not depend on the class. It is compiled once, rather than in every
/// program for every class of module that it includes, so programs must not use it by name.
class CloneableBase : public Module {
 public:
  using Module::Module;

  /// Registers parameters, buffers and submodules with initial values. A clone begins with a call
  /// of it, so it must register all that the module owns.
  virtual void reset() = 0;

  /// Values, gradient flags and the training mode are copied; the graph and gradients are not.
  std::shared_ptr<Module> clone(const std::optional<Device>& device = {}) const override;

  /// Makes the object what a clone of `original`, which it was made as, would be, but keeps its
  /// tensors' memory and the content of its children, which are objects of their own afterwards.
  /// False if it cannot, as when the class has its own `clone()`: the object is then of no use.
  bool take_members(const Module& original);

 private:
  /// The object copied member by member.
  virtual CloneableBase* copy_object() const = 0;
  /// Assigns member by member; false if `other` is of another class.
  virtual bool assign_object(const Module& other) = 0;
  void clone_from(const Module& other, const std::optional<Device>& device) final;
};

/// Gives Derived a `clone()`. Derived registers everything it owns in `reset()`, which its
/// constructor calls, so that a copy can register its own.
template <class Derived>
class Cloneable : public CloneableBase {
 public:
  using CloneableBase::CloneableBase;

 private:
  CloneableBase* copy_object() const final {
    return new Derived(static_cast<const Derived&>(*this));
  }
  bool assign_object(const Module& other) final {
    const auto* same = dynamic_cast<const Derived*>(&other);
    if (same) static_cast<Derived&>(*this) = *same;
    return same != nullptr;
  }
  std::string_view member_bytes() const final {
    const auto* begin = reinterpret_cast<const char*>(static_cast<const Module*>(this) + 1);
    const auto* end = reinterpret_cast<const char*>(static_cast<const Derived*>(this) + 1);
    return {begin, static_cast<size_t>(end - begin)};
  }
};

}  // namespace taeda::nn
