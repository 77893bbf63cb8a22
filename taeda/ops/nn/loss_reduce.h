// The last step of a loss.
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::detail {

inline Tensor reduce_loss(const Tensor& loss, Reduction reduction) {
  switch (reduction) {
    case Reduction::Mean: return loss.mean();
    case Reduction::Sum: return loss.sum();
    default: return loss;
  }
}

}  // namespace taeda::detail
