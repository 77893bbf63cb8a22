#include "taeda/io/interrupt.h"

#include <atomic>
#include <memory>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::io {

namespace {

std::atomic<int> received{0};
std::atomic<bool> guarded{false};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler must not lock");

// Note [Signals and borrowed stacks]
// Generated code of oneDNN's products lets the stack pointer point into a buffer of the heap while
// it computes. A signal that comes then is written below it, over what lies before the buffer. So
// the handler runs on a stack of its own, which the thread that makes the guard gets; the system
// gives a process's signals to the main thread where it can.
class SignalStack {
 public:
  void lend() {
    stack_t now;
    if (::sigaltstack(nullptr, &now) != 0 || !(now.ss_flags & SS_DISABLE)) return;
    memory_ = std::make_unique<char[]>(kBytes);
    stack_t own = {};
    own.ss_sp = memory_.get();
    own.ss_size = kBytes;
    if (::sigaltstack(&own, nullptr) != 0) memory_.reset();
  }
  void take_back() {
    if (!memory_) return;
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    ::sigaltstack(&none, nullptr);
    memory_.reset();
  }

 private:
  static constexpr size_t kBytes = 1 << 16;  // the registers alone take some thousand
  std::unique_ptr<char[]> memory_;
} signal_stack;  // of the one guard that there is

struct sigaction note_first() {
  struct sigaction action = {};
  action.sa_handler = [](int number) { received = number; };
  ::sigemptyset(&action.sa_mask);
  // The second one finds the default action. System calls go on.
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART | SA_ONSTACK);
  return action;
}

}  // namespace

InterruptGuard::InterruptGuard() {
  TAEDA_CHECK(!guarded.exchange(true), "there is an InterruptGuard already");
  received = 0;
  signal_stack.lend();
  const struct sigaction action = note_first();
  ::sigaction(SIGINT, &action, &before_int_);
  ::sigaction(SIGTERM, &action, &before_term_);
}

InterruptGuard::~InterruptGuard() {
  ::sigaction(SIGINT, &before_int_, nullptr);
  ::sigaction(SIGTERM, &before_term_, nullptr);
  signal_stack.take_back();
  guarded = false;
}

int InterruptGuard::signal() { return received; }

}  // namespace taeda::io
