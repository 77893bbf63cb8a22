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
  load.interleaved = p.rows;
  return load;
}

template <class A>
__global__ void __launch_bounds__(kThreads)
    mean_kernel(const ReduceShape s, const Pair<A>* sums, A* mean) {
  for (int64_t c = thread_index(); c < s.outputs; c += thread_count())
    mean[c] = finished_sum(sums, s, c).a / static_cast<A>(s.count);
}

template <class A>
struct Running {
  A *mean, *var;  // may be null
  A momentum, eps;
};

template <class A>
__global__ void __launch_bounds__(kThreads)
    variance_kernel(const ReduceShape s, const Pair<A>* sums, const A* mean, A* rstd,
                    const Running<A> running) {
  const A count = static_cast<A>(s.count), momentum = running.momentum;
  for (int64_t c = thread_index(); c < s.outputs; c += thread_count()) {
    const A var = finished_sum(sums, s, c).a / count;
    rstd[c] = A(1) / ::sqrt(var + running.eps);
    if (running.mean) running.mean[c] = (A(1) - momentum) * running.mean[c] + momentum * mean[c];
    if (running.var)
      running.var[c] =
          (A(1) - momentum) * running.var[c] + momentum * (var * (count / (count - A(1))));
  }
}

/// Which channel an element belongs to, by its place in memory.
struct ChannelOf {
  Divider spatial, channels;
  explicit ChannelOf(const Planes& p) : spatial(p.spatial), channels(p.channels) {}
  __device__ int64_t operator()(int64_t i) const {
    int64_t plane, rest, c;
    spatial.divide(i, plane, rest);
    channels.divide(plane, plane, c);
    return c;
  }
};

/// y = (x - mean) rstd weight + bias.
template <class A>
__global__ void __launch_bounds__(kThreads)
    batch_norm_kernel(const ChannelOf channel, const Reader<A> in, const Writer<A> out, bool vector,
                      const A* mean, const A* rstd, const A* weight, const A* bias, int64_t n) {
  for (int64_t i = 4 * thread_index(); i < n; i += 4 * thread_count()) {
    A x[4];
    in.four(i, n, vector, x);
    for (int k = 0; k < 4 && i + k < n; ++k) {
      const int64_t c = channel(i + k);
      const A scale = weight ? rstd[c] * weight[c] : rstd[c];
      x[k] = (x[k] - mean[c]) * scale + (bias ? bias[c] : A(0));
    }
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
      const PairSums<A> sums(in.device(), p.channels, p.per_channel(), p.rows);
      const unsigned blocks = blocks_for(p.channels);
      sums.compute(context, channel_load<A>(p, PairTerm::Value, in, Tensor(), m));
      mean_kernel<A><<<blocks, kThreads, 0, context.stream>>>(sums.shape, sums.data(), m);
      sums.compute(context, channel_load<A>(p, PairTerm::Deviation, in, Tensor(), m));
      const Running<A> running{data_or_null<A>(running_mean), data_or_null<A>(running_var),
                               static_cast<A>(momentum), static_cast<A>(eps)};
      variance_kernel<A>
          <<<blocks, kThreads, 0, context.stream>>>(sums.shape, sums.data(), m, r, running);
    }
    const int64_t n = p.numel();
    const bool vector = is_aligned(in.data_ptr()) && is_aligned(out.data_ptr());
    if (n > 0)
      batch_norm_kernel<A><<<blocks_for((n + 3) / 4), kThreads, 0, context.stream>>>(
          ChannelOf(p), Reader<A>(in), Writer<A>(out), vector, m, r, data_or_null<A>(weight),
          data_or_null<A>(bias), n);
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
    batch_norm_weights_kernel(const ReduceShape s, const Pair<A>* sums, const A* weight,
                              const A* rstd, bool training, A* grad_weight, A* grad_bias,
                              Coefficients<A>* out) {
  const A count = static_cast<A>(s.count);
  for (int64_t c = thread_index(); c < s.outputs; c += thread_count()) {
    const Pair<A> sum = finished_sum(sums, s, c);
    const A r = rstd[c];
    grad_bias[c] = sum.a;
    grad_weight[c] = sum.b * r;
    out[c] = {weight ? weight[c] * r : r, training ? sum.a / count : A(0),
              training ? sum.b * r * r / count : A(0)};
  }
}

template <class A>
__global__ void __launch_bounds__(kThreads)
    batch_norm_backward_kernel(const ChannelOf channel, const Reader<A> grad, const Reader<A> in,
                               const Writer<A> grad_in, bool vector, const A* mean,
                               const Coefficients<A>* coefficients, int64_t n) {
  for (int64_t i = 4 * thread_index(); i < n; i += 4 * thread_count()) {
    A x[4], g[4];
    in.four(i, n, vector, x);
    grad.four(i, n, vector, g);
    for (int k = 0; k < 4 && i + k < n; ++k) {
      const int64_t c = channel(i + k);
      const Coefficients<A> f = coefficients[c];
      g[k] = f.scale * (g[k] - f.a - (x[k] - mean[c]) * f.b);
    }
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
    const PairSums<A> sums(in.device(), p.channels, p.per_channel(), p.rows);
    const Scratch coefficients(in.device(),
                               p.channels * static_cast<int64_t>(sizeof(Coefficients<A>)));
    sums.compute(context, channel_load<A>(p, PairTerm::Gradient, in, grad, m));
    batch_norm_weights_kernel<A><<<blocks_for(p.channels), kThreads, 0, context.stream>>>(
        sums.shape, sums.data(), data_or_null<A>(weight), data_or_null<A>(rstd), training,
        data_or_null<A>(grad_weight), data_or_null<A>(grad_bias),
        coefficients.as<Coefficients<A>>());
    const int64_t n = p.numel();
    if (!grad_in.defined() || n == 0) return;
    const bool vector =
        is_aligned(in.data_ptr()) && is_aligned(grad.data_ptr()) && is_aligned(grad_in.data_ptr());
    batch_norm_backward_kernel<A><<<blocks_for((n + 3) / 4), kThreads, 0, context.stream>>>(
        ChannelOf(p), Reader<A>(grad), Reader<A>(in), Writer<A>(grad_in), vector, m,
        coefficients.as<Coefficients<A>>(), n);
  });
  context.launched("batch_norm_backward");
}

}  // namespace

void register_norm_batch() {
  batch_norm_slot.set(kCUDA, &batch_norm_cuda);
  batch_norm_backward_slot.set(kCUDA, &batch_norm_backward_cuda);
}

}  // namespace taeda::gpu
