// c10::str, c10::Join, warnings and the checks that libtorch's programs have as macros.
#pragma once

#include <taeda_compat/namespaces.h>

#include <iostream>
#include <sstream>
#include <string>

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

/// Writes a warning to standard error.
inline void warn(const std::string& message) { std::cerr << "Warning: " + message + "\n"; }

}  // namespace taeda_compat

#define TORCH_CHECK(...) TAEDA_CHECK(__VA_ARGS__, "")
#define TORCH_CHECK_INDEX(...) TAEDA_CHECK_INDEX(__VA_ARGS__, "")
#define TORCH_CHECK_VALUE(...) TAEDA_CHECK_VALUE(__VA_ARGS__, "")
#define TORCH_CHECK_TYPE(...) TAEDA_CHECK_TYPE(__VA_ARGS__, "")
#define TORCH_CHECK_NOT_IMPLEMENTED(...) TAEDA_CHECK_NOT_IMPLEMENTED(__VA_ARGS__, "")
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
#define TORCH_WARN(...) ::taeda_compat::warn(::taeda_compat::str(__VA_ARGS__))
#define TORCH_WARN_ONCE(...)                                                     \
  do {                                                                           \
    [[maybe_unused]] static const bool warned = (TORCH_WARN(__VA_ARGS__), true); \
  } while (false)
#define AT_WARN(...) TORCH_WARN(__VA_ARGS__)
#define TORCH_MODULE(Name) TAEDA_MODULE(Name)
#define TORCH_MODULE_IMPL(Name, Impl) TAEDA_MODULE_IMPL(Name, Impl)
#define TORCH_ARG(T, name) TAEDA_ARG(T, name)
#define TORCH_API
#define C10_API
#define C10_UNUSED [[maybe_unused]]
#define C10_LIKELY(condition) __builtin_expect(static_cast<bool>(condition), 1)
#define C10_UNLIKELY(condition) __builtin_expect(static_cast<bool>(condition), 0)
