// How every CPU reduction walks its input: which elements are reduced together, in which order, and
// what runs in parallel. The arithmetic comes from the kernels as function pointers.
//
// Note [Order of reductions]
// The reduced elements of an output are cut into pieces of at most kPieceElements (rows) or
// kPieceRows (columns); the results of the pieces are combined pairwise, as in a tournament.
// Rounding errors grow with the logarithm of the number of pieces, and the order depends on the
// shape alone, never on the number of threads.
#pragma once

#include <functional>

#include "taeda/kernels/reduce.h"

namespace taeda::inline v0_2::cpu {

/// The dimensions of a reduction, coalesced, innermost first; strides in bytes.
struct ReducePlan {
  struct Dim {
    int64_t size, in, out;
  };
  Dim kept[kMaxLoopDims];
  Dim reduced[kMaxLoopDims];
  int num_kept = 0, num_reduced = 0;
  int64_t outputs = 1;  // number of results
  int64_t count = 1;    // elements in each of them
  const char* in = nullptr;
  char* out = nullptr;

  /// `out` may be undefined: then results are only numbered.
  ReducePlan(const Tensor& out, const Tensor& in, DimMask dims);
};

/// `width` reductions of `n` elements each. Element i of reduction k is at x + k * across + i *
/// along.
struct ReduceRun {
  const char* x;
  int64_t n, along;
  int64_t width, across;
  const char* shift;  // one accumulator for each reduction, or null
};

struct ReduceFunctions {
  int64_t acc_size;
  /// Writes `width` accumulators.
  std::function<void(char* acc, const ReduceRun&)> run;
  /// into[k] = into[k] combined with from[k], which stands behind it.
  void (*merge)(char* into, const char* from, int64_t width);
};

/// A group of finished results: numbers first .. first + width - 1, at out + k * stride.
struct ReduceResult {
  const char* acc;
  int64_t first, width;
  char* out;
  int64_t stride;
};

/// Reduces; `finish` is called once for each group, from several threads. `shift`: accumulators of
/// an earlier pass, by number of result.
void reduce(const ReducePlan& plan, const ReduceFunctions& functions, const char* shift,
            const std::function<void(const ReduceResult&)>& finish);

}  // namespace taeda::cpu
