#include "taeda/base/warning.h"

#include <exception>
#include <iostream>
#include <mutex>
#include <unordered_set>

namespace taeda::inline v0_2 {

namespace {

std::atomic<bool> always{false};
/// Null: standard error.
std::atomic<WarningHandler*> of_process{nullptr};
thread_local WarningHandler* of_thread = nullptr;

/// They live as long as the process: what ends with it may still warn.
WarningHandler& standard_error() {
  static auto& handler = *new WarningHandler;
  return handler;
}

/// Whether a text has not been written yet. Texts with numbers in them are many: what is remembered
/// has a limit, behind which each is written.
bool is_new(const std::string& text) {
  constexpr size_t kMost = 1000;
  static auto& mutex = *new std::mutex;
  static auto& written = *new std::unordered_set<std::string>;
  const std::lock_guard lock(mutex);
  if (written.contains(text)) return false;
  if (written.size() < kMost) written.insert(text);
  return true;
}

}  // namespace

const char* Warning::category() const noexcept {
  switch (kind_) {
    case WarningKind::Deprecation: return "DeprecationWarning";
    case WarningKind::Future: return "FutureWarning";
    case WarningKind::Runtime: return "RuntimeWarning";
    case WarningKind::User: break;
  }
  return "UserWarning";
}

bool Warning::get_warnAlways() noexcept { return always.load(std::memory_order_relaxed); }
void Warning::set_warnAlways(bool on) noexcept { always.store(on, std::memory_order_relaxed); }

WarningHandler* Warning::get_warning_handler() noexcept {
  if (of_thread) return of_thread;
  WarningHandler* const handler = of_process.load(std::memory_order_acquire);
  return handler ? handler : &standard_error();
}

void Warning::set_warning_handler(WarningHandler* handler) noexcept {
  if (of_thread)
    of_thread = handler ? handler : &standard_error();
  else
    of_process.store(handler, std::memory_order_release);
}

WarningHandler::~WarningHandler() = default;

// One call, so that lines of several threads do not mix.
void WarningHandler::process(const Warning& warning) {
  std::cerr << detail::concat(warning.category(), ": ", warning.msg(), "\n");
}

WarningHandlerGuard::WarningHandlerGuard(WarningHandler* handler) noexcept
    : before_(std::exchange(of_thread, handler ? handler : &standard_error())) {}
WarningHandlerGuard::~WarningHandlerGuard() { of_thread = before_; }

WarningHandler* detail::warning_handler_of_thread() noexcept { return of_thread; }
WarningHandler* detail::exchange_warning_handler_of_thread(WarningHandler* handler) noexcept {
  return std::exchange(of_thread, handler);
}

void warn(WarningKind kind, std::string text) {
  WarningHandler* const handler = Warning::get_warning_handler();
  if (handler == &standard_error() && !Warning::get_warnAlways() && !is_new(text)) return;
  handler->process(Warning(std::move(text), kind));
}

bool WarnOnce::claim() noexcept {
  if (said_.load(std::memory_order_relaxed)) return Warning::get_warnAlways();
  return !said_.exchange(true, std::memory_order_relaxed) || Warning::get_warnAlways();
}

void detail::warn_aside(WarningKind kind, std::string text) noexcept {
  try {
    warn(kind, text);
  } catch (const std::exception& e) {
    std::cerr << concat(text, "\n  (the handler of warnings threw: ", e.what(), ")\n");
  } catch (...) {
    std::cerr << concat(text, "\n  (the handler of warnings threw)\n");
  }
}

}  // namespace taeda::inline v0_2
