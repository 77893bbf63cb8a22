// Shared by the sources that make tensors; not part of the public interface.
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::detail {

/// A new tensor becomes a leaf that wants a gradient where the options say so.
inline Tensor finish(Tensor out, const TensorOptions& o) {
  if (o.requires_grad()) out.requires_grad_();
  return out;
}

}  // namespace taeda::detail
