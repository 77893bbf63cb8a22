// The history of replicas' parameters: where their gradients go, and how they are added.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "taeda/device/stream.h"
#include "taeda/parallel/buckets.h"

namespace taeda::inline v0_2::nn::parallel {

/// Streams that gradients travel on, one for each device. Devices put their gradients together as
/// soon as they have them, and add a bucket when the last has: were that one stream, sending the
/// first bucket would wait for the last one's gradients. Halves of large buckets travel in opposite
/// directions.
struct GradientStreams {
  std::vector<Stream> flatten, add, add_opposite;
};

/// Makes copies of tensors, which have the values of the originals on some devices, depend on them:
/// `copies[i][k]` is that of `originals[k]` on the i-th device, and an original's gradient is the
/// sum
/// (`reduce_add`) of its copies'. It is computed on `streams` as soon as the last replica has its
/// own, so that gradients of one layer travel while those of the next are computed. `arrived` is
/// called then.
///
/// Gradients of one device are put together, as `layout` says, and travel as one; the originals'
/// are parts of one tensor. Where some have no gradient, or the gradients get a history, the
/// tensors travel one by one; the results are the same.
void record_broadcast(const std::vector<Tensor>& originals,
                      const std::vector<std::vector<Tensor>>& copies,
                      std::shared_ptr<const FlatLayout> layout, const GradientStreams& streams,
                      std::function<void()> arrived = {});

}  // namespace taeda::nn::parallel
