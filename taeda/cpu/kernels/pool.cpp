// Pooling: a channel at a time, channels in parallel. Channels-last memory has neighbouring
// channels side by side: there a block of them goes through the windows together.
#include "taeda/kernels/pool.h"

#include <algorithm>
#include <limits>

#include "taeda/base/parallel_for.h"
#include "taeda/cpu/kernels/convert.h"
#include "taeda/cpu/kernels/pool_pairs.h"
#include "taeda/cpu/scratch.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

namespace {

constexpr int kBlock = 32;  // channels that go together in channels-last memory

/// Spatial sizes with three dimensions; missing ones are 1, at the front.
struct Planes {
  int64_t count = 1, in[3] = {1, 1, 1}, out[3] = {1, 1, 1};
  int64_t channels = 1, step = 1;  // elements from a position to the next one of its channel

  Planes(const Tensor& input, const Tensor& output, int ndim) {
    for (int64_t d = 0; d < input.dim() - ndim; ++d) count *= input.size(d);
    for (int d = 0; d < ndim; ++d) {
      in[3 - ndim + d] = input.size(d - ndim);
      out[3 - ndim + d] = output.size(d - ndim);
    }
    if (is_channels_last_only(input) || is_channels_last_only(output))
      step = channels = input.size(1);
  }
  bool last() const { return step != 1; }
  int64_t in_size() const { return in[0] * in[1] * in[2]; }
  int64_t out_size() const { return out[0] * out[1] * out[2]; }
  /// Where plane i begins in memory of `size` positions for each plane.
  int64_t begin(int64_t i, int64_t size) const {
    return last() ? i / channels * size * channels + i % channels : i * size;
  }
  template <class F>
  void for_each(int64_t work, F&& f) const {
    parallel_for(0, count, std::max<int64_t>(1, kParallelGrain / std::max<int64_t>(1, work)),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) f(i);
                 });
  }
  /// Calls f.operator()<B>(first plane, planes) with as many neighbouring planes as go together, at
  /// most B.
  template <class F>
  void for_each_block(int64_t work, F&& f) const {
    if (!last()) return for_each(work, [&](int64_t i) { f.template operator()<1>(i, 1); });
    const int64_t blocks = (channels + kBlock - 1) / kBlock;
    parallel_for(0, count / channels * blocks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i % blocks * kBlock;
        f.template operator()<kBlock>(
            i / blocks * channels + first,
            static_cast<int>(std::min<int64_t>(kBlock, channels - first)));
      }
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
           padding[2] == 0 && dilation[1] == 1 && dilation[2] == 1 && !p.last() &&
           2 * p.out[1] <= p.in[1] && 2 * p.out[2] <= p.in[2];
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

/// `lanes` neighbouring channels, at most B.
template <int B, class T, class Index>
void max_pool_planes(const Planes& p, const Window& w, const T* in, T* out, Index* window,
                     int lanes) {
  using C = opmath_t<T>;
  if (B == 1) lanes = 1;
  for_each_output(p, [&](int64_t o, int64_t z, int64_t y, int64_t x) {
    const auto [z0, z1] = w.inside(0, z, p.in[0]);
    const auto [y0, y1] = w.inside(1, y, p.in[1]);
    const auto [x0, x1] = w.inside(2, x, p.in[2]);
    C best[B];
    int32_t winner[B];
    const auto first = static_cast<int32_t>((z0 * w.kernel[1] + y0) * w.kernel[2] + x0);
    for (int c = 0; c < B; ++c) {
      best[c] = -std::numeric_limits<C>::infinity();
      winner[c] = first;
    }
    for (int64_t kz = z0; kz < z1; ++kz)
      for (int64_t ky = y0; ky < y1; ++ky) {
        const T* row = in + (w.input(0, z, kz) * p.in[1] + w.input(1, y, ky)) * p.in[2] * p.step;
        for (int64_t kx = x0; kx < x1; ++kx) {
          const T* at = row + w.input(2, x, kx) * p.step;
          const auto k = static_cast<int32_t>((kz * w.kernel[1] + ky) * w.kernel[2] + kx);
          for (int c = 0; c < lanes; ++c) {
            const C value = static_cast<C>(at[c]);
            const bool wins = beats(value, best[c]);
            best[c] = wins ? value : best[c];
            winner[c] = wins ? k : winner[c];
          }
        }
      }
    for (int c = 0; c < lanes; ++c) out[o * p.step + c] = static_cast<T>(best[c]);
    if (window)
      for (int c = 0; c < lanes; ++c) window[o * p.step + c] = static_cast<Index>(winner[c]);
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

/// n elements side by side, in another dtype.
template <class To, class From>
void convert(To* to, const From* from, int64_t n) {
  const Conversion conversion(dtype_of<To>(), dtype_of<From>());
  conversion.run(reinterpret_cast<char*>(to), sizeof(To), reinterpret_cast<const char*>(from),
                 sizeof(From), n);
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
      if constexpr (sizeof(T) == 2 && std::is_same_v<Index, uint8_t>) {
        // In float32, a plane at a time: what wins is one of the numbers, so nothing is rounded.
        if (w.is_pairs(p))
          return p.for_each(p.in_size() / 4, [&](int64_t i) {
            const ScratchArray<float> wide(p.in_size()), best(p.out_size());
            convert(wide.get(), from + i * p.in_size(), p.in_size());
            max_pool_pairs(wide.get(), p.in[2], p.out[1], p.out[2], best.get(),
                           winners ? winners + i * p.out_size() : nullptr);
            convert(to + i * p.out_size(), best.get(), p.out_size());
          });
      }
      p.for_each_block(p.out_size() * w.size(), [&]<int B>(int64_t i, int lanes) {
        const int64_t at = p.begin(i, p.out_size());
        max_pool_planes<B>(p, w, from + p.begin(i, p.in_size()), to + at,
                           winners ? winners + at : nullptr, lanes);
      });
    });
  });
}

/// Zeroes neighbouring planes.
template <int B, class T>
void clear(const Planes& p, T* planes, int lanes) {
  if (B == 1) {
    std::fill_n(planes, p.in_size(), T(0));
    return;
  }
  for (int64_t i = 0; i < p.in_size(); ++i) std::fill_n(planes + i * p.step, lanes, T(0));
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
      if constexpr (sizeof(T) == 2 && std::is_same_v<Index, uint8_t>) {
        if (w.is_pairs(p))  // an element gets one number or none: nothing is rounded
          return p.for_each(p.in_size() / 4, [&](int64_t i) {
            const ScratchArray<float> wide(p.out_size()), spread(p.in_size());
            convert(wide.get(), from + i * p.out_size(), p.out_size());
            max_pool_pairs_backward(wide.get(), winners + i * p.out_size(), p.out[1], p.out[2],
                                    spread.get(), p.in[1], p.in[2]);
            convert(to + i * p.in_size(), spread.get(), p.in_size());
          });
      }
      p.for_each_block(p.in_size() + p.out_size() * 4, [&]<int B>(int64_t i, int lanes) {
        T* plane = to + p.begin(i, p.in_size());
        const int64_t start = p.begin(i, p.out_size());
        clear<B>(p, plane, lanes);
        for_each_output(p, [&](int64_t o, int64_t z, int64_t y, int64_t x) {
          for (int c = 0; c < (B == 1 ? 1 : lanes); ++c) {
            const int64_t at = start + o * p.step + c;
            T& target = plane[position(p, w, z, y, x, winners[at]) * p.step + c];
            target = static_cast<T>(target + from[at]);
          }
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
        const T* plane = in.data_ptr<T>() + p.begin(i, p.in_size());
        const int64_t start = p.begin(i, p.out_size());
        for_each_output(p, [&](int64_t o, int64_t z, int64_t y, int64_t x) {
          const int64_t at = start + o * p.step;
          out.data_ptr<T>()[at] = plane[position(p, w, z, y, x, winners[at]) * p.step];
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
      const int64_t start = p.begin(i, p.out_size());
      for_each_output(p, [&](int64_t o, int64_t z, int64_t y, int64_t x) {
        const int64_t at = start + o * p.step;
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
    p.for_each_block(p.in_size() + p.out_size() * 4, [&]<int B>(int64_t i, int lanes) {
      if (B == 1) lanes = 1;
      const T* from = in.data_ptr<T>() + p.begin(i, p.in_size());
      T* to = out.data_ptr<T>() + p.begin(i, p.out_size());
      for_each_output(p, [&](int64_t o, int64_t z, int64_t y, int64_t x) {
        const Region r = region(z, y, x);
        C sum[B] = {};
        for_each_input(p, r, [&](int64_t at) {
          for (int c = 0; c < lanes; ++c) sum[c] += static_cast<C>(from[at * p.step + c]);
        });
        for (int c = 0; c < lanes; ++c)
          to[o * p.step + c] = static_cast<T>(sum[c] / static_cast<C>(r.divisor));
      });
    });
  });
}

template <class RegionOf>
void average_backward(const char* op, const Tensor& grad_in, const Tensor& grad_out,
                      const Planes& p, RegionOf&& region) {
  dispatch(FloatTypes{}, op, grad_in.dtype(), [&]<class T>() {
    using C = opmath_t<T>;
    p.for_each_block(p.in_size() + p.out_size() * 4, [&]<int B>(int64_t i, int lanes) {
      if (B == 1) lanes = 1;
      const T* from = grad_out.data_ptr<T>() + p.begin(i, p.out_size());
      T* to = grad_in.data_ptr<T>() + p.begin(i, p.in_size());
      clear<B>(p, to, lanes);
      for_each_output(p, [&](int64_t o, int64_t z, int64_t y, int64_t x) {
        const Region r = region(z, y, x);
        C share[B];
        for (int c = 0; c < lanes; ++c)
          share[c] = static_cast<C>(from[o * p.step + c]) / static_cast<C>(r.divisor);
        for_each_input(p, r, [&](int64_t at) {
          T* target = to + at * p.step;
          for (int c = 0; c < lanes; ++c)
            target[c] = static_cast<T>(static_cast<C>(target[c]) + share[c]);
        });
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

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
