// The functions that other workers may call: those that were registered, by name.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "taeda/rpc/value.h"

namespace taeda::inline v0_2::distributed::rpc {

namespace detail {

struct Function {
  std::string name, arguments, result;  ///< "add", "(Tensor, float)", "Tensor"
  std::function<Value(Reader&)> call;

  std::string signature() const { return name + arguments + " -> " + result; }
};

/// What tells pointers to functions and members apart; empty for what is none.
std::string key_of(const void* pointer, size_t size, const char* type);
template <class F>
std::string key_of(F f) {
  if constexpr (std::is_pointer_v<F> || std::is_member_function_pointer_v<F>)
    return key_of(&f, sizeof f, typeid(F).name());
  else
    return {};
}

void add_function(Function function, const std::string& key);
/// Null if there is none.
std::shared_ptr<const Function> find_function(const std::string& name);
/// The name under which a function or member was registered. Throws ValueError if it was not.
std::string name_of_key(const std::string& key);

/// "(Tensor, float)".
template <class... T>
std::string arguments_of() {
  std::string out;
  ((out += (out.empty() ? "" : ", ") + type_name<T>()), ...);
  return "(" + out + ")";
}

/// What a function's result is kept as.
template <class R>
using Result = std::conditional_t<std::is_void_v<R>, std::monostate, std::decay_t<R>>;

template <class R, class... A, class F>
Function make_function(const std::string& name, F f) {
  using Arguments = std::tuple<std::decay_t<A>...>;
  auto call = [f = std::move(f)](Reader& in) {
    Arguments arguments = Codec<Arguments>::read(in);
    in.finish();
    if constexpr (std::is_void_v<R>) {
      std::apply(f, std::move(arguments));
      return make_value(std::monostate());
    } else {
      return make_value<std::decay_t<R>>(std::apply(f, std::move(arguments)));
    }
  };
  return {name, arguments_of<std::decay_t<A>...>(), type_name<Result<R>>(), std::move(call)};
}

}  // namespace detail

template <class T>
class RRef;

/// Lets other workers call `f`, a function or a lambda, under a name. All processes of a job
/// register what they call, too: signatures are compared. Throws ValueError if the name is taken.
template <class R, class... A>
void register_function(const std::string& name, R (*f)(A...)) {
  detail::add_function(detail::make_function<R, A...>(name, f), detail::key_of(f));
}
template <class R, class... A>
void register_function(const std::string& name, std::function<R(A...)> f) {
  detail::add_function(detail::make_function<R, A...>(name, std::move(f)), "");
}
template <class F>
requires requires {
  std::function{std::declval<F>()};
} &&(!std::is_pointer_v<std::decay_t<F>>)void register_function(const std::string& name, F f) {
  register_function(name, std::function{std::move(f)});
}

/// Lets other workers call a member of objects that they have an RRef of: rref.rpc_sync().
template <class C, class R, class... A>
void register_method(const std::string& name, R (C::*f)(A...)) {
  auto call = [f](const RRef<C>& self, A... arguments) -> R {
    return (self.local_value().*f)(std::forward<A>(arguments)...);
  };
  detail::add_function(detail::make_function<R, RRef<C>, A...>(name, call), detail::key_of(f));
}
template <class C, class R, class... A>
void register_method(const std::string& name, R (C::*f)(A...) const) {
  auto call = [f](const RRef<C>& self, A... arguments) -> R {
    return (self.local_value().*f)(std::forward<A>(arguments)...);
  };
  detail::add_function(detail::make_function<R, RRef<C>, A...>(name, call), detail::key_of(f));
}

/// At namespace scope: registers a function, or a member `TAEDA_RPC_METHOD(Counter, add)`, under
/// its own name when the program starts.
#define TAEDA_RPC_FUNCTION(f)                                 \
  [[maybe_unused]] static const bool taeda_rpc_function_##f = \
      (::taeda::distributed::rpc::register_function(#f, f), true)
#define TAEDA_RPC_METHOD(type, method)                                    \
  [[maybe_unused]] static const bool taeda_rpc_method_##type##_##method = \
      (::taeda::distributed::rpc::register_method(#type "." #method, &type::method), true)

}  // namespace taeda::inline v0_2::distributed::rpc
