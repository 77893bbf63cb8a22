// Where the random numbers of a dropout mask begin. Not part of the public interface.
#pragma once

#include "taeda/device/generator.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::detail {

/// The state of one mask; the CPU's generator gives the seed.
inline PhiloxState next_mask_state(const Tensor& t) {
  const Generator& g = default_generator(t.device());
  if (!t.is_cpu()) return g.next_philox();
  PhiloxState state;
  state.seed = g.random64();
  return state;
}

}  // namespace taeda::detail
