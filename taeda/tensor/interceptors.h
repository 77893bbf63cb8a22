// Who has something to do with the operations that a thread calls: one word for each thread, which
// is all that a call looks at while nobody has. ops/door.h has what is done with it.
#pragma once

#include <cstdint>

namespace taeda::inline v0_2 {

class Interceptors {
 public:
  enum Kind : uint32_t { kAutocast = 1, kObserver = 2, kMap = 4 };

  /// Whether there are any on the calling thread.
  static bool any() { return __builtin_expect(word_ != 0, 0); }
  static bool has(Kind kind) { return (word_ & kind) != 0; }
  static void set(Kind kind, bool on) { word_ = on ? word_ | kind : word_ & ~uint32_t{kind}; }

 private:
  // Known to be constant at first, it is read without asking whether it must be made.
  static constinit thread_local uint32_t word_ __attribute__((tls_model("initial-exec")));
};

}  // namespace taeda::inline v0_2
