// Slots of the reductions. The output has the input's dimensions without the reduced ones, or with
// them at size 1; it never has elements whose input is empty unless the reduction has an identity.
#pragma once

#include "taeda/kernels/slot.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// A set of dimensions, one bit each.
struct DimMask {
  uint64_t bits = 0;
  bool has(int64_t d) const { return bits >> d & 1; }
  void add(int64_t d) { bits |= uint64_t{1} << d; }
};

using ReduceSlot = Slot<void(const Tensor& out, const Tensor& in, DimMask dims)>;

/// Integers and bool are summed and multiplied into int64.
inline ReduceSlot sum_slot{"sum"};
/// Of the elements that are not NaN; floating dtypes.
inline ReduceSlot nansum_slot{"nansum"};
inline ReduceSlot mean_slot{"mean"};
inline ReduceSlot prod_slot{"prod"};
inline ReduceSlot amax_slot{"amax"};
inline ReduceSlot amin_slot{"amin"};
/// Both extremes.
inline Slot<void(const Tensor& least, const Tensor& most, const Tensor& in, DimMask dims)>
    aminmax_slot{"aminmax"};
/// bool to bool.
inline ReduceSlot any_slot{"any"};
inline ReduceSlot all_slot{"all"};
/// (sum |x|^p)^(1/p) with the limits p = 0 (number of nonzero elements), inf and -inf.
inline Slot<void(const Tensor& out, const Tensor& in, DimMask dims, double p)> norm_slot{"norm"};
/// Mean, and sum (x - mean)^2 / max(0, count - correction) or, with `root`, the square root of
/// that. Both are computed in double: a deviation may fit where its square does not, and a mean
/// that is large beside the deviations takes float's digits from them.
inline Slot<void(const Tensor& var, const Tensor& mean, const Tensor& in, DimMask dims,
                 double correction, bool root)>
    var_slot{"var"};

/// Extreme value along `dim` and the index of its first occurrence; NaN is extreme. `values` may be
/// undefined.
using ArgReduceSlot =
    Slot<void(const Tensor& values, const Tensor& indices, const Tensor& in, int64_t dim)>;
inline ArgReduceSlot max_dim_slot{"max"};
inline ArgReduceSlot min_dim_slot{"min"};
/// The lower median along `dim` (NaN if there is one) and an index where it stands.
inline ArgReduceSlot median_slot{"median"};
/// The same of the elements that are not NaN; NaN if there are no others.
inline ArgReduceSlot nanmedian_slot{"nanmedian"};

template <class F>
void for_each_reduce_slot(F&& f) {
  visit_slots<&sum_slot, &nansum_slot, &mean_slot, &prod_slot, &amax_slot, &amin_slot,
              &aminmax_slot, &any_slot, &all_slot, &norm_slot, &var_slot, &max_dim_slot,
              &min_dim_slot, &median_slot, &nanmedian_slot>(f);
}

}  // namespace taeda::inline v0_2
