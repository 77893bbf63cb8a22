// Pooling: a thread for each output, or backward for each input, which looks at the windows that
// hold it (Note [Neighbours]). So nothing is added twice, and sums have one order.
#include "taeda/cuda/kernels/pool.cuh"
#include "taeda/cuda/register.h"
#include "taeda/kernels/pool.h"

namespace taeda::inline v0_2::gpu {

namespace {

constexpr int kLine = 4;  // elements of a line that are loaded together

/// The places [begin, end) of output o's window that lie inside of the input.
template <class I>
__device__ void places_inside(const PoolPlanes& p, int d, I o, I& begin, I& end) {
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
    max_pool_kernel(const __grid_constant__ PoolPlanes p, const Reader<A> in, const Writer<A> out,
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
  const PoolPlanes p(in, out, g);
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
    max_pool_backward_kernel(const __grid_constant__ PoolPlanes p, const Reader<A> grad,
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
  const PoolPlanes p(grad_in, grad_out, g);
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
__device__ int64_t winner_place(const PoolPlanes& p, const Winners& winners, int64_t o,
                                int64_t& base) {
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
    max_pool_gather_kernel(const __grid_constant__ PoolPlanes p, const W* in, W* out,
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
        PoolPlanes(in, out, g), static_cast<const W*>(in.data_ptr()),
        static_cast<W*>(out.data_ptr()), Winners(window), n);
  });
  context.launched("max_pool_gather");
}

__global__ void __launch_bounds__(kThreads)
    max_pool_indices_kernel(const __grid_constant__ PoolPlanes p, int64_t* indices,
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
      PoolPlanes(in, indices, g), static_cast<int64_t*>(indices.data_ptr()), Winners(window), n);
  context.launched("max_pool_indices");
}

/// C neighbouring channels of an output.
template <class A, class I, int C>
__global__ void __launch_bounds__(kThreads)
    average_kernel(const __grid_constant__ PoolPlanes p, const Reader<A> in, const Writer<A> out,
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
    average_backward_kernel(const __grid_constant__ PoolPlanes p, const Reader<A> grad,
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

void average(const char* op, const Tensor& out, const Tensor& in, const PoolPlanes& p) {
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
                      const PoolPlanes& p) {
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
  average("avg_pool", out, in, PoolPlanes(in, out, g));
}
void avg_pool_backward_cuda(const Tensor& grad_in, const Tensor& grad_out,
                            const AveragePoolGeometry& g) {
  average_backward("avg_pool_backward", grad_in, grad_out, PoolPlanes(grad_in, grad_out, g));
}

/// The operation hands over [N, C, ...]: everything behind is spatial.
int spatial(const Tensor& t) { return static_cast<int>(t.dim()) - 2; }

void adaptive_avg_pool_cuda(const Tensor& out, const Tensor& in) {
  average("adaptive_avg_pool", out, in, PoolPlanes(in, out, spatial(in)));
}
void adaptive_avg_pool_backward_cuda(const Tensor& grad_in, const Tensor& grad_out) {
  average_backward("adaptive_avg_pool_backward", grad_in, grad_out,
                   PoolPlanes(grad_in, grad_out, spatial(grad_in)));
}

template <class A>
__global__ void __launch_bounds__(kThreads)
    adaptive_max_kernel(const __grid_constant__ PoolPlanes p, const Reader<A> in,
                        const Writer<A> out, int64_t* indices, int64_t n) {
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
        PoolPlanes(in, out, spatial(in)), Reader<A>(in), Writer<A>(out),
        static_cast<int64_t*>(indices.data_ptr()), n);
  });
  context.launched("adaptive_max_pool");
}

}  // namespace

void register_pool() {
  fill_slots<On<max_pool_slot, max_pool_cuda>, On<max_pool_backward_slot, max_pool_backward_cuda>,
             On<max_pool_gather_slot, max_pool_gather_cuda>,
             On<max_pool_indices_slot, max_pool_indices_cuda>, On<avg_pool_slot, avg_pool_cuda>,
             On<avg_pool_backward_slot, avg_pool_backward_cuda>,
             On<adaptive_avg_pool_slot, adaptive_avg_pool_cuda>,
             On<adaptive_avg_pool_backward_slot, adaptive_avg_pool_backward_cuda>,
             On<adaptive_max_pool_slot, adaptive_max_pool_cuda>>(kCUDA);
}

}  // namespace taeda::inline v0_2::gpu
