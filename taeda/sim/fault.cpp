#include "taeda/sim/fault.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>

namespace taeda::inline v0_2::sim {

namespace {

/// Read by the signal handler, hence plain atomics in fixed places.
struct Range {
  std::atomic<uintptr_t> base{0};
  std::atomic<size_t> bytes{0};
  std::atomic<int> type{0}, index{0};
};
constexpr int kRanges = 128;
constinit Range ranges[kRanges];
struct sigaction previous[2];  // of SIGSEGV and SIGBUS

const Range* range_of(uintptr_t address) {
  for (const Range& r : ranges) {
    const uintptr_t base = r.base.load();
    if (base && address >= base && address - base < r.bytes.load()) return &r;
  }
  return nullptr;
}

/// Only functions that a signal handler may call.
void print_fault(const Range& r) {
  char text[256] = "taeda: the host followed an address in the memory of ";
  char* end = text + std::strlen(text);
  const auto append = [&end](const char* s) {
    while (*s) *end++ = *s++;
  };
  append(to_string(static_cast<DeviceType>(r.type.load())));
  append(":");
  const int index = r.index.load();
  if (index >= 100) *end++ = static_cast<char>('0' + index / 100);
  if (index >= 10) *end++ = static_cast<char>('0' + index / 10 % 10);
  *end++ = static_cast<char>('0' + index % 10);
  append(
      ". Device memory is reached by kernels and copies only: use .cpu() or .item() to read it.\n");
  const ssize_t written = write(STDERR_FILENO, text, static_cast<size_t>(end - text));
  (void)written;
}

void on_fault(int signal, siginfo_t* info, void* context) {
  if (const Range* r = range_of(reinterpret_cast<uintptr_t>(info->si_addr))) print_fault(*r);
  const struct sigaction& before = previous[signal == SIGBUS];
  if (before.sa_flags & SA_SIGINFO) {
    before.sa_sigaction(signal, info, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(signal);
  } else {
    sigaction(signal, &before, nullptr);
    // A faulting instruction is repeated and meets the default; a signal that was sent is sent
    // again.
    if (info->si_code <= 0) raise(signal);
  }
}

void install_handler() {
  struct sigaction action;
  std::memset(&action, 0, sizeof action);
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &previous[0]);
  sigaction(SIGBUS, &action, &previous[1]);
}

}  // namespace

void watch_range(const void* base, size_t bytes, Device device) {
  static std::once_flag once;
  std::call_once(once, install_handler);
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  for (Range& r : ranges) {
    if (r.base.load() != 0) continue;
    r.bytes = bytes;
    r.type = static_cast<int>(device.type());
    r.index = device.index();
    r.base = reinterpret_cast<uintptr_t>(base);
    return;
  }
}

void forget_range(const void* base) {
  for (Range& r : ranges) {
    uintptr_t expected = reinterpret_cast<uintptr_t>(base);
    r.base.compare_exchange_strong(expected, 0);
  }
}

std::optional<Device> device_at(const void* address) {
  const Range* r = range_of(reinterpret_cast<uintptr_t>(address));
  if (!r) return std::nullopt;
  return Device(static_cast<DeviceType>(r->type.load()), r->index.load());
}

}  // namespace taeda::sim
