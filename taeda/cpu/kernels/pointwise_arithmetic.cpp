#include "taeda/cpu/kernels/loops.h"
#include "taeda/kernels/pointwise/arithmetic.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

void register_pointwise_arithmetic() { register_pointwise<ArithmeticOps>(); }

}  // namespace taeda::cpu::TAEDA_CPU_NAMESPACE
