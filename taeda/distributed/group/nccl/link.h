// One of NCCL's communicators: how ranks come together in it, and how it ends.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <string>

#include "taeda/distributed/group/communicator.h"
#include "taeda/distributed/group/nccl/library.h"

namespace taeda::inline v0_2::distributed::nccl {

/// Throws CommunicatorError with NCCL's text where a call has failed.
void check(const Library& library, ncclComm_t comm, ncclResult_t result);

/// Calls do not block in NCCL: a rank that waits for the others to come, or for NCCL to have queued
/// a call, looks at the deadline and at `abort`, which any thread may call.
class Link {
 public:
  /// Ranks meet under `key` of the store. `device` has an index, and is that of all calls.
  Link(StorePtr store, std::string key, int rank, int size, Device device);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  /// Calls f(comm) as one of NCCL's groups and waits until all of it is queued. Connects first.
  template <class F>
  void group(const Call& call, F&& f);
  /// What NCCL has noticed since; empty where nothing.
  std::string failure();
  /// Ends what was queued. Later calls throw.
  void abort() noexcept;
  bool aborted() const { return aborted_; }
  int rank() const { return rank_; }
  int size() const { return size_; }

 private:
  void connect(const Call& call);
  ncclUniqueId meet(const Call& call);
  void wait_until_queued(ncclResult_t result, const Call& call, const char* what);
  void go_on(const Call& call, const char* what) const;

  const Library& library_;
  const StorePtr store_;
  const std::string key_;
  const int rank_, size_;
  const Device device_;
  std::atomic<bool> aborted_{false};
  std::mutex connecting_;
  std::mutex mutex_;  ///< of comm_ and of calls on it, which abort waits for
  ncclComm_t comm_ = nullptr;
};

/// For a scope what is called belongs together; an error inside ends the group as well.
class Grouping {
 public:
  explicit Grouping(const Library& library) : library_(library) {
    check(library_, nullptr, library_.group_start());
  }
  ~Grouping() {
    if (!ended_) library_.group_end();
  }
  Grouping(const Grouping&) = delete;
  Grouping& operator=(const Grouping&) = delete;
  ncclResult_t end() {
    ended_ = true;
    return library_.group_end();
  }

 private:
  const Library& library_;
  bool ended_ = false;
};

template <class F>
void Link::group(const Call& call, F&& f) {
  connect(call);
  ncclResult_t result;
  {
    std::lock_guard lock(mutex_);
    go_on(call, "queuing");
    Grouping grouping(library_);
    f(comm_);
    result = grouping.end();
  }
  wait_until_queued(result, call, "queuing");
}

}  // namespace taeda::inline v0_2::distributed::nccl
