// layer_norm, group_norm and rms_norm: rows that are normalised each by itself. Forward a row is
// read twice for its statistics and once for the result, from the cache; backward, with xhat = (x -
// mean) rstd and h = g weight: dx = rstd (h - mean(h) - xhat mean(h xhat)).
#include <cmath>
#include <vector>

#include "taeda/cpu/kernels/rows.h"
#include "taeda/kernels/norm.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

namespace {

constexpr int64_t kRowChunks = 32;  // parts of the rows whose weight gradients are summed apart

template <class A>
const A* data_or_null(const Tensor& t) {
  return t.defined() ? t.data_ptr<A>() : nullptr;
}

/// y = (x - mean) rstd weight + bias over the runs of a row.
template <class A>
void apply_row(const A* x, A* y, A mean, A rstd, const A* weight, const A* bias, int64_t channels,
               int64_t spatial) {
  if (spatial == 1 && weight && bias) {
    for (int64_t i = 0; i < channels; ++i) y[i] = (x[i] - mean) * rstd * weight[i] + bias[i];
    return;
  }
  if (spatial == 1) {
    for (int64_t i = 0; i < channels; ++i)
      y[i] = (x[i] - mean) * rstd * (weight ? weight[i] : A(1)) + (bias ? bias[i] : A(0));
    return;
  }
  for (int64_t c = 0; c < channels; ++c) {
    const A scale = weight ? rstd * weight[c] : rstd, shift = bias ? bias[c] : A(0);
    for (int64_t i = c * spatial; i < (c + 1) * spatial; ++i) y[i] = (x[i] - mean) * scale + shift;
  }
}

template <class A>
[[gnu::noinline]] const A* subtract(const A* x, A* y, A mean, A rest, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) - rest;
  return y;
}

void row_norm(const Tensor& out, const Tensor& mean, const Tensor& rstd, const Tensor& in,
              const Tensor& weight, const Tensor& bias, RowNorm s, double eps) {
  dispatch(FloatTypes{}, "row_norm", in.dtype(), [&]<class T>() {
    using A = opmath_t<T>;
    const int64_t n = s.channels * s.spatial;
    const A count = static_cast<A>(n);
    const T* x = in.data_ptr<T>();
    T* y = out.data_ptr<T>();
    A *means = mean.data_ptr<A>(), *rstds = rstd.data_ptr<A>();
    const A *w = data_or_null<A>(weight), *b = data_or_null<A>(bias);
    parallel_for(0, s.rows, row_grain(2 * n), [&](int64_t begin, int64_t end) {
      RowReader<T> read(n);
      RowWriter<T> write(n);
      for (int64_t r = begin; r < end; ++r) {
        const A* row = read(x + r * n, n);
        A m = s.center ? row_sum(row, n) / count : A(0), center = m;
        A variance = row_square_sum(row, m, n) / count;
        A* to = write.row(y + r * n);
        if (s.center && is_far_from_zero(m, variance)) [[unlikely]] {
          const Moments<A> exact = exact_row_moments(row, m, variance, n);
          m = exact.mean, variance = exact.variance;
          row = subtract(row, to, m, exact.rest, n), center = A(0);
        }
        means[r] = m;
        rstds[r] = A(1) / std::sqrt(variance + static_cast<A>(eps));
        const int64_t first = r % s.groups * s.channels;
        apply_row(row, to, center, rstds[r], w ? w + first : nullptr, b ? b + first : nullptr,
                  s.channels, s.spatial);
        write.store(y + r * n, n);
      }
    });
  });
}

/// A row of the backward pass.
template <class A>
struct BackwardRow {
  const A *g, *x, *weight;
  A mean, rstd;
  A sum_h = 0, sum_hx = 0;  // sums of h and h xhat
};

/// Weight gradients of a row whose runs are single elements, and the sums over it.
template <class A>
void backward_sums_elements(BackwardRow<A>& r, A* __restrict dw, A* __restrict db, A* scratch,
                            int64_t n) {
  A* __restrict h = scratch;
  A* __restrict xhat = scratch + n;
  for (int64_t i = 0; i < n; ++i) {
    xhat[i] = (r.x[i] - r.mean) * r.rstd;
    h[i] = r.weight ? r.g[i] * r.weight[i] : r.g[i];
    dw[i] += r.g[i] * xhat[i];
    db[i] += r.g[i];
  }
  r.sum_h = row_sum(h, n);
  r.sum_hx = row_dot(h, xhat, n);
}

template <class A>
void backward_sums_runs(BackwardRow<A>& r, A* dw, A* db, int64_t channels, int64_t spatial) {
  for (int64_t c = 0; c < channels; ++c) {
    const A sum_g = row_sum(r.g + c * spatial, spatial),
            sum_gx =
                row_centered_dot(r.g + c * spatial, r.x + c * spatial, r.mean, spatial) * r.rstd;
    const A w = r.weight ? r.weight[c] : A(1);
    dw[c] += sum_gx;
    db[c] += sum_g;
    r.sum_h += w * sum_g;
    r.sum_hx += w * sum_gx;
  }
}

template <class A>
void backward_apply(const BackwardRow<A>& r, A* dx, bool center, int64_t channels,
                    int64_t spatial) {
  const A n = static_cast<A>(channels * spatial);
  const A a = center ? r.sum_h / n : A(0), b = r.sum_hx / n * r.rstd;
  if (spatial == 1) {
    for (int64_t i = 0; i < channels; ++i) {
      const A h = r.weight ? r.g[i] * r.weight[i] : r.g[i];
      dx[i] = r.rstd * (h - a - (r.x[i] - r.mean) * b);
    }
    return;
  }
  for (int64_t c = 0; c < channels; ++c) {
    const A w = r.weight ? r.weight[c] : A(1);
    for (int64_t i = c * spatial; i < (c + 1) * spatial; ++i)
      dx[i] = r.rstd * (r.g[i] * w - a - (r.x[i] - r.mean) * b);
  }
}

void row_norm_backward(const Tensor& grad_in, const Tensor& grad_weight, const Tensor& grad_bias,
                       const Tensor& grad, const Tensor& in, const Tensor& weight,
                       const Tensor& mean, const Tensor& rstd, RowNorm s) {
  dispatch(FloatTypes{}, "row_norm_backward", in.dtype(), [&]<class T>() {
    using A = opmath_t<T>;
    const int64_t n = s.channels * s.spatial, weights = s.groups * s.channels;
    const T *x = in.data_ptr<T>(), *g = grad.data_ptr<T>();
    T* dx = grad_in.data_ptr<T>();
    const A *means = mean.data_ptr<A>(), *rstds = rstd.data_ptr<A>(), *w = data_or_null<A>(weight);
    // Chunk c sums its rows' weight gradients into sums[c]; the chunks are added in order.
    const int64_t chunk = std::max<int64_t>(1, (s.rows + kRowChunks - 1) / kRowChunks);
    const int64_t chunks = (s.rows + chunk - 1) / chunk;
    std::vector<A> sums(static_cast<size_t>(2 * chunks * weights));
    parallel_for(0, chunks, row_grain(4 * chunk * n), [&](int64_t begin, int64_t end) {
      RowReader<T> read_x(n), read_g(n);
      RowWriter<T> write(n);
      std::vector<A> scratch(static_cast<size_t>(s.spatial == 1 ? 2 * n : 0));
      for (int64_t c = begin; c < end; ++c) {
        A* dw = sums.data() + 2 * c * weights;
        for (int64_t r = c * chunk; r < std::min(s.rows, (c + 1) * chunk); ++r) {
          const int64_t first = r % s.groups * s.channels;
          BackwardRow<A> row{read_g(g + r * n, n), read_x(x + r * n, n), w ? w + first : nullptr,
                             means[r], rstds[r]};
          if (s.spatial == 1)
            backward_sums_elements(row, dw + first, dw + weights + first, scratch.data(), n);
          else
            backward_sums_runs(row, dw + first, dw + weights + first, s.channels, s.spatial);
          backward_apply(row, write.row(dx + r * n), s.center, s.channels, s.spatial);
          write.store(dx + r * n, n);
        }
      }
    });
    A *dw = grad_weight.data_ptr<A>(), *db = grad_bias.data_ptr<A>();
    std::fill_n(dw, weights, A(0));
    std::fill_n(db, weights, A(0));
    for (int64_t c = 0; c < chunks; ++c)
      for (int64_t i = 0; i < weights; ++i) {
        dw[i] += sums[static_cast<size_t>(2 * c * weights + i)];
        db[i] += sums[static_cast<size_t>((2 * c + 1) * weights + i)];
      }
  });
}

}  // namespace

void register_norm_rows() {
  row_norm_slot.set(kCPU, &row_norm);
  row_norm_backward_slot.set(kCPU, &row_norm_backward);
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
