// A module of any class, called with any arguments.
#pragma once

#include <any>
#include <array>
#include <string>
#include <tuple>
#include <typeinfo>
#include <utility>
#include <vector>

#include "taeda/nn/holder.h"

namespace taeda::inline v0_2::nn {

namespace detail {
std::string type_name(const std::type_info& type);

template <class F>
struct ForwardTraits;
template <class R, class M, class... A>
struct ForwardTraits<R (M::*)(A...)> {
  using Result = std::decay_t<R>;
  using Arguments = std::tuple<std::decay_t<A>...>;
};
template <class R, class M, class... A>
struct ForwardTraits<R (M::*)(A...) const> : ForwardTraits<R (M::*)(A...)> {};
}  // namespace detail

/// A value of any type, as AnyModule passes arguments and results; taking it out as another type
/// than it was put in as is an Error.
class AnyValue {
 public:
  AnyValue() = default;
  template <class T>
  requires(!std::is_same_v<std::decay_t<T>, AnyValue>) explicit AnyValue(T&& value)
      : value_(std::forward<T>(value)) {}

  /// Throws TypeError unless the value is a T.
  template <class T>
  const T& get() const {
    if (const T* p = std::any_cast<T>(&value_)) return *p;
    throw TypeError(taeda::detail::concat("Attempted to cast AnyValue to ",
                                          detail::type_name(typeid(T)), ", but its actual type is ",
                                          detail::type_name(value_.type())));
  }
  template <class T>
  const T* try_get() const {
    return std::any_cast<T>(&value_);
  }
  const std::type_info& type_info() const { return value_.type(); }

 private:
  std::any value_;
};

namespace detail {
/// Throws TypeError unless the value, argument `i`, is of the type.
void check_argument(const AnyValue& value, size_t i, const std::type_info& type);
[[noreturn]] void fail_arity(const Module& module, size_t fewest, size_t most, size_t n);
}  // namespace detail

/// Holds a module and knows how to call it; arguments that forward has defaults for may be left
/// out. A forward that is overloaded or a template can be called with one tensor only.
class AnyModule {
 public:
  AnyModule() = default;
  template <class M>
  requires std::is_base_of_v<Module, M> AnyModule(std::shared_ptr<M> module)
      : module_(std::move(module)) {
    bind<M>();
  }
  template <class Holder>
  requires detail::is_holder<Holder> AnyModule(const Holder& holder) : AnyModule(holder.ptr()) {}
  template <class M>
  requires(std::is_base_of_v<Module, std::decay_t<M>> &&
           !detail::is_holder<M>) explicit AnyModule(M&& module)
      : AnyModule(make_module<std::decay_t<M>>(std::forward<M>(module))) {}

  bool is_empty() const { return !module_; }
  /// The module's class. Throws Error for an empty AnyModule.
  const std::type_info& type_info() const {
    check_not_empty("type_info()");
    const Module& module = *module_;
    return typeid(module);
  }
  const std::shared_ptr<Module>& ptr() const {
    check_not_empty("ptr()");
    return module_;
  }
  /// The module as M; throws TypeError if it is another class.
  template <class M>
  auto ptr() const {
    auto& m = as<M>();
    return std::shared_ptr<std::remove_reference_t<decltype(m)>>(module_, &m);
  }
  Module& operator*() const {
    check_not_empty("operator*");
    return *module_;
  }
  Module* operator->() const {
    check_not_empty("operator->");
    return module_.get();
  }
  /// The module as M, or in a holder of type M; throws TypeError if it is another class.
  template <class M>
  decltype(auto) get() const {
    if constexpr (detail::is_holder<M>)
      return M(ptr<M>());
    else
      return (as<M>());
  }
  /// The module as M, or as the class that holders of type M hold; throws TypeError likewise.
  template <class M>
  auto& as() const {
    auto* m = module_ ? module_->as<M>() : nullptr;
    TAEDA_CHECK_TYPE(m, "Attempted to cast module of type ", module_ ? module_->name() : "nothing",
                     " to type ", detail::type_name(typeid(M)));
    return *m;
  }
  AnyModule clone(const std::optional<Device>& device = {}) const {
    check_not_empty("clone()");
    return with(module_->clone(device));
  }
  /// Calls another module of the same class with the arguments that this one takes; a module of
  /// another class is an Error.
  AnyModule with(std::shared_ptr<Module> module) const {
    AnyModule out = *this;
    out.module_ = std::move(module);
    return out;
  }

  /// Calls forward; arguments must have exactly the types that forward takes. Throws TypeError.
  template <class... Args>
  AnyValue any_forward(Args&&... args) {
    std::array<AnyValue, sizeof...(Args)> values{AnyValue(std::forward<Args>(args))...};
    return call_values(values.data(), values.size());
  }
  template <class Result = Tensor, class... Args>
  Result forward(Args&&... args) {
    if constexpr (std::is_same_v<Result, Tensor> && sizeof...(Args) == 1 &&
                  (detail::is_tensor<Args> && ...))
      if (unary_) return unary_(*module_, args...);
    return any_forward(std::forward<Args>(args)...).template get<Result>();
  }
  AnyValue call_values(const AnyValue* values, size_t n);

 private:
  void check_not_empty(const char* called) const {
    TAEDA_CHECK(module_, "Cannot call ", called, " on an empty AnyModule");
  }
  template <class M>
  void bind();
  template <class M>
  static AnyValue invoke(Module& module, const AnyValue* values, size_t n);

  std::shared_ptr<Module> module_;
  Tensor (*unary_)(Module&, const Tensor&) = nullptr;
  AnyValue (*general_)(Module&, const AnyValue*, size_t) = nullptr;
};

template <class M>
void AnyModule::bind() {
  if constexpr (requires(M & m, const Tensor& t) {
                  { m.forward(t) } -> std::convertible_to<Tensor>;
                })
    unary_ = [](Module& m, const Tensor& t) -> Tensor { return call(static_cast<M&>(m), t); };
  if constexpr (requires { &M::forward; }) general_ = &invoke<M>;
}

template <class M>
AnyValue AnyModule::invoke(Module& module, const AnyValue* values, size_t n) {
  using Arguments = typename detail::ForwardTraits<decltype(&M::forward)>::Arguments;
  constexpr size_t arity = std::tuple_size_v<Arguments>;
  M& m = static_cast<M&>(module);
  std::vector<AnyValue> all;
  if constexpr (requires { m.forward_default_arguments(); })  // FORWARD_HAS_DEFAULT_ARGS
    if (n < arity) {
      all.assign(values, values + n);
      for (auto& [position, value] : m.forward_default_arguments())
        if (position == all.size()) all.push_back(std::move(value));
      values = all.data(), n = all.size();
    }
  AnyValue out;
  size_t fewest = arity;
  const auto call_with = [&]<size_t... I>(std::index_sequence<I...>) {
    if constexpr (sizeof...(I) == arity || requires {
                    m.forward(std::declval<const std::tuple_element_t<I, Arguments>&>()...);
                  }) {
      fewest = sizeof...(I);
      if (n != fewest) return false;
      (detail::check_argument(values[I], I, typeid(std::tuple_element_t<I, Arguments>)), ...);
      out = AnyValue(call(m, values[I].template get<std::tuple_element_t<I, Arguments>>()...));
      return true;
    }
    return false;
  };
  const bool called = [&]<size_t... K>(std::index_sequence<K...>) {
    return (call_with(std::make_index_sequence<arity - K>()) || ...);
  }
  (std::make_index_sequence<arity + 1>());
  if (!called) detail::fail_arity(module, fewest, arity, n);
  return out;
}

}  // namespace taeda::inline v0_2::nn
