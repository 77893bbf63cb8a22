// Whether ranks that meet have called the same thing.
#pragma once

#include <vector>

#include "taeda/distributed/group/communicator.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::distributed::nccl {

/// The tags of ranks, which travel beside their data: NCCL's calls have none, so that ranks that
/// call different things may well exchange them. Nothing waits for the tags; they are compared when
/// the stream has got past them, and a wrong result does not stay unnoticed for long.
class RollCall {
 public:
  /// Memory of the device, and this rank's tag in it; queued on the current stream. The tags of
  /// `ranks` ranks are to come behind it.
  RollCall(uint32_t tag, int ranks, Device device);

  void* own() const { return device_.data_ptr(); }
  void* all() const { return static_cast<char*>(own()) + sizeof(uint32_t); }
  /// Queues the way of the gathered tags to the host.
  void fetch() const;
  /// When that is done: throws CommunicatorError where a tag is another one.
  void compare() const;

 private:
  Tensor device_, host_;
};

}  // namespace taeda::inline v0_2::distributed::nccl
