// How two ranks' elements become one, for every dtype: what the algorithms of Gloo and MPI call.
#pragma once

#include <cstddef>

#include "taeda/distributed/group/reduce_op.h"

namespace taeda::inline v0_2::distributed {

/// out[i] = a[i] op b[i] for n elements; `out` may be `a` or `b`. Never rounds but to the dtype, so
/// that the order of two does not matter.
using ReduceFunction = void (*)(void* out, const void* a, const void* b, size_t n);

/// The function for SUM, PRODUCT, MIN, MAX, BAND, BOR or BXOR. Throws Error for a pair that
/// `check_reducible` does not let through.
ReduceFunction reduce_function(ReduceOp::Kind op, ScalarType dtype);

}  // namespace taeda::distributed
