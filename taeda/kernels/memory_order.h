// In which order a tensor's elements lie in memory.
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// Whether elements of both, which have the same sizes, lie in the same order, so that one loop
/// over the memory covers them where they have no gaps.
inline bool same_memory_order(const Tensor& a, const Tensor& b) {
  if (a.is_contiguous() && b.is_contiguous()) return true;
  const IntArrayRef sizes = a.sizes(), x = a.strides(), y = b.strides();
  for (size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] > 1 && x[d] != y[d]) return false;
  return true;
}

/// Channels-last and not contiguous as well: images of one channel or one pixel are both.
inline bool is_channels_last_only(const Tensor& t) {
  return !t.is_contiguous() && (t.is_contiguous(MemoryFormat::ChannelsLast) ||
                                t.is_contiguous(MemoryFormat::ChannelsLast3d));
}

/// The format with channels last of as many dimensions as images or volumes have.
inline MemoryFormat channels_last_of(int64_t dims) {
  return dims == 5 ? MemoryFormat::ChannelsLast3d : MemoryFormat::ChannelsLast;
}

}  // namespace taeda::inline v0_2
