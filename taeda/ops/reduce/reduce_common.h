// What the files of the reductions share: from a list of dimensions to an output, and back.
#pragma once

#include "taeda/kernels/reduce.h"
#include "taeda/ops/destination.h"

namespace taeda::inline v0_2::detail {

/// The dimensions of one reduction.
struct Reduced {
  DimMask mask;
  bool keepdim;
  int64_t count = 1;  // elements reduced to one
  DimVector sizes;    // of the result
  DimVector kept;     // of the result with keepdim

  /// Empty `dims`: all dimensions. Throws IndexError for dimensions out of range or named twice.
  Reduced(const Tensor& self, IntArrayRef dims, bool keepdim);
  /// For the result of the kernel `name`.
  Tensor make_output(const char* name, const Tensor& self, ScalarType dtype) const {
    return make_result(name, {&self}, sizes, dtype, self.device());
  }
  /// Puts the reduced dimensions back with size 1: a result that broadcasts against the input.
  Tensor restore(const Tensor& result) const;
};

/// Throws IndexError if an element of the result would be the extreme of nothing.
void check_nonempty(const char* op, const Tensor& self, IntArrayRef dims);

/// The p-norms of differences along `dim`, whatever autocast says.
Tensor distance_norm(const Tensor& differences, double p, int64_t dim);
/// The gradient by `differences` of distances that are their norms: flat where a distance is 0,
/// whatever is derived, and ties of the largest difference do not share, as in PyTorch. The
/// distances and g, their gradient, have size 1 along the dimension of the norms.
Tensor distance_gradient(const Tensor& g, const Tensor& differences, const Tensor& norm, double p);

/// `nanmedian` along a dimension of a tensor that has some.
std::tuple<Tensor, Tensor> select_nanmedian(const Tensor& self, int64_t dim, bool keepdim);
/// The same of all elements.
Tensor select_nanmedian(const Tensor& self);

}  // namespace taeda::inline v0_2::detail
