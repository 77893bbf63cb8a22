// Whether ranks that meet have called the same thing.
#pragma once

#include <vector>

#include "taeda/distributed/group/communicator.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::distributed::nccl {

/// The numbers of the ranks' calls, which travel beside their data: NCCL's calls have none, so that
/// ranks that call different things may well exchange them. Nothing waits for the numbers; they are
/// compared when the stream has got past them, and a wrong result does not stay unnoticed for long.
class RollCall {
 public:
  static constexpr size_t kBytes = sizeof(int64_t);  ///< of each

  /// Memory of the device, and the number of this rank's call in it; queued on the current stream.
  /// Those of `ranks` ranks are to come behind it.
  RollCall(uint64_t id, int ranks, Device device);

  void* own() const { return device_.data_ptr(); }
  void* all() const { return static_cast<char*>(own()) + kBytes; }
  /// Queues the way of the gathered numbers to the host.
  void fetch() const;
  /// When that is done: throws CommunicatorError where one is another.
  void compare() const;

 private:
  Tensor device_, host_;
};

}  // namespace taeda::inline v0_2::distributed::nccl
