// batch_norm. Contiguous data is planes (one channel of one sample), channels-last data is rows of
// channels.
#include "taeda/cuda/kernels/norm.cuh"
#include "taeda/cuda/register.h"
#include "taeda/kernels/norm.h"

namespace taeda::inline v0_2::gpu {

namespace {

template <class A>
A* data_or_null(const Tensor& t) {
  return t.defined() ? static_cast<A*>(t.data_ptr()) : nullptr;
}

/// Data as `samples` x `channels` planes of `spatial` elements, or as rows of `channels`.
struct Planes {
  int64_t samples = 1, channels = 1, spatial = 1;
  bool rows;

  explicit Planes(const Tensor& t) : samples(t.sizes()[0]), channels(t.sizes()[1]) {
    for (int64_t d = 2; d < t.dim(); ++d) spatial *= t.sizes()[d];
    rows = spatial == 1 || (!t.is_contiguous() && t.strides()[1] == 1);
    if (rows) samples *= spatial;
    if (rows) spatial = 1;
  }
  int64_t per_channel() const { return samples * spatial; }
  int64_t numel() const { return samples * channels * spatial; }
};

template <class A>
PairLoad<A> channel_load(const Planes& p, PairTerm term, const Tensor& in, const Tensor& grad,
                         const A* mean) {
  PairLoad<A> load;
  load.term = term;
  load.x = Reader<A>(in);
  load.g = Reader<A>(grad);
  load.mean = mean;
  load.spatial = Divider(p.spatial);
  load.outputs = p.channels;
  return load;
}

template <class A>
__global__ void __launch_bounds__(kThreads) mean_kernel(const SegmentPairs<A> sums, A* mean) {
  sums.for_each(
      [&](int64_t c, const Pair<A>& sum) { mean[c] = sum.a / static_cast<A>(sums.count); });
}

template <class A>
struct Running {
  A *mean, *var;  // may be null
  A momentum, eps;
};

template <class A>
__global__ void __launch_bounds__(kThreads)
    variance_kernel(const SegmentPairs<A> sums, const A* mean, A* rstd, const Running<A> running) {
  const A count = static_cast<A>(sums.count), momentum = running.momentum;
  sums.for_each([&](int64_t c, const Pair<A>& sum) {
    const A var = sum.a / count;
    rstd[c] = A(1) / ::sqrt(var + running.eps);
    if (running.mean) running.mean[c] = (A(1) - momentum) * running.mean[c] + momentum * mean[c];
    if (running.var)
      running.var[c] =
          (A(1) - momentum) * running.var[c] + momentum * (var * (count / (count - A(1))));
  });
}

/// Which channel an element belongs to, by its place in memory.
struct ChannelOf {
  Divider spatial, channels;
  int pack_step;  // from a channel to that of the next element of a pack of four; -1: either

  explicit ChannelOf(const Planes& p)
      : spatial(p.spatial),
        channels(p.channels),
        pack_step(p.spatial % 4 == 0                      ? 0
                  : p.spatial == 1 && p.channels % 4 == 0 ? 1
                                                          : -1) {}
  /// Calls f(k, channel, whether it is another one than before) for elements [i, i + 4) of n.
  template <class I, class F>
  __device__ void for_pack(I i, I n, F&& f) const {
    const I first = of(i);
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (i + k < n) f(k, pack_step < 0 ? of(i + k) : first + k * pack_step, k == 0 || pack_step);
  }
  template <class I>
  __device__ I of(I i) const {
    I plane, rest, c;
    spatial.divide(i, plane, rest);
    channels.divide(plane, plane, c);
    return c;
  }
};

/// Calls f with a number of the type that elements are counted in: 64 bits cost a GPU twice as
/// much.
template <class F>
void with_index(int64_t n, F&& f) {
  if (n < int64_t{1} << 30) return f(int32_t());
  f(int64_t());
}

/// y = (x - mean) rstd weight + bias.
template <class A, class I>
__global__ void __launch_bounds__(kThreads)
    batch_norm_kernel(const ChannelOf channel, const Reader<A> in, const Writer<A> out, bool vector,
                      const A* means, const A* rstd, const A* weight, const A* biases, I n) {
  for (I i = static_cast<I>(4 * thread_index()); i < n; i += static_cast<I>(4 * thread_count())) {
    A x[4], mean = 0, scale = 0, bias = 0;
    in.four(i, n, vector, x);
    channel.for_pack(i, n, [&](int k, I c, bool other) {
      if (other) {
        mean = means[c];
        scale = weight ? rstd[c] * weight[c] : rstd[c];
        bias = biases ? biases[c] : A(0);
      }
      x[k] = (x[k] - mean) * scale + bias;
    });
    out.four(i, n, vector, x);
  }
}

void batch_norm_cuda(const Tensor& out, const Tensor& mean, const Tensor& rstd, const Tensor& in,
                     const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                     const Tensor& running_var, bool training, double momentum, double eps) {
  const Planes p(in);
  if (p.channels == 0) return;
  const Context context(in.device());
  dispatch_compute(FloatCompute{}, "batch_norm", in.dtype(), [&]<class A>() {
    A *m = data_or_null<A>(mean), *r = data_or_null<A>(rstd);
    if (training) {
      const auto values = channel_load<A>(p, PairTerm::Value, in, Tensor(), m);
      const PairSums<A> sums(in.device(), values, p.per_channel());
      const unsigned blocks = sums.pairs.blocks();
      sums.compute(context, values);
      mean_kernel<A><<<blocks, kThreads, 0, context.stream>>>(sums.pairs, m);
      sums.compute(context, channel_load<A>(p, PairTerm::Deviation, in, Tensor(), m));
      const Running<A> running{data_or_null<A>(running_mean), data_or_null<A>(running_var),
                               static_cast<A>(momentum), static_cast<A>(eps)};
      variance_kernel<A><<<blocks, kThreads, 0, context.stream>>>(sums.pairs, m, r, running);
    }
    const int64_t n = p.numel();
    const bool vector = is_aligned(in.data_ptr()) && is_aligned(out.data_ptr());
    if (n == 0) return;
    with_index(n, [&]<class I>(I) {
      batch_norm_kernel<A, I><<<blocks_for((n + 3) / 4), kThreads, 0, context.stream>>>(
          ChannelOf(p), Reader<A>(in), Writer<A>(out), vector, m, r, data_or_null<A>(weight),
          data_or_null<A>(bias), static_cast<I>(n));
    });
  });
  context.launched("batch_norm");
}

/// dx = scale (g - a - (x - mean) b), per channel; evaluation has a = b = 0.
template <class A>
struct Coefficients {
  A scale, a, b;
};

template <class A>
__global__ void __launch_bounds__(kThreads)
    batch_norm_weights_kernel(const SegmentPairs<A> sums, const A* weight, const A* rstd,
                              bool training, A* grad_weight, A* grad_bias, Coefficients<A>* out) {
  const A count = static_cast<A>(sums.count);
  sums.for_each([&](int64_t c, const Pair<A>& sum) {
    const A r = rstd[c];
    grad_bias[c] = sum.a;
    grad_weight[c] = sum.b * r;
    out[c] = {weight ? weight[c] * r : r, training ? sum.a / count : A(0),
              training ? sum.b * r * r / count : A(0)};
  });
}

template <class A, class I>
__global__ void __launch_bounds__(kThreads)
    batch_norm_backward_kernel(const ChannelOf channel, const Reader<A> grad, const Reader<A> in,
                               const Writer<A> grad_in, bool vector, const A* means,
                               const Coefficients<A>* coefficients, I n) {
  for (I i = static_cast<I>(4 * thread_index()); i < n; i += static_cast<I>(4 * thread_count())) {
    A x[4], g[4], mean = 0;
    Coefficients<A> f{};
    in.four(i, n, vector, x);
    grad.four(i, n, vector, g);
    channel.for_pack(i, n, [&](int k, I c, bool other) {
      if (other) mean = means[c], f = coefficients[c];
      g[k] = f.scale * (g[k] - f.a - (x[k] - mean) * f.b);
    });
    grad_in.four(i, n, vector, g);
  }
}

void batch_norm_backward_cuda(const Tensor& grad_in, const Tensor& grad_weight,
                              const Tensor& grad_bias, const Tensor& grad, const Tensor& in,
                              const Tensor& weight, const Tensor& mean, const Tensor& rstd,
                              bool training) {
  const Planes p(in);
  if (p.channels == 0) return;
  const Context context(in.device());
  dispatch_compute(FloatCompute{}, "batch_norm_backward", in.dtype(), [&]<class A>() {
    const A* m = data_or_null<A>(mean);
    const auto gradients = channel_load<A>(p, PairTerm::Gradient, in, grad, m);
    const PairSums<A> sums(in.device(), gradients, p.per_channel());
    const Scratch coefficients(in.device(),
                               p.channels * static_cast<int64_t>(sizeof(Coefficients<A>)));
    sums.compute(context, gradients);
    batch_norm_weights_kernel<A><<<sums.pairs.blocks(), kThreads, 0, context.stream>>>(
        sums.pairs, data_or_null<A>(weight), data_or_null<A>(rstd), training,
        data_or_null<A>(grad_weight), data_or_null<A>(grad_bias),
        coefficients.as<Coefficients<A>>());
    const int64_t n = p.numel();
    if (!grad_in.defined() || n == 0) return;
    const bool vector =
        is_aligned(in.data_ptr()) && is_aligned(grad.data_ptr()) && is_aligned(grad_in.data_ptr());
    with_index(n, [&]<class I>(I) {
      batch_norm_backward_kernel<A, I><<<blocks_for((n + 3) / 4), kThreads, 0, context.stream>>>(
          ChannelOf(p), Reader<A>(grad), Reader<A>(in), Writer<A>(grad_in), vector, m,
          coefficients.as<Coefficients<A>>(), static_cast<I>(n));
    });
  });
  context.launched("batch_norm_backward");
}

}  // namespace

void register_norm_batch() {
  batch_norm_slot.set(kCUDA, &batch_norm_cuda);
  batch_norm_backward_slot.set(kCUDA, &batch_norm_backward_cuda);
}

}  // namespace taeda::inline v0_2::gpu
