#include "taeda/device/mt19937.h"

#include <algorithm>

#include "taeda/device/random_fill.h"

namespace taeda::inline v0_2::detail {

Mt19937::Mt19937(uint32_t seed) {
  state_[0] = seed;
  for (uint32_t i = 1; i < kSize; ++i)
    state_[i] = 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + i;
}

void Mt19937::refill() {
  mt19937_twist(state_.data());
  mt19937_temper(state_.data(), output_.data());
  position_ = 0;
}

const uint32_t* Mt19937::take(int64_t most, int64_t* n) {
  if (position_ == kSize) refill();
  const uint32_t* first = output_.data() + position_;
  *n = std::min<int64_t>(most, kSize - position_);
  position_ += static_cast<int>(*n);
  return first;
}

void Mt19937::restore(const std::array<uint32_t, kSize>& words, int position) {
  state_ = words;
  mt19937_temper(state_.data(), output_.data());
  position_ = position;
}

}  // namespace taeda::detail
