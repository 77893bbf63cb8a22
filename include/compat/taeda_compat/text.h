// c10::str, c10::Join, warnings and the checks that libtorch's programs have as macros.
#pragma once

#include <taeda/base/warning.h>
#include <taeda_compat/namespaces.h>

#include <concepts>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

// libtorch's logging prints containers, and programs print them without saying so: a vector as
// "1 2 3", a pair as "(1, 2)". Where the arguments are the standard library's alone, templates find
// an operator in namespace std only.
namespace std {
template <class A, class B>
ostream& operator<<(ostream& out, const pair<A, B>& p);  // NOLINT(cert-dcl58-cpp)

template <class Container>
requires(
    std::same_as<Container,
                 std::vector<typename Container::value_type, typename Container::allocator_type>> ||
    requires { typename Container::key_compare; }) ostream&
operator<<(ostream& out, const Container& container) {  // NOLINT(cert-dcl58-cpp)
  const char* between = "";
  for (const auto& element : container) {
    out << between << element;
    between = " ";
  }
  return out;
}

template <class A, class B>
ostream& operator<<(ostream& out, const pair<A, B>& p) {
  return out << '(' << p.first << ", " << p.second << ')';
}
}  // namespace std

namespace taeda_compat {

/// All arguments, printed one behind the other.
template <class... Args>
std::string str(const Args&... args) {
  return taeda::detail::concat(args...);
}

/// The elements of a container with `delimiter` between them.
template <class Container>
std::string Join(const std::string& delimiter, const Container& container) {
  std::ostringstream out;
  const char* between = "";
  for (const auto& element : container) {
    out << between << element;
    between = delimiter.c_str();
  }
  return out.str();
}

namespace text_detail {
constexpr const char* unsaid(const char* text, bool said = false) { return said ? "" : text; }
}  // namespace text_detail

/// Kinds of warnings, for TORCH_WARN_WITH.
struct UserWarning {
  static constexpr taeda::WarningKind kKind = taeda::WarningKind::User;
};
struct DeprecationWarning {
  static constexpr taeda::WarningKind kKind = taeda::WarningKind::Deprecation;
};

/// Tells the handler, each time.
inline void warn(const taeda::Warning& warning) {
  taeda::Warning::get_warning_handler()->process(warning);
}
inline void warn(const std::string& message) { warn(taeda::Warning(message)); }

/// The same by newer names.
namespace WarningUtils {
using taeda::WarningHandlerGuard;
inline bool get_warnAlways() noexcept { return taeda::Warning::get_warnAlways(); }
inline void set_warnAlways(bool on) noexcept { taeda::Warning::set_warnAlways(on); }
inline taeda::WarningHandler* get_warning_handler() noexcept {
  return taeda::Warning::get_warning_handler();
}
inline void set_warning_handler(taeda::WarningHandler* handler) noexcept {
  taeda::Warning::set_warning_handler(handler);
}
/// Has what is said once in a process said each time, for a scope.
class WarnAlways {
 public:
  explicit WarnAlways(bool on = true) : before_(get_warnAlways()) { set_warnAlways(on); }
  ~WarnAlways() { set_warnAlways(before_); }
  WarnAlways(const WarnAlways&) = delete;
  WarnAlways& operator=(const WarnAlways&) = delete;

 private:
  bool before_;
};
}  // namespace WarningUtils

}  // namespace taeda_compat

// A check without words says what it expected.
#define TAEDA_COMPAT_CHECK(check, condition, text, ...)      \
  check(condition __VA_OPT__(, ) __VA_ARGS__,                \
        ::taeda_compat::text_detail::unsaid("Expected " text \
                                            " to be true, but got false." __VA_OPT__(, true)))
#define TORCH_CHECK(condition, ...) \
  TAEDA_COMPAT_CHECK(TAEDA_CHECK, condition, #condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_INDEX(condition, ...) \
  TAEDA_COMPAT_CHECK(TAEDA_CHECK_INDEX, condition, #condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_VALUE(condition, ...) \
  TAEDA_COMPAT_CHECK(TAEDA_CHECK_VALUE, condition, #condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_TYPE(condition, ...) \
  TAEDA_COMPAT_CHECK(TAEDA_CHECK_TYPE, condition, #condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(condition, ...) \
  TAEDA_COMPAT_CHECK(TAEDA_CHECK_NOT_IMPLEMENTED, condition, #condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_INTERNAL_ASSERT(...) TAEDA_INTERNAL_ASSERT(__VA_ARGS__)
#ifdef NDEBUG
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) \
  do {                                        \
  } while (false)
#else
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) TAEDA_INTERNAL_ASSERT(__VA_ARGS__)
#endif
#define AT_ASSERT(...) TAEDA_INTERNAL_ASSERT(__VA_ARGS__)
#define AT_ASSERTM(...) TAEDA_CHECK(__VA_ARGS__, "")
#define AT_ERROR(...) TAEDA_CHECK(false, __VA_ARGS__)
#define TORCH_WARN(...) TORCH_WARN_WITH(::taeda_compat::UserWarning, __VA_ARGS__)
#define TORCH_WARN_DEPRECATION(...) TORCH_WARN_WITH(::taeda_compat::DeprecationWarning, __VA_ARGS__)
#define TORCH_WARN_WITH(type, ...) \
  ::taeda_compat::warn(::taeda::Warning(::taeda_compat::str(__VA_ARGS__), type::kKind))
#define TORCH_WARN_ONCE(...)                         \
  do {                                               \
    static constinit ::taeda::WarnOnce taeda_said;   \
    if (taeda_said.claim()) TORCH_WARN(__VA_ARGS__); \
  } while (false)
#define AT_WARN(...) TORCH_WARN(__VA_ARGS__)
#define TORCH_MODULE(Name) TORCH_MODULE_IMPL(Name, Name##Impl)
#define TORCH_MODULE_IMPL(Name, ImplType)                                                        \
  class Name : public ::taeda_compat::nn::Holder<::taeda::nn::ModuleHolder<ImplType>> {          \
   public:                                                                                       \
    using ::taeda_compat::nn::Holder<::taeda::nn::ModuleHolder<ImplType>>::Holder;               \
    using Impl = ImplType;                                                                       \
  }
#define TORCH_ARG(T, name) TAEDA_ARG(T, name)
/// In a class of modules: {position, value} of the arguments of forward that an AnyModule, in a
/// Sequential say, may be called without. Those that forward has defaults for need none.
#define FORWARD_HAS_DEFAULT_ARGS(...)                                                             \
  friend class ::taeda::nn::AnyModule;                                                            \
  std::vector<std::pair<unsigned int, ::taeda::nn::AnyValue>> forward_default_arguments() const { \
    return {__VA_ARGS__};                                                                         \
  }
#define TORCH_API
#define C10_API
#define C10_UNUSED [[maybe_unused]]
#define C10_LIKELY(condition) __builtin_expect(static_cast<bool>(condition), 1)
#define C10_UNLIKELY(condition) __builtin_expect(static_cast<bool>(condition), 0)
