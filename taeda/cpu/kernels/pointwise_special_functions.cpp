#include "taeda/cpu/kernels/loops.h"
#include "taeda/kernels/pointwise/special_functions.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

void register_pointwise_special_functions() { register_pointwise<SpecialFunctionOps>(); }

}  // namespace taeda::cpu::TAEDA_CPU_NAMESPACE
