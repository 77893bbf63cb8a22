// Invertible functions of random values and how they stretch them (torch.distributions.transforms).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "taeda/distributions/constraints.h"

namespace taeda::inline v0_2::distributions {

class Transform;
/// A shared transform, which never changes.
using TransformPtr = std::shared_ptr<const Transform>;

/// A function y = f(x) of elements or vectors with its inverse and the logarithm of its derivative.
/// Make one with the functions below, or derive.
class Transform {
 public:
  virtual ~Transform() = default;
  /// As the error messages name it.
  virtual std::string name() const = 0;
  virtual Tensor operator()(const Tensor& x) const = 0;
  /// The x of a y, of its shape; of several the one that the class says.
  virtual Tensor inv(const Tensor& y) const = 0;
  /// log |dy/dx|; of functions of vectors the log of the Jacobian's determinant, without the event
  /// dimensions.
  virtual Tensor log_abs_det_jacobian(const Tensor& x, const Tensor& y) const = 0;
  /// Where x and y lie; their event dimensions are those that f takes as one.
  virtual Constraint domain() const { return constraints::real(); }
  virtual Constraint codomain() const { return constraints::real(); }
  /// Whether y has one x, true by default. A function that has not gives no densities.
  virtual bool bijective() const { return true; }
  /// 1 where f grows, -1 where it falls; throws NotImplementedError where that has no meaning.
  virtual Tensor sign() const;
  virtual DimVector forward_shape(IntArrayRef shape) const { return DimVector(shape); }
  virtual DimVector inverse_shape(IntArrayRef shape) const { return DimVector(shape); }
};

namespace transforms {

/// The transform exp(x) of each element.
TransformPtr exp();
/// loc + scale x; the last `event_dim` dimensions count as one value.
TransformPtr affine(Parameter loc, Parameter scale, int64_t event_dim = 0);
/// The transforms 1 / (1 + exp(-x)) and tanh(x) of each element.
TransformPtr sigmoid();
TransformPtr tanh();
/// The transform log(1 + exp(x)) of each element.
TransformPtr softplus();
/// x to the power of `exponent`, of positive numbers.
TransformPtr power(Parameter exponent);
/// The transform |x| of each element, which is not bijective.
TransformPtr abs();
/// softmax over the last dimension, which is not bijective.
TransformPtr softmax();
/// k - 1 real numbers to k weights that add up to 1, by breaking a stick (Stan Reference Manual,
/// "Unit simplex").
TransformPtr stick_breaking();
/// Square matrices to lower triangular ones with positive diagonal.
TransformPtr lower_cholesky();
/// Shapes of events: `in` to `out`, with as many elements.
TransformPtr reshape(DimVector in, DimVector out);
/// f with `dims` more dimensions before its own that count as one value.
TransformPtr independent(TransformPtr f, int64_t dims);
/// The transforms one after the other, the first first; an empty list is the identity.
TransformPtr compose(std::vector<TransformPtr> parts);
/// The inverse of f, with the sizes of both ends exchanged.
TransformPtr inverse(TransformPtr f);

}  // namespace transforms
}  // namespace taeda::inline v0_2::distributions
