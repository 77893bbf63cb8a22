#include "taeda/cuda/kernels/pointwise.cuh"
#include "taeda/cuda/register.h"
#include "taeda/kernels/pointwise/loss.h"

namespace taeda::inline v0_2::gpu {

void register_pointwise_loss() { register_pointwise<LossOps>(); }

}  // namespace taeda::gpu
