// Ctrl-C that lets a loop end well.
#pragma once

#include <csignal>

namespace taeda::inline v0_2::io {

/// While one lives, the first SIGINT (Ctrl-C) or SIGTERM (what batch systems send before they kill)
/// is only noted: the loop asks `requested()` after each step, saves a checkpoint and ends. A
/// second signal of the kind ends the process at once, as without the guard. One at a time, in any
/// thread; throws Error while another lives.
class InterruptGuard {
 public:
  InterruptGuard();
  /// Puts the handlers that were there before back.
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// Whether a signal came.
  static bool requested() { return signal() != 0; }
  /// The signal that came since the guard was made, or 0.
  static int signal();

 private:
  struct sigaction before_int_, before_term_;
};

}  // namespace taeda::io
