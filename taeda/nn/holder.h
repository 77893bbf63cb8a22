// Handles to modules: `Linear` is a shared pointer to a `LinearImpl` that constructs and calls it.
#pragma once

#include <memory>
#include <ostream>
#include <type_traits>

#include "taeda/nn/hooks.h"
#include "taeda/nn/make_module.h"

namespace taeda::inline v0_2::nn {

namespace detail {
/// What a holder is without its module's class: compiled once, because a program that sees all
/// modules would else make its compiler write a shared pointer for every class of them.
class HolderBase {
 public:
  explicit operator bool() const noexcept { return !is_empty(); }
  bool is_empty() const noexcept { return module_ == nullptr; }

 protected:
  HolderBase() = default;
  explicit HolderBase(std::shared_ptr<Module> module);
  HolderBase(const HolderBase& other);
  HolderBase(HolderBase&& other) noexcept;
  HolderBase& operator=(const HolderBase& other);
  HolderBase& operator=(HolderBase&& other) noexcept;
  ~HolderBase();

  /// The module; throws Error if there is none.
  Module* checked() const {
    if (!module_) [[unlikely]]
      fail_empty();
    return module_.get();
  }
  const std::shared_ptr<Module>& owner() const { return module_; }

 private:
  [[noreturn]] static void fail_empty();

  std::shared_ptr<Module> module_;
};
}  // namespace detail

/// Copies share one module. Constructs the module from the arguments it is given; `{nullptr}` makes
/// an empty holder, whose use throws Error.
template <class Contained>
class ModuleHolder : public detail::HolderBase {
 public:
  using ContainedType = Contained;

  ModuleHolder() : HolderBase(default_construct()) {}
  ModuleHolder(std::nullptr_t) {}
  template <class Head, class... Tail>
  requires(
      !(std::is_base_of_v<ModuleHolder, std::decay_t<Head>> && sizeof...(Tail) == 0) &&
      !std::is_same_v<std::decay_t<Head>, std::shared_ptr<Contained>> &&
      !std::is_same_v<std::decay_t<Head>, std::nullptr_t>) explicit ModuleHolder(Head&& head,
                                                                                 Tail&&... tail)
      : HolderBase(owned(new Contained(std::forward<Head>(head), std::forward<Tail>(tail)...))) {}
  ModuleHolder(std::shared_ptr<Contained> module) : HolderBase(std::move(module)) {}
  /// Makes the module from its options in braces: `Conv2d({.in_channels = 3, .out_channels = 16,
  /// .kernel_size = 3})`. Fields without a value there have their defaults.
  template <class M = Contained>
  explicit ModuleHolder(typename M::Options options)
      : HolderBase(owned(new Contained(std::move(options)))) {}

  Contained* operator->() { return get(); }
  const Contained* operator->() const { return get(); }
  Contained& operator*() { return *get(); }
  const Contained& operator*() const { return *get(); }
  std::shared_ptr<Contained> ptr() const { return {owner(), cast(checked())}; }
  /// The module itself; throws Error if there is none.
  Contained* get() { return cast(checked()); }
  const Contained* get() const { return cast(checked()); }

  /// Calls the module's forward, and its hooks before and after. An empty holder throws Error.
  template <class... Args>
  auto operator()(Args&&... args)
      -> decltype(call(std::declval<Contained&>(), std::forward<Args>(args)...)) {
    return call(*get(), std::forward<Args>(args)...);
  }
  template <class Arg>
  decltype(auto) operator[](Arg&& arg) {
    return (*get())[std::forward<Arg>(arg)];
  }

 private:
  static Contained* cast(Module* module) {
    if constexpr (requires { static_cast<Contained*>(module); })
      return static_cast<Contained*>(module);
    else
      return dynamic_cast<Contained*>(module);  // a virtual base
  }
  static std::shared_ptr<Module> default_construct() {
    if constexpr (std::is_default_constructible_v<Contained>)
      return owned(new Contained());
    else
      return nullptr;
  }
};

template <class Contained>
std::ostream& operator<<(std::ostream& out, const ModuleHolder<Contained>& module) {
  return out << *module;
}

namespace detail {
template <class M>
constexpr bool is_holder = requires {
  typename std::decay_t<M>::ContainedType;
};
}  // namespace detail

}  // namespace taeda::inline v0_2::nn

/// Defines the class `Name`, whose objects share a module of the class `NameImpl`; both must be in
/// the namespace of the macro's call.
#define TAEDA_MODULE(Name) TAEDA_MODULE_IMPL(Name, Name##Impl)
#define TAEDA_MODULE_IMPL(Name, ImplType)                    \
  class Name : public ::taeda::nn::ModuleHolder<ImplType> {  \
   public:                                                   \
    using ::taeda::nn::ModuleHolder<ImplType>::ModuleHolder; \
    using Impl = ImplType;                                   \
  }
