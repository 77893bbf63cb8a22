#include "waiting.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "taeda/base/error.h"

namespace taeda::python {

// Python's main thread is the process's, also after a fork.
bool on_main_thread() { return getpid() == static_cast<pid_t>(syscall(SYS_gettid)); }

void check_signals() {
  if (!on_main_thread()) return;
  const HoldGil gil;
  if (PyErr_CheckSignals() < 0) throw PythonError();
}

void wait_for(distributed::Work& work, std::optional<std::chrono::milliseconds> timeout) {
  if (!on_main_thread()) {
    work.wait(timeout);
    return;
  }
  using Clock = std::chrono::steady_clock;
  const auto until = timeout ? std::optional(Clock::now() + *timeout) : std::nullopt;
  while (true) {
    if (until && Clock::now() + kSignalInterval >= *until) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(*until - Clock::now());
      work.wait(std::max(left, std::chrono::milliseconds(0)));
      return;
    }
    try {
      work.wait(kSignalInterval);
      return;
    } catch (const DistributedError&) {
      if (!work.is_completed()) {
        check_signals();
        continue;
      }
    }
    work.wait();  // throws what it ended with, if that was an error
    return;
  }
}

}  // namespace taeda::python
