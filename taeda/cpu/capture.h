// How the CPU's kernels are recorded: Note [Graphs on the CPU] in device/host_graph.h.
#pragma once

namespace taeda::inline v0_2::cpu {

/// From the first `true` to the `false` of the same number, every kernel slot of the CPU holds a
/// function that records a call of a thread that captures, and passes on all others.
void record_kernels(bool on);

}  // namespace taeda::inline v0_2::cpu
