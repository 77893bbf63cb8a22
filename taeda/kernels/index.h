// Slots of indexing.
//
// Note [Rows]
// Indexing picks rows: with the indexed dimensions taken out, what is left of a tensor is a strided
// block ("rest"), and the indices of one result position become one offset, in elements, from the
// block at index zero. All of advanced indexing is then: offsets from indices, and moving blocks.
// Writers visit the indices in their order for every element, whatever the number of threads, so
// that results are the same in every run; of equal indices the last one wins, or all add up.
#pragma once

#include "taeda/kernels/slot.h"
#include "taeda/kernels/wrapping.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// What one index tensor contributes to the offsets.
struct IndexTerm {
  int64_t size;    ///< of the indexed dimension
  int64_t stride;  ///< of the indexed dimension, in elements
  int64_t dim;     ///< for the message; -1: "index out of range in self"
  bool wraps;      ///< negative indices count from the end
  bool first;      ///< sets the offsets instead of adding to them
};

/// offsets (contiguous, int64) = or += checked index * stride; `index` is int64, of offsets' shape.
/// Throws IndexError for an index outside its dimension.
inline Slot<void(const Tensor& offsets, const Tensor& index, const IndexTerm& term)>
    index_offsets_slot{"index"};

/// out[i] = the block at offsets[i]. `out` is [n, rest...], `block` is [rest...].
inline Slot<void(const Tensor& out, const Tensor& block, const Tensor& offsets)> index_get_slot{
    "index"};

/// The block at offsets[i] = or += values[i]. `values` is [n, rest...] of block's dtype.
inline Slot<void(const Tensor& block, const Tensor& offsets, const Tensor& values, bool accumulate)>
    index_put_slot{"index_put_"};

/// out[..i..] = self[..index[..i..]..] along `dim`; out has index's shape.
inline Slot<void(const Tensor& out, const Tensor& self, const Tensor& index, int64_t dim)>
    gather_slot{"gather"};

/// What becomes of an element that is written again.
enum class Meeting : int { Last, Sum, Product, Largest, Smallest };

/// `a` with `b`, which comes later; NaN is both extremes. Complex numbers have none.
template <class A>
TAEDA_HD TAEDA_ALWAYS_INLINE A meet(Meeting how, A a, A b) {
  if (how == Meeting::Sum) return wrapping::add(a, b);
  if (how == Meeting::Product) return wrapping::mul(a, b);
  if constexpr (requires { b < a; }) {
    // In two steps, which are no branches.
    const A extreme = (how == Meeting::Largest ? a < b : b < a) ? b : a;
    if (how != Meeting::Last) return b != b ? b : extreme;
  }
  return b;
}

/// self[..index[..i..]..] meets src[..i..] along `dim`; src is at least as large as index.
inline Slot<void(const Tensor& self, const Tensor& index, const Tensor& src, int64_t dim,
                 Meeting how)>
    scatter_slot{"scatter"};

/// out = value where mask, in elsewhere. All have one shape; out and in one dtype, mask is bool.
inline Slot<void(const Tensor& out, const Tensor& in, const Tensor& mask, const Scalar& value)>
    masked_fill_slot{"masked_fill"};

/// count[0] = the number of elements of `in` (contiguous) that are not zero.
inline Slot<void(const Tensor& count, const Tensor& in)> nonzero_count_slot{"nonzero"};
/// out[i] = the coordinates of the i-th element that is not zero, in row-major order.
inline Slot<void(const Tensor& out, const Tensor& in)> nonzero_slot{"nonzero"};

template <class F>
void for_each_index_slot(F&& f) {
  visit_slots<&index_offsets_slot, &index_get_slot, &index_put_slot, &gather_slot, &scatter_slot,
              &masked_fill_slot, &nonzero_count_slot, &nonzero_slot>(f);
}

}  // namespace taeda::inline v0_2
