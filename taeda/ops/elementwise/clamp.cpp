// Clamping, and replacing what is not a number.
#include <algorithm>
#include <limits>

#include "bodies/unary.h"
#include "taeda/kernels/pointwise/arithmetic.h"
#include "taeda/kernels/pointwise/unary.h"
#include "taeda/ops/assign.h"
#include "taeda/ops/dtype_words.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/elementwise.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/shape/shape.h"

namespace taeda::inline v0_2 {

namespace {

constexpr const char* kNoBounds = "torch.clamp: At least one of 'min' or 'max' must not be None";

/// dtype of the result: that of the tensor, widened by the bounds as for any number.
ScalarType clamp_dtype(const Tensor& self, const OptionalScalar& min, const OptionalScalar& max) {
  return result_type({Operand(self), Operand(min ? *min : *max), Operand(max ? *max : *min)});
}

/// A bound as a number of dtype t: a missing one, or one of an integer dtype that lets all numbers
/// through, is the end of the range. Throws Error for one that t cannot hold and that lets none.
Scalar bound_in(ScalarType t, const OptionalScalar& bound, bool is_low) {
  const double infinity = std::numeric_limits<double>::infinity();
  if (is_floating_point(t)) {
    if (!bound) return is_low ? -infinity : infinity;
    detail::check_number(t, *bound);
    return *bound;
  }
  const auto within = [&](int64_t lowest, int64_t highest) {
    if (!bound) return is_low ? lowest : highest;
    const bool beyond = bound->type() == kUInt64;  // what no int64 is
    const int64_t number = beyond ? std::numeric_limits<int64_t>::max() : bound->toLong();
    TAEDA_CHECK(is_low ? number <= highest && !beyond : number >= lowest, "Clamp ",
                is_low ? "min" : "max", " value ", bound->toDouble(),
                " is outside the representable range of ", t);
    return std::clamp(number, lowest, highest);
  };
  if (is_wide_unsigned(t)) {  // the highest uint64 by its bits
    if (t != kUInt64) return within(0, (int64_t{1} << 8 * element_size(t)) - 1);
    if (bound && bound->type() == kUInt64) return static_cast<int64_t>(bound->to<uint64_t>());
    return !bound && !is_low ? -1 : within(0, std::numeric_limits<int64_t>::max());
  }
  int64_t result = 0;
  dispatch(IntTypes{}, "clamp", t, [&]<class T>() {
    result = within(std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max());
  });
  return result;
}

/// g where x is within the bounds, which do not belong to them: PyTorch's choice for numbers.
Tensor inside(const Tensor& g, const Tensor& x, const OptionalScalar& low,
              const OptionalScalar& high) {
  const Tensor kept = !high  ? x.gt(*low)
                      : !low ? x.lt(*high)
                             : pointwise(ClampMask{}, x, *low, *high);
  return where(kept, g, Scalar(0));
}

}  // namespace

Tensor do_clamp(const Tensor& self, const OptionalScalar& min, const OptionalScalar& max) {
  TAEDA_CHECK(min || max, kNoBounds);
  const ScalarType t = clamp_dtype(self, min, max);
  TAEDA_CHECK_AS(NotImplementedError, !is_complex(t), "clamp is not supported for complex types");
  const Scalar low = bound_in(t, min, true), high = bound_in(t, max, false);
  Tensor out = pointwise(Clamp{}, self.dtype() == t ? self : self.to(t), low, high);
  if (wants_grad(self))
    record("ClampBackward1", out, {self}, [min, max, x = save_tensor(self)](const Tensor& g) {
      return inside(g, x.unpack(), min, max);
    });
  return out;
}

namespace {

/// g where `all` holds, half of it where `half` does, else 0.
Tensor shared(const Tensor& g, const Tensor& all, const Tensor& half) {
  return where(all, g, where(half, g.mul(0.5), Scalar(0)));
}

/// The larger (smaller) of self and a bound. Equal ones get a half each, and what has a NaN goes
/// to both, as PyTorch's gradient does.
template <class Op>
Tensor one_sided(const char* node, const Op& op, const Tensor& self, const Tensor& bound) {
  Tensor out = pointwise(op, self, bound);
  if (wants_grad(self, bound))
    record(node, out, {self, bound},
           [x = save_tensor(self), b = save_tensor(bound, "bound")](const Tensor& g, Needs needs) {
             constexpr bool kLarger = std::is_same_v<Op, Maximum>;
             const Tensor v = x.unpack(), limit = b.unpack();
             const Tensor below = kLarger ? v.lt(limit) : v.gt(limit),
                          above = kLarger ? v.gt(limit) : v.lt(limit), same = v.eq(limit);
             const auto part = [&](const Tensor& none) {
               return shared(g, none.logical_or(same).logical_not(), same);
             };
             return TensorVec{needs[0] ? part(below) : Tensor(), needs[1] ? part(above) : Tensor()};
           });
  return out;
}

/// The gradients of clamp with two tensors as bounds, of which the higher wins where they cross.
TensorVec between_gradients(const Tensor& g, const Tensor& x, const Tensor& low, const Tensor& high,
                            Needs needs) {
  const Tensor apart = low.lt(high), outside = x.lt(low).logical_or(x.gt(high));
  const Tensor at_low = apart.logical_and(x.eq(low)), at_high = apart.logical_and(x.eq(high));
  const Tensor at_end = at_low.logical_or(at_high);
  return {needs[0] ? shared(g, outside.logical_or(at_end).logical_not(), at_end) : Tensor(),
          needs[1] ? shared(g, low.le(high).logical_and(x.lt(low)), at_low) : Tensor(),
          needs[2] ? shared(g, x.gt(high).logical_or(high.lt(low)), at_high) : Tensor()};
}

}  // namespace

Tensor do_clamp(const Tensor& self, const std::optional<Tensor>& min,
                const std::optional<Tensor>& max) {
  TAEDA_CHECK(min || max, kNoBounds);
  if (!max) return one_sided("ClampBackward0", Maximum{}, self, *min);
  if (!min) return one_sided("ClampBackward0", Minimum{}, self, *max);
  Tensor out = pointwise(Clamp{}, self, *min, *max);
  if (wants_grad(self, *min, *max))
    record("ClampBackward0", out, {self, *min, *max},
           [x = save_tensor(self), a = save_tensor(*min, "min"), b = save_tensor(*max, "max")](
               const Tensor& g, Needs needs) {
             return between_gradients(g, x.unpack(), a.unpack(), b.unpack(), needs);
           });
  return out;
}

Tensor do_clamp_min(const Tensor& self, const Tensor& min) {
  return clamp(self, std::optional(min));
}
Tensor do_clamp_max(const Tensor& self, const Tensor& max) {
  return clamp(self, std::optional<Tensor>(), max);
}
Tensor do_clamp_min(const Tensor& self, const Scalar& min) { return clamp(self, min); }
Tensor do_clamp_max(const Tensor& self, const Scalar& max) {
  return clamp(self, OptionalScalar(), max);
}

Tensor do_nan_to_num(const Tensor& self, std::optional<double> nan, std::optional<double> posinf,
                     std::optional<double> neginf) {
  if (is_integral(self.dtype(), true)) return self.clone();
  if (self.is_complex())
    return view_as_complex(nan_to_num(view_as_real(self), nan, posinf, neginf).contiguous());
  double largest = 0;
  dispatch(TypeList<float, double>{}, "nan_to_num", self.dtype() == kDouble ? kDouble : kFloat,
           [&]<class T>() { largest = static_cast<double>(std::numeric_limits<T>::max()); });
  if (self.dtype() == kHalf) largest = 65504;
  if (self.dtype() == kBFloat16) largest = 3.3895313892515355e38;
  Tensor out = pointwise(
      NanToNum{nan.value_or(0), posinf.value_or(largest), neginf.value_or(-largest)}, self);
  if (wants_grad(self))
    record("NanToNumBackward0", out, {self}, [x = save_tensor(self)](const Tensor& g) {
      return where(isfinite(x.unpack()), g, Scalar(0));
    });
  return out;
}

Tensor& do_clamp_(const Tensor& self, const OptionalScalar& min, const OptionalScalar& max) {
  TAEDA_CHECK(min || max, kNoBounds);
  return detail::in_place(
      "clamp_", self, wants_grad(self), [&](const Tensor& self) { return self.clamp(min, max); },
      [&] {
        const ScalarType t = clamp_dtype(self, min, max);
        pointwise_into(Clamp{}, self, self, bound_in(t, min, true), bound_in(t, max, false));
      });
}
Tensor& do_clamp_(const Tensor& self, const std::optional<Tensor>& min,
                  const std::optional<Tensor>& max) {
  TAEDA_CHECK(min || max, kNoBounds);
  return detail::assign("clamp_", self, wants_grad(self, min ? *min : self, max ? *max : self),
                        [&](const Tensor& self) { return taeda::clamp(self, min, max); });
}
Tensor& do_clamp_min_(const Tensor& self, const Tensor& min) {
  return self.clamp_(std::optional(min));
}
Tensor& do_clamp_max_(const Tensor& self, const Tensor& max) {
  return self.clamp_(std::optional<Tensor>(), max);
}
Tensor& do_clamp_min_(const Tensor& self, const Scalar& min) { return self.clamp_(min); }
Tensor& do_clamp_max_(const Tensor& self, const Scalar& max) {
  return self.clamp_(OptionalScalar(), max);
}

}  // namespace taeda::inline v0_2
