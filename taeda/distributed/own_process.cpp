#include "taeda/distributed/own_process.h"

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::distributed {

namespace {

/// The calling process and those that it is a copy of.
struct Ancestry {
  std::atomic<uint64_t> copies{0};
  std::array<std::atomic<pid_t>, 64> ids{};  ///< of the latest; by the copies that led to them

  Ancestry() { note(); }
  void note() { id_of(copies) = ::getpid(); }
  std::atomic<pid_t>& id_of(uint64_t number) { return ids[number % ids.size()]; }
};

Ancestry& ancestry() {
  static auto& one = *[] {
    auto* out = new Ancestry;
    ::pthread_atfork(nullptr, nullptr, [] {
      ancestry().copies.fetch_add(1);
      ancestry().note();
    });
    return out;
  }();
  return one;
}

}  // namespace

OwnProcess::OwnProcess() : copies_(copies()) {}

uint64_t OwnProcess::copies() { return ancestry().copies.load(std::memory_order_relaxed); }

void OwnProcess::refuse(const char* op, const std::string& what) const {
  taeda::detail::fail<DistributedError>(taeda::detail::concat(
      op, ": ", what, " belongs to process ", ancestry().id_of(copies_).load(), ", and process ",
      ::getpid(),
      " is a copy of it (fork), which has none of its threads and connections. Call it there, or "
      "start processes with the method 'spawn'"));
}

}  // namespace taeda::inline v0_2::distributed
