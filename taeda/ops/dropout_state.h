// Where the random numbers of a dropout mask begin. Not part of the public interface.
#pragma once

#include "taeda/device/generator.h"
#include "taeda/device/host_graph.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::detail {

/// The state of one mask; the CPU's generator gives the seed.
inline PhiloxState next_mask_state(const Tensor& t) {
  const Generator& g = default_generator(t.device());
  if (!t.is_cpu()) return g.next_philox();
  PhiloxState state;
  if (HostGraph* graph = host_recording()) [[unlikely]] {
    uint64_t* const words = graph->words(2);
    words[1] = 0;
    graph->add("dropout seed", [g, words] { words[0] = g.random64(); });
    state.base = words;
    state.device = t.device();
    return state;
  }
  state.seed = g.random64();
  return state;
}

}  // namespace taeda::inline v0_2::detail
