#include "taeda/cuda/kernels/pointwise.cuh"
#include "taeda/cuda/register.h"
#include "taeda/kernels/pointwise/compare.h"

namespace taeda::inline v0_2::gpu {

void register_pointwise_compare() { register_pointwise<CompareOps>(); }

}  // namespace taeda::gpu
