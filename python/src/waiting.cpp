#include "waiting.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace taeda::python {

// Python's main thread is the process's, also after a fork.
bool on_main_thread() { return getpid() == static_cast<pid_t>(syscall(SYS_gettid)); }

bool check_signals() {
  if (!on_main_thread()) return false;
  const HoldGil gil;
  if (PyErr_CheckSignals() < 0) throw PythonError();
  return true;
}

}  // namespace taeda::python
