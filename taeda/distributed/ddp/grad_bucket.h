// What a communication hook of DistributedDataParallel is given, and what it gives back.
#pragma once

#include <functional>
#include <future>
#include <vector>

#include "taeda/parallel/buckets.h"

namespace taeda::inline v0_2::distributed {

/// Gradients of some parameters as one flat tensor: torch.distributed.GradBucket.
class GradBucket {
 public:
  GradBucket(size_t index, bool is_last, Tensor buffer, nn::parallel::FlatLayout layout,
             std::vector<Tensor> parameters)
      : index_(index),
        is_last_(is_last),
        buffer_(std::move(buffer)),
        layout_(std::move(layout)),
        parameters_(std::move(parameters)) {}

  /// The number of the bucket, from 0; those with smaller ones are sent before. Whether it is the
  /// last one.
  size_t index() const { return index_; }
  bool is_last() const { return is_last_; }
  /// This rank's gradients, of one dimension, not yet divided by the number of ranks.
  const Tensor& buffer() const { return buffer_; }
  void set_buffer(Tensor buffer) { buffer_ = std::move(buffer); }
  /// The parts of the buffer, each with the sizes of its parameter.
  std::vector<Tensor> gradients() const {
    std::vector<Tensor> out;
    for (size_t k = 0; k < layout_.size(); ++k) out.push_back(layout_.part(buffer_, k));
    return out;
  }
  const std::vector<Tensor>& parameters() const { return parameters_; }

 private:
  size_t index_;
  bool is_last_;
  Tensor buffer_;
  nn::parallel::FlatLayout layout_;
  std::vector<Tensor> parameters_;
};

/// Starts to exchange a bucket and gives, when it is waited for, the gradients that all ranks go on
/// with: a tensor like the buffer, which may be the buffer.
///
/// It is called in backward, in the order of the buckets, on every rank; on an accelerator the
/// current stream is one for communication. Results are waited for at the end of backward in the
/// same order, so a deferred future (`std::async(std::launch::deferred, ...)`) may communicate,
/// too.
using CommHook = std::function<std::future<Tensor>(GradBucket& bucket)>;

}  // namespace taeda::inline v0_2::distributed
