// What a reduction over ranks does with their elements.
#pragma once

#include <cstdint>

#include "taeda/base/dtype.h"

namespace taeda::inline v0_2::distributed {

/// torch.distributed.ReduceOp; enumerators and their values are libtorch's.
///
/// For bool, a sum or a maximum is `or`, a product or a minimum is `and`. The average is the sum
/// divided by the number of ranks, truncated for integers.
/// BAND, BOR and BXOR throw ValueError for dtypes of floating-point numbers.
struct ReduceOp {
  enum Kind : uint8_t { SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM };

  constexpr ReduceOp(Kind k = SUM) : kind(k) {}
  /// The sum of what each rank has multiplied with its own `factor`.
  static constexpr ReduceOp premul_sum(double factor) {
    ReduceOp op(PREMUL_SUM);
    op.factor = factor;
    return op;
  }

  Kind kind;
  double factor = 1;
};

/// The name of the reduction, "SUM", "AVG" and so on.
const char* to_string(ReduceOp::Kind kind);
/// Throws ValueError, naming `operation`, for a reduction that means nothing for the dtype.
void check_reducible(const char* operation, ReduceOp op, ScalarType dtype);

}  // namespace taeda::distributed
