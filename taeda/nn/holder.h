// Handles to modules: `Linear` is a shared pointer to a `LinearImpl` that constructs and calls it.
#pragma once

#include <memory>
#include <ostream>
#include <type_traits>

#include "taeda/nn/hooks.h"
#include "taeda/nn/make_module.h"

namespace taeda::inline v0_2::nn {

/// Copies share one module. Constructs the module from the arguments it is given; `{nullptr}` makes
/// an empty holder, whose use throws Error.
template <class Contained>
class ModuleHolder {
 public:
  using ContainedType = Contained;

  ModuleHolder() : impl_(default_construct()) {}
  ModuleHolder(std::nullptr_t) {}
  template <class Head, class... Tail>
  requires(
      !(std::is_base_of_v<ModuleHolder, std::decay_t<Head>> && sizeof...(Tail) == 0) &&
      !std::is_same_v<std::decay_t<Head>, std::shared_ptr<Contained>> &&
      !std::is_same_v<std::decay_t<Head>, std::nullptr_t>) explicit ModuleHolder(Head&& head,
                                                                                 Tail&&... tail)
      : impl_(make_module<Contained>(std::forward<Head>(head), std::forward<Tail>(tail)...)) {}
  ModuleHolder(std::shared_ptr<Contained> module) : impl_(std::move(module)) {}

  explicit operator bool() const noexcept { return !is_empty(); }
  bool is_empty() const noexcept { return impl_ == nullptr; }
  Contained* operator->() { return get(); }
  const Contained* operator->() const { return get(); }
  Contained& operator*() { return *get(); }
  const Contained& operator*() const { return *get(); }
  const std::shared_ptr<Contained>& ptr() const {
    check();
    return impl_;
  }
  /// The module itself; throws Error if there is none.
  Contained* get() {
    check();
    return impl_.get();
  }
  const Contained* get() const {
    check();
    return impl_.get();
  }

  /// Calls forward, with the module's hooks.
  template <class... Args>
  auto operator()(Args&&... args) -> decltype(auto) {
    return call(*get(), std::forward<Args>(args)...);
  }
  template <class Arg>
  decltype(auto) operator[](Arg&& arg) {
    return (*get())[std::forward<Arg>(arg)];
  }

 private:
  void check() const { TAEDA_CHECK(impl_, "Accessing empty ModuleHolder"); }
  static std::shared_ptr<Contained> default_construct() {
    if constexpr (std::is_default_constructible_v<Contained>)
      return make_module<Contained>();
    else
      return nullptr;
  }

  std::shared_ptr<Contained> impl_;
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

}  // namespace taeda::nn

/// Defines the handle class `Name` for the module class `NameImpl`.
#define TAEDA_MODULE(Name) TAEDA_MODULE_IMPL(Name, Name##Impl)
#define TAEDA_MODULE_IMPL(Name, ImplType)                    \
  class Name : public ::taeda::nn::ModuleHolder<ImplType> {  \
   public:                                                   \
    using ::taeda::nn::ModuleHolder<ImplType>::ModuleHolder; \
    using Impl = ImplType;                                   \
  }
