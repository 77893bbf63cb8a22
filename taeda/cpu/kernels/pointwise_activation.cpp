#include "taeda/kernels/pointwise/activation.h"

#include "taeda/cpu/kernels/loops.h"

namespace taeda::cpu::TAEDA_CPU_NAMESPACE {

void register_pointwise_activation() { register_pointwise<ActivationOps>(); }

}  // namespace taeda::cpu::TAEDA_CPU_NAMESPACE
