// Sets that parameters and values of distributions must lie in (torch.distributions.constraints).
#pragma once

#include <string>

#include "taeda/distributions/parameter.h"

namespace taeda::inline v0_2::distributions {

/// A set of numbers, or of vectors or matrices that the last `event_dim()` dimensions hold.
class Constraint {
 public:
  /// Which elements of `value` lie in it: bool, without the last event_dim() dimensions.
  Tensor check(const Tensor& value) const;
  int64_t event_dim() const { return event_dim_; }
  bool is_discrete() const { return is_discrete_; }
  /// The constraint as PyTorch prints it, with its default bounds, too:
  /// "GreaterThan(lower_bound=0.0)".
  std::string str() const;

  struct Bounds {
    Parameter lower = 0, upper = 0;
  };
  /// `inside` says of every number, vector or matrix whether it belongs; `format` is the text, in
  /// which %l and %u stand for the bounds.
  Constraint(const char* format, Tensor (*inside)(const Tensor& value, const Bounds&),
             Bounds bounds, int64_t event_dim = 0, bool is_discrete = false)
      : format_(format),
        inside_(inside),
        bounds_(std::move(bounds)),
        event_dim_(event_dim),
        is_discrete_(is_discrete) {}
  /// The same with `more` dimensions before it that count as one value.
  Constraint independent(int64_t more) const;

 private:
  const char* format_;
  Tensor (*inside_)(const Tensor&, const Bounds&);
  Bounds bounds_;
  int64_t event_dim_;
  int64_t independent_ = 0;
  bool is_discrete_;
};

namespace constraints {

/// The constraint of all numbers but NaN, element by element.
Constraint real();
/// Vectors of real numbers.
/// The last dimension holds a vector; bounds are numbers or tensors that broadcast with the values.
Constraint real_vector();
Constraint positive();
Constraint nonnegative();
Constraint greater_than(Parameter lower);
Constraint greater_than_eq(Parameter lower);
Constraint less_than(Parameter upper);
/// The constraint of numbers between two ends, which belong to it.
Constraint interval(Parameter lower, Parameter upper);
/// The constraint of numbers between two ends, of which the lower belongs to it.
Constraint half_open_interval(Parameter lower, Parameter upper);
Constraint unit_interval();
/// 0 and 1.
Constraint boolean();
Constraint nonnegative_integer();
/// The constraint of numbers between two ends, which belong to it.
Constraint integer_interval(Parameter lower, Parameter upper);
/// The constraint of vectors, [..., k], of weights that are not negative and add up to 1, up to
/// 1e-6.
Constraint simplex();
/// The constraint of vectors, [..., k], with one element 1 and all others 0.
Constraint one_hot();
/// Vectors of counts that add up to at most `total`.
Constraint multinomial(Parameter total);
/// Lower triangular matrices with positive diagonal.
Constraint lower_cholesky();
/// Lower triangular matrices with positive diagonal, whose rows have length 1.
Constraint corr_cholesky();
/// Symmetric matrices with positive eigenvalues.
Constraint positive_definite();

}  // namespace constraints
}  // namespace taeda::inline v0_2::distributions
