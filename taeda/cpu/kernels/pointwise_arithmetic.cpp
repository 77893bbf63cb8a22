#include "taeda/cpu/kernels/loops.h"
#include "taeda/kernels/pointwise/arithmetic.h"
#include "taeda/kernels/pow_loop.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

template <>
constexpr bool keeps_bfloat16<Maximum> = true;
template <>
constexpr bool keeps_bfloat16<Minimum> = true;

#if defined(__FMA__)

namespace {

/// Pow of double as a loop of vectors.
struct DoublePow {
  static constexpr const char* name = Pow::name;
  static constexpr int arity = Pow::arity;
  using Types = TypeList<double>;
  TAEDA_ALWAYS_INLINE double operator()(double a, double b) const {
    return math::branchless::pow(a, b);
  }
};

void pow_kernel(const Iter& it, const FunctorBytes& bytes) {
  if (it.common_dtype() == kDouble)
    pointwise_kernel<DoublePow, false>(it, FunctorBytes::from(DoublePow()));
  else
    pointwise_kernel<Pow, false>(it, bytes);
}

}  // namespace

#endif

void register_pointwise_arithmetic() {
  register_pointwise<ArithmeticOps, Add, Sub, Mul, Div, Maximum, Minimum, Lerp, Addcmul, Addcdiv>();
#if defined(__FMA__)
  pointwise_slot<Pow>.set(kCPU, &pow_kernel);
#endif
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
