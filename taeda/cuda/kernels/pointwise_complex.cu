#include "taeda/cuda/kernels/pointwise.cuh"
#include "taeda/cuda/register.h"
#include "taeda/kernels/pointwise/complex.h"

namespace taeda::inline v0_2::gpu {

void register_pointwise_complex() { register_pointwise<ComplexOps>(); }

}  // namespace taeda::gpu
