// softmax and log_softmax with their gradients. Along the last dimension a warp or a block shares a
// row; along another one a thread walks down a column, its neighbours beside it.
#include "taeda/cuda/kernels/rows.cuh"
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
    softmax_rows_kernel(const RowShape s, const Reader<A> in, const Writer<A> out, bool log) {
  for (int64_t row = s.first(); row < s.rounds_end(); row += s.step()) {
    const int64_t base = row * s.n, end = row < s.rows ? s.n : 0;
    A top = minus_infinity<A>(), sum = 0;
    in.for_each(base, s.lane(), end, s.group, [&](int64_t, A x) { top = larger(top, x); });
    top = group_max(s.group, top);
    in.for_each(base, s.lane(), end, s.group, [&](int64_t, A x) { sum += ::exp(x - top); });
    const A scale = softmax_scale(log, group_sum(s.group, sum));
    in.for_each(base, s.lane(), end, s.group,
                [&](int64_t i, A x) { out.set(base + i, softmax_value(log, x, top, scale)); });
  }
}

/// Where a column of (outer, n, inner) starts.
struct Columns {
  Divider inner;
  int64_t n, stride, count;

  explicit Columns(const SoftmaxShape& s)
      : inner(s.inner), n(s.n), stride(s.inner), count(s.outer * s.inner) {}
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
    const int64_t base = c.start(column), end = c.n * c.stride;
    A top = minus_infinity<A>(), sum = 0;
    in.for_each(base, 0, end, c.stride, [&](int64_t, A x) { top = larger(top, x); });
    in.for_each(base, 0, end, c.stride, [&](int64_t, A x) { sum += ::exp(x - top); });
    const A scale = softmax_scale(log, sum);
    in.for_each(base, 0, end, c.stride,
                [&](int64_t i, A x) { out.set(base + i, softmax_value(log, x, top, scale)); });
  }
}

void softmax(const char* op, const Tensor& out, const Tensor& in, SoftmaxShape s, bool log) {
  if (out.numel() == 0) return;
  const Context context(in.device());
  dispatch_compute(FloatCompute{}, op, in.dtype(), [&]<class A>() {
    const Reader<A> from(in);
    const Writer<A> to(out);
    if (s.inner == 1) {
      const RowShape rows(s.outer, s.n);
      softmax_rows_kernel<A><<<rows.blocks(), kThreads, 0, context.stream>>>(rows, from, to, log);
    } else {
      const Columns columns(s);
      softmax_columns_kernel<A>
          <<<blocks_for(columns.count), kThreads, 0, context.stream>>>(columns, from, to, log);
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
    softmax_backward_rows_kernel(const RowShape s, const Reader<A> grad, const Reader<A> out,
                                 const Writer<A> grad_in, bool log) {
  for (int64_t row = s.first(); row < s.rounds_end(); row += s.step()) {
    const int64_t base = row * s.n, end = row < s.rows ? s.n : 0;
    A sum = 0;
    grad.for_each(base, s.lane(), end, s.group,
                  [&](int64_t i, A g) { sum += log ? g : g * out[base + i]; });
    sum = group_sum(s.group, sum);
    grad.for_each(base, s.lane(), end, s.group, [&](int64_t i, A g) {
      grad_in.set(base + i, backward_value(log, g, out[base + i], sum));
    });
  }
}

template <class A>
__global__ void __launch_bounds__(kThreads)
    softmax_backward_columns_kernel(const Columns c, const Reader<A> grad, const Reader<A> out,
                                    const Writer<A> grad_in, bool log) {
  for (int64_t column = thread_index(); column < c.count; column += thread_count()) {
    const int64_t base = c.start(column), end = c.n * c.stride;
    A sum = 0;
    grad.for_each(base, 0, end, c.stride,
                  [&](int64_t i, A g) { sum += log ? g : g * out[base + i]; });
    grad.for_each(base, 0, end, c.stride, [&](int64_t i, A g) {
      grad_in.set(base + i, backward_value(log, g, out[base + i], sum));
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
      const RowShape rows(s.outer, s.n);
      softmax_backward_rows_kernel<A>
          <<<rows.blocks(), kThreads, 0, context.stream>>>(rows, g, y, to, log);
    } else {
      const Columns columns(s);
      softmax_backward_columns_kernel<A>
          <<<blocks_for(columns.count), kThreads, 0, context.stream>>>(columns, g, y, to, log);
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

}  // namespace taeda::gpu
