// Pooling: a channel at a time, channels in parallel; pool_last.h is for channels-last memory.
#include "taeda/kernels/pool.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "taeda/cpu/kernels/convert.h"
#include "taeda/cpu/kernels/move.h"
#include "taeda/cpu/kernels/pool_geometry.h"
#include "taeda/cpu/kernels/pool_last.h"
#include "taeda/cpu/kernels/pool_pairs.h"
#include "taeda/cpu/kernels/strided.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

namespace {

/// One output of a channel whose elements lie side by side.
template <class C>
void max_pool_output(const Planes& p, const Window& w, const C* in, int64_t z, int64_t y, int64_t x,
                     C* out, const Winners& winners) {
  const Taps taps(p, w, z, y, x);
  C best = -std::numeric_limits<C>::infinity();
  int32_t winner = taps.first();
  taps.for_each([&](int64_t at, int32_t k) {
    const bool wins = beats(in[at], best);
    best = wins ? in[at] : best;
    winner = wins ? k : winner;
  });
  out[x] = best;
  if (winners.wanted()) winners.set(x, winner);
}

/// A row of outputs at a time: those whose windows lie inside of the row are compared tap by
/// tap, each in the order in which its taps come.
template <class C>
class MaxRows {
 public:
  MaxRows(const Planes& p, const Window& w) : p_(p), w_(w) {
    const int64_t stride = w.stride[2], reach = (w.kernel[2] - 1) * w.dilation[2] + 1,
                  room = p.in[2] + w.padding[2] - reach;
    begin_ = std::min((w.padding[2] + stride - 1) / stride, p.out[2]);
    end_ = std::max(room < 0 ? 0 : std::min(room / stride + 1, p.out[2]), begin_);
  }

  void run(const C* in, C* out, Winners winners) const {
    for (int64_t z = 0; z < p_.out[0]; ++z)
      for (int64_t y = 0; y < p_.out[1]; ++y) {
        for (int64_t x = 0; x < begin_; ++x) max_pool_output(p_, w_, in, z, y, x, out, winners);
        winners.wanted() ? inner<true>(z, y, in, out, winners)
                         : inner<false>(z, y, in, out, winners);
        for (int64_t x = end_; x < p_.out[2]; ++x)
          max_pool_output(p_, w_, in, z, y, x, out, winners);
        out += p_.out[2];
        winners = winners.from(p_.out[2]);
      }
  }

 private:
  static constexpr int64_t kChunk = 64;

  /// `Track`: winners are asked for.
  template <bool Track>
  void inner(int64_t z, int64_t y, const C* in, C* out, const Winners& winners) const {
    const auto [z_begin, z_end] = w_.inside(0, z, p_.in[0]);
    const auto [y_begin, y_end] = w_.inside(1, y, p_.in[1]);
    for (int64_t x = begin_; x < end_; x += kChunk) {
      const int64_t n = std::min(kChunk, end_ - x);
      C best[kChunk];
      int32_t winner[kChunk];
      std::fill_n(best, kChunk, -std::numeric_limits<C>::infinity());
      std::fill_n(winner, kChunk,
                  static_cast<int32_t>((z_begin * w_.kernel[1] + y_begin) * w_.kernel[2]));
      for (int64_t kz = z_begin; kz < z_end; ++kz)
        for (int64_t ky = y_begin; ky < y_end; ++ky) {
          const C* row = in + (w_.input(0, z, kz) * p_.in[1] + w_.input(1, y, ky)) * p_.in[2];
          int64_t kx = 0;
          if constexpr (!Track)
            if (w_.stride[2] == 2 && w_.dilation[2] == 1)
              for (; kx + 2 <= w_.kernel[2]; kx += 2)
                contend_pairs(row + w_.input(2, x, kx), n, best);
          for (; kx < w_.kernel[2]; ++kx) {
            const auto number = static_cast<int32_t>((kz * w_.kernel[1] + ky) * w_.kernel[2] + kx);
            const C* from = row + w_.input(2, x, kx);
            if (w_.stride[2] == 1)
              contend_row<Track, 1>(from, 1, n, number, best, winner);
            else if (w_.stride[2] == 2)
              contend_row<Track, 2>(from, 2, n, number, best, winner);
            else
              contend_row<Track, 0>(from, w_.stride[2], n, number, best, winner);
          }
        }
      std::copy_n(best, n, out + x);
      if constexpr (Track) winners.set(x, winner, n);
    }
  }
  /// Two taps of windows that are two elements apart.
  static void contend_pairs(const C* __restrict from, int64_t n, C* __restrict best) {
    for (int64_t i = 0; i < n; ++i) {
      const C a = from[2 * i], b = from[2 * i + 1];
      const C top = b > a ? b : a, either = (a != a) | (b != b) ? a + b : top;
      best[i] = (either > best[i]) | (either != either) ? either : best[i];
    }
  }
  /// `Step`: the stride, 0 for any.
  template <bool Track, int64_t Step>
  static void contend_row(const C* __restrict from, int64_t stride, int64_t n, int32_t number,
                          C* __restrict best, int32_t* __restrict winner) {
    for (int64_t i = 0; i < n; ++i) {
      const C value = from[i * (Step == 0 ? stride : Step)];
      const bool wins = (value > best[i]) | (value != value);
      best[i] = wins ? value : best[i];
      if constexpr (Track) winner[i] = wins ? number : winner[i];
    }
  }

  const Planes& p_;
  const Window& w_;
  int64_t begin_, end_;
};

// Note [Planes together]
// Short rows of outputs fill no registers, and those of windows with steps read what is not side by
// side. So planes of some channels go through channels-last memory together: to transpose them in
// registers costs less than one of the comparisons. They stay in the second cache meanwhile.
constexpr int64_t kMostTogether = 64, kLeastTogether = 16, kShortRow = 24;

/// How many planes go together, 0 for none.
int64_t planes_together(const Planes& p, const Window& w, int64_t item) {
  constexpr int64_t kBytes = int64_t{1} << 20;
  if (p.last() || p.count < kLeastTogether) return 0;
  if (p.out[2] > kShortRow && w.stride[2] == 1) return 0;
  for (int64_t n = kMostTogether; n >= kLeastTogether; n /= 2)
    if (n * p.in_size() * item <= kBytes) return n;
  return 0;
}

template <class T>
using Word =
    std::conditional_t<sizeof(T) == 1, uint8_t,
                       std::conditional_t<sizeof(T) == 2, uint16_t,
                                          std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;

/// to[c][r] = from[r][c], both dense.
template <class T>
void transpose(T* to, const T* from, int64_t rows, int64_t columns) {
  constexpr auto item = static_cast<int64_t>(sizeof(T));
  transpose_part<Word<T>>(reinterpret_cast<char*>(to), rows * item,
                          reinterpret_cast<const char*>(from), columns * item, rows, columns);
}

template <class T>
void max_pool_together(const Planes& p, const Window& w, int64_t together, const T* in, T* out,
                       const Winners& winners) {
  const int64_t groups = (p.count + together - 1) / together,
                work = together * (p.in_size() + p.out_size() * w.size());
  parallel_for(
      0, groups, std::max<int64_t>(1, kParallelGrain / work), [&](int64_t begin, int64_t end) {
        const ScratchArray<T> last(together * p.in_size()), best(together * p.out_size());
        const ScratchArray<char> numbers(winners.wanted() ? together * p.out_size() * winners.item()
                                                          : 0);
        const Winners last_winners(winners.wanted() ? numbers.get() : nullptr, winners.are_bytes());
        for (int64_t g = begin; g < end; ++g) {
          const int64_t first = g * together, n = std::min(together, p.count - first);
          Planes some = p;
          some.count = some.channels = some.step = n;
          transpose(last.get(), in + first * p.in_size(), n, p.in_size());
          max_pool_last(some, w, last.get(), best.get(), last_winners);
          transpose(out + first * p.out_size(), best.get(), p.out_size(), n);
          if (!winners.wanted()) continue;
          char *const to = winners.at(first * p.out_size()), *const from = last_winners.at(0);
          if (winners.are_bytes())
            transpose_part<uint8_t>(to, p.out_size(), from, n, p.out_size(), n);
          else
            transpose_part<uint32_t>(to, 4 * p.out_size(), from, 4 * n, p.out_size(), n);
        }
      });
}

/// Calls f with the pointer to the winners in their type.
template <class F>
void with_window(const Tensor& window, F&& f) {
  if (window.dtype() == kByte)
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

/// Calls f with the windows' height as a constant.
template <class F>
void with_rows(int rows, F&& f) {
  if (rows == 2)
    f(std::integral_constant<int, 2>());
  else
    f(std::integral_constant<int, 1>());
}

/// Calls f(number, plane of the input, plane of the output) for every plane. Those of 16-bit floats
/// are float32 meanwhile: each element is converted once, and the loops are there once for both.
template <class T, class F>
void for_each_plane(const Planes& p, int64_t work, const T* in, T* out, F&& f) {
  p.for_each(work, [&](int64_t i) {
    const T* const from = in + i * p.in_size();
    T* const to = out + i * p.out_size();
    if constexpr (std::is_same_v<T, opmath_t<T>>) {
      f(i, from, to);
    } else {
      const ScratchArray<float> wide(p.in_size()), result(p.out_size());
      convert(wide.get(), from, p.in_size());
      f(i, wide.get(), result.get());
      convert(to, result.get(), p.out_size());
    }
  });
}

template <class T>
void max_pool(const Planes& p, const Window& w, const T* in, T* out, const Winners& winners) {
  using C = opmath_t<T>;
  const auto winners_of = [&](int64_t i) { return winners.from(i * p.out_size()); };
  if constexpr (std::is_same_v<C, float>) {
    if (const int rows = winners.are_bytes() ? w.pair_rows(p) : 0)
      return with_rows(rows, [&](auto height) {
        for_each_plane(p, p.in_size(), in, out, [&](int64_t i, const float* from, float* to) {
          max_pool_pairs<height>(from, p.in[2], p.out[1], p.out[2], to, winners_of(i).bytes_at(0));
        });
      });
  }
  if (p.last()) return max_pool_last(p, w, in, out, winners);
  if (const int64_t n = planes_together(p, w, sizeof(T)))
    return max_pool_together(p, w, n, in, out, winners);
  const MaxRows<C> rows(p, w);
  for_each_plane(p, p.out_size() * w.size(), in, out,
                 [&](int64_t i, const C* from, C* to) { rows.run(from, to, winners_of(i)); });
}

void max_pool_kernel(const Tensor& out, const Tensor& window, const Tensor& in,
                     const PoolGeometry& g) {
  const Planes p(in, out, g.ndim);
  dispatch(FloatTypes{}, "max_pool", in.dtype(), [&]<class T>() {
    max_pool(p, Window(g), in.data_ptr<T>(), out.data_ptr<T>(), Winners(window));
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
  const WindowOffsets offsets(p, w);
  dispatch(FloatTypes{}, "max_pool_backward", grad_in.dtype(), [&]<class T>() {
    with_window(window, [&]<class Index>(const Index* winners) {
      const T* from = grad_out.data_ptr<T>();
      T* to = grad_in.data_ptr<T>();
      if constexpr (std::is_same_v<T, float> && std::is_same_v<Index, uint8_t>) {
        if (const int rows = w.pair_rows(p))
          return with_rows(rows, [&](auto height) {
            p.for_each(p.in_size(), [&](int64_t i) {
              max_pool_pairs_backward<height>(from + i * p.out_size(), winners + i * p.out_size(),
                                              p.out[1], p.out[2], to + i * p.in_size(), p.in[1],
                                              p.in[2]);
            });
          });
      }
      if constexpr (sizeof(T) == 2 && std::is_same_v<Index, uint8_t>) {
        if (const int rows = w.pair_rows(p))
          return with_rows(rows, [&](auto height) {
            p.for_each(p.in_size(), [&](int64_t i) {
              // An element gets one number or none: nothing is rounded.
              const ScratchArray<float> wide(p.out_size()), spread(p.in_size());
              convert(wide.get(), from + i * p.out_size(), p.out_size());
              max_pool_pairs_backward<height>(wide.get(), winners + i * p.out_size(), p.out[1],
                                              p.out[2], spread.get(), p.in[1], p.in[2]);
              convert(to + i * p.in_size(), spread.get(), p.in_size());
            });
          });
      }
      p.for_each_block(p.in_size() + p.out_size() * 4, [&]<int B>(int64_t i, int lanes) {
        T* plane = to + p.begin(i, p.in_size());
        const int64_t start = p.begin(i, p.out_size());
        clear<B>(p, plane, lanes);
        for_each_output(p, [&](int64_t o, int64_t z, int64_t y, int64_t x) {
          for (int c = 0; c < (B == 1 ? 1 : lanes); ++c) {
            const int64_t at = start + o * p.step + c;
            T& target = plane[offsets.position(z, y, x, winners[at]) * p.step + c];
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
  const WindowOffsets offsets(p, w);
  with_word(in.element_size(), [&]<class W>(W) {
    const W* const from = static_cast<const W*>(in.data_ptr());
    W* const to = static_cast<W*>(out.data_ptr());
    with_window(window, [&]<class Index>(const Index* winners) {
      p.for_each(p.out_size() * 4, [&](int64_t i) {
        const W* plane = from + p.begin(i, p.in_size());
        const int64_t start = p.begin(i, p.out_size());
        for_each_output(p, [&](int64_t o, int64_t z, int64_t y, int64_t x) {
          const int64_t at = start + o * p.step;
          to[at] = plane[offsets.position(z, y, x, winners[at]) * p.step];
        });
      });
    });
  });
}

void max_pool_indices_kernel(const Tensor& indices, const Tensor& window, const Tensor& in,
                             const PoolGeometry& g) {
  const Planes p(in, indices, g.ndim);
  const Window w(g);
  const WindowOffsets offsets(p, w);
  with_window(window, [&]<class Index>(const Index* winners) {
    p.for_each(p.out_size() * 4, [&](int64_t i) {
      const int64_t start = p.begin(i, p.out_size());
      for_each_output(p, [&](int64_t o, int64_t z, int64_t y, int64_t x) {
        const int64_t at = start + o * p.step;
        indices.data_ptr<int64_t>()[at] = offsets.position(z, y, x, winners[at]);
      });
    });
  });
}

// ---- Averages

void average(const char* op, const Tensor& out, const Tensor& in, const Planes& p,
             const Regions& regions) {
  dispatch(FloatTypes{}, op, in.dtype(), [&]<class T>() {
    using C = opmath_t<T>;
    const T* from = in.data_ptr<T>();
    T* to = out.data_ptr<T>();
    if (p.last()) return average_last(p, regions, from, to);
    p.for_each(p.in_size() + p.out_size() * 4, [&](int64_t i) {
      const T* plane = from + i * p.in_size();
      for_each_output(p, [&](int64_t o, int64_t z, int64_t y, int64_t x) {
        const Region r = regions(z, y, x);
        C sum = 0;
        for_each_input(p, r, [&](int64_t at) { sum += static_cast<C>(plane[at]); });
        to[i * p.out_size() + o] = static_cast<T>(sum / static_cast<C>(r.divisor));
      });
    });
  });
}

void average_backward(const char* op, const Tensor& grad_in, const Tensor& grad_out,
                      const Planes& p, const Regions& regions) {
  dispatch(FloatTypes{}, op, grad_in.dtype(), [&]<class T>() {
    using C = opmath_t<T>;
    if (p.out_size() == 1 && !p.last() && regions(0, 0, 0).covers(p)) {
      const C divisor = static_cast<C>(regions(0, 0, 0).divisor);
      const int64_t n = p.in_size();
      const T* const shares = grad_out.data_ptr<T>();
      T* const planes = grad_in.data_ptr<T>();
      return p.for_each(n, [=](int64_t i) {
        const T share = static_cast<T>(static_cast<C>(shares[i]) / divisor);
        planes[i * n] = share;
        if (n > 1) std::fill_n(planes + i * n + 1, n - 1, share);
      });
    }
    p.for_each_block(p.in_size() + p.out_size() * 4, [&]<int B>(int64_t i, int lanes) {
      if (B == 1) lanes = 1;
      const T* from = grad_out.data_ptr<T>() + p.begin(i, p.out_size());
      T* to = grad_in.data_ptr<T>() + p.begin(i, p.in_size());
      clear<B>(p, to, lanes);
      for_each_output(p, [&](int64_t o, int64_t z, int64_t y, int64_t x) {
        const Region r = regions(z, y, x);
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

/// Averages over a channel whose elements lie side by side, a row of outputs at a time.
template <class C>
class AverageRows {
 public:
  AverageRows(const Planes& p, const Window& w, const Regions& regions)
      : p_(p), w_(w), regions_(regions) {
    const int64_t stride = w.stride[2], room = p.in[2] + w.padding[2] - w.kernel[2];
    inner_begin_ = std::min((w.padding[2] + stride - 1) / stride, p.out[2]);
    inner_end_ = std::max(room < 0 ? 0 : std::min(room / stride + 1, p.out[2]), inner_begin_);
  }

  void forward(const C* in, C* out) const {
    for (int64_t z = 0; z < p_.out[0]; ++z)
      for (int64_t y = 0; y < p_.out[1]; ++y, out += p_.out[2]) {
        for (int64_t x = 0; x < inner_begin_; ++x) out[x] = at_edge(z, y, x, in);
        if (inner_begin_ < inner_end_) inner(z, y, in, out);
        for (int64_t x = inner_end_; x < p_.out[2]; ++x) out[x] = at_edge(z, y, x, in);
      }
  }

 private:
  C at_edge(int64_t z, int64_t y, int64_t x, const C* in) const {
    const Region r = regions_(z, y, x);
    C sum = 0;
    for_each_input(p_, r, [&](int64_t at) { sum += in[at]; });
    return sum / static_cast<C>(r.divisor);
  }
  /// The outputs of a row whose windows lie inside of it.
  void inner(int64_t z, int64_t y, const C* in, C* out) const {
    constexpr int64_t kChunk = 64;
    const Region r = regions_(z, y, inner_begin_);
    const int64_t stride = w_.stride[2];
    for (int64_t x = inner_begin_; x < inner_end_; x += kChunk) {
      const int64_t n = std::min(kChunk, inner_end_ - x);
      C sum[kChunk] = {};
      for (int64_t iz = r.begin[0]; iz < r.end[0]; ++iz)
        for (int64_t iy = r.begin[1]; iy < r.end[1]; ++iy) {
          const C* row = in + (iz * p_.in[1] + iy) * p_.in[2] + x * stride - w_.padding[2];
          for (int64_t k = 0; k < w_.kernel[2]; ++k) add(row + k, stride, n, sum);
        }
      for (int64_t c = 0; c < n; ++c) out[x + c] = sum[c] / static_cast<C>(r.divisor);
    }
  }
  static void add(const C* from, int64_t stride, int64_t n, C* sum) {
    if (stride == 1)
      for (int64_t c = 0; c < n; ++c) sum[c] += from[c];
    else if (stride == 2)
      for (int64_t c = 0; c < n; ++c) sum[c] += from[2 * c];
    else
      for (int64_t c = 0; c < n; ++c) sum[c] += from[c * stride];
  }

  const Planes& p_;
  const Window& w_;
  const Regions& regions_;
  int64_t inner_begin_, inner_end_;
};

float pair_divisor(const AveragePoolGeometry& g, int rows) {
  return g.divisor ? static_cast<float>(g.divisor) : static_cast<float>(2 * rows);
}

void avg_pool_kernel(const Tensor& out, const Tensor& in, const AveragePoolGeometry& g) {
  const Planes p(in, out, g.ndim);
  const Window w(g);
  if (const int rows = in.dtype() == kFloat ? w.pair_rows(p) : 0) {
    const auto* from = in.data_ptr<float>();
    auto* to = out.data_ptr<float>();
    return with_rows(rows, [&](auto height) {
      p.for_each(p.in_size(), [&](int64_t i) {
        average_pairs<height>(from + i * p.in_size(), p.in[2], p.out[1], p.out[2],
                              pair_divisor(g, height), to + i * p.out_size());
      });
    });
  }
  const Regions regions(p, w, g);
  if (p.last()) return average("avg_pool", out, in, p, regions);
  dispatch(FloatTypes{}, "avg_pool", in.dtype(), [&]<class T>() {
    using C = opmath_t<T>;
    const AverageRows<C> rows(p, w, regions);
    for_each_plane(p, p.out_size() * w.size(), in.data_ptr<T>(), out.data_ptr<T>(),
                   [&](int64_t, const C* from, C* to) { rows.forward(from, to); });
  });
}

void avg_pool_backward_kernel(const Tensor& grad_in, const Tensor& grad_out,
                              const AveragePoolGeometry& g) {
  const Planes p(grad_in, grad_out, g.ndim);
  const Window w(g);
  if (const int rows = grad_in.dtype() == kFloat ? w.pair_rows(p) : 0) {
    const auto* from = grad_out.data_ptr<float>();
    auto* to = grad_in.data_ptr<float>();
    return with_rows(rows, [&](auto height) {
      p.for_each(p.in_size(), [&](int64_t i) {
        average_pairs_backward<height>(from + i * p.out_size(), p.out[1], p.out[2],
                                       pair_divisor(g, height), to + i * p.in_size(), p.in[1],
                                       p.in[2]);
      });
    });
  }
  average_backward("avg_pool_backward", grad_in, grad_out, p, Regions(p, w, g));
}

/// The operation hands over [N, C, ...]: everything behind is spatial.
int spatial(const Tensor& t) { return static_cast<int>(t.dim()) - 2; }

void adaptive_avg_pool_kernel(const Tensor& out, const Tensor& in) {
  const Planes p(in, out, spatial(in));
  average("adaptive_avg_pool", out, in, p, Regions(p));
}

void adaptive_avg_pool_backward_kernel(const Tensor& grad_in, const Tensor& grad_out) {
  const Planes p(grad_in, grad_out, spatial(grad_in));
  average_backward("adaptive_avg_pool_backward", grad_in, grad_out, p, Regions(p));
}

void adaptive_max_pool_kernel(const Tensor& out, const Tensor& indices, const Tensor& in) {
  const Planes p(in, out, spatial(in));
  const Regions regions(p);
  dispatch(FloatTypes{}, "adaptive_max_pool", in.dtype(), [&]<class T>() {
    using C = opmath_t<T>;
    p.for_each(p.in_size() + p.out_size() * 4, [&](int64_t i) {
      const T* from = in.data_ptr<T>() + i * p.in_size();
      for_each_output(p, [&](int64_t o, int64_t z, int64_t y, int64_t x) {
        const Region r = regions(z, y, x);
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
  fill_slots<On<max_pool_slot, max_pool_kernel>,
             On<max_pool_backward_slot, max_pool_backward_kernel>,
             On<max_pool_gather_slot, max_pool_gather_kernel>,
             On<max_pool_indices_slot, max_pool_indices_kernel>, On<avg_pool_slot, avg_pool_kernel>,
             On<avg_pool_backward_slot, avg_pool_backward_kernel>,
             On<adaptive_avg_pool_slot, adaptive_avg_pool_kernel>,
             On<adaptive_avg_pool_backward_slot, adaptive_avg_pool_backward_kernel>,
             On<adaptive_max_pool_slot, adaptive_max_pool_kernel>>(kCPU);
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
