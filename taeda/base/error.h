// Error types and the check macros. A message states the operation, what it expected and what it
// got; user input is always checked with these, never with assert.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "taeda/base/macros.h"

namespace taeda::inline v0_2 {

/// Base of every exception that the library throws (libtorch's `c10::Error`).
class Error : public std::runtime_error {
 public:
  // The base's text stays empty: the message may become longer.
  explicit Error(std::string message) : std::runtime_error(""), message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }
  const std::string& message() const noexcept { return message_; }
  // libtorch's names; there is no backtrace to leave out.
  const std::string& msg() const noexcept { return message_; }
  const char* what_without_backtrace() const noexcept { return what(); }
  /// Appends context on a new line, for example the module path a failing operation ran in.
  void add_context(const std::string& line) {
    message_ += "\n" + line;
    context_.push_back(line);
  }
  /// The lines that were appended.
  const std::vector<std::string>& context() const noexcept { return context_; }
  /// Appends "in module <path> (<type>)"; called by the innermost module first, then by each module
  /// around it, which puts its own name in front of the path.
  void enter_module(const std::string& name, const std::string& type);

 private:
  std::string message_;
  std::vector<std::string> context_;
  size_t path_at_ = std::string::npos;
};

/// An index or dimension outside its range.
class IndexError : public Error {
  using Error::Error;
};
/// A value of the right type that the operation cannot accept.
class ValueError : public Error {
  using Error::Error;
};
/// A dtype or kind of argument that the operation does not take.
class TypeError : public Error {
  using Error::Error;
};
/// An operation, dtype or device combination that has no implementation.
class NotImplementedError : public Error {
  using Error::Error;
};
/// Device or host memory is exhausted; freeing tensors and retrying is allowed.
class OutOfMemoryError : public Error {
  using Error::Error;
};
/// A failure in communication between processes.
class DistributedError : public Error {
  using Error::Error;
};

namespace detail {

// A message is put together behind calls, one argument after the other: a check costs the code of a
// program that makes it, and the time to compile that, no more than a list of addresses.
struct Printable {
  const void* value;
  void (*print)(std::ostream&, const void*);
};
std::string concat_all(const Printable* parts, size_t n);
void print_text(std::ostream& out, const void* text);

template <class T>
void print_value(std::ostream& out, const void* value) {
  out << *static_cast<const T*>(value);
}
extern template void print_value<int>(std::ostream&, const void*);
extern template void print_value<int64_t>(std::ostream&, const void*);
extern template void print_value<size_t>(std::ostream&, const void*);
extern template void print_value<double>(std::ostream&, const void*);
extern template void print_value<std::string>(std::ostream&, const void*);

template <class T>
Printable printable(const T& value) {
  if constexpr (std::is_same_v<std::decay_t<T>, const char*> ||
                std::is_same_v<std::decay_t<T>, char*>)
    return {value, &print_text};
  else
    return {&value, &print_value<T>};
}

/// The arguments, printed one behind the other.
template <class... Args>
std::string concat(const Args&... args) {
  if constexpr (sizeof...(Args) == 0) {
    return {};
  } else {
    const Printable parts[] = {printable(args)...};
    return concat_all(parts, sizeof...(Args));
  }
}

/// Throws an E, one of the classes above.
template <class E>
[[noreturn]] void fail(std::string message);

/// Reports an internal inconsistency: always a bug in Taeda, never a user's mistake.
[[noreturn]] void internal_error(const char* condition, const char* file, int line,
                                 const std::string& message);

}  // namespace detail
}  // namespace taeda

/// Throws `type` unless `condition` holds; the message is made of the other arguments, then only.
#define TAEDA_CHECK_AS(type, condition, ...)                                      \
  do {                                                                            \
    if (!(condition)) [[unlikely]]                                                \
      ::taeda::detail::fail<::taeda::type>(::taeda::detail::concat(__VA_ARGS__)); \
  } while (false)

/// Checks of what a user passed: Error, and those that Python's IndexError, ValueError, TypeError
/// are.
#define TAEDA_CHECK(condition, ...) TAEDA_CHECK_AS(Error, condition, __VA_ARGS__)
#define TAEDA_CHECK_INDEX(condition, ...) TAEDA_CHECK_AS(IndexError, condition, __VA_ARGS__)
#define TAEDA_CHECK_VALUE(condition, ...) TAEDA_CHECK_AS(ValueError, condition, __VA_ARGS__)
#define TAEDA_CHECK_TYPE(condition, ...) TAEDA_CHECK_AS(TypeError, condition, __VA_ARGS__)
#define TAEDA_CHECK_NOT_IMPLEMENTED(condition, ...) \
  TAEDA_CHECK_AS(NotImplementedError, condition, __VA_ARGS__)

/// Checks what only a bug in Taeda can break.
#define TAEDA_INTERNAL_ASSERT(condition, ...)                                                  \
  do {                                                                                         \
    if (!(condition)) [[unlikely]]                                                             \
      ::taeda::detail::internal_error(#condition, __FILE__, __LINE__,                          \
                                      ::taeda::detail::concat("" __VA_OPT__(, ) __VA_ARGS__)); \
  } while (false)
