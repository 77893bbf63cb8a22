// Where the elements of a view lie within its base.
//
// Note [Views are regions]
// Whatever chain of operations made a view - a selection, a permutation, an expansion, overlapping
// windows, the real parts of complex numbers - its elements are a strided region of the memory that
// its base shows. So one pair of layouts says everything that histories need: the gradient of the
// base from that of the view, and the base with the view's part replaced. No chain of operations
// has to be replayed. Between real and complex tensors both layouts count real numbers.
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::autograd {

/// What a view shows of its base; a plain value. The methods are operations
/// (ops/shape/region.cpp), which are recorded if gradients are.
class Region {
 public:
  Region(const Tensor& base, const Tensor& view)
      : Region(base.layout(), base.dtype(), view.layout(), view.dtype()) {}
  Region(const Layout& base, ScalarType base_dtype, const Layout& view, ScalarType view_dtype);

  /// The gradient of the base from that of the view, in the base's memory order: every element of
  /// the view adds to the number it shows. A base that shows a number several times shares its
  /// gradient among those elements.
  Tensor scatter(const Tensor& grad) const;

  struct Parts {
    Tensor outside;  ///< `grad` with zeros in the region
    Tensor inside;   ///< the region of `grad`; undefined if not asked for
  };
  /// Divides a gradient of the base by where it lies.
  Parts divide(const Tensor& grad, bool with_inside) const;

 private:
  /// `scatter` and `divide` of several gradients, whose first `maps` dimensions count them.
  Tensor scatter_all(const Tensor& grad, int64_t maps) const;
  Parts divide_all(const Tensor& grad, int64_t maps, bool with_inside) const;

  Layout base_, view_;     // from the first number that either shows
  int64_t cells_ = 0;      // numbers that they span
  ScalarType base_dtype_, view_dtype_;
  bool in_reals_ = false;  // one is complex, the other is not
};

}  // namespace taeda::autograd
