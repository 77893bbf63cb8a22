// Slots of filling and of copies on one device.
#pragma once

#include "taeda/kernels/pointwise.h"

namespace taeda::inline v0_2 {

/// Every element becomes `value`.
struct Fill {
  static constexpr const char* name = "fill";
  static constexpr int arity = 0;
  using Types = AllTypes;
  Scalar value;

  template <class T>
  struct Bound {
    T value;
    TAEDA_HD T operator()() const { return value; }
  };
  template <class T>
  Bound<T> bind() const {
    // Beyond the range of 16-bit floats is infinity, for masks of -1e9.
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
      if (!value.is_complex()) return {value.cast<T>()};
    return {value.to<T>()};
  }
};

/// out = in, converting between any two dtypes; any strides. The Iter's common dtype is the
/// input's.
inline Slot<void(const Iter&)> copy_slot{"copy"};

template <class F>
void for_each_copy_slot(F&& f) {
  visit_slots<&pointwise_slot<Fill>, &copy_slot>(f);
}

}  // namespace taeda
