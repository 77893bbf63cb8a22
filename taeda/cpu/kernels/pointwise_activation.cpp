#include "taeda/cpu/kernels/loops.h"
#include "taeda/kernels/pointwise/activation_backward.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

void register_pointwise_activation() {
  register_pointwise<ActivationOps, Relu, LeakyRelu>();
  register_pointwise<ActivationBackwardOps>();
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
