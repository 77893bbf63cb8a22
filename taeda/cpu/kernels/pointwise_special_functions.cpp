// Higher transcendental functions. Those that have a form without branches are loops of vectors
// where all of a block's numbers are within its bounds.
#include "taeda/cpu/kernels/loops.h"
#include "taeda/kernels/bessel_loops.h"
#include "taeda/kernels/normal_loops.h"
#include "taeda/kernels/pointwise/special_functions.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

namespace {

namespace forms = math::branchless;

/// The function F without branches, and for which numbers.
template <SpecialFunction F>
struct Form;

#define TAEDA_FORM(function, condition, formula)                                          \
  template <>                                                                             \
  struct Form<SpecialFunction::function> {                                                \
    static TAEDA_ALWAYS_INLINE bool fits([[maybe_unused]] double x) { return condition; } \
    static TAEDA_ALWAYS_INLINE double at(double x) { return formula; }                    \
  };

TAEDA_FORM(BesselJ0, math::detail::absolute(x) <= 1e6, forms::bessel_j<0>(x))
TAEDA_FORM(BesselJ1, math::detail::absolute(x) <= 1e6, forms::bessel_j<1>(x))
TAEDA_FORM(BesselY0, x <= 1e6, forms::bessel_y<0>(x))
TAEDA_FORM(BesselY1, x <= 1e6, forms::bessel_y<1>(x))
TAEDA_FORM(BesselI0, true, forms::bessel_i<0>(x))
TAEDA_FORM(BesselI1, true, forms::bessel_i<1>(x))
TAEDA_FORM(ScaledBesselI0, true, forms::scaled_bessel_i<0>(x))
TAEDA_FORM(ScaledBesselI1, true, forms::scaled_bessel_i<1>(x))
TAEDA_FORM(BesselK0, true, (forms::bessel_k<0, false>(x)))
TAEDA_FORM(BesselK1, true, (forms::bessel_k<1, false>(x)))
TAEDA_FORM(ScaledBesselK0, true, (forms::bessel_k<0, true>(x)))
TAEDA_FORM(ScaledBesselK1, true, (forms::bessel_k<1, true>(x)))
TAEDA_FORM(Erfcx, math::detail::absolute(x) <= 28, forms::erfcx(x))
TAEDA_FORM(LogNdtr, math::detail::absolute(x) <= 38, forms::log_ndtr(x))
TAEDA_FORM(Ndtri, (x >= 2e-19) & (x < 1), forms::ndtri(x))

#undef TAEDA_FORM

template <SpecialFunction F>
struct VectorSpecial {
  static constexpr const char* name = SpecialOfOne::name;
  static constexpr int arity = 1;
  using Types = SpecialOfOne::Types;

  template <class T>
  static TAEDA_ALWAYS_INLINE bool fits(T x) {
    return Form<F>::fits(static_cast<double>(x));
  }
  template <class T>
  TAEDA_ALWAYS_INLINE T bounded(T x) const {
    return static_cast<T>(Form<F>::at(static_cast<double>(x)));
  }
  template <class T>
  T operator()(T x) const {
    return fits(x) ? bounded(x) : SpecialOfOne{F}(x);  // the same bits, whatever stands beside it
  }
};

template <SpecialFunction... F>
bool run_vectors(const Iter& it, SpecialFunction function) {
  return ((function == F &&
           (pointwise_kernel<VectorSpecial<F>, false>(it, FunctorBytes::from(VectorSpecial<F>())),
            true)) ||
          ...);
}

void special_of_one(const Iter& it, const FunctorBytes& bytes) {
  using enum SpecialFunction;
  if (!run_vectors<BesselJ0, BesselJ1, BesselY0, BesselY1, BesselI0, BesselI1, ScaledBesselI0,
                   ScaledBesselI1, BesselK0, BesselK1, ScaledBesselK0, ScaledBesselK1, Erfcx,
                   LogNdtr, Ndtri>(it, bytes.as<SpecialOfOne>().function))
    pointwise_kernel<SpecialOfOne, false>(it, bytes);
}

}  // namespace

void register_pointwise_special_functions() {
  register_pointwise<SpecialFunctionOps>();
  pointwise_slot<SpecialOfOne>.set(kCPU, &special_of_one);
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
