// Deep copies of modules.
#pragma once

#include "taeda/nn/init.h"
#include "taeda/nn/module.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::nn {

/// While one lives on a thread, clones share the memory of their originals' tensors: for those who
/// give them other memory right after.
class ShallowCloneGuard {
 public:
  ShallowCloneGuard();
  ~ShallowCloneGuard();
  ShallowCloneGuard(const ShallowCloneGuard&) = delete;
  ShallowCloneGuard& operator=(const ShallowCloneGuard&) = delete;
  static bool is_active();

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
    auto copy = std::make_shared<Derived>(static_cast<const Derived&>(*this));
    copy->parameters_.clear();
    copy->buffers_.clear();
    copy->children_.clear();
    {
      init::SkipInitGuard values_are_copied_below;
      copy->reset();
    }
    fill_clone(parameters_, copy->parameters_, "parameters", device);
    fill_clone(buffers_, copy->buffers_, "buffers", device);
    check_clone(children_.size() == copy->children_.size(), "child modules", "register_module");
    for (const auto& [key, child] : children_) copy->children_[key]->clone_from(*child, device);
    return copy;
  }

 private:
  static void check_clone(bool same, const char* what, const char* how) {
    TAEDA_CHECK(same, "The cloned module does not have the same number of ", what,
                " as the original module after calling "
                "reset(). Are you sure you called ",
                how, "() inside reset() and not the constructor?");
  }

  static void fill_clone(const OrderedDict<std::string, Tensor>& from,
                         const OrderedDict<std::string, Tensor>& to, const char* what,
                         const std::optional<Device>& device) {
    check_clone(from.size() == to.size(), what,
                what[0] == 'p' ? "register_parameter" : "register_buffer");
    NoGradGuard no_grad;
    for (const auto& [key, tensor] : from) {
      if (!tensor.defined()) continue;
      const Tensor& target = to[key];
      target.set_data(ShallowCloneGuard::is_active() ? tensor.detach()
                      : device ? tensor.to(*device, false, /*copy=*/true).detach()
                               : tensor.detach().clone());
      target.requires_grad_(tensor.requires_grad());
    }
  }

  void clone_from(const Module& other, const std::optional<Device>& device) final {
    const auto copy = std::dynamic_pointer_cast<Derived>(other.clone(device));
    TAEDA_CHECK(copy,
                "Attempted to clone submodule, but it is of a different type than the submodule it "
                "was to be cloned "
                "into");
    static_cast<Derived&>(*this) = *copy;
  }

  std::string_view member_bytes() const final {
    const auto* begin = reinterpret_cast<const char*>(static_cast<const Module*>(this) + 1);
    const auto* end = reinterpret_cast<const char*>(static_cast<const Derived*>(this) + 1);
    return {begin, static_cast<size_t>(end - begin)};
  }
};

}  // namespace taeda::nn
