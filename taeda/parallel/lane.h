// Tensors on their way from one stage to another, on streams of their own.
#pragma once

#include <vector>

#include "taeda/device/stream.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::nn::detail {

/// The streams of one way between two devices: copies overlap with what both compute, and one way
/// does not wait for another.
struct Lane {
  Lane(Device from, Device to) : send(new_stream(from)), receive(new_stream(to)) {}
  Stream send, receive;
};

/// Both directions between two stages.
struct Lanes {
  Lane there, back;
  Lanes reversed() const { return {back, there}; }
};

/// Keeps the memory of `t` from being reused before `stream`, which did not allocate it, is done.
void mark_user(const Tensor& t, const Stream& stream);

/// Tensors that were sent. On one device they are not copied.
struct Parcel {
  std::vector<Tensor> tensors;
  std::vector<bool> wanted;  // which of them the sender would take a gradient of, if it says so
  Event arrived;
};

/// Queues the copy of the tensors (undefined ones stay so) behind what the caller's current stream
/// of their device has queued. While gradients are recorded the copies have history: the gradient
/// comes back the other way.
Parcel send(const std::vector<Tensor>& tensors, const Lanes& lanes);
/// The tensors, for the caller's current stream of their device, which waits for them.
std::vector<Tensor> receive(Parcel parcel);

}  // namespace taeda::nn::detail
