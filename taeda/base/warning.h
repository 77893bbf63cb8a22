// Warnings: what a program is told that is no error. All pass through one handler, which a program
// may replace. Included by those who warn alone.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "taeda/base/error.h"

namespace taeda::inline v0_2 {

/// What a warning is about: Python's categories.
enum class WarningKind : uint8_t { User, Deprecation, Future, Runtime };

class WarningHandler;

/// A warning, as a handler gets it.
class Warning {
 public:
  explicit Warning(std::string message, WarningKind kind = WarningKind::User)
      : message_(std::move(message)), kind_(kind) {}
  const std::string& msg() const noexcept { return message_; }
  WarningKind kind() const noexcept { return kind_; }
  /// Its kind by the name of Python's class: "UserWarning".
  const char* category() const noexcept;

  // libtorch's names.

  /// Whether what is said once in a process is said each time.
  static bool get_warnAlways() noexcept;
  static void set_warnAlways(bool on) noexcept;
  /// Who gets the calling thread's warnings.
  static WarningHandler* get_warning_handler() noexcept;
  /// Has a handler get them: those of the innermost scope that replaces it (WarningHandlerGuard),
  /// outside of one those of all threads. Null: standard error. The handler must outlive its use.
  static void set_warning_handler(WarningHandler* handler) noexcept;

 private:
  std::string message_;
  WarningKind kind_;
};

/// Writes warnings to standard error, as "UserWarning: text"; a program's own class does something
/// else. Any thread may call it. What it throws comes out of the call that warned.
class WarningHandler {
 public:
  virtual ~WarningHandler();
  virtual void process(const Warning& warning);
};

/// Has a handler get the warnings of the calling thread, and of those that work for it while it
/// waits, for a scope.
class WarningHandlerGuard {
 public:
  explicit WarningHandlerGuard(WarningHandler* handler) noexcept;
  ~WarningHandlerGuard();
  WarningHandlerGuard(const WarningHandlerGuard&) = delete;
  WarningHandlerGuard& operator=(const WarningHandlerGuard&) = delete;

 private:
  WarningHandler* before_;
};

/// Tells the handler. Standard error gets a text once in a process, so that what a loop is warned
/// of does not bury what else is there.
void warn(WarningKind kind, std::string text);

/// A place, or an object, that warns once in a process, or each time where the program asks for it
/// (Warning::set_warnAlways).
class WarnOnce {
 public:
  /// Whether to warn now.
  bool claim() noexcept;

 private:
  std::atomic<bool> said_{false};
};

namespace detail {

/// For destructors, and for threads that no call waits for: what a handler throws ends here, on
/// standard error.
void warn_aside(WarningKind kind, std::string text) noexcept;

/// The handler of the thread's innermost scope, null outside of one.
WarningHandler* warning_handler_of_thread() noexcept;
WarningHandler* exchange_warning_handler_of_thread(WarningHandler* handler) noexcept;

}  // namespace detail
}  // namespace taeda::inline v0_2

/// Warns with all arguments, printed one behind the other.
#define TAEDA_WARN(...) TAEDA_WARN_AS(User, __VA_ARGS__)
#define TAEDA_WARN_AS(kind, ...) \
  ::taeda::warn(::taeda::WarningKind::kind, ::taeda::detail::concat(__VA_ARGS__))
/// The same, once in a process; nothing is put together the other times.
#define TAEDA_WARN_ONCE(...)                           \
  do {                                                 \
    static constinit ::taeda::WarnOnce taeda_warned;   \
    if (taeda_warned.claim()) TAEDA_WARN(__VA_ARGS__); \
  } while (false)
