// Tensors as what engines exchange: contiguous memory of the host, or of a device that they serve.
#pragma once

#include <vector>

#include "taeda/device/stream.h"
#include "taeda/distributed/group/communicator.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::distributed {

class Work;

/// The elements of some tensors, one tensor after the other. One contiguous tensor of the host is
/// its own memory; others are copied, those of an accelerator into pinned memory, queued on the
/// current stream. For an engine that serves their device tensors stay there: a contiguous one is
/// its own memory then, too.
class Staging {
 public:
  enum class Use : uint8_t { In, Out, InOut };

  enum class Place : uint8_t { Host, Device };
  /// Tensors of one dtype and device. With `apart` the memory is never a tensor's own.
  Staging(std::vector<Tensor> tensors, Use use, Place place, bool apart = false);

  /// The memory; waits for copies from an accelerator. On a device the current stream waits, for
  /// what was queued before the call.
  Elements elements() const;
  /// The same as one-dimensional tensor.
  const Tensor& flat() const { return flat_; }
  /// Gives the tensors the values that the memory has now: copies to an accelerator are queued on a
  /// stream of its own, for which `work` then has an event; those on a device on the current
  /// stream. Another thread may call it.
  void deliver(Work& work);

 private:
  void copy_parts(bool to_tensors) const;
  void bring(Work& work) const;

  std::vector<Tensor> tensors_;
  Use use_;
  bool stays_;  ///< on the device
  Tensor flat_;
  bool own_memory_;  ///< of the tensor
  Event called_;     ///< on the caller's stream, of an accelerator
};

}  // namespace taeda::inline v0_2::distributed
