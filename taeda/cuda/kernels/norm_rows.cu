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
  /// Those of elements [i, i + 4) of n of a row whose weights begin at `first`, of `from`.
  __device__ void four(const A* from, int64_t first, int64_t i, int64_t n, bool vector,
                       A (&w)[4]) const {
    if (vector && spatial.divisor == 1) {
      const auto pack = *reinterpret_cast<const Pack<A, 4>*>(from + first + i);
      for (int k = 0; k < 4; ++k) w[k] = pack.x[k];
      return;
    }
    for (int k = 0; k < 4; ++k) {
      int64_t run, rest;
      spatial.divide(i + k, run, rest);
      w[k] = i + k < n ? from[first + run] : A(0);
    }
  }
};

/// Mean and squared deviations from it, in one pass.
template <class A>
struct Moments {
  A count, mean, squares;

  /// The first n of four, whose own moments are joined to these (Chan, Golub and LeVeque 1979).
  __device__ void add(const A (&x)[4], int n) {
    const A some = static_cast<A>(n), all = count + some;
    A middle = 0, around = 0;
    for (int k = 0; k < 4; ++k) middle += k < n ? x[k] : A(0);
    middle = n == 4 ? middle * A(0.25) : middle / some;
    for (int k = 0; k < 4; ++k) around += k < n ? (x[k] - middle) * (x[k] - middle) : A(0);
    const A d = middle - mean, share = some / all;
    mean += d * share;
    squares += around + d * d * count * share;
    count = all;
  }
};

/// Of a row; not centred: of a mean of 0.
template <class A>
__device__ Moments<A> row_moments(const KeptRows& s, const KeptPacks<A, 1>& x, bool center) {
  Moments<A> m{0, 0, 0};
  x.read([&](int64_t, const A(&v)[1][4], int count) {
    if (center) return m.add(v[0], count);
    for (int k = 0; k < 4; ++k) m.squares += k < count ? v[0][k] * v[0][k] : A(0);
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
    const KeptPacks<A, 1> x = s.packs<A, 1>(row, {in});
    const Moments<A> m = row_moments(s, x, center);
    const A mean = m.mean, rstd = A(1) / ::sqrt(m.squares / n + eps);
    if (row < s.rows && s.lane() == 0) {
      means[row] = mean;
      rstds[row] = rstd;
    }
    const int64_t first = w.first(row);
    x.again([&](int64_t i, const A(&v)[1][4], int) {
      A y[4], factor[4];
      for (int k = 0; k < 4; ++k) y[k] = (v[0][k] - mean) * rstd;
      if (w.weight) {
        w.four(w.weight, first, i, x.n, s.vector, factor);
        for (int k = 0; k < 4; ++k) y[k] *= factor[k];
      }
      if (w.bias) {
        w.four(w.bias, first, i, x.n, s.vector, factor);
        for (int k = 0; k < 4; ++k) y[k] += factor[k];
      }
      out.four(x.base + i, x.base + x.n, s.vector, y);
    });
  }
}

void row_norm_cuda(const Tensor& out, const Tensor& mean, const Tensor& rstd, const Tensor& in,
                   const Tensor& weight, const Tensor& bias, RowNorm s, double eps) {
  if (s.rows == 0) return;
  const Context context(in.device());
  dispatch_compute(FloatCompute{}, "row_norm", in.dtype(), [&]<class A>() {
    const RowWeights<A> weights(s, weight, bias);
    const KeptRows rows(s.rows, s.channels * s.spatial, sizeof(A),
                        {in.data_ptr(), out.data_ptr(), weights.weight, weights.bias});
    row_norm_kernel<A><<<rows.blocks(), kThreads, rows.kept, context.stream>>>(
        rows, Reader<A>(in), Writer<A>(out), weights, s.center, static_cast<A>(eps),
        data_or_null<A>(mean), data_or_null<A>(rstd));
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
    const KeptPacks<A, 2> x = s.packs<A, 2>(row, {grad, in});
    const int64_t first = w.first(row);
    const A mean = valid ? means[row] : A(0), rstd = valid ? rstds[row] : A(0);
    A sum_h = 0, sum_hx = 0;
    const auto weighted = [&](int64_t i, const A(&g)[4], A(&h)[4]) {
      if (w.weight) w.four(w.weight, first, i, x.n, s.vector, h);
      for (int k = 0; k < 4; ++k) h[k] = w.weight ? g[k] * h[k] : g[k];
    };
    x.read([&](int64_t i, const A(&v)[2][4], int count) {
      A h[4];
      weighted(i, v[0], h);
      for (int k = 0; k < 4; ++k) {
        sum_h += k < count ? h[k] : A(0);
        sum_hx += k < count ? h[k] * ((v[1][k] - mean) * rstd) : A(0);
      }
    });
    sum_h = group_sum(s.group, sum_h);
    sum_hx = group_sum(s.group, sum_hx);
    const A a = center ? sum_h / n : A(0), b = sum_hx / n * rstd;
    x.again([&](int64_t i, const A(&v)[2][4], int) {
      A h[4];
      weighted(i, v[0], h);
      for (int k = 0; k < 4; ++k) h[k] = rstd * (h[k] - a - (v[1][k] - mean) * b);
      grad_in.four(x.base + i, x.base + x.n, s.vector, h);
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
    const RowWeights<A> weights(s, weight, Tensor());
    const KeptRows rows(s.rows, s.channels * s.spatial, 2 * sizeof(A),
                        {grad.data_ptr(), in.data_ptr(), grad_in.data_ptr(), weights.weight});
    if (s.rows == 0 || rows.n == 0) return;
    row_norm_backward_kernel<A><<<rows.blocks(), kThreads, rows.kept, context.stream>>>(
        rows, Reader<A>(grad), Reader<A>(in), Writer<A>(grad_in), weights, s.center,
        data_or_null<A>(mean), data_or_null<A>(rstd));
  });
  context.launched("row_norm_backward");
}

}  // namespace

void register_norm_rows() {
  row_norm_slot.set(kCUDA, &row_norm_cuda);
  row_norm_backward_slot.set(kCUDA, &row_norm_backward_cuda);
}

}  // namespace taeda::inline v0_2::gpu
