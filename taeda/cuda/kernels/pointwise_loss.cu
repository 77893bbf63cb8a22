#include "taeda/cuda/kernels/pointwise.cuh"
#include "taeda/cuda/register.h"
#include "taeda/kernels/pointwise/loss.h"

namespace taeda::gpu {

void register_pointwise_loss() { register_pointwise<LossOps>(); }

}  // namespace taeda::gpu
