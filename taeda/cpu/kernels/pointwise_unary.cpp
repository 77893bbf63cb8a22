#include "taeda/cpu/kernels/loops.h"
#include "taeda/kernels/pointwise/unary.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

template <>
struct BitFormula<Neg> {
  TAEDA_ALWAYS_INLINE uint16_t operator()(uint16_t x) const {
    return static_cast<uint16_t>(x ^ 0x8000);
  }
};
template <>
struct BitFormula<Abs> {
  TAEDA_ALWAYS_INLINE uint16_t operator()(uint16_t x) const {
    return static_cast<uint16_t>(x & 0x7fff);
  }
};

template <>
constexpr bool keeps_bfloat16<Clamp> = true;
template <>
constexpr bool keeps_bfloat16<Sign> = true;
template <>
constexpr bool keeps_bfloat16<Floor> = true;
template <>
constexpr bool keeps_bfloat16<Ceil> = true;
template <>
constexpr bool keeps_bfloat16<Round> = true;
template <>
constexpr bool keeps_bfloat16<Trunc> = true;

void register_pointwise_unary() {
  register_pointwise<UnaryOps, Abs, Neg, Sign, Square, Clamp, NanToNum, Floor, Ceil, Round, Trunc,
                     Sqrt, Rsqrt>();
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
