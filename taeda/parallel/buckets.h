// Tensors that travel together: few large transfers instead of one for each tensor.
#pragma once

#include <cstdint>
#include <vector>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::nn::parallel {

/// How many bytes a bucket holds at most, unless what must stay together is more.
struct BucketLimits {
  int64_t first;   ///< bytes of the first bucket, few, so that its transfer begins early
  int64_t others;  ///< bytes of others, as many as make a transfer's latency small
};

/// Of gradients: 1 MiB and 25 MiB, as in PyTorch's DistributedDataParallel.
constexpr BucketLimits kGradientLimits{int64_t{1} << 20, int64_t{25} << 20};
/// Of values: 10 MiB, as in PyTorch's broadcast; the first holds little but what is needed first.
constexpr BucketLimits kValueLimits{int64_t{1} << 20, int64_t{10} << 20};

/// Divides tensors into buckets, which are lists of positions in `tensors`. `order` says which come
/// first; all tensors of a bucket have one dtype and device. Neighbours in the order with the same
/// number in `groups` (by position in `tensors`; those of one layer, say) stay together.
std::vector<std::vector<size_t>> make_buckets(const std::vector<Tensor>& tensors,
                                              const std::vector<size_t>& order,
                                              const std::vector<size_t>& groups,
                                              const BucketLimits& limits);

/// Where the elements of several tensors of one dtype lie in one flat tensor: each in the order of
/// its memory, without gaps. Tensors whose length would put the next one's address at an odd place
/// come last, so that all others are aligned to 64 bytes.
class FlatLayout {
 public:
  FlatLayout() = default;
  explicit FlatLayout(const std::vector<Tensor>& tensors);

  size_t size() const { return parts_.size(); }
  int64_t numel() const { return numel_; }
  /// Whether tensors have the dtype, sizes and strides that the layout was made for.
  bool fits(const std::vector<Tensor>& tensors) const;
  /// Allocates memory for all tensors of the layout, a vector of their dtype.
  Tensor allocate(Device device) const;
  /// The values of all tensors, put together by one kernel on the current stream of their device. A
  /// single tensor is not copied where its memory is as the layout wants it.
  Tensor flatten(const std::vector<Tensor>& tensors) const;
  /// Puts the values of all tensors into flat memory, which may go on behind them.
  void write(const Tensor& flat, const std::vector<Tensor>& tensors) const;
  /// The i-th tensor's place in flat memory: no view, it has a version and, once it is a leaf's
  /// gradient, an owner of its own.
  Tensor part(const Tensor& flat, size_t i) const;

 private:
  Tensor in_order_of_memory(const Tensor& t, size_t i) const;
  std::vector<Tensor> vectors(const std::vector<Tensor>& tensors) const;

  ScalarType dtype_ = kFloat;
  int64_t numel_ = 0;
  std::vector<Layout> parts_;  // offsets: places in flat memory
  std::vector<size_t> order_;  // in flat memory
};

}  // namespace taeda::nn::parallel
