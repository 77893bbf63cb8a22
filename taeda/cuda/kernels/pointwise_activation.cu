#include "taeda/cuda/kernels/pointwise.cuh"
#include "taeda/cuda/register.h"
#include "taeda/kernels/pointwise/activation_backward.h"

namespace taeda::inline v0_2::gpu {

void register_pointwise_activation() {
  register_pointwise<ActivationOps>();
  register_pointwise<ActivationBackwardOps>();
}

}  // namespace taeda::gpu
