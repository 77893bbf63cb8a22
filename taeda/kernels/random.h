// Slots of random numbers by Philox: element i, in row-major order, depends on the seed, the
// kernel's offset and i alone (kernels/philox.h). Outputs are contiguous. On the CPU no operation
// draws this way: all follow PyTorch's sequence (device/generator.h).
#pragma once

#include "taeda/device/generator.h"
#include "taeda/kernels/slot.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// In [from, to); 24 bits, or 53 for double. What rounds to `to` becomes `from`.
inline Slot<void(const Tensor& out, double from, double to, const PhiloxState& state)> uniform_slot{
    "uniform_"};
/// Normal numbers; elements 2i and 2i + 1 are a pair.
inline Slot<void(const Tensor& out, double mean, double std, const PhiloxState& state)> normal_slot{
    "normal_"};
/// Integers in [from, from + range).
inline Slot<void(const Tensor& out, int64_t from, uint64_t range, const PhiloxState& state)>
    randint_slot{"random_"};
/// out = in * scale where 32 random bits are below `keep` * 2^32, else 0. `in` is contiguous and
/// may be `out`.
inline Slot<void(const Tensor& out, const Tensor& in, double keep, double scale,
                 const PhiloxState& state)>
    dropout_slot{"dropout"};

/// out = in / keep where `kept` has a bit of its 64-bit words set, else in * 0; dense, in memory's
/// order. 1 / keep is rounded to the dtype, as PyTorch's mask is. `in` may be `out`.
inline Slot<void(const Tensor& out, const Tensor& in, const Tensor& kept, double keep)>
    dropout_kept_slot{"dropout"};

template <class F>
void for_each_random_slot(F&& f) {
  visit_slots<&uniform_slot, &normal_slot, &randint_slot, &dropout_slot, &dropout_kept_slot>(f);
}

}  // namespace taeda::inline v0_2
