// Pooling: a channel at a time, channels in parallel.
#include "taeda/kernels/pool.h"

#include <algorithm>
#include <limits>

#include "taeda/base/parallel_for.h"
#include "taeda/cpu/kernels/pool_pairs.h"

namespace taeda::cpu::TAEDA_CPU_NAMESPACE {

namespace {

/// Spatial sizes with three dimensions; missing ones are 1, at the front.
struct Planes {
  int64_t count = 1, in[3] = {1, 1, 1}, out[3] = {1, 1, 1};

  Planes(const Tensor& input, const Tensor& output, int ndim) {
    for (int64_t d = 0; d < input.dim() - ndim; ++d) count *= input.size(d);
    for (int d = 0; d < ndim; ++d) {
      in[3 - ndim + d] = input.size(d - ndim);
      out[3 - ndim + d] = output.size(d - ndim);
    }
  }
  int64_t in_size() const { return in[0] * in[1] * in[2]; }
  int64_t out_size() const { return out[0] * out[1] * out[2]; }
  template <class F>
  void for_each(int64_t work, F&& f) const {
    parallel_for(0, count, std::max<int64_t>(1, kParallelGrain / std::max<int64_t>(1, work)),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) f(i);
                 });
  }
};

/// A geometry with three dimensions.
struct Window {
  int64_t kernel[3] = {1, 1, 1}, stride[3] = {1, 1, 1}, padding[3] = {0, 0, 0},
          dilation[3] = {1, 1, 1};

  explicit Window(const PoolGeometry& g) {
    for (int d = 0; d < g.ndim; ++d) {
      const int at = 3 - g.ndim + d;
      kernel[at] = g.kernel[d], stride[at] = g.stride[d];
      padding[at] = g.padding[d], dilation[at] = g.dilation[d];
    }
  }
  int64_t size() const { return kernel[0] * kernel[1] * kernel[2]; }
  /// Window positions of output o that lie inside, along dimension d.
  std::pair<int64_t, int64_t> inside(int d, int64_t o, int64_t in) const {
    const int64_t start = o * stride[d] - padding[d];
    const int64_t begin = start >= 0 ? 0 : (-start + dilation[d] - 1) / dilation[d];
    const int64_t room = in - start;
    const int64_t end = room <= 0 ? 0 : std::min(kernel[d], (room + dilation[d] - 1) / dilation[d]);
    return {std::min(begin, end), end};
  }
  int64_t input(int d, int64_t o, int64_t k) const {
    return o * stride[d] - padding[d] + k * dilation[d];
  }
  bool is_pairs(const Planes& p) const {
    return p.in[0] == 1 && kernel[0] == 1 && stride[0] == 1 && padding[0] == 0 && kernel[1] == 2 &&
           kernel[2] == 2 && stride[1] == 2 && stride[2] == 2 && padding[1] == 0 &&
           padding[2] == 0 && dilation[1] == 1 && dilation[2] == 1 && 2 * p.out[1] <= p.in[1] &&
           2 * p.out[2] <= p.in[2];
  }
};

/// Calls f(output number, z, y, x) for every output position of a channel.
template <class F>
void for_each_output(const Planes& p, F&& f) {
  int64_t o = 0;
  for (int64_t z = 0; z < p.out[0]; ++z)
    for (int64_t y = 0; y < p.out[1]; ++y)
      for (int64_t x = 0; x < p.out[2]; ++x) f(o++, z, y, x);
}

/// Where window position k of output (z, y, x) lies in the channel.
int64_t position(const Planes& p, const Window& w, int64_t z, int64_t y, int64_t x, int64_t k) {
  const int64_t kz = k / (w.kernel[1] * w.kernel[2]), ky = k / w.kernel[2] % w.kernel[1],
                kx = k % w.kernel[2];
  return (w.input(0, z, kz) * p.in[1] + w.input(1, y, ky)) * p.in[2] + w.input(2, x, kx);
}

template <class T>
bool beats(T value, T best) {
  return value > best || value != value;
}

template <class T, class Index>
void max_pool_plane(const Planes& p, const Window& w, const T* in, T* out, Index* window) {
  using C = opmath_t<T>;
  for_each_output(p, [&](int64_t o, int64_t z, int64_t y, int64_t x) {
    const auto [z0, z1] = w.inside(0, z, p.in[0]);
    const auto [y0, y1] = w.inside(1, y, p.in[1]);
    const auto [x0, x1] = w.inside(2, x, p.in[2]);
    C best = -std::numeric_limits<C>::infinity();
    int64_t winner = (z0 * w.kernel[1] + y0) * w.kernel[2] + x0;
    for (int64_t kz = z0; kz < z1; ++kz)
      for (int64_t ky = y0; ky < y1; ++ky) {
        const T* row = in + (w.input(0, z, kz) * p.in[1] + w.input(1, y, ky)) * p.in[2];
        for (int64_t kx = x0; kx < x1; ++kx) {
          const C value = static_cast<C>(row[w.input(2, x, kx)]);
          if (!beats(value, best)) continue;
          best = value;
          winner = (kz * w.kernel[1] + ky) * w.kernel[2] + kx;
        }
      }
    out[o] = static_cast<T>(best);
    if (window) window[o] = static_cast<Index>(winner);
  });
}

/// Calls f with the pointer to the winners, or a null one, in their type.
template <class F>
void with_window(const Tensor& window, F&& f) {
  if (!window.defined())
    f(static_cast<uint8_t*>(nullptr));
  else if (window.dtype() == kByte)
    f(window.data_ptr<uint8_t>());
  else
    f(window.data_ptr<int32_t>());
}

void max_pool_kernel(const Tensor& out, const Tensor& window, const Tensor& in,
                     const PoolGeometry& g) {
  const Planes p(in, out, g.ndim);
  const Window w(g);
  dispatch(FloatTypes{}, "max_pool", in.dtype(), [&]<class T>() {
    with_window(window, [&]<class Index>(Index* winners) {
      const T* from = in.data_ptr<T>();
      T* to = out.data_ptr<T>();
      if constexpr (std::is_same_v<T, float> && std::is_same_v<Index, uint8_t>) {
        if (w.is_pairs(p))
          return p.for_each(p.in_size() / 4, [&](int64_t i) {
            max_pool_pairs(from + i * p.in_size(), p.in[2], p.out[1], p.out[2],
                           to + i * p.out_size(), winners ? winners + i * p.out_size() : nullptr);
          });
      }
      p.for_each(p.out_size() * w.size(), [&](int64_t i) {
        max_pool_plane(p, w, from + i * p.in_size(), to + i * p.out_size(),
                       winners ? winners + i * p.out_size() : nullptr);
      });
    });
  });
}

void max_pool_backward_kernel(const Tensor& grad_in, const Tensor& grad_out, const Tensor& window,
                              const PoolGeometry& g) {
  const Planes p(grad_in, grad_out, g.ndim);
  const Window w(g);
  dispatch(FloatTypes{}, "max_pool_backward", grad_in.dtype(), [&]<class T>() {
    with_window(window, [&]<class Index>(const Index* winners) {
      const T* from = grad_out.data_ptr<T>();
      T* to = grad_in.data_ptr<T>();
      if constexpr (std::is_same_v<T, float> && std::is_same_v<Index, uint8_t>) {
        if (w.is_pairs(p))
          return p.for_each(p.in_size() / 4, [&](int64_t i) {
            max_pool_pairs_backward(from + i * p.out_size(), winners + i * p.out_size(), p.out[1],
                                    p.out[2], to + i * p.in_size(), p.in[1], p.in[2]);
          });
      }
      p.for_each(p.in_size() + p.out_size() * 4, [&](int64_t i) {
        T* plane = to + i * p.in_size();
        std::fill_n(plane, p.in_size(), T(0));
        for_each_output(p, [&](int64_t o, int64_t z, int64_t y, int64_t x) {
          T& target = plane[position(p, w, z, y, x, winners[i * p.out_size() + o])];
          target = static_cast<T>(target + from[i * p.out_size() + o]);
        });
      });
    });
  });
}

void max_pool_gather_kernel(const Tensor& out, const Tensor& in, const Tensor& window,
                            const PoolGeometry& g) {
  const Planes p(in, out, g.ndim);
  const Window w(g);
  dispatch(FloatTypes{}, "max_pool_gather", in.dtype(), [&]<class T>() {
    with_window(window, [&]<class Index>(const Index* winners) {
      p.for_each(p.out_size() * 4, [&](int64_t i) {
        const T* plane = in.data_ptr<T>() + i * p.in_size();
        for_each_output(p, [&](int64_t o, int64_t z, int64_t y, int64_t x) {
          const int64_t at = i * p.out_size() + o;
          out.data_ptr<T>()[at] = plane[position(p, w, z, y, x, winners[at])];
        });
      });
    });
  });
}

void max_pool_indices_kernel(const Tensor& indices, const Tensor& window, const Tensor& in,
                             const PoolGeometry& g) {
  const Planes p(in, indices, g.ndim);
  const Window w(g);
  with_window(window, [&]<class Index>(const Index* winners) {
    p.for_each(p.out_size() * 4, [&](int64_t i) {
      for_each_output(p, [&](int64_t o, int64_t z, int64_t y, int64_t x) {
        const int64_t at = i * p.out_size() + o;
        indices.data_ptr<int64_t>()[at] = position(p, w, z, y, x, winners[at]);
      });
    });
  });
}

// ---- Averages

/// One output's part of the input, and what its sum is divided by.
struct Region {
  int64_t begin[3], end[3];
  double divisor;
};

Region average_region(const Planes& p, const Window& w, const AveragePoolGeometry& g, int64_t z,
                      int64_t y, int64_t x) {
  const int64_t at[3] = {z, y, x};
  Region r;
  int64_t inside = 1, padded = 1;
  for (int d = 0; d < 3; ++d) {
    const int64_t start = at[d] * w.stride[d] - w.padding[d];
    const int64_t end = std::min(start + w.kernel[d], p.in[d] + w.padding[d]);
    r.begin[d] = std::max<int64_t>(start, 0);
    r.end[d] = std::min(end, p.in[d]);
    padded *= end - start;
    inside *= std::max<int64_t>(r.end[d] - r.begin[d], 0);
  }
  r.divisor = static_cast<double>(g.divisor ? g.divisor : g.count_include_pad ? padded : inside);
  return r;
}

Region adaptive_region(const Planes& p, int64_t z, int64_t y, int64_t x) {
  const int64_t at[3] = {z, y, x};
  Region r;
  r.divisor = 1;
  for (int d = 0; d < 3; ++d) {
    r.begin[d] = at[d] * p.in[d] / p.out[d];
    r.end[d] = ((at[d] + 1) * p.in[d] + p.out[d] - 1) / p.out[d];
    r.divisor *= static_cast<double>(r.end[d] - r.begin[d]);
  }
  return r;
}

/// Calls f(position) for the input positions of a region, in order.
template <class F>
void for_each_input(const Planes& p, const Region& r, F&& f) {
  for (int64_t z = r.begin[0]; z < r.end[0]; ++z)
    for (int64_t y = r.begin[1]; y < r.end[1]; ++y)
      for (int64_t x = r.begin[2]; x < r.end[2]; ++x) f((z * p.in[1] + y) * p.in[2] + x);
}

template <class RegionOf>
void average(const char* op, const Tensor& out, const Tensor& in, const Planes& p,
             RegionOf&& region) {
  dispatch(FloatTypes{}, op, in.dtype(), [&]<class T>() {
    using C = opmath_t<T>;
    p.for_each(p.in_size() + p.out_size() * 4, [&](int64_t i) {
      const T* from = in.data_ptr<T>() + i * p.in_size();
      T* to = out.data_ptr<T>() + i * p.out_size();
      for_each_output(p, [&](int64_t o, int64_t z, int64_t y, int64_t x) {
        const Region r = region(z, y, x);
        C sum = 0;
        for_each_input(p, r, [&](int64_t at) { sum += static_cast<C>(from[at]); });
        to[o] = static_cast<T>(sum / static_cast<C>(r.divisor));
      });
    });
  });
}

template <class RegionOf>
void average_backward(const char* op, const Tensor& grad_in, const Tensor& grad_out,
                      const Planes& p, RegionOf&& region) {
  dispatch(FloatTypes{}, op, grad_in.dtype(), [&]<class T>() {
    using C = opmath_t<T>;
    p.for_each(p.in_size() + p.out_size() * 4, [&](int64_t i) {
      const T* from = grad_out.data_ptr<T>() + i * p.out_size();
      T* to = grad_in.data_ptr<T>() + i * p.in_size();
      std::fill_n(to, p.in_size(), T(0));
      for_each_output(p, [&](int64_t o, int64_t z, int64_t y, int64_t x) {
        const Region r = region(z, y, x);
        const C share = static_cast<C>(from[o]) / static_cast<C>(r.divisor);
        for_each_input(
            p, r, [&](int64_t at) { to[at] = static_cast<T>(static_cast<C>(to[at]) + share); });
      });
    });
  });
}

void avg_pool_kernel(const Tensor& out, const Tensor& in, const AveragePoolGeometry& g) {
  const Planes p(in, out, g.ndim);
  const Window w(g);
  average("avg_pool", out, in, p,
          [&](int64_t z, int64_t y, int64_t x) { return average_region(p, w, g, z, y, x); });
}

void avg_pool_backward_kernel(const Tensor& grad_in, const Tensor& grad_out,
                              const AveragePoolGeometry& g) {
  const Planes p(grad_in, grad_out, g.ndim);
  const Window w(g);
  average_backward("avg_pool_backward", grad_in, grad_out, p, [&](int64_t z, int64_t y, int64_t x) {
    return average_region(p, w, g, z, y, x);
  });
}

/// The operation hands over [N, C, ...]: everything behind is spatial.
int spatial(const Tensor& t) { return static_cast<int>(t.dim()) - 2; }

void adaptive_avg_pool_kernel(const Tensor& out, const Tensor& in) {
  const Planes p(in, out, spatial(in));
  average("adaptive_avg_pool", out, in, p,
          [&](int64_t z, int64_t y, int64_t x) { return adaptive_region(p, z, y, x); });
}

void adaptive_avg_pool_backward_kernel(const Tensor& grad_in, const Tensor& grad_out) {
  const Planes p(grad_in, grad_out, spatial(grad_in));
  average_backward("adaptive_avg_pool_backward", grad_in, grad_out, p,
                   [&](int64_t z, int64_t y, int64_t x) { return adaptive_region(p, z, y, x); });
}

void adaptive_max_pool_kernel(const Tensor& out, const Tensor& indices, const Tensor& in) {
  const Planes p(in, out, spatial(in));
  dispatch(FloatTypes{}, "adaptive_max_pool", in.dtype(), [&]<class T>() {
    using C = opmath_t<T>;
    p.for_each(p.in_size() + p.out_size() * 4, [&](int64_t i) {
      const T* from = in.data_ptr<T>() + i * p.in_size();
      for_each_output(p, [&](int64_t o, int64_t z, int64_t y, int64_t x) {
        const Region r = adaptive_region(p, z, y, x);
        C best = -std::numeric_limits<C>::infinity();
        int64_t winner = (r.begin[0] * p.in[1] + r.begin[1]) * p.in[2] + r.begin[2];
        for_each_input(p, r, [&](int64_t at) {
          const C value = static_cast<C>(from[at]);
          if (beats(value, best)) best = value, winner = at;
        });
        out.data_ptr<T>()[i * p.out_size() + o] = static_cast<T>(best);
        indices.data_ptr<int64_t>()[i * p.out_size() + o] = winner;
      });
    });
  });
}

}  // namespace

void register_pool() {
  max_pool_slot.set(kCPU, &max_pool_kernel);
  max_pool_backward_slot.set(kCPU, &max_pool_backward_kernel);
  max_pool_gather_slot.set(kCPU, &max_pool_gather_kernel);
  max_pool_indices_slot.set(kCPU, &max_pool_indices_kernel);
  avg_pool_slot.set(kCPU, &avg_pool_kernel);
  avg_pool_backward_slot.set(kCPU, &avg_pool_backward_kernel);
  adaptive_avg_pool_slot.set(kCPU, &adaptive_avg_pool_kernel);
  adaptive_avg_pool_backward_slot.set(kCPU, &adaptive_avg_pool_backward_kernel);
  adaptive_max_pool_slot.set(kCPU, &adaptive_max_pool_kernel);
}

}  // namespace taeda::cpu::TAEDA_CPU_NAMESPACE
