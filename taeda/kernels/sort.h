// Slots of ordering. NaN is larger than every number; equal elements keep their order.
#pragma once

#include "taeda/kernels/slot.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// Sorts `in` along `dim`; `indices` (int64) say where each value was. All have one shape.
inline Slot<void(const Tensor& values, const Tensor& indices, const Tensor& in, int64_t dim,
                 bool descending)>
    sort_slot{"sort"};

/// The k = values.size(dim) largest (smallest) elements along `dim`, in order.
inline Slot<void(const Tensor& values, const Tensor& indices, const Tensor& in, int64_t dim,
                 bool largest)>
    topk_slot{"topk"};

/// The k-th smallest element along `dim`, from 1, and where it stands. All are contiguous; the
/// outputs have in's dimensions without `dim`, or with it at size 1.
inline Slot<void(const Tensor& values, const Tensor& indices, const Tensor& in, int64_t dim,
                 int64_t k)>
    kthvalue_slot{"kthvalue"};

/// out = 0, 0, .., 1, 1, ..: i is repeated counts[i] times. Both contiguous int64; the counts sum
/// to the size of `out`.
inline Slot<void(const Tensor& out, const Tensor& counts)> repeat_counts_slot{"repeat_interleave"};

/// out[i] = number of entries of the sorted row that are smaller than values[i] (`right`: or
/// equal). All contiguous; `sorted` is [rows or 1, n], values and out (int64) are [rows, m].
inline Slot<void(const Tensor& out, const Tensor& sorted, const Tensor& values, bool right)>
    searchsorted_slot{"searchsorted"};

template <class F>
void for_each_sort_slot(F&& f) {
  visit_slots<&sort_slot, &topk_slot, &kthvalue_slot, &repeat_counts_slot, &searchsorted_slot>(f);
}

}  // namespace taeda
