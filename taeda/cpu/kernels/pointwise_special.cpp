#include "taeda/cpu/kernels/loops.h"
#include "taeda/kernels/pointwise/special.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

void register_pointwise_special() { register_pointwise<SpecialOps, CopySign>(); }

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
