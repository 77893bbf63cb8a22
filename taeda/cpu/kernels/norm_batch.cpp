// batch_norm. Contiguous data is planes (one channel of one sample), channels-last data is rows of
// channels. Statistics go through the reduction driver: their order depends on the shape alone.
//
// Planes of a few elements are too short for loops of their own. A sample of them is a row like one
// of channels-last data, with a column for each element: what belongs to a channel is repeated for
// its columns, and sums of columns are added up for their channel.
#include <algorithm>
#include <cmath>
#include <vector>

#include "taeda/cpu/kernels/rows.h"
#include "taeda/kernels/norm.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

namespace {

constexpr int64_t kChunks = 32;    // parts of channels-last data that are summed apart
constexpr int64_t kLeastRows = 8;  // of such a part

constexpr int64_t kShortPlane = 32;     // elements of a plane that is a part of a row
constexpr int64_t kMostSamples = 4096;  // of such rows: their sums are kept in few parts

/// Data as `samples` x `channels` planes of `spatial` elements, or as rows of `channels` times
/// `repeat` columns.
struct Planes {
  int64_t samples = 1, channels = 1, spatial = 1, repeat = 1;
  bool rows;

  explicit Planes(const Tensor& t) : samples(t.sizes()[0]), channels(t.sizes()[1]) {
    for (int64_t d = 2; d < t.dim(); ++d) spatial *= t.sizes()[d];
    rows = spatial == 1 || (!t.is_contiguous() && t.strides()[1] == 1);
    if (rows) samples *= spatial, spatial = 1;
    if (!rows && spatial <= kShortPlane && samples <= kMostSamples && t.is_contiguous())
      rows = true, repeat = spatial, spatial = 1;
  }
  int64_t per_channel() const { return samples * spatial * repeat; }
  int64_t columns() const { return channels * repeat; }
};

/// Values of channels, as the loops over rows read them: one for each column.
template <class A>
class Columns {
 public:
  Columns(const Planes& p, const A* values) : values_(values) {
    if (p.repeat == 1) return;
    repeated_.resize(static_cast<size_t>(p.columns()));
    for (int64_t c = 0; c < p.channels; ++c)
      std::fill_n(repeated_.begin() + c * p.repeat, p.repeat, values[c]);
    values_ = repeated_.data();
  }
  const A* get() const { return values_; }

 private:
  const A* values_;
  std::vector<A> repeated_;
};

DimMask all_but_channels(const Tensor& t) {
  DimMask mask;
  for (int64_t d = 0; d < t.dim(); ++d)
    if (d != 1) mask.add(d);
  return mask;
}

/// y = (x - mean) scale + shift, per channel.
template <class T, class A>
void apply(const Planes& p, const T* x, T* y, const A* mean, const A* scale, const A* shift) {
  if (p.rows) {
    const int64_t n = p.columns();
    const Columns<A> means(p, mean), scales(p, scale), shifts(p, shift);
    const A *m = means.get(), *a = scales.get(), *b = shifts.get();
    parallel_for(0, p.samples, row_grain(n), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const T* from = x + r * n;
        T* to = y + r * n;
        for (int64_t c = 0; c < n; ++c)
          to[c] = static_cast<T>((static_cast<A>(from[c]) - m[c]) * a[c] + b[c]);
      }
    });
    return;
  }
  parallel_for(0, p.samples * p.channels, row_grain(p.spatial), [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const T* from = x + k * p.spatial;
      T* to = y + k * p.spatial;
      const int64_t c = k % p.channels;
      const A m = mean[c], a = scale[c], b = shift[c];
      for (int64_t i = 0; i < p.spatial; ++i)
        to[i] = static_cast<T>((static_cast<A>(from[i]) - m) * a + b);
    }
  });
}

/// Calls add(row, sums) for each row with `width` sums of its part of the rows, and adds the parts
/// up into `sums`.
template <class A, class Add>
void sum_rows(const Planes& p, int64_t width, A* sums, Add&& add) {
  const int64_t chunk = std::max<int64_t>(kLeastRows, (p.samples + kChunks - 1) / kChunks);
  const int64_t chunks = (p.samples + chunk - 1) / chunk;
  std::vector<A> partial(static_cast<size_t>(width * chunks));
  parallel_for(0, chunks, row_grain(chunk * width), [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k)
      for (int64_t r = k * chunk; r < std::min(p.samples, (k + 1) * chunk); ++r)
        add(r, partial.data() + width * k);
  });
  A* const total = partial.data();
  for (int64_t k = 1; k < chunks; ++k)
    for (int64_t i = 0; i < width; ++i) total[i] += total[width * k + i];
  // Columns of a channel lie side by side.
  for (int64_t c = 0; c < width / p.repeat; ++c)
    for (int64_t i = 0; i < p.repeat; ++i) sums[c] += total[c * p.repeat + i];
}

/// Sums of every channel, divided by the count, of what `Sum` makes of a number and of its
/// channel's number in `around`.
template <class Sum, class T, class A>
void channel_means(const Planes& p, const Tensor& in, const A* around, A* out) {
  const A count = static_cast<A>(p.per_channel());
  if (p.repeat == 1) {
    const ReducePlan plan(Tensor(), in, all_but_channels(in));
    reduce(plan, reduce_functions<Sum, T>({}), reinterpret_cast<const char*>(around),
           [&](const ReduceResult& r) {
             for (int64_t k = 0; k < r.width; ++k)
               out[r.first + k] = reinterpret_cast<const A*>(r.acc)[k] / count;
           });
    return;
  }
  const int64_t n = p.columns();
  const T* x = static_cast<const T*>(in.data_ptr());
  const Columns<A> shifts(p, around);
  const A* s = shifts.get();
  std::fill_n(out, p.channels, A(0));
  sum_rows(p, n, out, [&](int64_t r, A* __restrict to) {
    for (int64_t c = 0; c < n; ++c) to[c] += Sum{}.map(static_cast<A>(x[r * n + c]), s[c]);
  });
  for (int64_t c = 0; c < p.channels; ++c) out[c] /= count;
}

/// Mean, biased variance and by how much the mean is too small, of every channel.
template <class T, class A>
void statistics(const Planes& p, const Tensor& in, A* mean, A* var, A* rest) {
  std::fill_n(rest, p.channels, A(0));
  channel_means<SumReduce<A>, T>(p, in, rest, mean);
  channel_means<SquareReduce<A>, T>(p, in, mean, var);
  const auto is_far = [&](int64_t c) { return is_far_from_zero(mean[c], var[c]); };
  int64_t far = 0;
  while (far < p.channels && !is_far(far)) ++far;
  if (far == p.channels) return;
  std::vector<A> distance(static_cast<size_t>(p.channels));
  channel_means<DistanceReduce<A>, T>(p, in, mean, distance.data());
  for (int64_t c = far; c < p.channels; ++c) {
    if (!is_far(c)) continue;
    Moments<A> m{mean[c], var[c]};
    m.correct(distance[static_cast<size_t>(c)]);
    mean[c] = m.mean, var[c] = m.variance, rest[c] = m.rest;
  }
}

template <class A>
void blend(const Tensor& running, const A* fresh, A factor, A momentum, int64_t n) {
  if (!running.defined()) return;
  A* old = running.data_ptr<A>();
  for (int64_t c = 0; c < n; ++c)
    old[c] = (A(1) - momentum) * old[c] + momentum * (fresh[c] * factor);
}

void batch_norm(const Tensor& out, const Tensor& mean, const Tensor& rstd, const Tensor& in,
                const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                const Tensor& running_var, bool training, double momentum, double eps) {
  dispatch(FloatTypes{}, "batch_norm", in.dtype(), [&]<class T>() {
    using A = opmath_t<T>;
    const Planes p(in);
    A *m = mean.data_ptr<A>(), *r = rstd.data_ptr<A>();
    const int64_t n = p.channels;
    std::vector<A> scale(static_cast<size_t>(n)), shift(static_cast<size_t>(n));
    if (training) {
      std::vector<A> var(static_cast<size_t>(n));
      statistics<T>(p, in, m, var.data(), shift.data());
      const A count = static_cast<A>(p.per_channel());
      blend(running_mean, m, A(1), static_cast<A>(momentum), n);
      blend(running_var, var.data(), count / (count - A(1)), static_cast<A>(momentum), n);
      for (int64_t c = 0; c < n; ++c)
        r[c] = A(1) / std::sqrt(var[static_cast<size_t>(c)] + static_cast<A>(eps));
    }
    for (int64_t c = 0; c < n; ++c) {
      const auto k = static_cast<size_t>(c);
      scale[k] = weight.defined() ? r[c] * weight.data_ptr<A>()[c] : r[c];
      shift[k] = (bias.defined() ? bias.data_ptr<A>()[c] : A(0)) - shift[k] * scale[k];
    }
    apply(p, static_cast<const T*>(in.data_ptr()), static_cast<T*>(out.data_ptr()), m, scale.data(),
          shift.data());
  });
}

/// Sums over each channel of g and of g (x - mean), into sums[0 .. n) and sums[n .. 2n).
template <class T, class A>
void gradient_sums(const Planes& p, const T* g, const T* x, const A* mean, std::vector<A>& sums) {
  if (p.rows) {
    const int64_t n = p.columns();
    const Columns<A> means(p, mean);
    const A* m = means.get();
    sum_rows(p, 2 * n, sums.data(), [&](int64_t r, A* __restrict sum_g) {
      A* __restrict sum_gx = sum_g + n;
      for (int64_t c = 0; c < n; ++c) {
        const A gi = static_cast<A>(g[r * n + c]);
        sum_g[c] += gi;
        sum_gx[c] += gi * (static_cast<A>(x[r * n + c]) - m[c]);
      }
    });
    return;
  }
  const int64_t n = p.channels;
  parallel_for(0, n, row_grain(2 * p.samples * p.spatial), [&](int64_t begin, int64_t end) {
    RowReader<T> read_g(p.spatial), read_x(p.spatial);
    for (int64_t c = begin; c < end; ++c) {
      double sum_g = 0, sum_gx = 0;
      for (int64_t s = 0; s < p.samples; ++s) {
        const int64_t at = (s * n + c) * p.spatial;
        const A *gr = read_g(g + at, p.spatial), *xr = read_x(x + at, p.spatial);
        sum_g += static_cast<double>(row_sum(gr, p.spatial));
        sum_gx += static_cast<double>(row_centered_dot(gr, xr, mean[c], p.spatial));
      }
      sums[static_cast<size_t>(c)] = static_cast<A>(sum_g);
      sums[static_cast<size_t>(n + c)] = static_cast<A>(sum_gx);
    }
  });
}

/// dx = scale (g - a - (x - mean) b), per channel; evaluation has a = b = 0.
template <class T, class A>
void gradient_apply(const Planes& p, const T* g, const T* x, T* dx, const A* mean, const A* scale,
                    const A* a, const A* b) {
  const int64_t n = p.rows ? p.columns() : p.channels, runs = p.rows ? p.samples : p.samples * n,
                length = p.rows ? n : p.spatial;
  const Columns<A> means(p, mean), scales(p, scale), as(p, a), bs(p, b);
  parallel_for(0, runs, row_grain(2 * length), [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const T *gr = g + k * length, *xr = x + k * length;
      T* to = dx + k * length;
      if (p.rows) {
        const A *m = means.get(), *s = scales.get(), *ac = as.get(), *bc = bs.get();
        for (int64_t c = 0; c < n; ++c)
          to[c] = static_cast<T>(
              s[c] * (static_cast<A>(gr[c]) - ac[c] - (static_cast<A>(xr[c]) - m[c]) * bc[c]));
        continue;
      }
      const int64_t c = k % n;
      const A m = mean[c], s = scale[c], ac = a[c], bc = b[c];
      for (int64_t i = 0; i < length; ++i)
        to[i] = static_cast<T>(s * (static_cast<A>(gr[i]) - ac - (static_cast<A>(xr[i]) - m) * bc));
    }
  });
}

void batch_norm_backward(const Tensor& grad_in, const Tensor& grad_weight, const Tensor& grad_bias,
                         const Tensor& grad, const Tensor& in, const Tensor& weight,
                         const Tensor& mean, const Tensor& rstd, bool training) {
  dispatch(FloatTypes{}, "batch_norm_backward", in.dtype(), [&]<class T>() {
    using A = opmath_t<T>;
    const Planes p(in);
    const int64_t n = p.channels;
    const T *g = static_cast<const T*>(grad.data_ptr()), *x = static_cast<const T*>(in.data_ptr());
    const A *m = mean.data_ptr<A>(), *r = rstd.data_ptr<A>(),
            *w = weight.defined() ? weight.data_ptr<A>() : nullptr;
    std::vector<A> sums(static_cast<size_t>(2 * n));
    gradient_sums(p, g, x, m, sums);
    A *dw = grad_weight.data_ptr<A>(), *db = grad_bias.data_ptr<A>();
    std::vector<A> scale(static_cast<size_t>(n)), a(static_cast<size_t>(n)),
        b(static_cast<size_t>(n));
    const A count = static_cast<A>(p.per_channel());
    for (int64_t c = 0; c < n; ++c) {
      const size_t i = static_cast<size_t>(c), j = static_cast<size_t>(n + c);
      db[c] = sums[i];
      dw[c] = sums[j] * r[c];
      scale[i] = w ? w[c] * r[c] : r[c];
      a[i] = training ? sums[i] / count : A(0);
      b[i] = training ? sums[j] * r[c] * r[c] / count : A(0);
    }
    if (grad_in.defined())
      gradient_apply(p, g, x, static_cast<T*>(grad_in.data_ptr()), m, scale.data(), a.data(),
                     b.data());
  });
}

}  // namespace

void register_norm_batch() {
  batch_norm_slot.set(kCPU, &batch_norm);
  batch_norm_backward_slot.set(kCPU, &batch_norm_backward);
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
