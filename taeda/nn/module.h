// The base of all modules: a tree that owns parameters, buffers and submodules by name.
#pragma once

#include <atomic>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <vector>

#include "taeda/base/ordered_dict.h"
#include "taeda/nn/dialect.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::io {
struct Archive;
}
namespace taeda::inline v0_2::serialize {
class InputArchive;
class OutputArchive;
}  // namespace taeda::inline v0_2::serialize

namespace taeda::inline v0_2::nn {

template <class Contained>
class ModuleHolder;
template <class Derived>
class Cloneable;
class CloneableBase;
class Settings;
struct ModuleHooks;
namespace parallel {
class Replicas;
}

/// Hooks that are made when the first is registered, on whatever thread, and that copies of a
/// module share. Asking whether there are any costs one load.
class SharedHooks {
 public:
  SharedHooks() = default;
  SharedHooks(const SharedHooks& other) : hooks_(retained(other.get())) {}
  SharedHooks& operator=(const SharedHooks& other);
  ~SharedHooks() { release(get()); }

  ModuleHooks* get() const { return hooks_.load(std::memory_order_acquire); }
  /// The hooks, made if there were none.
  ModuleHooks& ensure();

 private:
  static ModuleHooks* retained(ModuleHooks* hooks);
  static void release(ModuleHooks* hooks);

  std::atomic<ModuleHooks*> hooks_{nullptr};
};

/// Keys that `load_state_dict` did not find, and those it did not know; both empty if all fitted.
struct IncompatibleKeys {
  std::vector<std::string> missing;
  std::vector<std::string> unexpected;

  /// One line for each: "missing fc.weight (fc1.weight was unexpected)". The name in brackets is
  /// the nearest one of the other list, if one is near.
  std::string str() const;
};
std::ostream& operator<<(std::ostream& out, const IncompatibleKeys& keys);

/// Interface as libtorch's torch::nn::Module, printing and state dicts as Python's.
///
/// Names of parameters, buffers and submodules must not be empty, contain a dot, or be taken; the
/// register functions throw Error otherwise.
class Module : public std::enable_shared_from_this<Module> {
 public:
  using ModuleFunction = std::function<void(Module&)>;
  using NamedModuleFunction = std::function<void(const std::string& path, Module&)>;

  Module();
  /// Makes a module; `name`, if not empty, is what printing shows instead of the class's.
  explicit Module(std::string name);
  Module(const Module&);
  Module& operator=(const Module&);
  virtual ~Module();

  /// The given name, or the class's: without namespace and without "Impl" in Python's dialect.
  std::string name() const;
  /// Python's, unless a holder of libtorch's (include/compat) made the module or one below it.
  Dialect dialect() const noexcept { return dialect_; }
  /// Sets it for this module and all below; the default is Python's.
  void set_dialect(Dialect dialect);
  /// The name under which the last parent registered this module; empty for a root.
  const std::string& key() const { return key_; }

  /// `tensor` may be undefined: the name is taken, but no list shows it.
  Tensor& register_parameter(std::string name, Tensor tensor, bool requires_grad = true);
  /// Throws Error for a taken or empty name; in the state dict only if `persistent`.
  Tensor& register_buffer(std::string name, Tensor tensor, bool persistent = true);
  template <class M>
  std::shared_ptr<M> register_module(std::string name, std::shared_ptr<M> module) {
    add_child(std::move(name), module);
    return module;
  }
  template <class M>
  std::shared_ptr<M> register_module(std::string name, const ModuleHolder<M>& holder) {
    return register_module(std::move(name), holder.ptr());
  }
  /// Puts another module in the place of a registered one; a name that is absent is refused.
  template <class M>
  std::shared_ptr<M> replace_module(const std::string& name, std::shared_ptr<M> module) {
    replace_child(name, module);
    return module;
  }
  template <class M>
  std::shared_ptr<M> replace_module(const std::string& name, const ModuleHolder<M>& holder) {
    return replace_module(name, holder.ptr());
  }
  void unregister_module(const std::string& name) { children_.erase(name); }

  /// Each tensor once, though several modules share it; this module's own first, none undefined.
  std::vector<Tensor> parameters(bool recurse = true) const;
  OrderedDict<std::string, Tensor> named_parameters(bool recurse = true) const;
  std::vector<Tensor> buffers(bool recurse = true) const;
  OrderedDict<std::string, Tensor> named_buffers(bool recurse = true) const;
  /// All modules of the tree, each once, parents first. With `include_self` this module must live
  /// in a shared_ptr.
  std::vector<std::shared_ptr<Module>> modules(bool include_self = true) const;
  OrderedDict<std::string, std::shared_ptr<Module>> named_modules(const std::string& prefix = "",
                                                                  bool include_self = true) const;
  std::vector<std::shared_ptr<Module>> children() const { return children_.values(); }
  const OrderedDict<std::string, std::shared_ptr<Module>>& named_children() const {
    return children_;
  }
  /// Calls `f` for this module, then for all below it. `f` takes a Module& (of a const module, a
  /// const Module&) or, if this module lives in a shared_ptr, a shared_ptr; before it, if it takes
  /// two, the path. What `f` can take is asked in this order, so it may be a generic function.
  template <class F>
  Module& apply(F&& f, const std::string& prefix = "") {
    if constexpr (std::is_invocable_v<F&, Module&>)
      for_all([&f](const std::string&, Module& m) { f(m); }, prefix);
    else if constexpr (std::is_invocable_v<F&, const std::string&, Module&>)
      for_all(std::ref(f), prefix);
    else
      apply_pointers(f, prefix);
    return *this;
  }
  template <class F>
  requires(requires {
    &std::remove_cvref_t<F>::operator();
  }) void apply(F&& f, const std::string& prefix = "") const {
    auto* self = const_cast<Module*>(this);  // which `f` gets as const, or cannot get
    if constexpr (std::is_invocable_v<F&, const Module&>)
      self->for_all([&f](const std::string&, const Module& m) { f(m); }, prefix);
    else if constexpr (std::is_invocable_v<F&, const std::string&, const Module&>)
      self->for_all(std::ref(f), prefix);
    else
      apply_pointers(f, prefix);
  }

  /// Moves parameters, gradients and buffers in place: tensors keep their identity, so optimizers
  /// and handles stay valid. A dtype (floating point or complex) applies to floating point tensors
  /// only. Modules below are moved by their own `to`, so a class that keeps more overrides it.
  virtual void to(Device device, ScalarType dtype, bool non_blocking = false);
  virtual void to(Device device, bool non_blocking = false);
  virtual void to(ScalarType dtype, bool non_blocking = false);
  Module& cuda(int index = -1) { return to(Device(kCUDA, index)), *this; }
  Module& cpu() { return to(Device(kCPU)), *this; }
  /// Gives parameters, gradients and buffers memory on `device` without copying their values, which
  /// are undefined then: for modules that were made on meta, before their values are loaded.
  Module& to_empty(Device device, bool recurse = true);
  Module& to_float() { return to(kFloat), *this; }
  Module& to_double() { return to(kDouble), *this; }
  Module& to_half() { return to(kHalf), *this; }
  Module& to_bfloat16() { return to(kBFloat16), *this; }

  /// Sets the mode of this module and of all below it; a new module is in training by default.
  virtual void train(bool on = true);
  void eval() { train(false); }
  bool is_training() const noexcept { return training_; }
  /// Drops the gradients of all parameters, the default, or fills them with zeros.
  virtual void zero_grad(bool set_to_none = true);
  Module& requires_grad_(bool on = true);

  /// A deep copy, on `device` if given. Throws Error unless the class derives from Cloneable.
  virtual std::shared_ptr<Module> clone(const std::optional<Device>& device = {}) const;

  /// Parameters and persistent buffers by path, sharing memory; undefined ones are left out.
  OrderedDict<std::string, Tensor> state_dict(const std::string& prefix = "") const;
  /// Copies values into the module. Nothing is copied if it throws: Error lists missing and
  /// unexpected keys (unless not `strict`) and every size that does not fit. With `assign` the
  /// module's tensors take over the memory, device and dtype of those in `state` instead, as those
  /// of a module on meta must; they keep requires_grad, and views of them are left behind.
  IncompatibleKeys load_state_dict(const OrderedDict<std::string, Tensor>& state,
                                   bool strict = true, bool assign = false);

  /// What taeda::save() writes: parameters and persistent buffers by their names, and of the
  /// modules below that are serializable what they write. A class that keeps more overrides both.
  virtual void save(serialize::OutputArchive& archive) const;
  /// Takes it over. Throws Error as load_state_dict, changing nothing, but does not mind keys of
  /// its own archive that it does not know.
  virtual void load(serialize::InputArchive& archive);
  /// Whether a file can hold what the module is made of, true by default.
  virtual bool is_serializable() const { return true; }

  /// The module as M (or as the module held by holder class M), or nullptr.
  template <class M>
  auto as() noexcept {
    if constexpr (requires { typename M::ContainedType; })
      return dynamic_cast<typename M::ContainedType*>(this);
    else
      return dynamic_cast<M*>(this);
  }
  template <class M>
  auto as() const noexcept {
    if constexpr (requires { typename M::ContainedType; })
      return dynamic_cast<const typename M::ContainedType*>(this);
    else
      return dynamic_cast<const M*>(this);
  }

  /// The tree as Python prints it, the default, or libtorch if that is the module's dialect.
  std::string repr() const;
  /// This module's own line: the name and, for a module without children, its settings in
  /// parentheses.
  virtual void pretty_print(std::ostream& out) const;
  /// The settings: "1, 6, kernel_size=(5, 5), stride=(1, 1)"; empty by default.
  virtual std::string extra_repr() const;
  /// Lists the settings that a layer shows, for both dialects (nn/settings.h); none by default.
  virtual void settings(Settings&) const {}

  /// Hooks run when a module is called through its holder, a Sequential or `nn::call`. See hooks.h.
  /// Null as long as there never was one.
  ModuleHooks* hooks() const { return hooks_.get(); }
  ModuleHooks& ensure_hooks() { return hooks_.ensure(); }

 protected:
  OrderedDict<std::string, Tensor> parameters_{"Parameter"};
  OrderedDict<std::string, Tensor> buffers_{"Buffer"};
  OrderedDict<std::string, std::shared_ptr<Module>> children_{"Submodule"};

  void add_child(std::string name, std::shared_ptr<Module> module);
  void copy_mode_to(Module& copy) const;  ///< whether it trains, and its dialect
  void replace_child(const std::string& name, std::shared_ptr<Module> module);

 private:
  friend class CloneableBase;
  friend class StateLoader;
  friend class parallel::Replicas;

  void check_name(const char* kind, const std::string& name) const;
  void check_child(const std::string& name, const Module* module) const;
  /// Whether `wanted` is this module or one below it.
  bool has_below(const Module& wanted) const;
  std::shared_ptr<Module> shared_self() const;
  void for_all(const NamedModuleFunction& f, const std::string& prefix);
  template <class F>
  void apply_pointers(F& f, const std::string& prefix) const {
    for (const auto& [path, module] : named_modules(prefix)) {
      if constexpr (std::is_invocable_v<F&, const std::shared_ptr<Module>&>)
        f(module);
      else
        f(path, module);
    }
  }
  void convert(const std::function<Tensor(const Tensor&)>& f, bool recurse = true);
  void collect_state(OrderedDict<std::string, Tensor>& out, const std::string& prefix) const;
  /// The same without what hooks of state dicts change.
  void collect_own_state(OrderedDict<std::string, Tensor>& out, const std::string& prefix) const;
  /// The steps of a clone (cloneable.h): the copy registers its own members in between.
  void forget_members();
  void copy_members_to(Module& copy, const std::optional<Device>& device) const;
  /// Takes over the content of `other`, a deep copy of a module of the same class.
  virtual void clone_from(const Module& other, const std::optional<Device>& device);
  /// The bytes of the members that a derived class adds, where they are known: while they stay the
  /// same, so do the options and numbers among them.
  virtual std::string_view member_bytes() const { return {}; }

  std::optional<std::string> name_;
  std::string key_;
  bool training_ = true;
  Dialect dialect_ = Dialect::Python;
  std::unordered_set<std::string> transient_buffers_;
  SharedHooks hooks_;
};

std::ostream& operator<<(std::ostream& out, const Module& module);

/// How taeda::save() and load() write and read modules: by Module::save and Module::load. The
/// second throws Error also for tensors that nobody read.
void pack_state(io::Archive& archive, const std::string& prefix, const Module& module);
void unpack_state(const io::Archive& archive, Module& module);

}  // namespace taeda::inline v0_2::nn

namespace taeda::inline v0_2 {
// Compiled once, in module.cpp.
extern template class OrderedDict<std::string, Tensor>;
extern template class OrderedDict<std::string, std::shared_ptr<nn::Module>>;
}  // namespace taeda::inline v0_2
