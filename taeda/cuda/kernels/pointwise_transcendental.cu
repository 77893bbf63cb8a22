#include "taeda/cuda/kernels/pointwise.cuh"
#include "taeda/cuda/register.h"
#include "taeda/kernels/pointwise/transcendental.h"

namespace taeda::inline v0_2::gpu {

void register_pointwise_transcendental() { register_pointwise<TranscendentalOps>(); }

}  // namespace taeda::gpu
