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

/// The p-norms of differences along `dim`, with the gradient of distances.
Tensor distance_norm(const Tensor& differences, double p, int64_t dim);

/// `nanmedian` along a dimension of a tensor that has some.
std::tuple<Tensor, Tensor> select_nanmedian(const Tensor& self, int64_t dim, bool keepdim);

}  // namespace taeda::inline v0_2::detail
