// The numbers that nodes get, for threads that build one graph together.
#pragma once

#include <cstdint>

namespace taeda::inline v0_2::autograd {

/// The number of the next node that this thread makes. Threads count by themselves: the engine
/// prefers the latest of the nodes that are ready, so any numbers give right results. Threads that
/// build parts of one graph start from the same number, so that the parts run backward side by
/// side.
uint64_t next_sequence_nr();
void set_next_sequence_nr(uint64_t n);

}  // namespace taeda::autograd
