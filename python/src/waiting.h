// Waiting for other processes: without the GIL, and so that Ctrl-C ends it.
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <utility>

#include "python.h"

namespace taeda::python {

/// How often a thread that waits looks whether Python has a signal to handle.
inline constexpr std::chrono::milliseconds kSignalInterval{50};

/// Whether this is the thread on which Python's signal handlers run.
bool on_main_thread();
/// Runs Python's signal handlers if this is their thread, and says so. Call without the GIL; throws
/// PythonError where one raised.
bool check_signals();

/// Calls `f`, which blocks and knows nothing of Python, and returns its result. Call with the GIL
/// held. On the main thread `f` runs on a thread of its own: when a signal handler raises, nobody
/// waits for it any more, so it must own what it uses.
template <class F>
auto interruptibly(F f) {
  using R = decltype(f());
  const ReleaseGil released;
  if (!on_main_thread()) return f();
  // What it warns of comes out of this call, or, where nobody waits any more, out of none.
  struct Collected {
    ~Collected() { warnings->give_to_thread(); }
    const std::shared_ptr<CollectedWarnings> warnings = std::make_shared<CollectedWarnings>();
  } const collected;
  auto task = std::make_shared<std::packaged_task<R()>>(
      [f = std::move(f), warnings = collected.warnings]() mutable {
        const WarningHandlerGuard guard(warnings.get());
        return f();
      });
  std::future<R> result = task->get_future();
  std::thread([task] { (*task)(); }).detach();
  while (result.wait_for(kSignalInterval) == std::future_status::timeout) check_signals();
  return result.get();
}

/// Deletes what may wait for threads or devices.
struct DeleteWithoutGil {
  template <class T>
  void operator()(T* last) const {
    const ReleaseGil released(PyGILState_Check() != 0);
    delete last;
  }
};

}  // namespace taeda::python
