#include "taeda/cuda/kernels/pointwise.cuh"
#include "taeda/cuda/register.h"
#include "taeda/kernels/pointwise/unary.h"

namespace taeda::inline v0_2::gpu {

void register_pointwise_unary() { register_pointwise<UnaryOps>(); }

}  // namespace taeda::gpu
