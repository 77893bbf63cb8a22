// What an engine does for one group: the calls that Gloo, MPI and NCCL implement.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "taeda/base/array_ref.h"
#include "taeda/base/dtype.h"
#include "taeda/base/error.h"
#include "taeda/device/stream.h"
#include "taeda/distributed/group/reduce_op.h"
#include "taeda/distributed/store/store.h"

namespace taeda::inline v0_2::distributed {

/// The clock of deadlines, which never goes back.
using Clock = std::chrono::steady_clock;

/// Contiguous memory that an engine can reach: the host's, or a device's that it serves. Reductions
/// get a dtype that says how to compute; everything else only moves bytes.
struct Elements {
  void* data = nullptr;
  int64_t count = 0;
  ScalarType dtype = kByte;
  Device device = kCPU;

  size_t nbytes() const { return static_cast<size_t>(count * element_size(dtype)); }
};

/// An operation on memory of a device, which an engine queues on the stream instead of running it.
struct Queued {
  Stream stream;
  /// Set by the engine: called when the stream has got past the operation. Throws
  /// CommunicatorError if ranks met that had called different things.
  std::function<void()> confirm = {};
};

/// One operation, as the engine needs to know it.
struct Call {
  /// Ranks that call the same thing have the same number, others have not (but for one case in
  /// 2^64): an engine must not let calls with different numbers exchange anything.
  uint64_t id = 0;
  Clock::time_point deadline;
  /// The device's work, for memory of a device that the engine serves; null, the default, for the
  /// host's.
  Queued* queued = nullptr;

  /// What is left until the deadline; at least a millisecond.
  std::chrono::milliseconds left() const;
};

/// An exchange that failed. `peer` is the rank whose connection was lost, -1 where that is not
/// known or nobody's fault.
class CommunicatorError : public DistributedError {
 public:
  CommunicatorError(std::string message, int lost_peer)
      : DistributedError(std::move(message)), peer(lost_peer) {}
  int peer;
};

/// The connections of one group. Ranks and roots are those of the group. Every call blocks until
/// this rank's part is done, or throws CommunicatorError: at the deadline, when a connection is
/// lost, after `abort`. Collectives are called one after the other; sends and receives may be
/// called by other threads meanwhile. Results have the same bits on all ranks and in every run.
///
/// An engine may serve devices, too. Calls on their memory come with a stream, and return when the
/// work is queued there.
class Communicator {
 public:
  virtual ~Communicator();

  /// Each works on this process's `data` and returns when it is complete; all ranks call it alike.
  virtual void broadcast(const Call& call, Elements data, int root) = 0;
  /// `op` is one that `computes` says yes to, here and below.
  virtual void all_reduce(const Call& call, Elements data, ReduceOp op) = 0;
  /// Reduces the elements of all ranks; only the root's data changes.
  virtual void reduce(const Call& call, Elements data, ReduceOp op, int root) = 0;
  /// `out` has the ranks' elements one after the other.
  virtual void all_gather(const Call& call, Elements in, Elements out) = 0;
  /// `out` counts on the root alone, as `in` of scatter does.
  virtual void gather(const Call& call, Elements in, Elements out, int root) = 0;
  virtual void scatter(const Call& call, Elements in, Elements out, int root) = 0;
  /// `in` has a part for each rank; `out` becomes the reduction of this rank's parts.
  virtual void reduce_scatter(const Call& call, Elements in, Elements out, ReduceOp op) = 0;
  /// `in` has `in_counts[r]` elements for rank r, `out` gets `out_counts[r]` from it; the counts of
  /// both sides were compared before.
  virtual void all_to_all(const Call& call, Elements in, IntArrayRef in_counts, Elements out,
                          IntArrayRef out_counts) = 0;
  virtual void barrier(const Call& call) = 0;

  /// Sends bytes; a message meets the receive that has its tag, in the order in which they were
  /// called.
  virtual void send(const Call& call, Elements data, int to) = 0;
  /// From rank `from`, or from any for -1; returns who sent it.
  virtual int recv(const Call& call, Elements data, int from) = 0;

  /// Whether the engine takes memory of devices of the type as it is, false by default. Other
  /// devices' tensors come through memory of the host.
  virtual bool serves(DeviceType) const { return false; }
  /// Whether a call on memory of `device` takes the reduction as it is. What it does not take is
  /// made of SUM.
  virtual bool computes(ReduceOp op, ScalarType, Device) const {
    return op.kind != ReduceOp::AVG && op.kind != ReduceOp::PREMUL_SUM;
  }
  /// Whether the engine notices by itself that a process has died, and says which; false by
  /// default.
  virtual bool notices_death() const { return true; }
  /// A connection that was lost, for engines that do not tell all who wait for it. Any thread may
  /// call it.
  virtual std::optional<CommunicatorError> lost_connection() = 0;
  /// Closes the connections: calls under way and later ones throw, here and at the other ranks. Any
  /// thread may call it, any number of times.
  virtual void abort() noexcept = 0;
};

/// The functions of an engine that brings communicators (distributed/engine.h).
struct CommunicatorFunctions {
  /// Connects `size` processes, which are all there and share `store`, which is theirs alone.
  std::unique_ptr<Communicator> (*connect)(StorePtr store, int rank, int size,
                                           std::chrono::milliseconds timeout);
};

}  // namespace taeda::inline v0_2::distributed
