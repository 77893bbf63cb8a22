// What this program asks the system's allocator and its locks for, on one thread.
#pragma once

#include <cstdint>

namespace taeda {

/// Calls since it was made, by this thread. Sanitizers bring allocators of their own: nothing is
/// counted there.
class CountedCalls {
 public:
  CountedCalls();
  int64_t allocations() const;
  int64_t locks() const;
  /// Whether this build counts.
  static bool counts();

 private:
  int64_t allocations_, locks_;
};

}  // namespace taeda
