#include "taeda/cpu/kernels/loops.h"
#include "taeda/kernels/pointwise/unary.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

void register_pointwise_unary() {
  register_pointwise<UnaryOps, Abs, Neg, Square, Clamp, NanToNum, Floor, Ceil, Round, Trunc, Sqrt,
                     Rsqrt>();
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
