#include "taeda/cpu/kernels/loops.h"
#include "taeda/kernels/pointwise/complex.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

void register_pointwise_complex() { register_pointwise<ComplexOps>(); }

}  // namespace taeda::cpu::TAEDA_CPU_NAMESPACE
