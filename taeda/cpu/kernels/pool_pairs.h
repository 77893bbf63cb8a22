// Pooling with windows of 1 x 2 or 2 x 2, side by side, float: a register of outputs at a time.
// Rows is the windows' height.
#pragma once

#include <algorithm>

#include "taeda/cpu/kernels/simd.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

namespace detail {

template <class V, int... I>
TAEDA_ALWAYS_INLINE V even_lanes(V a, V b, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(a, b, (2 * I)...);
}
template <class V, int... I>
TAEDA_ALWAYS_INLINE V odd_lanes(V a, V b, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(a, b, (2 * I + 1)...);
}

constexpr int kPairLanes = kLanes<float>;
constexpr std::make_integer_sequence<int, kPairLanes> kPairIndex;
using PairBytes = uint8_t __attribute__((vector_size(kPairLanes)));

/// 2n floats as n even and n odd ones.
TAEDA_ALWAYS_INLINE void load_pairs(const float* in, int64_t n, Vec<float>* even, Vec<float>* odd) {
  const int64_t first = std::min<int64_t>(2 * n, kPairLanes), second = 2 * n - first;
  const Vec<float> a = first == kPairLanes ? load(in) : load_first(in, first);
  const Vec<float> b = second == kPairLanes ? load(in + kPairLanes)
                       : second > 0         ? load_first(in + kPairLanes, second)
                                            : Vec<float>{};
  *even = even_lanes(a, b, kPairIndex);
  *odd = odd_lanes(a, b, kPairIndex);
}

/// Takes `value` where it beats `best`, and notes its number.
TAEDA_ALWAYS_INLINE void contend(Vec<float> value, int number, Vec<float>* best,
                                 Vec<int32_t>* winner) {
  const Vec<int32_t> wins = (value > *best) | (value != value);
  *best = wins ? value : *best;
  *winner = wins ? Vec<int32_t>{} + number : *winner;
}

/// n pairs of lanes, side by side.
TAEDA_ALWAYS_INLINE void store_pairs(float* out, Vec<float> even, Vec<float> odd, int64_t n) {
  const int64_t first = std::min<int64_t>(2 * n, kPairLanes), second = 2 * n - first;
  const Vec<float> low = interleave_low(even, odd, kPairIndex);
  if (first == kPairLanes)
    store(out, low);
  else
    store_first(out, low, first);
  if (second == 0) return;
  const Vec<float> high = interleave_high(even, odd, kPairIndex);
  if (second == kPairLanes)
    store(out + kPairLanes, high);
  else
    store_first(out + kPairLanes, high, second);
}

}  // namespace detail

/// One channel: `winner` (may be null) gets 0 to 3, row-major in the window.
template <int Rows>
void max_pool_pairs(const float* in, int64_t in_width, int64_t out_height, int64_t out_width,
                    float* out, uint8_t* winner) {
  using namespace detail;
  for (int64_t y = 0; y < out_height; ++y, in += Rows * in_width) {
    for (int64_t x = 0; x < out_width; x += kPairLanes) {
      const int64_t n = std::min<int64_t>(kPairLanes, out_width - x);
      Vec<float> best, value;
      Vec<int32_t> number = {};
      load_pairs(in + 2 * x, n, &best, &value);
      contend(value, 1, &best, &number);
      if constexpr (Rows == 2) {
        Vec<float> lower[2];
        load_pairs(in + in_width + 2 * x, n, &lower[0], &lower[1]);
        contend(lower[0], 2, &best, &number);
        contend(lower[1], 3, &best, &number);
      }
      if (n == kPairLanes)
        store(out + x, best);
      else
        store_first(out + x, best, n);
      if (!winner) continue;
      const PairBytes bytes = __builtin_convertvector(number, PairBytes);
      std::memcpy(winner + x, &bytes, n == kPairLanes ? kPairLanes : static_cast<size_t>(n));
    }
    out += out_width;
    if (winner) winner += out_width;
  }
}

/// One channel's sums of windows, in the order of rows, divided.
template <int Rows>
void average_pairs(const float* in, int64_t in_width, int64_t out_height, int64_t out_width,
                   float divisor, float* out) {
  using namespace detail;
  for (int64_t y = 0; y < out_height; ++y, in += Rows * in_width, out += out_width) {
    for (int64_t x = 0; x < out_width; x += kPairLanes) {
      const int64_t n = std::min<int64_t>(kPairLanes, out_width - x);
      Vec<float> sum = {};
      for (int r = 0; r < Rows; ++r) {
        Vec<float> even, odd;
        load_pairs(in + r * in_width + 2 * x, n, &even, &odd);
        sum = sum + even + odd;
      }
      const Vec<float> mean = sum / (Vec<float>{} + divisor);
      if (n == kPairLanes)
        store(out + x, mean);
      else
        store_first(out + x, mean, n);
    }
  }
}

/// Writes all of a channel's gradient: a share for each of a window.
template <int Rows>
void average_pairs_backward(const float* grad_out, int64_t out_height, int64_t out_width,
                            float divisor, float* grad_in, int64_t in_height, int64_t in_width) {
  using namespace detail;
  for (int64_t y = 0; y < out_height; ++y, grad_in += Rows * in_width, grad_out += out_width) {
    for (int64_t x = 0; x < out_width; x += kPairLanes) {
      const int64_t n = std::min<int64_t>(kPairLanes, out_width - x);
      const Vec<float> g = n == kPairLanes ? load(grad_out + x) : load_first(grad_out + x, n);
      const Vec<float> share = Vec<float>{} + g / (Vec<float>{} + divisor);
      for (int r = 0; r < Rows; ++r) store_pairs(grad_in + r * in_width + 2 * x, share, share, n);
    }
    for (int r = 0; r < Rows; ++r)
      std::fill_n(grad_in + r * in_width + 2 * out_width, in_width - 2 * out_width, 0.0f);
  }
  std::fill_n(grad_in, (in_height - Rows * out_height) * in_width, 0.0f);
}

/// Writes all of a channel's gradient.
template <int Rows>
void max_pool_pairs_backward(const float* grad_out, const uint8_t* winner, int64_t out_height,
                             int64_t out_width, float* grad_in, int64_t in_height,
                             int64_t in_width) {
  using namespace detail;
  for (int64_t y = 0; y < out_height; ++y, grad_in += Rows * in_width) {
    for (int64_t x = 0; x < out_width; x += kPairLanes) {
      const int64_t n = std::min<int64_t>(kPairLanes, out_width - x);
      const Vec<float> g = n == kPairLanes ? load(grad_out + x) : load_first(grad_out + x, n);
      PairBytes bytes = {};
      std::memcpy(&bytes, winner + x, n == kPairLanes ? kPairLanes : static_cast<size_t>(n));
      const Vec<int32_t> number = __builtin_convertvector(bytes, Vec<int32_t>);
      const Vec<float> zero = {};
      for (int r = 0; r < Rows; ++r)
        store_pairs(grad_in + r * in_width + 2 * x, number == 2 * r ? g : zero,
                    number == 2 * r + 1 ? g : zero, n);
    }
    for (int r = 0; r < Rows; ++r)
      std::fill_n(grad_in + r * in_width + 2 * out_width, in_width - 2 * out_width, 0.0f);
    grad_out += out_width;
    winner += out_width;
  }
  std::fill_n(grad_in, (in_height - Rows * out_height) * in_width, 0.0f);
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
