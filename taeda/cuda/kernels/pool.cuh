// What kernels of pooling share: where windows lie, their winners, neighbours.
//
// Note [Neighbours]
// A thread computes neighbours in memory together, where sizes and addresses allow: of contiguous
// gradients four positions of a line, which look at the same windows; in channels-last memory four
// channels, which have everything but the numbers in common. So coordinates are found once for
// four, and moved in words of 16 bytes. Coordinates are 32 bits wide while both tensors are small
// enough: a GPU has no division, and multiplies 64 bits in pieces.
#pragma once

#include <algorithm>
#include <initializer_list>

#include "taeda/cuda/kernels/rows.cuh"
#include "taeda/kernels/pool.h"

namespace taeda::inline v0_2::gpu {

/// Channels and their windows, with three spatial dimensions; missing ones are 1, at the front.
struct PoolPlanes {
  Divider in[3], out[3], stride[3], dilation[3];
  int64_t kernel[3] = {1, 1, 1}, padding[3] = {0, 0, 0};
  bool adaptive = true, count_padding = true;
  int64_t divisor = 0;
  // Channels-last memory: elements from a position to the next one of its channel, or 1.
  Divider channels;
  int64_t step = 1;

  PoolPlanes(const Tensor& input, const Tensor& output, int ndim) {
    for (int d = 0; d < ndim; ++d) {
      in[3 - ndim + d] = Divider(input.size(d - ndim));
      out[3 - ndim + d] = Divider(output.size(d - ndim));
    }
    if (!is_channels_last_only(input) && !is_channels_last_only(output)) return;
    channels = Divider(input.size(1));
    step = input.size(1);
  }
  PoolPlanes(const Tensor& input, const Tensor& output, const PoolGeometry& g)
      : PoolPlanes(input, output, g.ndim) {
    adaptive = false;
    for (int d = 0; d < g.ndim; ++d) {
      const int at = 3 - g.ndim + d;
      kernel[at] = g.kernel[d], stride[at] = Divider(g.stride[d]);
      padding[at] = g.padding[d], dilation[at] = Divider(g.dilation[d]);
    }
  }
  PoolPlanes(const Tensor& input, const Tensor& output, const AveragePoolGeometry& g)
      : PoolPlanes(input, output, static_cast<const PoolGeometry&>(g)) {
    count_padding = g.count_include_pad;
    divisor = g.divisor;
  }
  __host__ __device__ int64_t in_size() const {
    return in[0].divisor * in[1].divisor * in[2].divisor;
  }
  __host__ __device__ int64_t out_size() const {
    return out[0].divisor * out[1].divisor * out[2].divisor;
  }
  /// Calls f with a number of the type that coordinates and addresses are computed in.
  template <class F>
  void with_index(const Tensor& a, const Tensor& b, F&& f) const {
    constexpr int64_t kLimit = int64_t{1} << 28;
    bool small = std::max(a.numel(), b.numel()) < 4 * kLimit;
    int64_t volume = 1;
    for (int d = 0; d < 3; ++d) {
      small = small && std::max({kernel[d], stride[d].divisor, padding[d]}) < kLimit &&
              kernel[d] * dilation[d].divisor < kLimit && (volume *= kernel[d]) < kLimit;
    }
    if (small) return f(int32_t());
    f(int64_t());
  }
  /// Whether four channels can be taken together, or four positions of the input.
  bool by_channels() const { return step % 4 == 0; }
  bool by_positions() const { return step == 1 && in[2].divisor % 4 == 0; }

  /// Splits an element's number into its coordinates; where its channel begins on the other side,
  /// whose channels have `size` positions.
  template <class I>
  __device__ I locate(const Divider (&sizes)[3], int64_t size, I i, I (&at)[3]) const {
    I channel = 0;
    if (step != 1) channels.divide(i, i, channel);
    for (int d = 2; d >= 0; --d) sizes[d].divide(i, i, at[d]);
    return i * static_cast<I>(size * step) + channel;
  }
  template <class I>
  __device__ I offset(const I (&at)[3]) const {
    return (at[0] * static_cast<I>(in[1].divisor) + at[1]) * static_cast<I>(in[2].divisor) + at[2];
  }
  template <class I>
  __device__ I out_offset(I z, I y, I x) const {
    return (z * static_cast<I>(out[1].divisor) + y) * static_cast<I>(out[2].divisor) + x;
  }
  /// Where output o's window begins.
  template <class I>
  __device__ I start(int d, I o) const {
    return o * static_cast<I>(stride[d].divisor) - static_cast<I>(padding[d]);
  }
  /// The input that output o sees, along a dimension without dilation; [begin, end) may be empty.
  template <class I>
  __device__ void range(int d, I o, I& begin, I& end) const {
    const I size = static_cast<I>(in[d].divisor);
    if (adaptive) {
      begin = scaled(o, in[d], out[d], 0);
      end = scaled(o + 1, in[d], out[d], out[d].divisor - 1);
      return;
    }
    begin = start(d, o);
    end = begin + static_cast<I>(kernel[d]) < size ? begin + static_cast<I>(kernel[d]) : size;
    begin = begin > 0 ? begin : 0;
  }
  /// How many elements an average of output o counts along a dimension.
  template <class I>
  __device__ I counted(int d, I o) const {
    I begin, end;
    range(d, o, begin, end);
    if (adaptive || !count_padding) return end > begin ? end - begin : 0;
    const I first = start(d, o), last = first + static_cast<I>(kernel[d]),
            limit = static_cast<I>(in[d].divisor + padding[d]);
    return (last < limit ? last : limit) - first;
  }
  /// What it divides by, of these numbers.
  template <class A>
  __device__ A average_divisor(int64_t z, int64_t y, int64_t x) const {
    return static_cast<A>(divisor ? divisor : z * y * x);
  }
  /// Outputs that may see the inputs i to `end` along a dimension: [first, last].
  template <class I>
  __device__ void outputs(int d, I i, I end, I& first, I& last) const {
    const I size = static_cast<I>(out[d].divisor);
    if (adaptive) {
      first = scaled(i, out[d], in[d], 0);
      last = scaled(end + 1, out[d], in[d], in[d].divisor - 1) - 1;
    } else {
      const I reach = static_cast<I>((kernel[d] - 1) * dilation[d].divisor),
              place = i + static_cast<I>(padding[d]), stride_of = static_cast<I>(stride[d].divisor);
      I rest;
      first = 0;
      if (place > reach) stride[d].divide(place - reach + stride_of - 1, first, rest);
      stride[d].divide(end + static_cast<I>(padding[d]), last, rest);
    }
    last = last < size ? last : size - 1;
  }
  /// Which place of window o reads input i, or -1.
  template <class I>
  __device__ I window_place(int d, I o, I i) const {
    I k, rest;
    dilation[d].divide(i - start(d, o), k, rest);
    return rest == 0 ? k : -1;
  }

 private:
  /// (i * a + more) / b.
  template <class I>
  __device__ static I scaled(I i, const Divider& a, const Divider& b, int64_t more) {
    int64_t quotient, rest;
    b.divide(i * a.divisor + more, quotient, rest);
    return static_cast<I>(quotient);
  }
};

/// The winners' positions in their windows: uint8, int32 or none.
struct Winners {
  char* data = nullptr;
  bool small = true;

  explicit Winners(const Tensor& t)
      : data(static_cast<char*>(t.defined() ? t.data_ptr() : nullptr)),
        small(!t.defined() || t.dtype() == kByte) {}
  /// Those of N neighbours.
  template <int N>
  __device__ void get(int64_t i, int32_t (&winner)[N]) const {
    if (small)
      get_as<uint8_t>(i, winner);
    else
      get_as<int32_t>(i, winner);
  }
  template <int N>
  __device__ void set(int64_t i, const int32_t (&winner)[N]) const {
    if (!data) return;
    if (small)
      set_as<uint8_t>(i, winner);
    else
      set_as<int32_t>(i, winner);
  }

 private:
  template <class T, int N>
  __device__ void get_as(int64_t i, int32_t (&winner)[N]) const {
    const auto pack = *reinterpret_cast<const Pack<T, N>*>(reinterpret_cast<const T*>(data) + i);
#pragma unroll
    for (int k = 0; k < N; ++k) winner[k] = pack.x[k];
  }
  template <class T, int N>
  __device__ void set_as(int64_t i, const int32_t (&winner)[N]) const {
    Pack<T, N> pack;
#pragma unroll
    for (int k = 0; k < N; ++k) pack.x[k] = static_cast<T>(winner[k]);
    *reinterpret_cast<Pack<T, N>*>(reinterpret_cast<T*>(data) + i) = pack;
  }
};

/// N neighbours, whose address is a multiple of theirs.
template <int N, class A>
__device__ void load_neighbours(const Reader<A>& in, int64_t i, A (&x)[N]) {
  with_stored<A>(in.dtype, [&]<class T>(T) {
    const auto pack = *reinterpret_cast<const Pack<T, N>*>(reinterpret_cast<const T*>(in.data) + i);
#pragma unroll
    for (int k = 0; k < N; ++k) x[k] = static_cast<A>(widen(pack.x[k]));
  });
}
/// C neighbours at each of `from`, from + apart, .., whose loads overlap; of B places `count`
/// count.
template <int B, int C, class A, class I>
__device__ void load_line(const Reader<A>& in, I from, I apart, I count, A (&x)[B][C]) {
  with_stored<A>(in.dtype, [&]<class T>(T) {
    Pack<T, C> packs[B];
#pragma unroll
    for (int b = 0; b < B; ++b)
      packs[b] = b < count ? *reinterpret_cast<const Pack<T, C>*>(
                                 reinterpret_cast<const T*>(in.data) + from + b * apart)
                           : Pack<T, C>{};
#pragma unroll
    for (int b = 0; b < B; ++b)
#pragma unroll
      for (int c = 0; c < C; ++c) x[b][c] = static_cast<A>(widen(packs[b].x[c]));
  });
}
template <int N, class A>
__device__ void store_neighbours(const Writer<A>& out, int64_t i, const A (&x)[N]) {
  with_stored<A>(out.dtype, [&]<class T>(T) {
    Pack<T, N> pack;
#pragma unroll
    for (int k = 0; k < N; ++k) pack.x[k] = narrow<T>(x[k]);
    *reinterpret_cast<Pack<T, N>*>(reinterpret_cast<T*>(out.data) + i) = pack;
  });
}
inline bool are_aligned(std::initializer_list<const void*> addresses) {
  return std::all_of(addresses.begin(), addresses.end(), is_aligned);
}

}  // namespace taeda::inline v0_2::gpu
