// The Mersenne Twister of Matsumoto and Nishimura (ACM TOMACS 8, 1998), a block of 624 at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace taeda::inline v0_2::detail {

class Mt19937 {
 public:
  static constexpr int kSize = 624;

  explicit Mt19937(uint32_t seed);
  uint32_t operator()() {
    if (position_ == kSize) refill();
    return output_[static_cast<size_t>(position_++)];
  }
  /// Up to `most` numbers that come next, already in a row; sets `n` and steps past them.
  const uint32_t* take(int64_t most, int64_t* n);

  const std::array<uint32_t, kSize>& words() const { return state_; }
  /// Numbers of the current block already used.
  int position() const { return position_; }
  void restore(const std::array<uint32_t, kSize>& words, int position);

 private:
  void refill();

  std::array<uint32_t, kSize> state_;
  std::array<uint32_t, kSize> output_;  // tempered state_
  int position_ = kSize;
};

}  // namespace taeda::detail
