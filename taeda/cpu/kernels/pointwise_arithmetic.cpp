#include "taeda/cpu/kernels/loops.h"
#include "taeda/kernels/pointwise/arithmetic.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

template <>
constexpr bool keeps_bfloat16<Maximum> = true;
template <>
constexpr bool keeps_bfloat16<Minimum> = true;

void register_pointwise_arithmetic() {
  register_pointwise<ArithmeticOps, Add, Sub, Mul, Div, Maximum, Minimum, Lerp, Addcmul, Addcdiv>();
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
