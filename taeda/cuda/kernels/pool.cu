// Pooling: a thread for each output, or backward for each input, which looks at the windows that
// hold it (Note [Neighbours]). So nothing is added twice, and sums have one order.
#include "taeda/cuda/kernels/rows.cuh"
#include "taeda/cuda/register.h"
#include "taeda/kernels/pool.h"

namespace taeda::inline v0_2::gpu {

namespace {

// Note [Neighbours]
// A thread computes neighbours in memory together, where sizes and addresses allow: of contiguous
// gradients four positions of a line, which look at the same windows; in channels-last memory four
// channels, which have everything but the numbers in common. So coordinates are found once for
// four, and moved in words of 16 bytes. Coordinates are 32 bits wide while both tensors are small
// enough: a GPU has no division, and multiplies 64 bits in pieces.

/// Channels and their windows, with three spatial dimensions; missing ones are 1, at the front.
struct Planes {
  Divider in[3], out[3], stride[3], dilation[3];
  int64_t kernel[3] = {1, 1, 1}, padding[3] = {0, 0, 0};
  bool adaptive = true, count_padding = true;
  int64_t divisor = 0;
  // Channels-last memory: elements from a position to the next one of its channel, or 1.
  Divider channels;
  int64_t step = 1;

  Planes(const Tensor& input, const Tensor& output, int ndim) {
    for (int d = 0; d < ndim; ++d) {
      in[3 - ndim + d] = Divider(input.size(d - ndim));
      out[3 - ndim + d] = Divider(output.size(d - ndim));
    }
    if (!is_channels_last_only(input) && !is_channels_last_only(output)) return;
    channels = Divider(input.size(1));
    step = input.size(1);
  }
  Planes(const Tensor& input, const Tensor& output, const PoolGeometry& g)
      : Planes(input, output, g.ndim) {
    adaptive = false;
    for (int d = 0; d < g.ndim; ++d) {
      const int at = 3 - g.ndim + d;
      kernel[at] = g.kernel[d], stride[at] = Divider(g.stride[d]);
      padding[at] = g.padding[d], dilation[at] = Divider(g.dilation[d]);
    }
  }
  Planes(const Tensor& input, const Tensor& output, const AveragePoolGeometry& g)
      : Planes(input, output, static_cast<const PoolGeometry&>(g)) {
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
bool are_aligned(std::initializer_list<const void*> addresses) {
  return std::all_of(addresses.begin(), addresses.end(), is_aligned);
}

constexpr int kLine = 4;  // elements of a line that are loaded together

/// The places [begin, end) of output o's window that lie inside of the input.
template <class I>
__device__ void places_inside(const Planes& p, int d, I o, I& begin, I& end) {
  const I first = p.start(d, o), size = static_cast<I>(p.in[d].divisor),
          dilation = static_cast<I>(p.dilation[d].divisor);
  I rest;
  begin = end = 0;
  if (first < 0) p.dilation[d].divide(dilation - 1 - first, begin, rest);
  if (first < size) p.dilation[d].divide(size - 1 - first + dilation, end, rest);
  end = end < static_cast<I>(p.kernel[d]) ? end : static_cast<I>(p.kernel[d]);
}

/// C neighbouring channels of an output.
template <class A, class I, int C>
__global__ void __launch_bounds__(kThreads)
    max_pool_kernel(const __grid_constant__ Planes p, const Reader<A> in, const Writer<A> out,
                    const Winners winners, int64_t n) {
  const I step = static_cast<I>(p.step), apart = static_cast<I>(p.dilation[2].divisor);
  for (int64_t t = thread_index(); t * C < n; t += thread_count()) {
    I at[3], begin[3], end[3];
    const I o = static_cast<I>(t * C), base = p.locate(p.out, p.in_size(), o, at);
    for (int d = 0; d < 3; ++d) places_inside(p, d, at[d], begin[d], end[d]);
    A best[C];
    int32_t winner[C];
    for (int c = 0; c < C; ++c) best[c] = minus_infinity<A>(), winner[c] = -1;
    for (I kz = begin[0]; kz < end[0]; ++kz)
      for (I ky = begin[1]; ky < end[1]; ++ky) {
        const I line[3] = {p.start(0, at[0]) + kz * static_cast<I>(p.dilation[0].divisor),
                           p.start(1, at[1]) + ky * static_cast<I>(p.dilation[1].divisor),
                           p.start(2, at[2])};
        const I from = p.offset(line),
                k = (kz * static_cast<I>(p.kernel[1]) + ky) * static_cast<I>(p.kernel[2]);
        for (I kx = begin[2]; kx < end[2]; kx += kLine) {
          A x[kLine][C];
          load_line(in, base + (from + kx * apart) * step, apart * step, end[2] - kx, x);
#pragma unroll
          for (int b = 0; b < kLine; ++b)
#pragma unroll
            for (int c = 0; c < C; ++c) {
              if (kx + b >= end[2] ||
                  (winner[c] >= 0 && !(x[b][c] > best[c] || x[b][c] != x[b][c])))
                continue;
              winner[c] = static_cast<int32_t>(k + kx + b);
              best[c] = x[b][c];
            }
        }
      }
    store_neighbours(out, o, best);
#pragma unroll
    for (int c = 0; c < C; ++c) winner[c] = winner[c] < 0 ? 0 : winner[c];
    winners.set(o, winner);
  }
}

void max_pool_cuda(const Tensor& out, const Tensor& window, const Tensor& in,
                   const PoolGeometry& g) {
  const int64_t n = out.numel();
  if (n == 0) return;
  const Context context(in.device());
  const Planes p(in, out, g);
  const Winners winners(window);
  const bool four = p.by_channels() && are_aligned({in.data_ptr(), out.data_ptr(), winners.data});
  dispatch_compute(FloatCompute{}, "max_pool", in.dtype(), [&]<class A>() {
    p.with_index(in, out, [&]<class I>(I) {
      if (four)
        max_pool_kernel<A, I, 4><<<blocks_for(n / 4), kThreads, 0, context.stream>>>(
            p, Reader<A>(in), Writer<A>(out), winners, n);
      else
        max_pool_kernel<A, I, 1><<<blocks_for(n), kThreads, 0, context.stream>>>(
            p, Reader<A>(in), Writer<A>(out), winners, n);
    });
  });
  context.launched("max_pool");
}

/// X neighbouring positions or C neighbouring channels of the input; one of the two is 1.
template <class A, class I, int X, int C>
__global__ void __launch_bounds__(kThreads)
    max_pool_backward_kernel(const __grid_constant__ Planes p, const Reader<A> grad,
                             const Writer<A> grad_in, const Winners winners, int64_t n) {
  for (int64_t t = thread_index(); t * X * C < n; t += thread_count()) {
    I at[3], first[3], last[3];
    const I i = static_cast<I>(t * X * C), base = p.locate(p.in, p.out_size(), i, at);
    for (int d = 0; d < 3; ++d) p.outputs(d, at[d], at[d] + (d < 2 ? 0 : X - 1), first[d], last[d]);
    A sum[X * C] = {};
    const I apart = static_cast<I>(p.dilation[2].divisor), width = static_cast<I>(p.kernel[2]);
    for (I z = first[0]; z <= last[0]; ++z)
      for (I y = first[1]; y <= last[1]; ++y) {
        const I kz = p.window_place(0, z, at[0]), ky = p.window_place(1, y, at[1]);
        if (kz < 0 || ky < 0) continue;
        const I line = (kz * static_cast<I>(p.kernel[1]) + ky) * width;
        for (I x = first[2]; x <= last[2]; ++x) {
          const I o = base + p.out_offset(z, y, x) * static_cast<I>(p.step);
          int32_t winner[C];
          winners.get(o, winner);
          I place[C];
          bool any = false;
#pragma unroll
          for (int c = 0; c < C; ++c) {
            const I kx = static_cast<I>(winner[c]) - line;
            place[c] = kx >= 0 && kx < width ? p.start(2, x) + kx * apart - at[2] : I(-1);
            any |= place[c] >= 0 && place[c] < X;
          }
          if (!any) continue;
          A g[C];
          load_neighbours(grad, o, g);
#pragma unroll
          for (int c = 0; c < C; ++c)
#pragma unroll
            for (int k = 0; k < X; ++k)
              if (place[c] == k) sum[k * C + c] += g[c];
        }
      }
    store_neighbours(grad_in, i, sum);
  }
}

void max_pool_backward_cuda(const Tensor& grad_in, const Tensor& grad_out, const Tensor& window,
                            const PoolGeometry& g) {
  const int64_t n = grad_in.numel();
  if (n == 0) return;
  const Context context(grad_in.device());
  const Planes p(grad_in, grad_out, g);
  const Winners winners(window);
  const bool aligned = are_aligned({grad_in.data_ptr(), grad_out.data_ptr(), winners.data});
  dispatch_compute(FloatCompute{}, "max_pool_backward", grad_in.dtype(), [&]<class A>() {
    p.with_index(grad_in, grad_out, [&]<class I>(I) {
      const auto launch = [&](auto kernel, int64_t threads) {
        kernel<<<blocks_for(threads), kThreads, 0, context.stream>>>(
            p, Reader<A>(grad_out), Writer<A>(grad_in), winners, n);
      };
      if (aligned && p.by_channels())
        launch(max_pool_backward_kernel<A, I, 1, 4>, n / 4);
      else if (aligned && p.by_positions())
        launch(max_pool_backward_kernel<A, I, 4, 1>, n / 4);
      else
        launch(max_pool_backward_kernel<A, I, 1, 1>, n);
    });
  });
  context.launched("max_pool_backward");
}

/// Where the winner of output o stands in its channel, which begins at `base`.
__device__ int64_t winner_place(const Planes& p, const Winners& winners, int64_t o, int64_t& base) {
  int64_t at[3], place[3];
  base = p.locate(p.out, p.in_size(), o, at);
  int32_t winner[1];
  winners.get(o, winner);
  int64_t k = winner[0];
  for (int d = 2; d >= 0; --d) {
    place[d] = p.start(d, at[d]) + k % p.kernel[d] * p.dilation[d].divisor;
    k /= p.kernel[d];
  }
  return p.offset(place);
}

template <class W>
__global__ void __launch_bounds__(kThreads)
    max_pool_gather_kernel(const __grid_constant__ Planes p, const W* in, W* out,
                           const Winners winners, int64_t n) {
  for (int64_t o = thread_index(); o < n; o += thread_count()) {
    int64_t base;
    const int64_t place = winner_place(p, winners, o, base);
    out[o] = in[base + place * p.step];
  }
}

void max_pool_gather_cuda(const Tensor& out, const Tensor& in, const Tensor& window,
                          const PoolGeometry& g) {
  const int64_t n = out.numel();
  if (n == 0) return;
  const Context context(in.device());
  with_word(in.element_size(), [&]<class W>(W) {
    max_pool_gather_kernel<W><<<blocks_for(n), kThreads, 0, context.stream>>>(
        Planes(in, out, g), static_cast<const W*>(in.data_ptr()), static_cast<W*>(out.data_ptr()),
        Winners(window), n);
  });
  context.launched("max_pool_gather");
}

__global__ void __launch_bounds__(kThreads)
    max_pool_indices_kernel(const __grid_constant__ Planes p, int64_t* indices,
                            const Winners winners, int64_t n) {
  for (int64_t o = thread_index(); o < n; o += thread_count()) {
    int64_t base;
    indices[o] = winner_place(p, winners, o, base);
  }
}

void max_pool_indices_cuda(const Tensor& indices, const Tensor& window, const Tensor& in,
                           const PoolGeometry& g) {
  const int64_t n = indices.numel();
  if (n == 0) return;
  const Context context(in.device());
  max_pool_indices_kernel<<<blocks_for(n), kThreads, 0, context.stream>>>(
      Planes(in, indices, g), static_cast<int64_t*>(indices.data_ptr()), Winners(window), n);
  context.launched("max_pool_indices");
}

/// C neighbouring channels of an output.
template <class A, class I, int C>
__global__ void __launch_bounds__(kThreads)
    average_kernel(const __grid_constant__ Planes p, const Reader<A> in, const Writer<A> out,
                   int64_t n) {
  const I step = static_cast<I>(p.step);
  for (int64_t t = thread_index(); t * C < n; t += thread_count()) {
    I at[3], begin[3], end[3];
    const I o = static_cast<I>(t * C), base = p.locate(p.out, p.in_size(), o, at);
    for (int d = 0; d < 3; ++d) p.range(d, at[d], begin[d], end[d]);
    A sum[C] = {};
    for (I z = begin[0]; z < end[0]; ++z)
      for (I y = begin[1]; y < end[1]; ++y)
        for (I x = begin[2]; x < end[2]; x += kLine) {
          const I first[3] = {z, y, x};
          A values[kLine][C];
          load_line(in, base + p.offset(first) * step, step, end[2] - x, values);
#pragma unroll
          for (int b = 0; b < kLine; ++b)
#pragma unroll
            for (int c = 0; c < C; ++c)
              if (x + b < end[2]) sum[c] += values[b][c];
        }
    const A divisor =
        p.average_divisor<A>(p.counted(0, at[0]), p.counted(1, at[1]), p.counted(2, at[2]));
#pragma unroll
    for (int c = 0; c < C; ++c) sum[c] /= divisor;
    store_neighbours(out, o, sum);
  }
}

/// X neighbouring positions or C neighbouring channels of the input; one of the two is 1.
template <class A, class I, int X, int C>
__global__ void __launch_bounds__(kThreads)
    average_backward_kernel(const __grid_constant__ Planes p, const Reader<A> grad,
                            const Writer<A> grad_in, int64_t n) {
  for (int64_t t = thread_index(); t * X * C < n; t += thread_count()) {
    I at[3], first[3], last[3];
    const I i = static_cast<I>(t * X * C), base = p.locate(p.in, p.out_size(), i, at);
    for (int d = 0; d < 3; ++d) p.outputs(d, at[d], at[d] + (d < 2 ? 0 : X - 1), first[d], last[d]);
    A sum[X * C] = {};
    for (I z = first[0]; z <= last[0]; ++z)
      for (I y = first[1]; y <= last[1]; ++y) {
        const I planes = p.counted(0, z), lines = p.counted(1, y);
        for (I x = first[2]; x <= last[2]; ++x) {
          I begin, end;
          p.range(2, x, begin, end);
          const A divisor = p.average_divisor<A>(planes, lines, p.counted(2, x));
          A g[C];
          load_neighbours(grad, base + p.out_offset(z, y, x) * static_cast<I>(p.step), g);
#pragma unroll
          for (int c = 0; c < C; ++c) {
            g[c] /= divisor;
#pragma unroll
            for (int k = 0; k < X; ++k)
              if (begin <= at[2] + k && at[2] + k < end) sum[k * C + c] += g[c];
          }
        }
      }
    store_neighbours(grad_in, i, sum);
  }
}

void average(const char* op, const Tensor& out, const Tensor& in, const Planes& p) {
  const int64_t n = out.numel();
  if (n == 0) return;
  const Context context(in.device());
  const bool four = p.by_channels() && are_aligned({in.data_ptr(), out.data_ptr()});
  dispatch_compute(FloatCompute{}, op, in.dtype(), [&]<class A>() {
    p.with_index(in, out, [&]<class I>(I) {
      if (four)
        average_kernel<A, I, 4><<<blocks_for(n / 4), kThreads, 0, context.stream>>>(
            p, Reader<A>(in), Writer<A>(out), n);
      else
        average_kernel<A, I, 1>
            <<<blocks_for(n), kThreads, 0, context.stream>>>(p, Reader<A>(in), Writer<A>(out), n);
    });
  });
  context.launched(op);
}

void average_backward(const char* op, const Tensor& grad_in, const Tensor& grad_out,
                      const Planes& p) {
  const int64_t n = grad_in.numel();
  if (n == 0) return;
  const Context context(grad_in.device());
  const bool aligned = are_aligned({grad_in.data_ptr(), grad_out.data_ptr()});
  dispatch_compute(FloatCompute{}, op, grad_in.dtype(), [&]<class A>() {
    p.with_index(grad_in, grad_out, [&]<class I>(I) {
      const auto launch = [&](auto kernel, int64_t threads) {
        kernel<<<blocks_for(threads), kThreads, 0, context.stream>>>(p, Reader<A>(grad_out),
                                                                     Writer<A>(grad_in), n);
      };
      if (aligned && p.by_channels())
        launch(average_backward_kernel<A, I, 1, 4>, n / 4);
      else if (aligned && p.by_positions())
        launch(average_backward_kernel<A, I, 4, 1>, n / 4);
      else
        launch(average_backward_kernel<A, I, 1, 1>, n);
    });
  });
  context.launched(op);
}

void avg_pool_cuda(const Tensor& out, const Tensor& in, const AveragePoolGeometry& g) {
  average("avg_pool", out, in, Planes(in, out, g));
}
void avg_pool_backward_cuda(const Tensor& grad_in, const Tensor& grad_out,
                            const AveragePoolGeometry& g) {
  average_backward("avg_pool_backward", grad_in, grad_out, Planes(grad_in, grad_out, g));
}

/// The operation hands over [N, C, ...]: everything behind is spatial.
int spatial(const Tensor& t) { return static_cast<int>(t.dim()) - 2; }

void adaptive_avg_pool_cuda(const Tensor& out, const Tensor& in) {
  average("adaptive_avg_pool", out, in, Planes(in, out, spatial(in)));
}
void adaptive_avg_pool_backward_cuda(const Tensor& grad_in, const Tensor& grad_out) {
  average_backward("adaptive_avg_pool_backward", grad_in, grad_out,
                   Planes(grad_in, grad_out, spatial(grad_in)));
}

template <class A>
__global__ void __launch_bounds__(kThreads)
    adaptive_max_kernel(const __grid_constant__ Planes p, const Reader<A> in, const Writer<A> out,
                        int64_t* indices, int64_t n) {
  for (int64_t o = thread_index(); o < n; o += thread_count()) {
    int64_t at[3];
    const int64_t base = p.locate(p.out, p.in_size(), o, at);
    A best = minus_infinity<A>();
    int64_t winner = -1;
    int64_t begin[3], end[3];
    for (int d = 0; d < 3; ++d) p.range(d, at[d], begin[d], end[d]);
    for (int64_t z = begin[0]; z < end[0]; ++z)
      for (int64_t y = begin[1]; y < end[1]; ++y)
        for (int64_t x = begin[2]; x < end[2]; ++x) {
          const int64_t i = p.offset({z, y, x});
          const A value = in[base + i * p.step];
          if (winner >= 0 && !(value > best || value != value)) continue;
          winner = i;
          best = value;
        }
    out.set(o, best);
    indices[o] = winner;
  }
}

void adaptive_max_pool_cuda(const Tensor& out, const Tensor& indices, const Tensor& in) {
  const int64_t n = out.numel();
  if (n == 0) return;
  const Context context(in.device());
  dispatch_compute(FloatCompute{}, "adaptive_max_pool", in.dtype(), [&]<class A>() {
    adaptive_max_kernel<A><<<blocks_for(n), kThreads, 0, context.stream>>>(
        Planes(in, out, spatial(in)), Reader<A>(in), Writer<A>(out),
        static_cast<int64_t*>(indices.data_ptr()), n);
  });
  context.launched("adaptive_max_pool");
}

}  // namespace

void register_pool() {
  max_pool_slot.set(kCUDA, &max_pool_cuda);
  max_pool_backward_slot.set(kCUDA, &max_pool_backward_cuda);
  max_pool_gather_slot.set(kCUDA, &max_pool_gather_cuda);
  max_pool_indices_slot.set(kCUDA, &max_pool_indices_cuda);
  avg_pool_slot.set(kCUDA, &avg_pool_cuda);
  avg_pool_backward_slot.set(kCUDA, &avg_pool_backward_cuda);
  adaptive_avg_pool_slot.set(kCUDA, &adaptive_avg_pool_cuda);
  adaptive_avg_pool_backward_slot.set(kCUDA, &adaptive_avg_pool_backward_cuda);
  adaptive_max_pool_slot.set(kCUDA, &adaptive_max_pool_cuda);
}

}  // namespace taeda::inline v0_2::gpu
