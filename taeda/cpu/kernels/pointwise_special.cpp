#include "taeda/cpu/kernels/loops.h"
#include "taeda/kernels/pointwise/composed.h"
#include "taeda/kernels/pointwise/special.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

template <>
struct BitFormula<CopySign> {
  TAEDA_ALWAYS_INLINE uint16_t operator()(uint16_t a, uint16_t b) const {
    return static_cast<uint16_t>((a & 0x7fff) | (b & 0x8000));
  }
};

template <>
constexpr bool keeps_bfloat16<Heaviside> = true;
template <>
constexpr bool keeps_bfloat16<Fmax> = true;
template <>
constexpr bool keeps_bfloat16<Fmin> = true;

void register_pointwise_special() {
  register_pointwise<SpecialOps, CopySign>();
  register_pointwise<ComposedOps, Heaviside, Fmax, Fmin>();
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
