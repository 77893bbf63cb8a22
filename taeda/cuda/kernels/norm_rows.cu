// layer_norm, group_norm and rms_norm: rows that are normalised each by itself. Backward, with
// xhat = (x - mean) rstd and h = g weight: dx = rstd (h - mean(h) - xhat mean(h xhat)).
//
// Note [Norms in registers]
// Rows of floats that fit into registers stay there. What the caches are to keep are the weights,
// which every row reads: at 4096 elements each of x, weight and bias is as long as the other, and a
// row that displaced the weights would make them cross the chip again. In backward a block walks
// over many rows of one width, so that a thread sees the same weights in each of them and adds up
// their gradients while it has the row: it is read once, not once more for the weights. Sums of
// blocks are added by a second kernel; kNormBlocks follows from no device, so neither do the bits.
#include "taeda/cuda/kernels/kept.cuh"
#include "taeda/cuda/kernels/norm.cuh"
#include "taeda/cuda/kernels/register_rows.cuh"
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

/// The sum of what the threads of a warp hold.
template <class A, int P>
__device__ A warp_total(const A (&x)[P][4]) {
  A sum = 0;
#pragma unroll
  for (int b = 0; b < P; ++b) sum += (x[b][0] + x[b][1]) + (x[b][2] + x[b][3]);
  return warp_sum(sum);
}

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

/// Of a row of n elements, from those of a block's warps.
__device__ inline Moments<float> joined(const Moments<float>* all, int n) {
  float sum = 0;
#pragma unroll
  for (int k = 0; k < kThreads / 32; ++k) sum += all[k].count * all[k].mean;
  Moments<float> m{static_cast<float>(n), sum / static_cast<float>(n), 0};
#pragma unroll
  for (int k = 0; k < kThreads / 32; ++k) {
    const float d = all[k].mean - m.mean;
    m.squares += all[k].squares + all[k].count * d * d;
  }
  return m;
}

/// The same for rows in registers: each warp finds its own mean and squares first.
template <int P>
__global__ void __launch_bounds__(kThreads, P > 4   ? 2
                                            : P > 2 ? 3
                                                    : 4)
    register_norm_kernel(const RegisterRows s, const Reader<float> in, const Writer<float> out,
                         const RowWeights<float> w, bool center, float eps, float* means,
                         float* rstds) {
  const int n = static_cast<int>(s.n), held = s.held_by_warp<P>();
  int round = 0;
  for (int64_t row = s.first(); row < s.rounds_end(); row += s.step(), ++round) {
    const bool there = row < s.rows;
    float x[P][4];
    s.read<true>(in.data, in.dtype, row * n, there, x);
    const float mine = center && held > 0 ? warp_total(x) / static_cast<float>(held) : 0;
    float around = 0;
#pragma unroll
    for (int b = 0; b < P; ++b)
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const float d = s.first_of(b) + k < n ? x[b][k] - mine : 0;
        around += d * d;
      }
    Moments<float> m{static_cast<float>(held), mine, warp_sum(around)};
    if (s.group > 32) m = joined(exchange_warps(m, round), n);
    const float rstd = 1 / ::sqrtf(m.squares / static_cast<float>(n) + eps);
    if (there && s.lane() == 0) {
      means[row] = m.mean;
      rstds[row] = rstd;
    }
    const int64_t first = w.first(row);
    const auto read_weights = [&](const float* from, float(&to)[P][4]) {
      s.read<false>(reinterpret_cast<const char*>(from), kFloat, first, there, to);
    };
    float factor[P][4];
    if (w.weight) read_weights(w.weight, factor);
#pragma unroll
    for (int b = 0; b < P; ++b)
#pragma unroll
      for (int k = 0; k < 4; ++k)
        x[b][k] = (x[b][k] - m.mean) * rstd * (w.weight ? factor[b][k] : 1);
    if (w.bias) {
      read_weights(w.bias, factor);
#pragma unroll
      for (int b = 0; b < P; ++b)
#pragma unroll
        for (int k = 0; k < 4; ++k) x[b][k] += factor[b][k];
    }
    s.write(out.data, out.dtype, row * n, there, x);
  }
}

/// false: these rows are not for registers.
bool norm_in_registers(const Context& context, const Tensor& out, const Tensor& mean,
                       const Tensor& rstd, const Tensor& in, const Tensor& weight,
                       const Tensor& bias, const RowNorm& s, double eps) {
  if (compute_dtype(in.dtype()) != kFloat || s.spatial != 1) return false;
  const RowWeights<float> weights(s, weight, bias);
  const RegisterRows rows(s.rows, s.channels,
                          {in.data_ptr(), out.data_ptr(), weights.weight, weights.bias});
  return rows.with_packs<8>([&]<int P>() {
    register_norm_kernel<P><<<rows.blocks(), kThreads, 0, context.stream>>>(
        rows, Reader<float>(in), Writer<float>(out), weights, s.center, static_cast<float>(eps),
        data_or_null<float>(mean), data_or_null<float>(rstd));
  });
}

void row_norm_cuda(const Tensor& out, const Tensor& mean, const Tensor& rstd, const Tensor& in,
                   const Tensor& weight, const Tensor& bias, RowNorm s, double eps) {
  if (s.rows == 0) return;
  const Context context(in.device());
  if (norm_in_registers(context, out, mean, rstd, in, weight, bias, s, eps))
    return context.launched("row_norm");
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

constexpr int kNormBlocks = 264;  // two for each multiprocessor of the largest devices of the day

/// A block's sums of two kinds, one behind the other.
template <int P>
__device__ void write_sums(const RegisterRows& s, float* sums, const float (&grad_b)[P][4],
                           const float (&grad_w)[P][4]) {
  const int n = static_cast<int>(s.n);
  if (s.group > 32) {
    s.write(reinterpret_cast<char*>(sums), kFloat, 0, true, grad_b);
    s.write(reinterpret_cast<char*>(sums), kFloat, n, true, grad_w);
    return;
  }
  // The warps have one width: one after the other adds its sums.
  __shared__ float added[2][512];
  for (int turn = 0; turn < kThreads / 32; ++turn) {
    if (turn == static_cast<int>(threadIdx.x) / 32)
#pragma unroll
      for (int b = 0; b < P; ++b)
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          const int i = s.first_of(b) + k;
          added[0][i] = (turn ? added[0][i] : 0) + grad_b[b][k];
          added[1][i] = (turn ? added[1][i] : 0) + grad_w[b][k];
        }
    __syncthreads();
  }
  for (int i = threadIdx.x; i < 2 * n; i += kThreads) sums[i] = added[i / n][i % n];
}

/// `sums` receives for each block 2 n sums: of the biases' gradients, and of the weights'.
template <int P>
__global__ void __launch_bounds__(kThreads, 2)
    register_norm_backward_kernel(const RegisterRows s, const Reader<float> grad,
                                  const Reader<float> in, const Writer<float> grad_in,
                                  const float* weight, bool center, const float* means,
                                  const float* rstds, float* sums) {
  const int n = static_cast<int>(s.n);
  float w[P][4], grad_w[P][4] = {}, grad_b[P][4] = {};
  if (weight)
    s.read<false>(reinterpret_cast<const char*>(weight), kFloat, 0, true, w);
  else
    for (auto& pack : w)
      for (float& x : pack) x = 1;
  int round = 0;
  for (int64_t row = s.first(); row < s.rounds_end(); row += s.step(), ++round) {
    const bool there = row < s.rows;
    float x[P][4], g[P][4];
    s.read<true>(in.data, in.dtype, row * n, there, x);
    s.read<true>(grad.data, grad.dtype, row * n, there, g);
    const float mean = there ? means[row] : 0, rstd = there ? rstds[row] : 0;
    Pair<float> sum{0, 0};
#pragma unroll
    for (int b = 0; b < P; ++b)
#pragma unroll
      for (int k = 0; k < 4; ++k) {  // behind the row's end gradients are zeros
        x[b][k] = (x[b][k] - mean) * rstd;
        grad_b[b][k] += g[b][k];
        grad_w[b][k] += g[b][k] * x[b][k];
        g[b][k] *= w[b][k];
        sum = {sum.a + g[b][k], sum.b + g[b][k] * x[b][k]};
      }
    sum = {warp_sum(sum.a), warp_sum(sum.b)};
    if (s.group > 32) {
      const Pair<float>* all = exchange_warps(sum, round);
      sum = all[0];
#pragma unroll
      for (int k = 1; k < kThreads / 32; ++k) sum = {sum.a + all[k].a, sum.b + all[k].b};
    }
    const float a = center ? sum.a / static_cast<float>(n) : 0, c = sum.b / static_cast<float>(n);
#pragma unroll
    for (int b = 0; b < P; ++b)
#pragma unroll
      for (int k = 0; k < 4; ++k) g[b][k] = rstd * (g[b][k] - a - x[b][k] * c);
    s.write(grad_in.data, grad_in.dtype, row * n, there, g);
  }
  write_sums(s, sums + blockIdx.x * int64_t{2} * n, grad_b, grad_w);
}

/// Columns of the blocks' sums; eight threads share one.
__global__ void __launch_bounds__(kThreads)
    norm_sums_kernel(const float* sums, int blocks, int n, float* grad_bias, float* grad_weight) {
  const int column = blockIdx.x * 32 + threadIdx.x % 32, part = threadIdx.x / 32;
  float sum = 0;
  if (column < 2 * n) {
#pragma unroll 4
    for (int k = part; k < blocks; k += kThreads / 32) sum += sums[k * int64_t{2} * n + column];
  }
  __shared__ float parts[kThreads];
  parts[threadIdx.x] = sum;
  __syncthreads();
  if (part > 0 || column >= 2 * n) return;
  for (int k = 1; k < kThreads / 32; ++k) sum += parts[32 * k + threadIdx.x];
  (column < n ? grad_bias[column] : grad_weight[column - n]) = sum;
}

/// false: these rows are not for registers.
bool norm_backward_in_registers(const Context& context, const Tensor& grad_in,
                                const Tensor& grad_weight, const Tensor& grad_bias,
                                const Tensor& grad, const Tensor& in, const Tensor& weight,
                                const Tensor& mean, const Tensor& rstd, const RowNorm& s) {
  if (compute_dtype(in.dtype()) != kFloat || s.groups != 1 || s.spatial != 1 || s.rows == 0 ||
      s.channels == 0)
    return false;
  const RegisterRows rows(
      s.rows, s.channels,
      {grad.data_ptr(), in.data_ptr(), grad_in.data_ptr(), data_or_null<float>(weight)});
  return rows.with_packs<4>([&]<int P>() {
    const unsigned blocks = std::min<unsigned>(rows.blocks(), kNormBlocks);
    const int n = static_cast<int>(s.channels);
    const Scratch sums(in.device(), blocks * int64_t{8} * n);
    register_norm_backward_kernel<P><<<blocks, kThreads, 0, context.stream>>>(
        rows, Reader<float>(grad), Reader<float>(in), Writer<float>(grad_in),
        data_or_null<float>(weight), s.center, data_or_null<float>(mean), data_or_null<float>(rstd),
        sums.as<float>());
    norm_sums_kernel<<<(2 * n + 31) / 32, kThreads, 0, context.stream>>>(
        sums.as<float>(), static_cast<int>(blocks), n, data_or_null<float>(grad_bias),
        data_or_null<float>(grad_weight));
  });
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
  if (norm_backward_in_registers(context, grad_in, grad_weight, grad_bias, grad, in, weight, mean,
                                 rstd, s))
    return context.launched("row_norm_backward");
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
