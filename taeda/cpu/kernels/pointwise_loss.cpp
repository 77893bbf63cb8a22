// The element-by-element losses.
#include "taeda/cpu/kernels/loops.h"
#include "taeda/kernels/pointwise/loss.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

void register_pointwise_loss() { register_pointwise<LossOps>(); }

}  // namespace taeda::cpu::TAEDA_CPU_NAMESPACE
