// layer_norm, group_norm and rms_norm: rows that are normalised each by itself. Backward, with
// xhat = (x - mean) rstd and h = g weight: dx = rstd (h - mean(h) - xhat mean(h xhat)).
#include "taeda/cuda/kernels/kept.cuh"
#include "taeda/cuda/kernels/norm.cuh"
#include "taeda/cuda/register.h"
#include "taeda/kernels/norm.h"

namespace taeda::inline v0_2::gpu {

namespace {

template <class A>
A* data_or_null(const Tensor& t) {
  return t.defined() ? static_cast<A*>(t.data_ptr()) : nullptr;
}

/// The weights of a row's elements.
template <class A>
struct RowWeights {
  const A *weight, *bias;  // may be null
  Divider groups, spatial;
  int64_t channels;

  RowWeights(const RowNorm& s, const Tensor& weights, const Tensor& biases)
      : weight(data_or_null<A>(weights)),
        bias(data_or_null<A>(biases)),
        groups(s.groups),
        spatial(s.spatial),
        channels(s.channels) {}
  /// The number of the row's first weight.
  __device__ int64_t first(int64_t row) const {
    int64_t quotient, group;
    groups.divide(row, quotient, group);
    return group * channels;
  }
  /// The number of the run that element i of a row lies in.
  __device__ int64_t run(int64_t i) const {
    int64_t k, rest;
    spatial.divide(i, k, rest);
    return k;
  }
};

/// Mean and squared deviations from it, in one pass (Welford 1962).
template <class A>
struct Moments {
  A count, mean, squares;

  __device__ void add(A x) {
    count += A(1);
    const A d = x - mean;
    mean += d / count;
    squares += d * (x - mean);
  }
};

/// Of a row; not centred: of a mean of 0.
template <class A>
__device__ Moments<A> row_moments(const KeptRows& s, const KeptElements<A, 1>& x, bool center) {
  Moments<A> m{0, 0, 0};
  x.read([&](int64_t, const A(&v)[1]) {
    if (center)
      m.add(v[0]);
    else
      m.squares += v[0] * v[0];
  });
  const A n = static_cast<A>(s.n);
  const A mean = center ? group_sum(s.group, m.count * m.mean) / n : A(0), d = m.mean - mean;
  return {n, mean, group_sum(s.group, m.squares + m.count * d * d)};
}

template <class A>
__global__ void __launch_bounds__(kThreads)
    row_norm_kernel(const KeptRows s, const Reader<A> in, const Writer<A> out,
                    const RowWeights<A> w, bool center, A eps, A* means, A* rstds) {
  const A n = static_cast<A>(s.n);
  for (int64_t row = s.first(); row < s.rounds_end(); row += s.step()) {
    const KeptElements<A, 1> x = s.elements<A, 1>(row, {in});
    const Moments<A> m = row_moments(s, x, center);
    const A mean = m.mean, rstd = A(1) / ::sqrt(m.squares / n + eps);
    if (row < s.rows && s.lane() == 0) {
      means[row] = mean;
      rstds[row] = rstd;
    }
    const int64_t first = w.first(row);
    x.again([&](int64_t i, const A(&v)[1]) {
      const int64_t k = first + w.run(i);
      A y = (v[0] - mean) * rstd;
      if (w.weight) y *= w.weight[k];
      if (w.bias) y += w.bias[k];
      out.set(x.base + i, y);
    });
  }
}

void row_norm_cuda(const Tensor& out, const Tensor& mean, const Tensor& rstd, const Tensor& in,
                   const Tensor& weight, const Tensor& bias, RowNorm s, double eps) {
  if (s.rows == 0) return;
  const Context context(in.device());
  dispatch_compute(FloatCompute{}, "row_norm", in.dtype(), [&]<class A>() {
    const KeptRows rows(s.rows, s.channels * s.spatial, sizeof(A));
    row_norm_kernel<A><<<rows.blocks(), kThreads, rows.kept, context.stream>>>(
        rows, Reader<A>(in), Writer<A>(out), RowWeights<A>(s, weight, bias), s.center,
        static_cast<A>(eps), data_or_null<A>(mean), data_or_null<A>(rstd));
  });
  context.launched("row_norm");
}

template <class A>
__global__ void __launch_bounds__(kThreads)
    row_norm_backward_kernel(const KeptRows s, const Reader<A> grad, const Reader<A> in,
                             const Writer<A> grad_in, const RowWeights<A> w, bool center,
                             const A* means, const A* rstds) {
  const A n = static_cast<A>(s.n);
  for (int64_t row = s.first(); row < s.rounds_end(); row += s.step()) {
    const bool valid = row < s.rows;
    const KeptElements<A, 2> x = s.elements<A, 2>(row, {grad, in});
    const int64_t first = w.first(row);
    const A mean = valid ? means[row] : A(0), rstd = valid ? rstds[row] : A(0);
    A sum_h = 0, sum_hx = 0;
    x.read([&](int64_t i, const A(&v)[2]) {
      const A h = w.weight ? v[0] * w.weight[first + w.run(i)] : v[0];
      sum_h += h;
      sum_hx += h * ((v[1] - mean) * rstd);
    });
    sum_h = group_sum(s.group, sum_h);
    sum_hx = group_sum(s.group, sum_hx);
    const A a = center ? sum_h / n : A(0), b = sum_hx / n * rstd;
    x.again([&](int64_t i, const A(&v)[2]) {
      const A h = w.weight ? v[0] * w.weight[first + w.run(i)] : v[0];
      grad_in.set(x.base + i, rstd * (h - a - (v[1] - mean) * b));
    });
  }
}

template <class A>
__global__ void __launch_bounds__(kThreads)
    row_norm_weights_kernel(const SegmentPairs<A> sums, A* grad_weight, A* grad_bias) {
  sums.for_each([&](int64_t c, const Pair<A>& sum) {
    grad_weight[c] = sum.b;
    grad_bias[c] = sum.a;
  });
}

template <class A>
void weight_gradients(const Context& context, const Tensor& grad_weight, const Tensor& grad_bias,
                      const Tensor& grad, const Tensor& in, const Tensor& mean, const Tensor& rstd,
                      const RowNorm& s) {
  const int64_t weights = s.groups * s.channels;
  if (weights == 0) return;
  PairLoad<A> load;
  load.term = PairTerm::Weight;
  load.x = Reader<A>(in);
  load.g = Reader<A>(grad);
  load.mean = data_or_null<A>(mean);
  load.rstd = data_or_null<A>(rstd);
  load.spatial = Divider(s.spatial);
  load.row_channels = Divider(s.channels);
  load.outputs = weights;
  const PairSums<A> sums(in.device(), load, s.rows / s.groups * s.spatial);
  sums.compute(context, load);
  row_norm_weights_kernel<A><<<sums.pairs.blocks(), kThreads, 0, context.stream>>>(
      sums.pairs, data_or_null<A>(grad_weight), data_or_null<A>(grad_bias));
}

void row_norm_backward_cuda(const Tensor& grad_in, const Tensor& grad_weight,
                            const Tensor& grad_bias, const Tensor& grad, const Tensor& in,
                            const Tensor& weight, const Tensor& mean, const Tensor& rstd,
                            RowNorm s) {
  const Context context(in.device());
  dispatch_compute(FloatCompute{}, "row_norm_backward", in.dtype(), [&]<class A>() {
    weight_gradients<A>(context, grad_weight, grad_bias, grad, in, mean, rstd, s);
    const KeptRows rows(s.rows, s.channels * s.spatial, 2 * sizeof(A));
    if (s.rows == 0 || rows.n == 0) return;
    row_norm_backward_kernel<A><<<rows.blocks(), kThreads, rows.kept, context.stream>>>(
        rows, Reader<A>(grad), Reader<A>(in), Writer<A>(grad_in),
        RowWeights<A>(s, weight, Tensor()), s.center, data_or_null<A>(mean), data_or_null<A>(rstd));
  });
  context.launched("row_norm_backward");
}

}  // namespace

void register_norm_rows() {
  row_norm_slot.set(kCUDA, &row_norm_cuda);
  row_norm_backward_slot.set(kCUDA, &row_norm_backward_cuda);
}

}  // namespace taeda::inline v0_2::gpu
