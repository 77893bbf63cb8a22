// The values of a module's tensors on their way to its replicas.
#pragma once

#include <optional>
#include <vector>

#include "taeda/parallel/buckets.h"
#include "taeda/parallel/lane.h"

namespace taeda::inline v0_2::nn::parallel {

/// Sends the values of tensors to several devices, in buckets.
///
/// A bucket is put together once, on the originals' device, and goes from replica to replica on
/// streams of its own, so that a device sends everything once. A kernel that uses a value waits
/// until its bucket has arrived and been sent on, and for no other.
class Values {
 public:
  explicit Values(std::vector<Device> devices);

  /// Begins a pass with these tensors, which have no history. Those with the same number in
  /// `groups` are needed at the same time, in the order of the numbers.
  void begin(std::vector<Tensor> originals, const std::vector<size_t>& groups);
  /// Gives the tensors of a replica, one for each original, memory: the original's on its device,
  /// elsewhere their part of a bucket. What an earlier pass still needs keeps its memory and
  /// values.
  void place(size_t replica, const std::vector<Tensor>& own);
  /// Queues the copies of the bucket that is needed first to so many replicas, at least one, if
  /// they have not been queued in this pass.
  void send_first(size_t replicas);
  /// Queues the copies of all buckets that have not been queued, and ends the pass; afterwards
  /// begin() must come first.
  void send(size_t replicas);

 private:
  struct Bucket {
    std::vector<size_t> members;
    FlatLayout layout;
    std::vector<Tensor> flat;  // by replica
    // In a pass:
    Tensor source;   // from which the next replica gets the values
    Stream arrived;  // where they are there once they are
    size_t sent = 0;
  };

  std::vector<Tensor> members_of(const Bucket& bucket, const std::vector<Tensor>& tensors) const;
  void put_together(Bucket& bucket);
  void send(Bucket& bucket, size_t replicas);
  void hop(Bucket& bucket, size_t replica);
  const nn::detail::Lane* lane(Device from, size_t replica) const;
  Stream gathering_stream(Device device);

  const std::vector<Device> devices_;
  std::vector<Tensor> originals_;
  std::vector<size_t> groups_;
  std::vector<Bucket> buckets_;
  std::vector<std::optional<nn::detail::Lane>> lanes_;  // to each replica from the one before it
  std::vector<Stream> gathering_;                       // on which buckets are put together
};

}  // namespace taeda::nn::parallel
