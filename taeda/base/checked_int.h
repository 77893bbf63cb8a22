// Arithmetic on sizes that does not wrap around.
#pragma once

#include <concepts>
#include <cstdint>

#include "taeda/base/error.h"

namespace taeda::inline v0_2 {

/// An int64 that knows whether anything it came from lies beyond 64 bits. Formulas on sizes,
/// strides and paddings are written with it as they would be with plain numbers, and checked once,
/// where their value is taken.
class CheckedInt {
 public:
  template <std::integral T>
  constexpr CheckedInt(T value) : value_(static_cast<int64_t>(value)) {}

  bool representable() const { return !beyond_; }
  /// Throws Error naming the operation if there is no such number.
  int64_t value(const char* op) const {
    TAEDA_CHECK(!beyond_, op, ": integer overflow in the calculation of sizes");
    return value_;
  }

  friend constexpr CheckedInt operator+(CheckedInt a, CheckedInt b) {
    CheckedInt out(a, b);
    out.beyond_ |= __builtin_add_overflow(a.value_, b.value_, &out.value_);
    return out;
  }
  friend constexpr CheckedInt operator-(CheckedInt a, CheckedInt b) {
    CheckedInt out(a, b);
    out.beyond_ |= __builtin_sub_overflow(a.value_, b.value_, &out.value_);
    return out;
  }
  friend constexpr CheckedInt operator*(CheckedInt a, CheckedInt b) {
    CheckedInt out(a, b);
    out.beyond_ |= __builtin_mul_overflow(a.value_, b.value_, &out.value_);
    return out;
  }
  /// Towards zero. Throws nothing: division by zero is beyond, too.
  friend constexpr CheckedInt operator/(CheckedInt a, CheckedInt b) {
    CheckedInt out(a, b);
    if (b.value_ == 0 || (b.value_ == -1 && a.value_ == INT64_MIN))
      out.beyond_ = true;
    else
      out.value_ = a.value_ / b.value_;
    return out;
  }

 private:
  constexpr CheckedInt(CheckedInt a, CheckedInt b) : beyond_(a.beyond_ || b.beyond_) {}

  int64_t value_ = 0;
  bool beyond_ = false;
};

}  // namespace taeda::inline v0_2
