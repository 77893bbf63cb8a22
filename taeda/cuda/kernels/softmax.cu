// softmax and log_softmax with their gradients. Along the last dimension a warp or a block shares a
// row; along another one a thread walks down a column, its neighbours beside it. A first loop finds
// the largest element and the sum of exponentials together, a second one writes.
#include "taeda/cuda/kernels/kept.cuh"
#include "taeda/cuda/register.h"
#include "taeda/kernels/softmax.h"

namespace taeda::inline v0_2::gpu {

namespace {

/// y = softmax(x) or its logarithm, by x - max so that exp stays in range.
template <class A>
__device__ A softmax_value(bool log, A x, A top, A scale) {
  return log ? (x - top) - scale : ::exp(x - top) * scale;
}
/// `scale` of softmax_value from the sum of exponentials.
template <class A>
__device__ A softmax_scale(bool log, A sum) {
  return log ? ::log(sum) : A(1) / sum;
}

template <class A>
__global__ void __launch_bounds__(kThreads)
    softmax_rows_kernel(const KeptRows s, const Reader<A> in, const Writer<A> out, bool log) {
  for (int64_t row = s.first(); row < s.rounds_end(); row += s.step()) {
    const KeptPacks<A, 1> x = s.packs<A, 1>(row, {in});
    ExpSum<A> sum = ExpSum<A>::none();
    x.read([&](int64_t, const A(&v)[1][4], int count) { sum.add(v[0], count); });
    sum = group_exp_sum(s.group, sum);
    const A scale = softmax_scale(log, sum.total());
    x.again([&](int64_t i, const A(&v)[1][4], int) {
      A y[4];
      for (int k = 0; k < 4; ++k) y[k] = softmax_value(log, v[0][k], sum.top, scale);
      out.four(x.base + i, x.base + x.n, s.vector, y);
    });
  }
}

/// Where a column of (outer, n, inner) starts. Elements take `item` bytes to keep.
struct Columns {
  Divider inner;
  int64_t n, stride, count;
  size_t kept;

  Columns(const SoftmaxShape& s, size_t item)
      : inner(s.inner),
        n(s.n),
        stride(s.inner),
        count(s.outer * s.inner),
        kept(kept_bytes(s.n, item)) {}
  template <class A, int N>
  __device__ KeptElements<A, N> elements(int64_t column, const Reader<A> (&in)[N]) const {
    return kept_elements(in, start(column), 0, n * stride, stride, kept);
  }
  __device__ int64_t start(int64_t column) const {
    int64_t outer, rest;
    inner.divide(column, outer, rest);
    return outer * n * stride + rest;
  }
};

template <class A>
__global__ void __launch_bounds__(kThreads)
    softmax_columns_kernel(const Columns c, const Reader<A> in, const Writer<A> out, bool log) {
  for (int64_t column = thread_index(); column < c.count; column += thread_count()) {
    const KeptElements<A, 1> x = c.elements<A, 1>(column, {in});
    ExpSum<A> sum = ExpSum<A>::none();
    x.read([&](int64_t, const A(&v)[1]) { sum.add(v[0]); });
    const A scale = softmax_scale(log, sum.total());
    x.again([&](int64_t i, const A(&v)[1]) {
      out.set(x.base + i, softmax_value(log, v[0], sum.top, scale));
    });
  }
}

void softmax(const char* op, const Tensor& out, const Tensor& in, SoftmaxShape s, bool log) {
  if (out.numel() == 0) return;
  const Context context(in.device());
  dispatch_compute(FloatCompute{}, op, in.dtype(), [&]<class A>() {
    const Reader<A> from(in);
    const Writer<A> to(out);
    if (s.inner == 1) {
      const KeptRows rows(s.outer, s.n, sizeof(A), {from.data, to.data});
      softmax_rows_kernel<A>
          <<<rows.blocks(), kThreads, rows.kept, context.stream>>>(rows, from, to, log);
    } else {
      const Columns columns(s, sizeof(A));
      softmax_columns_kernel<A>
          <<<blocks_for(columns.count), kThreads, columns.kept, context.stream>>>(columns, from, to,
                                                                                  log);
    }
  });
  context.launched(op);
}

/// dx = y (g - sum g y), or for the logarithm g - exp(y) sum g.
template <class A>
__device__ A backward_value(bool log, A g, A y, A sum) {
  return log ? g - ::exp(y) * sum : y * (g - sum);
}

template <class A>
__global__ void __launch_bounds__(kThreads)
    softmax_backward_rows_kernel(const KeptRows s, const Reader<A> grad, const Reader<A> out,
                                 const Writer<A> grad_in, bool log) {
  for (int64_t row = s.first(); row < s.rounds_end(); row += s.step()) {
    const KeptPacks<A, 2> x = s.packs<A, 2>(row, {grad, out});
    A sum = 0;
    x.read([&](int64_t, const A(&v)[2][4], int count) {
      for (int k = 0; k < 4; ++k)
        if (k < count) sum += log ? v[0][k] : v[0][k] * v[1][k];
    });
    sum = group_sum(s.group, sum);
    x.again([&](int64_t i, const A(&v)[2][4], int) {
      A y[4];
      for (int k = 0; k < 4; ++k) y[k] = backward_value(log, v[0][k], v[1][k], sum);
      grad_in.four(x.base + i, x.base + x.n, s.vector, y);
    });
  }
}

template <class A>
__global__ void __launch_bounds__(kThreads)
    softmax_backward_columns_kernel(const Columns c, const Reader<A> grad, const Reader<A> out,
                                    const Writer<A> grad_in, bool log) {
  for (int64_t column = thread_index(); column < c.count; column += thread_count()) {
    const KeptElements<A, 2> x = c.elements<A, 2>(column, {grad, out});
    A sum = 0;
    x.read([&](int64_t, const A(&v)[2]) { sum += log ? v[0] : v[0] * v[1]; });
    x.again([&](int64_t i, const A(&v)[2]) {
      grad_in.set(x.base + i, backward_value(log, v[0], v[1], sum));
    });
  }
}

void softmax_backward(const char* op, const Tensor& grad_in, const Tensor& grad, const Tensor& out,
                      SoftmaxShape s, bool log) {
  if (grad_in.numel() == 0) return;
  const Context context(grad.device());
  dispatch_compute(FloatCompute{}, op, grad.dtype(), [&]<class A>() {
    const Reader<A> g(grad), y(out);
    const Writer<A> to(grad_in);
    if (s.inner == 1) {
      const KeptRows rows(s.outer, s.n, 2 * sizeof(A), {g.data, y.data, to.data});
      softmax_backward_rows_kernel<A>
          <<<rows.blocks(), kThreads, rows.kept, context.stream>>>(rows, g, y, to, log);
    } else {
      const Columns columns(s, 2 * sizeof(A));
      softmax_backward_columns_kernel<A>
          <<<blocks_for(columns.count), kThreads, columns.kept, context.stream>>>(columns, g, y, to,
                                                                                  log);
    }
  });
  context.launched(op);
}

}  // namespace

void register_softmax() {
  softmax_slot.set(kCUDA, [](const Tensor& out, const Tensor& in, SoftmaxShape s) {
    softmax("softmax", out, in, s, false);
  });
  log_softmax_slot.set(kCUDA, [](const Tensor& out, const Tensor& in, SoftmaxShape s) {
    softmax("log_softmax", out, in, s, true);
  });
  softmax_backward_slot.set(
      kCUDA, [](const Tensor& grad_in, const Tensor& grad, const Tensor& out, SoftmaxShape s) {
        softmax_backward("softmax_backward", grad_in, grad, out, s, false);
      });
  log_softmax_backward_slot.set(
      kCUDA, [](const Tensor& grad_in, const Tensor& grad, const Tensor& out, SoftmaxShape s) {
        softmax_backward("log_softmax_backward", grad_in, grad, out, s, true);
      });
}

}  // namespace taeda::inline v0_2::gpu
