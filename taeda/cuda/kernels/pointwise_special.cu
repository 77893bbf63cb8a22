#include "taeda/cuda/kernels/pointwise.cuh"
#include "taeda/cuda/register.h"
#include "taeda/kernels/pointwise/composed.h"
#include "taeda/kernels/pointwise/special.h"

namespace taeda::inline v0_2::gpu {

void register_pointwise_special() {
  register_pointwise<SpecialOps>();
  register_pointwise<ComposedOps>();
}

}  // namespace taeda::gpu
