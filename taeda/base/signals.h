// Signals are for a program's own threads: those that the library starts do not get them.
#pragma once

#include <signal.h>

namespace taeda::inline v0_2 {

/// Has the calling thread get no signals, but for those that tell what it did itself (a fault, a
/// pipe without a reader). Returns what it got before.
inline sigset_t hold_signals() {
  sigset_t held, before;
  sigfillset(&held);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPIPE})
    sigdelset(&held, own);
  pthread_sigmask(SIG_BLOCK, &held, &before);
  return before;
}

/// In a scope the calling thread gets no signals, and what comes meanwhile waits; threads that it
/// starts there never get any.
class WithoutSignals {
 public:
  WithoutSignals() : before_(hold_signals()) {}
  ~WithoutSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  WithoutSignals(const WithoutSignals&) = delete;
  WithoutSignals& operator=(const WithoutSignals&) = delete;

 private:
  const sigset_t before_;
};

}  // namespace taeda::inline v0_2
