#include "taeda/io/interrupt.h"

#include <atomic>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::io {

namespace {

std::atomic<int> received{0};
std::atomic<bool> guarded{false};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler must not lock");

struct sigaction note_first() {
  struct sigaction action = {};
  action.sa_handler = [](int number) { received = number; };
  ::sigemptyset(&action.sa_mask);
  // The second one finds the default action. System calls go on. Why on a stack of its own: Note
  // [Signals and borrowed stacks] in cpu/onednn.cpp.
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART | SA_ONSTACK);
  return action;
}

}  // namespace

InterruptGuard::InterruptGuard() {
  TAEDA_CHECK(!guarded.exchange(true), "there is an InterruptGuard already");
  received = 0;
  const struct sigaction action = note_first();
  ::sigaction(SIGINT, &action, &before_int_);
  ::sigaction(SIGTERM, &action, &before_term_);
}

InterruptGuard::~InterruptGuard() {
  ::sigaction(SIGINT, &before_int_, nullptr);
  ::sigaction(SIGTERM, &before_term_, nullptr);
  guarded = false;
}

int InterruptGuard::signal() { return received; }

}  // namespace taeda::io
