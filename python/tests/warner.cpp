// What test_warnings.py calls by ctypes: warnings of threads that Python knows nothing of.
#include <thread>

#include "taeda/base/warning.h"

extern "C" {

/// Warns on the calling thread.
void warn_here(const char* text) { TAEDA_WARN(text); }

/// Warns on a thread of its own, and returns when that has ended.
void warn_on_a_thread(const char* text) {
  std::thread([text] { TAEDA_WARN_AS(Runtime, text); }).join();
}

}  // extern "C"
