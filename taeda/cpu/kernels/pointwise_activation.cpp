#include "taeda/cpu/kernels/loops.h"
#include "taeda/kernels/pointwise/activation_backward.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

template <>
constexpr bool keeps_bfloat16<Relu> = true;
template <>
constexpr bool keeps_bfloat16<ThresholdBackward> = true;
template <>
constexpr bool keeps_bfloat16<InsideBackward> = true;

void register_pointwise_activation() {
  register_pointwise<ActivationOps, Relu, LeakyRelu>();
  register_pointwise<ActivationBackwardOps, ThresholdBackward, LeakyReluBackward, InsideBackward>();
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
