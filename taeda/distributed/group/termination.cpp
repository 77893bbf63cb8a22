#include "taeda/distributed/group/termination.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <thread>

#include "taeda/distributed/group/flight_recorder.h"

namespace taeda::inline v0_2::distributed {

namespace {

int told_to_end = -1;  ///< an event descriptor, which the handler may write to

void tell(int) {
  const uint64_t one = 1;
  // Nothing can be done about a failure here.
  if (::write(told_to_end, &one, sizeof one) < 0) ::_exit(128 + SIGTERM);
}

/// Waits for the signal outside of its handler, where files can be written.
void write_when_told(int rank) {
  uint64_t count = 0;
  while (::read(told_to_end, &count, sizeof count) < 0) {
  }
  // The process ends before a handler of warnings could do anything.
  if (const std::string problem = write_flight_record_of(rank); !problem.empty())
    std::cerr << problem + "\n";
  ::signal(SIGTERM, SIG_DFL);
  ::kill(::getpid(), SIGTERM);
}

bool has_own_handler() {
  struct sigaction now = {};
  ::sigaction(SIGTERM, nullptr, &now);
  return now.sa_handler != SIG_DFL;
}

}  // namespace

const char* flight_record_prefix() {
  const char* prefix = ::secure_getenv("TAEDA_FLIGHT_RECORDER");
  return prefix && *prefix ? prefix : nullptr;
}

std::string write_flight_record_of(int rank) {
  const char* prefix = flight_record_prefix();
  if (!prefix) return {};
  try {
    write_flight_record(prefix + std::to_string(rank) + ".json");
  } catch (const std::exception& e) {
    return std::string("the flight record was not written: ") + e.what();
  }
  return {};
}

void write_flight_record_on_sigterm(int rank) {
  static std::once_flag once;
  if (!flight_record_prefix() || has_own_handler()) return;
  std::call_once(once, [rank] {
    told_to_end = ::eventfd(0, EFD_CLOEXEC);
    if (told_to_end < 0) return;
    std::thread(write_when_told, rank).detach();
    struct sigaction action = {};
    action.sa_handler = tell;
    action.sa_flags = SA_RESTART | SA_ONSTACK;  // Note [Signals and borrowed stacks]
    ::sigaction(SIGTERM, &action, nullptr);
  });
}

}  // namespace taeda::distributed
