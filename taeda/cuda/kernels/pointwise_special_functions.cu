#include "taeda/cuda/kernels/pointwise.cuh"
#include "taeda/cuda/register.h"
#include "taeda/kernels/pointwise/special_functions.h"

namespace taeda::inline v0_2::gpu {

void register_pointwise_special_functions() { register_pointwise<SpecialFunctionOps>(); }

}  // namespace taeda::gpu
