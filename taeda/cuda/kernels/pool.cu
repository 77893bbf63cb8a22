// Pooling: a thread for each output, or backward for each input, which looks at the windows that
// hold it. So nothing is added twice, and sums have one order.
#include "taeda/cuda/kernels/rows.cuh"
#include "taeda/cuda/register.h"
#include "taeda/kernels/pool.h"

namespace taeda::inline v0_2::gpu {

namespace {

/// Channels and their windows, with three spatial dimensions; missing ones are 1, at the front.
struct Planes {
  int64_t count = 1;
  Divider in[3], out[3];
  int64_t kernel[3] = {1, 1, 1}, stride[3] = {1, 1, 1}, padding[3] = {0, 0, 0},
          dilation[3] = {1, 1, 1};
  bool adaptive = true, count_padding = true;
  int64_t divisor = 0;
  // Channels-last memory: elements from a position to the next one of its channel, or 1.
  Divider channels;
  int64_t step = 1;

  Planes(const Tensor& input, const Tensor& output, int ndim) {
    for (int64_t d = 0; d < input.dim() - ndim; ++d) count *= input.size(d);
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
      kernel[at] = g.kernel[d], stride[at] = g.stride[d];
      padding[at] = g.padding[d], dilation[at] = g.dilation[d];
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

  /// Splits an element's number into its coordinates; where its channel begins on the other side,
  /// whose channels have `size` positions.
  __device__ int64_t locate(const Divider (&sizes)[3], int64_t size, int64_t i,
                            int64_t (&at)[3]) const {
    int64_t channel = 0;
    if (step != 1) channels.divide(i, i, channel);
    for (int d = 2; d >= 0; --d) sizes[d].divide(i, i, at[d]);
    return i * size * step + channel;
  }
  __device__ int64_t offset(const int64_t (&at)[3]) const {
    return (at[0] * in[1].divisor + at[1]) * in[2].divisor + at[2];
  }
  /// The input that output o sees, along a dimension; [begin, end) may be empty.
  __device__ void range(int d, int64_t o, int64_t& begin, int64_t& end) const {
    const int64_t size = in[d].divisor;
    if (adaptive) {
      begin = o * size / out[d].divisor;
      end = ((o + 1) * size + out[d].divisor - 1) / out[d].divisor;
      return;
    }
    begin = o * stride[d] - padding[d];
    end = begin + kernel[d] < size ? begin + kernel[d] : size;
    begin = begin > 0 ? begin : 0;
  }
  /// What an average of output `at` divides by.
  __device__ double average_divisor(const int64_t (&at)[3]) const {
    if (divisor) return static_cast<double>(divisor);
    int64_t inside = 1, padded = 1;
    for (int d = 0; d < 3; ++d) {
      int64_t begin, end;
      range(d, at[d], begin, end);
      inside *= end > begin ? end - begin : 0;
      const int64_t start = at[d] * stride[d] - padding[d], limit = in[d].divisor + padding[d];
      padded *= (start + kernel[d] < limit ? start + kernel[d] : limit) - start;
    }
    return static_cast<double>(!adaptive && count_padding ? padded : inside);
  }
  /// Outputs that may see input i along a dimension: [first, last].
  __device__ void outputs(int d, int64_t i, int64_t& first, int64_t& last) const {
    const int64_t size = out[d].divisor;
    if (adaptive) {
      first = i * size / in[d].divisor;
      last = ((i + 1) * size + in[d].divisor - 1) / in[d].divisor - 1;
    } else {
      const int64_t reach = (kernel[d] - 1) * dilation[d], place = i + padding[d];
      first = place > reach ? (place - reach + stride[d] - 1) / stride[d] : 0;
      last = place / stride[d];
    }
    last = last < size ? last : size - 1;
  }
};

/// The winners' positions in their windows: uint8, int32 or none.
struct Winners {
  char* data = nullptr;
  bool small = true;

  explicit Winners(const Tensor& t)
      : data(static_cast<char*>(t.defined() ? t.data_ptr() : nullptr)),
        small(!t.defined() || t.dtype() == kByte) {}
  __device__ int64_t get(int64_t i) const {
    return small ? reinterpret_cast<const uint8_t*>(data)[i]
                 : reinterpret_cast<const int32_t*>(data)[i];
  }
  __device__ void set(int64_t i, int64_t winner) const {
    if (!data) return;
    if (small)
      reinterpret_cast<uint8_t*>(data)[i] = static_cast<uint8_t>(winner);
    else
      reinterpret_cast<int32_t*>(data)[i] = static_cast<int32_t>(winner);
  }
};

template <class A>
__global__ void __launch_bounds__(kThreads)
    max_pool_kernel(const __grid_constant__ Planes p, const Reader<A> in, const Writer<A> out,
                    const Winners winners, int64_t n) {
  for (int64_t o = thread_index(); o < n; o += thread_count()) {
    int64_t at[3];
    const int64_t base = p.locate(p.out, p.in_size(), o, at);
    A best = minus_infinity<A>();
    int64_t winner = -1, k = 0;
    for (int64_t kz = 0; kz < p.kernel[0]; ++kz)
      for (int64_t ky = 0; ky < p.kernel[1]; ++ky)
        for (int64_t kx = 0; kx < p.kernel[2]; ++kx, ++k) {
          const int64_t place[3] = {at[0] * p.stride[0] - p.padding[0] + kz * p.dilation[0],
                                    at[1] * p.stride[1] - p.padding[1] + ky * p.dilation[1],
                                    at[2] * p.stride[2] - p.padding[2] + kx * p.dilation[2]};
          if (place[0] < 0 || place[0] >= p.in[0].divisor || place[1] < 0 ||
              place[1] >= p.in[1].divisor || place[2] < 0 || place[2] >= p.in[2].divisor)
            continue;
          const A x = in[base + p.offset(place) * p.step];
          if (winner >= 0 && !(x > best || x != x)) continue;
          winner = k;
          best = x;
        }
    out.set(o, best);
    winners.set(o, winner < 0 ? 0 : winner);
  }
}

void max_pool_cuda(const Tensor& out, const Tensor& window, const Tensor& in,
                   const PoolGeometry& g) {
  const int64_t n = out.numel();
  if (n == 0) return;
  const Context context(in.device());
  dispatch_compute(FloatCompute{}, "max_pool", in.dtype(), [&]<class A>() {
    max_pool_kernel<A><<<blocks_for(n), kThreads, 0, context.stream>>>(
        Planes(in, out, g), Reader<A>(in), Writer<A>(out), Winners(window), n);
  });
  context.launched("max_pool");
}

template <class A>
__global__ void __launch_bounds__(kThreads)
    max_pool_backward_kernel(const __grid_constant__ Planes p, const Reader<A> grad,
                             const Writer<A> grad_in, const Winners winners, int64_t n) {
  for (int64_t i = thread_index(); i < n; i += thread_count()) {
    int64_t at[3], first[3], last[3];
    const int64_t base = p.locate(p.in, p.out_size(), i, at);
    for (int d = 0; d < 3; ++d) p.outputs(d, at[d], first[d], last[d]);
    A sum = 0;
    for (int64_t z = first[0]; z <= last[0]; ++z)
      for (int64_t y = first[1]; y <= last[1]; ++y)
        for (int64_t x = first[2]; x <= last[2]; ++x) {
          const int64_t o = base + ((z * p.out[1].divisor + y) * p.out[2].divisor + x) * p.step;
          const int64_t k = winners.get(o), kx = k % p.kernel[2],
                        ky = k / p.kernel[2] % p.kernel[1], kz = k / (p.kernel[2] * p.kernel[1]);
          if (z * p.stride[0] - p.padding[0] + kz * p.dilation[0] == at[0] &&
              y * p.stride[1] - p.padding[1] + ky * p.dilation[1] == at[1] &&
              x * p.stride[2] - p.padding[2] + kx * p.dilation[2] == at[2])
            sum += grad[o];
        }
    grad_in.set(i, sum);
  }
}

void max_pool_backward_cuda(const Tensor& grad_in, const Tensor& grad_out, const Tensor& window,
                            const PoolGeometry& g) {
  const int64_t n = grad_in.numel();
  if (n == 0) return;
  const Context context(grad_in.device());
  dispatch_compute(FloatCompute{}, "max_pool_backward", grad_in.dtype(), [&]<class A>() {
    max_pool_backward_kernel<A><<<blocks_for(n), kThreads, 0, context.stream>>>(
        Planes(grad_in, grad_out, g), Reader<A>(grad_out), Writer<A>(grad_in), Winners(window), n);
  });
  context.launched("max_pool_backward");
}

/// Where the winner of output o stands in its channel, which begins at `base`.
__device__ int64_t winner_place(const Planes& p, const Winners& winners, int64_t o, int64_t& base) {
  int64_t at[3];
  base = p.locate(p.out, p.in_size(), o, at);
  int64_t k = winners.get(o), place[3];
  for (int d = 2; d >= 0; --d) {
    place[d] = at[d] * p.stride[d] - p.padding[d] + k % p.kernel[d] * p.dilation[d];
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

/// Calls f(place in the channel) for the input that output `at` sees, in order.
template <class F>
__device__ void for_each_input(const Planes& p, const int64_t (&at)[3], F&& f) {
  int64_t begin[3], end[3];
  for (int d = 0; d < 3; ++d) p.range(d, at[d], begin[d], end[d]);
  for (int64_t z = begin[0]; z < end[0]; ++z)
    for (int64_t y = begin[1]; y < end[1]; ++y)
      for (int64_t x = begin[2]; x < end[2]; ++x) f(p.offset({z, y, x}));
}

template <class A>
__global__ void __launch_bounds__(kThreads)
    average_kernel(const __grid_constant__ Planes p, const Reader<A> in, const Writer<A> out,
                   int64_t n) {
  for (int64_t o = thread_index(); o < n; o += thread_count()) {
    int64_t at[3];
    const int64_t base = p.locate(p.out, p.in_size(), o, at);
    A sum = 0;
    for_each_input(p, at, [&](int64_t i) { sum += in[base + i * p.step]; });
    out.set(o, sum / static_cast<A>(p.average_divisor(at)));
  }
}

template <class A>
__global__ void __launch_bounds__(kThreads)
    average_backward_kernel(const __grid_constant__ Planes p, const Reader<A> grad,
                            const Writer<A> grad_in, int64_t n) {
  for (int64_t i = thread_index(); i < n; i += thread_count()) {
    int64_t at[3], first[3], last[3];
    const int64_t base = p.locate(p.in, p.out_size(), i, at);
    for (int d = 0; d < 3; ++d) p.outputs(d, at[d], first[d], last[d]);
    A sum = 0;
    for (int64_t z = first[0]; z <= last[0]; ++z)
      for (int64_t y = first[1]; y <= last[1]; ++y)
        for (int64_t x = first[2]; x <= last[2]; ++x) {
          const int64_t o[3] = {z, y, x};
          bool sees = true;
          for (int d = 0; d < 3; ++d) {
            int64_t begin, end;
            p.range(d, o[d], begin, end);
            sees &= begin <= at[d] && at[d] < end;
          }
          if (!sees) continue;
          sum += grad[base + ((z * p.out[1].divisor + y) * p.out[2].divisor + x) * p.step] /
                 static_cast<A>(p.average_divisor(o));
        }
    grad_in.set(i, sum);
  }
}

void average(const char* op, const Tensor& out, const Tensor& in, const Planes& p) {
  if (out.numel() == 0) return;
  const Context context(in.device());
  dispatch_compute(FloatCompute{}, op, in.dtype(), [&]<class A>() {
    average_kernel<A><<<blocks_for(out.numel()), kThreads, 0, context.stream>>>(
        p, Reader<A>(in), Writer<A>(out), out.numel());
  });
  context.launched(op);
}

void average_backward(const char* op, const Tensor& grad_in, const Tensor& grad_out,
                      const Planes& p) {
  if (grad_in.numel() == 0) return;
  const Context context(grad_in.device());
  dispatch_compute(FloatCompute{}, op, grad_in.dtype(), [&]<class A>() {
    average_backward_kernel<A><<<blocks_for(grad_in.numel()), kThreads, 0, context.stream>>>(
        p, Reader<A>(grad_out), Writer<A>(grad_in), grad_in.numel());
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
    for_each_input(p, at, [&](int64_t i) {
      const A x = in[base + i * p.step];
      if (winner >= 0 && !(x > best || x != x)) return;
      winner = i;
      best = x;
    });
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

}  // namespace taeda::gpu
