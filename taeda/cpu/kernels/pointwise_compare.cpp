#include "taeda/cpu/kernels/loops.h"
#include "taeda/kernels/pointwise/compare.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

template <>
struct BitFormula<Where> {
  TAEDA_ALWAYS_INLINE uint16_t operator()(bool condition, uint16_t a, uint16_t b) const {
    return condition ? a : b;
  }
};
template <>
struct BitFormula<Masked> {
  TAEDA_ALWAYS_INLINE uint16_t operator()(bool condition, uint16_t x) const {
    return condition ? x : uint16_t{0};
  }
};

void register_pointwise_compare() {
  register_pointwise<CompareOps, Eq, Ne, Lt, Le, Gt, Ge, IsNan, IsInf, IsFinite>();
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
