// Pooling of channels-last images: neighbouring channels lie side by side, so an output's channels
// go through its window together, a few registers of them at a time.
#pragma once

#include <limits>

#include "taeda/cpu/kernels/half_rows.h"
#include "taeda/cpu/kernels/pool_geometry.h"
#include "taeda/cpu/kernels/simd.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

namespace detail {

/// As many elements as a register has lanes.
template <class C>
using Whole = std::integral_constant<int64_t, kLanes<C>>;

/// A register of C from n elements of T, and back; n is Whole<C> or a smaller number.
template <class C, class T, class N>
TAEDA_ALWAYS_INLINE Vec<C> load_as(const T* from, N n) {
  if constexpr (!std::is_same_v<T, C>) {
    C lanes[kLanes<C>] = {};
    widen(lanes, from, n);
    return load(lanes);
  } else if constexpr (std::is_same_v<N, Whole<C>>) {
    return load(from);
  } else {
    return load_first(from, n);
  }
}
template <class T, class C, class N>
TAEDA_ALWAYS_INLINE void store_as(T* to, Vec<C> v, N n) {
  if constexpr (!std::is_same_v<T, C>) {
    C lanes[kLanes<C>];
    store(lanes, v);
    narrow(to, lanes, n);
  } else if constexpr (std::is_same_v<N, Whole<C>>) {
    store(to, v);
  } else {
    store_first(to, v, n);
  }
}

/// Calls f.operator()<K>(c, n) for blocks of K registers of n channels from c on. What does not
/// fill a register is taken again with its neighbours, or, if there are none, is a part of one.
template <class C, class F>
TAEDA_ALWAYS_INLINE void for_each_register(int64_t channels, F&& f) {
  constexpr Whole<C> whole;
  constexpr int64_t lanes = whole;
  if (channels < lanes) return f.template operator()<1>(0, channels);
  int64_t c = 0;
  for (; c + 4 * lanes <= channels; c += 4 * lanes) f.template operator()<4>(c, whole);
  for (; c + lanes <= channels; c += lanes) f.template operator()<1>(c, whole);
  if (c < channels) f.template operator()<1>(channels - lanes, whole);
}

/// Calls f(image, number of the output, z, y, x) for every output of every image.
template <class F>
void for_each_last_output(const Planes& p, int64_t work, F&& f) {
  const int64_t rows = p.out[0] * p.out[1];
  const int64_t grain = std::max<int64_t>(1, kParallelGrain / std::max<int64_t>(1, work));
  parallel_for(0, p.count / p.channels * rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      for (int64_t x = 0; x < p.out[2]; ++x)
        f(i / rows, i * p.out[2] + x, i % rows / p.out[1], i % p.out[1], x);
  });
}

}  // namespace detail

template <class T>
void average_last(const Planes& p, const Regions& regions, const T* in, T* out) {
  using namespace detail;
  using C = opmath_t<T>;
  constexpr int64_t l = kLanes<C>;
  const int64_t channels = p.channels, rows = p.out[0] * p.out[1];
  const int64_t work = (p.in_size() / rows + p.out[2] * 4) * channels;
  for_each_last_output(p, work, [&](int64_t n, int64_t o, int64_t z, int64_t y, int64_t x) {
    const Region r = regions(z, y, x);
    const T* image = in + n * p.in_size() * channels;
    T* to = out + o * channels;
    const C divisor = static_cast<C>(r.divisor);
    for_each_register<C>(channels, [&]<int K>(int64_t c, auto count) {
      Vec<C> sum[K] = {};
      for_each_input(p, r, [&](int64_t at) {
        const T* from = image + at * channels + c;
#pragma GCC unroll 4
        for (int k = 0; k < K; ++k) sum[k] += load_as<C>(from + k * l, count);
      });
#pragma GCC unroll 4
      for (int k = 0; k < K; ++k) store_as<T, C>(to + c + k * l, sum[k] / divisor, count);
    });
  });
}

/// n numbers of winners, of which a register is full, to memory for Index.
template <class Index, class Numbers>
TAEDA_ALWAYS_INLINE void store_numbers(char* to, const Numbers& numbers, int64_t n) {
  typedef Index Narrow
      __attribute__((vector_size(sizeof(Index) * (sizeof numbers / sizeof numbers[0]))));
  const Narrow narrow = __builtin_convertvector(numbers, Narrow);
  std::memcpy(to, &narrow, sizeof(Index) * static_cast<size_t>(n));
}

template <class T>
void max_pool_last(const Planes& p, const Window& w, const T* in, T* out, const Winners& winners) {
  using namespace detail;
  using C = opmath_t<T>;
  using Number = std::conditional_t<sizeof(C) == 8, int64_t, int32_t>;
  constexpr int64_t l = kLanes<C>;
  constexpr C kLeast = -std::numeric_limits<C>::infinity();
  const int64_t channels = p.channels, work = p.out[2] * w.size() * channels;
  for_each_last_output(p, work, [&](int64_t n, int64_t o, int64_t z, int64_t y, int64_t x) {
    const Taps taps(p, w, z, y, x);
    const T* image = in + n * p.in_size() * channels;
    T* to = out + o * channels;
    for_each_register<C>(channels, [&]<int K>(int64_t c, auto count) {
      Vec<C> best[K];
      Vec<Number> number[K];
#pragma GCC unroll 4
      for (int k = 0; k < K; ++k) {
        best[k] = Vec<C>{} + kLeast;
        number[k] = Vec<Number>{} + taps.first();
      }
      taps.for_each([&](int64_t at, int32_t tap) {
        const T* from = image + at * channels + c;
#pragma GCC unroll 4
        for (int k = 0; k < K; ++k) {
          const Vec<C> value = load_as<C>(from + k * l, count);
          const auto wins = (value > best[k]) | (value != value);
          best[k] = wins ? value : best[k];
          number[k] = wins ? Vec<Number>{} + tap : number[k];
        }
      });
#pragma GCC unroll 4
      for (int k = 0; k < K; ++k) {
        store_as<T, C>(to + c + k * l, best[k], count);
        if (!winners.wanted()) continue;
        char* const numbers = winners.at(o * channels + c + k * l);
        if (winners.are_bytes())
          store_numbers<uint8_t>(numbers, number[k], count);
        else
          store_numbers<int32_t>(numbers, number[k], count);
      }
    });
  });
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
