#include "taeda/cuda/kernels/pointwise.cuh"
#include "taeda/cuda/register.h"
#include "taeda/kernels/pointwise/arithmetic.h"

namespace taeda::inline v0_2::gpu {

void register_pointwise_arithmetic() { register_pointwise<ArithmeticOps>(); }

}  // namespace taeda::gpu
