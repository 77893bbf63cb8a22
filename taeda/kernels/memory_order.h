// Which of the two memory orders of images a tensor has, for kernels that take both.
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda {

/// Channels-last and not contiguous as well: images of one channel or one pixel are both.
inline bool is_channels_last_only(const Tensor& t) {
  return t.dim() == 4 && !t.is_contiguous() && t.is_contiguous(MemoryFormat::ChannelsLast);
}

}  // namespace taeda
