// How a kernel leaves a note about its data; see fault.h.
#pragma once

#include "taeda/cuda/fault.h"

namespace taeda::inline v0_2::gpu {

/// The kind is written last: the host reads the others when it sees it.
__device__ inline void note_fault(Fault* fault, FaultKind kind, int64_t value, int64_t dim,
                                  int64_t size) {
  fault->value = value;
  fault->dim = dim;
  fault->size = size;
  __threadfence_system();
  *static_cast<volatile int64_t*>(&fault->kind) = static_cast<int64_t>(kind);
}

}  // namespace taeda::gpu
