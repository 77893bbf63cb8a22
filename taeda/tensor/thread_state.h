// What operations look at besides their arguments, handed from one thread to another.
#pragma once

#include <functional>
#include <vector>

#include "taeda/base/parallel_for.h"
#include "taeda/device/stream.h"
#include "taeda/tensor/autocast_mode.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2 {

/// A thread's modes, current streams and devices, and the number of threads its operations use.
///
/// Note [Code that runs for another thread]
/// What a program gives the library to run - a dataset, a module, a hook - may be run by a thread
/// that the program has not made. Such a thread never runs it as it happens to be: either with a
/// new thread's state, so that it does not matter which thread does it (batches of a loader), or
/// with that of the caller on whose behalf it runs (replicas, nodes of a backward pass). Both are
/// this class.
struct ThreadState {
  /// The calling thread's.
  static ThreadState here();

  /// Puts the calling thread into a state, and back at the end.
  class Scope {
   public:
    explicit Scope(const ThreadState& state);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    const std::vector<Stream> streams_;
    const AutocastMode::State autocast_;
    const bool recomputing_;
    void* const saved_hooks_;
    int devices_[kDeviceTypes];
    const InferenceMode inference_;
    const AutoGradMode grad_;
    const NumThreadsGuard threads_;
  };

  // As at the start of a thread, unless `here` says otherwise.
  bool grad = true;
  bool inference = false;
  bool recomputing = false;
  AutocastMode::State autocast = {};
  void* saved_hooks = nullptr;       ///< who set them waits for those that take them over
  int num_threads = 0;               ///< of one operation; 0 for the process's number
  std::vector<Stream> streams = {};  ///< where they are not the default ones
  int devices[kDeviceTypes] = {};
};

/// Calls job(i) for each i < n at the same time: job(0) on the calling thread, the others on
/// threads that are kept for later calls, in the caller's state and with its handler of warnings.
/// They go on from the caller's
/// predicted time (host_clock.h), and it from the last of theirs. Returns when all have returned. A
/// job must not throw.
void run_side_by_side(size_t n, const std::function<void(size_t)>& job);

}  // namespace taeda
