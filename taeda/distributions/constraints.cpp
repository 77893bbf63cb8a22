#include "taeda/distributions/constraints.h"

#include <cmath>
#include <sstream>

#include "taeda/base/error.h"
#include "taeda/distributions/numbers.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/linalg/linalg.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/grad_mode.h"
#include "taeda/tensor/layout.h"

namespace taeda::inline v0_2::distributions {

namespace {

std::string text_of(const Parameter& bound) {
  std::ostringstream out;
  if (bound.is_number())
    out << bound.number() << (bound.number() == std::floor(bound.number()) ? ".0" : "");
  else if (bound.tensor().numel() == 1 && !bound.tensor().is_meta())
    out << bound.tensor().item<double>();
  else
    out << "tensor of shape " << bound.tensor().sizes();
  return out.str();
}

void replace(std::string& text, const char* mark, const std::string& by) {
  if (const size_t at = text.find(mark); at != std::string::npos) text.replace(at, 2, by);
}

/// Calls f(value, bound) with the bound as what it is.
template <class F>
Tensor compare(const Tensor& value, const Parameter& bound, F f) {
  return bound.is_number() ? f(value, Scalar(bound.number())) : f(value, bound.tensor());
}

constexpr auto at_least = [](const Tensor& a, const auto& b) { return a.ge(b); };
constexpr auto at_most = [](const Tensor& a, const auto& b) { return a.le(b); };
constexpr auto above = [](const Tensor& a, const auto& b) { return a.gt(b); };
constexpr auto below = [](const Tensor& a, const auto& b) { return a.lt(b); };

Tensor is_integer(const Tensor& value) {
  return value.is_floating_point() ? value.frac().eq(0) : ones_like(value, kBool);
}

/// Whether sums of probabilities are 1, but for rounding.
Tensor adds_to_one(const Tensor& value) { return value.sum({-1}).sub(1).abs().lt(1e-6); }

Tensor is_cholesky(const Tensor& value) {
  const Tensor triangular = value.tril().ne(value).sum({-2, -1}).eq(0);
  return triangular.logical_and(value.diagonal(0, -2, -1).le(0).sum({-1}).eq(0));
}

}  // namespace

Tensor Constraint::check(const Tensor& value) const {
  NoGradGuard guard;
  Tensor result = inside_(value, bounds_);
  if (independent_ == 0) return result;
  TAEDA_CHECK_VALUE(result.dim() >= independent_, "Expected value.dim() >= ", event_dim_,
                    " but got ", value.dim());
  DimVector dims;
  for (int64_t i = 1; i <= independent_; ++i) dims.push_back(-i);
  return result.logical_not().sum(dims).eq(0);
}

Constraint Constraint::independent(int64_t more) const {
  TAEDA_CHECK_VALUE(more >= 0 && more <= kMaxDims, "independent: expected from 0 to ", kMaxDims,
                    " dimensions, got ", more);
  Constraint result = *this;
  result.independent_ += more;
  result.event_dim_ += more;
  return result;
}

std::string Constraint::str() const {
  std::string text = format_;
  replace(text, "%l", text_of(bounds_.lower));
  replace(text, "%u", text_of(bounds_.upper));
  if (independent_ == 0) return text;
  return "IndependentConstraint(" + text + ", " + std::to_string(independent_) + ")";
}

namespace constraints {

using Bounds = Constraint::Bounds;

Constraint real() {
  return {"Real()", [](const Tensor& v, const Bounds&) { return v.eq(v); }, {}};
}

Constraint real_vector() { return real().independent(1); }
Constraint positive() { return greater_than(0); }
Constraint nonnegative() { return greater_than_eq(0); }

Constraint greater_than(Parameter lower) {
  return {"GreaterThan(lower_bound=%l)",
          [](const Tensor& v, const Bounds& b) { return compare(v, b.lower, above); },
          {std::move(lower)}};
}

Constraint greater_than_eq(Parameter lower) {
  return {"GreaterThanEq(lower_bound=%l)",
          [](const Tensor& v, const Bounds& b) { return compare(v, b.lower, at_least); },
          {std::move(lower)}};
}

Constraint less_than(Parameter upper) {
  return {"LessThan(upper_bound=%u)",
          [](const Tensor& v, const Bounds& b) { return compare(v, b.upper, below); },
          {0, std::move(upper)}};
}

Constraint interval(Parameter lower, Parameter upper) {
  return {"Interval(lower_bound=%l, upper_bound=%u)",
          [](const Tensor& v, const Bounds& b) {
            return compare(v, b.lower, at_least).logical_and(compare(v, b.upper, at_most));
          },
          {std::move(lower), std::move(upper)}};
}

Constraint half_open_interval(Parameter lower, Parameter upper) {
  return {"HalfOpenInterval(lower_bound=%l, upper_bound=%u)",
          [](const Tensor& v, const Bounds& b) {
            return compare(v, b.lower, at_least).logical_and(compare(v, b.upper, below));
          },
          {std::move(lower), std::move(upper)}};
}

Constraint unit_interval() { return interval(0, 1); }

Constraint boolean() {
  return {"Boolean()",
          [](const Tensor& v, const Bounds&) { return v.eq(0).logical_or(v.eq(1)); },
          {},
          0,
          true};
}

Constraint nonnegative_integer() {
  return {"IntegerGreaterThan(lower_bound=0)",
          [](const Tensor& v, const Bounds&) { return is_integer(v).logical_and(v.ge(0)); },
          {},
          0,
          true};
}

Constraint integer_interval(Parameter lower, Parameter upper) {
  return {"IntegerInterval(lower_bound=%l, upper_bound=%u)",
          [](const Tensor& v, const Bounds& b) {
            const Tensor between =
                compare(v, b.lower, at_least).logical_and(compare(v, b.upper, at_most));
            return is_integer(v).logical_and(between);
          },
          {std::move(lower), std::move(upper)},
          0,
          true};
}

Constraint simplex() {
  return {"Simplex()",
          [](const Tensor& v, const Bounds&) {
            return v.lt(0).sum({-1}).eq(0).logical_and(adds_to_one(v));
          },
          {},
          1};
}

Constraint one_hot() {
  return {"OneHot()",
          [](const Tensor& v, const Bounds&) {
            const Tensor other = v.eq(0).logical_or(v.eq(1)).logical_not();
            return other.sum({-1}).eq(0).logical_and(v.sum({-1}).eq(1));
          },
          {},
          1,
          true};
}

Constraint multinomial(Parameter total) {
  return {"Multinomial(upper_bound=%u)",
          [](const Tensor& v, const Bounds& b) {
            return v.lt(0).sum({-1}).eq(0).logical_and(compare(v.sum({-1}), b.upper, at_most));
          },
          {0, std::move(total)},
          1,
          true};
}

Constraint lower_cholesky() {
  return {"LowerCholesky()", [](const Tensor& v, const Bounds&) { return is_cholesky(v); }, {}, 2};
}

Constraint corr_cholesky() {
  return {"CorrCholesky()",
          [](const Tensor& v, const Bounds&) {
            // Rounding of a sum of as many squares as there are rows.
            const double tolerance = epsilon_of(v.dtype()) * static_cast<double>(v.size(-1)) * 10;
            const Tensor off = v.square().sum({-1}).sqrt().sub(1).abs().gt(tolerance);
            return is_cholesky(v).logical_and(off.sum({-1}).eq(0));
          },
          {},
          2};
}

Constraint positive_definite() {
  return {"PositiveDefinite()",
          [](const Tensor& v, const Bounds&) {
            // Up to the roundings of the product that made it.
            const Tensor other = v.transpose(-2, -1), most = other.abs().mul(1e-5).add(1e-6);
            const Tensor symmetric = v.sub(other).abs().gt(most).sum({-2, -1}).eq(0);
            const Tensor info = std::get<1>(linalg::cholesky_ex(v));
            return symmetric.logical_and(info.eq(0));
          },
          {},
          2};
}

}  // namespace constraints
}  // namespace taeda::inline v0_2::distributions
