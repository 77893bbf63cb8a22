// Slots of the cumulative operations. Tensors are contiguous and of the same sizes; the scan runs
// along `dim`. Sums and products take and give one dtype; floats are accumulated in double.
#pragma once

#include "taeda/kernels/slot.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

using ScanSlot = Slot<void(const Tensor& out, const Tensor& in, int64_t dim)>;
inline ScanSlot cumsum_slot{"cumsum"};
inline ScanSlot cumprod_slot{"cumprod"};
/// The extreme value so far and the position of its last occurrence; NaN is extreme.
using ScanIndexSlot =
    Slot<void(const Tensor& values, const Tensor& indices, const Tensor& in, int64_t dim)>;
inline ScanIndexSlot cummax_slot{"cummax"};
inline ScanIndexSlot cummin_slot{"cummin"};

template <class F>
void for_each_scan_slot(F&& f) {
  visit_slots<&cumsum_slot, &cumprod_slot, &cummax_slot, &cummin_slot>(f);
}

}  // namespace taeda
