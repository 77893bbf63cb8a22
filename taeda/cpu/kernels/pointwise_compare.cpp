#include "taeda/cpu/kernels/loops.h"
#include "taeda/kernels/pointwise/compare.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

void register_pointwise_compare() { register_pointwise<CompareOps, Eq, Ne, Lt, Le, Gt, Ge>(); }

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
