// softmax and log_softmax with their gradients. Along the last dimension a task is a range of rows;
// along another one it is a block of neighbouring columns, whose maxima and sums stay in the cache.
#include "taeda/kernels/softmax.h"

#include "taeda/cpu/kernels/rows.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

namespace {

constexpr int64_t kColumns = 128;

/// y = softmax(x) or its logarithm, by x - max so that exp stays in range.
template <bool kLog, class A>
void softmax_row(const A* x, A* y, int64_t n) {
  const A top = row_max(x, n);
  if constexpr (kLog) {
    const A log_sum = math::log(row_exp_sum<A>(x, top, nullptr, n));
    for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - top) - log_sum;
  } else {
    const A scale = A(1) / row_exp_sum(x, top, y, n);
    for (int64_t i = 0; i < n; ++i) y[i] *= scale;
  }
}

/// dx = y (g - sum g y), or for the logarithm g - exp(y) sum g.
template <bool kLog, class A>
void softmax_backward_row(const A* g, const A* y, A* dx, int64_t n) {
  if constexpr (kLog) {
    const A sum = row_sum(g, n);
    for (int64_t i = 0; i < n; ++i) dx[i] = g[i] - math::exp(y[i]) * sum;
  } else {
    const A sum = row_dot(g, y, n);
    for (int64_t i = 0; i < n; ++i) dx[i] = y[i] * (g[i] - sum);
  }
}

/// The same for `w` neighbouring columns, rows `stride` apart.
template <bool kLog, class T>
void softmax_columns(const T* x, T* y, int64_t n, int64_t stride, int64_t w) {
  using A = opmath_t<T>;
  A top[kColumns], sum[kColumns];
  std::fill_n(top, w, MaxReduce<A>{}.identity());
  std::fill_n(sum, w, A(0));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < w; ++k)
      top[k] = MaxReduce<A>{}.combine(top[k], static_cast<A>(x[i * stride + k]));
  for (int64_t i = 0; i < n; ++i) {
    const T* row = x + i * stride;
    T* out = y + i * stride;
    for (int64_t k = 0; k < w; ++k) {
      const A e = math::exp(static_cast<A>(row[k]) - top[k]);
      sum[k] += e;
      if constexpr (!kLog && std::is_same_v<T, A>) out[k] = e;
    }
  }
  for (int64_t k = 0; k < w; ++k) sum[k] = kLog ? math::log(sum[k]) : A(1) / sum[k];
  for (int64_t i = 0; i < n; ++i) {
    const T* row = x + i * stride;
    T* out = y + i * stride;
    for (int64_t k = 0; k < w; ++k) {
      if constexpr (kLog)
        out[k] = static_cast<T>((static_cast<A>(row[k]) - top[k]) - sum[k]);
      else if constexpr (std::is_same_v<T, A>)
        out[k] *= sum[k];
      else
        out[k] = static_cast<T>(math::exp(static_cast<A>(row[k]) - top[k]) * sum[k]);
    }
  }
}

template <bool kLog, class T>
void softmax_backward_columns(const T* g, const T* y, T* dx, int64_t n, int64_t stride, int64_t w) {
  using A = opmath_t<T>;
  A sum[kColumns];
  std::fill_n(sum, w, A(0));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < w; ++k) {
      const A a = static_cast<A>(g[i * stride + k]);
      sum[k] += kLog ? a : a * static_cast<A>(y[i * stride + k]);
    }
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < w; ++k) {
      const A a = static_cast<A>(g[i * stride + k]), b = static_cast<A>(y[i * stride + k]);
      dx[i * stride + k] = static_cast<T>(kLog ? a - math::exp(b) * sum[k] : b * (a - sum[k]));
    }
}

/// Calls `f(offset, width)` for blocks of columns that cover (outer, inner).
template <class F>
void for_each_column_block(SoftmaxShape s, F&& f) {
  const int64_t blocks = (s.inner + kColumns - 1) / kColumns;
  parallel_for(0, s.outer * blocks, row_grain(4 * s.n * std::min(s.inner, kColumns)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t b = begin; b < end; ++b) {
                   const int64_t column = b % blocks * kColumns;
                   f(b / blocks * s.n * s.inner + column, std::min(kColumns, s.inner - column));
                 }
               });
}

template <bool kLog>
void softmax_kernel(const Tensor& out, const Tensor& in, SoftmaxShape s) {
  dispatch(FloatTypes{}, "softmax", in.dtype(), [&]<class T>() {
    const T* x = in.data_ptr<T>();
    T* y = out.data_ptr<T>();
    if (s.inner > 1)
      return for_each_column_block(s, [&](int64_t at, int64_t w) {
        softmax_columns<kLog>(x + at, y + at, s.n, s.inner, w);
      });
    parallel_for(0, s.outer, row_grain(4 * s.n), [&](int64_t begin, int64_t end) {
      RowReader<T> read(s.n);
      RowWriter<T> write(s.n);
      for (int64_t r = begin; r < end; ++r) {
        softmax_row<kLog>(read(x + r * s.n, s.n), write.row(y + r * s.n), s.n);
        write.store(y + r * s.n, s.n);
      }
    });
  });
}

template <bool kLog>
void softmax_backward_kernel(const Tensor& grad_in, const Tensor& grad, const Tensor& out,
                             SoftmaxShape s) {
  dispatch(FloatTypes{}, "softmax_backward", grad.dtype(), [&]<class T>() {
    const T *g = grad.data_ptr<T>(), *y = out.data_ptr<T>();
    T* dx = grad_in.data_ptr<T>();
    if (s.inner > 1)
      return for_each_column_block(s, [&](int64_t at, int64_t w) {
        softmax_backward_columns<kLog>(g + at, y + at, dx + at, s.n, s.inner, w);
      });
    parallel_for(0, s.outer, row_grain(2 * s.n), [&](int64_t begin, int64_t end) {
      RowReader<T> read_g(s.n), read_y(s.n);
      RowWriter<T> write(s.n);
      for (int64_t r = begin; r < end; ++r) {
        const int64_t at = r * s.n;
        softmax_backward_row<kLog>(read_g(g + at, s.n), read_y(y + at, s.n), write.row(dx + at),
                                   s.n);
        write.store(dx + at, s.n);
      }
    });
  });
}

}  // namespace

void register_softmax() {
  fill_slots<On<softmax_slot, softmax_kernel<false>>, On<log_softmax_slot, softmax_kernel<true>>,
             On<softmax_backward_slot, softmax_backward_kernel<false>>,
             On<log_softmax_backward_slot, softmax_backward_kernel<true>>>(kCPU);
}

}  // namespace taeda::cpu::TAEDA_CPU_NAMESPACE
