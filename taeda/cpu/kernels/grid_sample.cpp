// Sampling at the places of a grid. A block of places at a time: which elements each of them takes
// part of, as vectors, then all channels by them.
#include "taeda/kernels/grid_sample.h"

#include <algorithm>
#include <type_traits>

#include "taeda/base/parallel_for.h"
#include "taeda/cpu/kernels/dense.h"
#include "taeda/cpu/kernels/move.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

namespace {

constexpr int64_t kPlaces = 64;
constexpr int kAxisTaps = 4, kMostTaps = 16, kAxes = 3;

/// The integer of a number's size.
template <class M>
using WholeOf = std::conditional_t<sizeof(M) == 8, int64_t, int32_t>;

/// The number, or zero where `on` is: whatever lies at the place of an element that does not count
/// must not come through.
template <class M>
TAEDA_ALWAYS_INLINE M only(WholeOf<M> on, M x) {
  return __builtin_bit_cast(M, static_cast<WholeOf<M>>(__builtin_bit_cast(WholeOf<M>, x) & on));
}

/// What kPlaces places take part of in one dimension: elements, all bits where they exist, shares
/// and their derivatives by the coordinate.
template <class M>
struct AxisTaps {
  WholeOf<M> at[kAxisTaps][kPlaces], on[kAxisTaps][kPlaces];
  M share[kAxisTaps][kPlaces], slope[kAxisTaps][kPlaces];
};

template <GridMode kMode, GridPadding kPadding, class M>
void find_taps(const GridAxis<M>& given, const M* __restrict coordinate,
               AxisTaps<M>& __restrict t) {
  constexpr bool kCubic = kMode == GridMode::Bicubic;
  const GridAxis<M> axis = given;
  M place[kPlaces], slope[kPlaces], first[kPlaces];
  for (int64_t k = 0; k < kPlaces; ++k) {
    M factor = axis.scale;
    const M p = axis.position(coordinate[k]);
    place[k] = kCubic ? p : axis.inside(kPadding, p, factor);
    slope[k] = factor;
    first[k] = grid_first(kMode, place[k]);
  }
  for (int tap = 0; tap < grid_taps(kMode); ++tap)
    for (int64_t k = 0; k < kPlaces; ++k) {
      [[maybe_unused]] M unused = 1;
      M element = first[k] + static_cast<M>(tap);
      if (kCubic) element = axis.inside(kPadding, element, unused);
      t.at[tap][k] = static_cast<WholeOf<M>>(axis.clamped(element));
      t.on[tap][k] = axis.has(element) ? WholeOf<M>(-1) : WholeOf<M>(0);
      t.share[tap][k] = grid_share(kMode, tap, place[k], first[k]);
      t.slope[tap][k] = slope[k] * grid_slope(kMode, tap, place[k], first[k]);
    }
}

/// The elements of kPlaces places among those of a channel.
template <class M>
struct Elements {
  WholeOf<M> at[kMostTaps][kPlaces], on[kMostTaps][kPlaces];
  M share[kMostTaps][kPlaces];
};

/// A call: images of `channels` channels of `plane` elements, `places` for each.
template <class M>
struct GridCall {
  const M *in, *grid;
  int dims, axis_taps, taps = 1;
  int64_t batch, channels, plane = 1, places = 1, sizes[kAxes];
  GridAxis<M> axes[kAxes];
  int part[kMostTaps][kAxes];  // tap t of all dimensions is tap part[t][d] of dimension d
  void (*find)(const GridAxis<M>&, const M*, AxisTaps<M>&);

  GridCall(const Tensor& images, const Tensor& at, const M* in_data, const M* grid_data,
           const GridSampling& s)
      : in(in_data),
        grid(grid_data),
        dims(static_cast<int>(images.dim()) - 2),
        axis_taps(grid_taps(s.mode)),
        batch(images.size(0)),
        channels(images.size(1)) {
    for (int d = 0; d < dims; ++d) {
      sizes[d] = images.size(d + 2);
      axes[d] = GridAxis<M>(sizes[d], s.align_corners);
      plane *= sizes[d];
      places *= at.size(d + 1);
      taps *= axis_taps;
    }
    for (int tap = 0; tap < taps; ++tap)
      for (int d = dims - 1, rest = tap; d >= 0; --d, rest /= axis_taps)
        part[tap][d] = rest % axis_taps;
    find = s.mode == GridMode::Nearest    ? of_padding<GridMode::Nearest>(s.padding)
           : s.mode == GridMode::Bilinear ? of_padding<GridMode::Bilinear>(s.padding)
                                          : of_padding<GridMode::Bicubic>(s.padding);
  }
  template <GridMode kMode>
  static auto of_padding(GridPadding p) {
    return p == GridPadding::Zeros    ? &find_taps<kMode, GridPadding::Zeros, M>
           : p == GridPadding::Border ? &find_taps<kMode, GridPadding::Border, M>
                                      : &find_taps<kMode, GridPadding::Reflection, M>;
  }

  int64_t blocks() const { return (places + kPlaces - 1) / kPlaces; }

  /// Taps of each dimension for the places of image n from `first` on.
  void find_axes(int64_t n, int64_t first, AxisTaps<M> (&axis)[kAxes]) const {
    const int64_t count = std::min(kPlaces, places - first);
    const M* from = grid + (n * places + first) * dims;
    for (int d = 0; d < dims; ++d) {
      M coordinate[kPlaces] = {};
      for (int64_t k = 0; k < count; ++k) coordinate[k] = from[k * dims + dims - 1 - d];
      find(axes[d], coordinate, axis[d]);
    }
  }
  void join(const AxisTaps<M> (&axis)[kAxes], Elements<M>& __restrict e) const {
    for (int tap = 0; tap < taps; ++tap) {
      const int i = part[tap][0], j = part[tap][1];
      const auto columns = static_cast<WholeOf<M>>(sizes[1]);
      for (int64_t k = 0; k < kPlaces; ++k) {
        e.at[tap][k] = axis[0].at[i][k] * columns + axis[1].at[j][k];
        e.on[tap][k] = axis[0].on[i][k] & axis[1].on[j][k];
        e.share[tap][k] = axis[0].share[i][k] * axis[1].share[j][k];
      }
      if (dims == 2) continue;
      const int l = part[tap][2];
      const auto depth = static_cast<WholeOf<M>>(sizes[2]);
      for (int64_t k = 0; k < kPlaces; ++k) {
        e.at[tap][k] = e.at[tap][k] * depth + axis[2].at[l][k];
        e.on[tap][k] &= axis[2].on[l][k];
        e.share[tap][k] *= axis[2].share[l][k];
      }
    }
  }
  /// Calls f(image, first place, taps of each dimension, elements) for blocks [begin, end).
  template <class F>
  void for_blocks(int64_t begin, int64_t end, F&& f) const {
    AxisTaps<M> axis[kAxes];
    Elements<M> elements;
    for (int64_t b = begin; b < end; ++b) {
      const int64_t n = b / blocks(), first = b % blocks() * kPlaces;
      find_axes(n, first, axis);
      join(axis, elements);
      f(n, first, axis, elements);
    }
  }
};

/// How many units of `work` steps each a thread takes at least.
int64_t grain_of(int64_t work) {
  return std::max<int64_t>(1, kParallelGrain / std::max<int64_t>(1, work));
}

template <int kTaps, class M>
void sum_taps(const Elements<M>& e, const M* __restrict in, M* __restrict sums) {
  for (int64_t k = 0; k < kPlaces; ++k) {
    M sum = 0;
#pragma GCC unroll 16
    for (int tap = 0; tap < kTaps; ++tap)
      sum += e.share[tap][k] * only(e.on[tap][k], in[e.at[tap][k]]);
    sums[k] = sum;
  }
}

// Note [Groups of channels]
// Where there are enough places and elements to take from, some channels are brought side by side
// for each element first: a place's element is then one load for all of them, in one line of the
// cache, instead of one each.
/// `kWide` channels, a line of the cache or four.
template <int kWide, class M>
struct Group {
  static constexpr int kBytes = std::min<int>(kWide * sizeof(M), kVectorBytes);
  static constexpr int64_t kStep = kBytes / static_cast<int64_t>(sizeof(M)), kParts = kWide / kStep;
  typedef M Part __attribute__((vector_size(kBytes)));
  Part part[kParts] = {};

  TAEDA_ALWAYS_INLINE void load(const M* p) { std::memcpy(part, p, sizeof part); }
  TAEDA_ALWAYS_INLINE void store(M* p) const { std::memcpy(p, part, sizeof part); }
  /// Adds `share` times the numbers at p.
  TAEDA_ALWAYS_INLINE void add(M share, const M* p) {
#pragma GCC unroll 4
    for (int64_t i = 0; i < kParts; ++i) {
      Part x;
      std::memcpy(&x, p + i * kStep, sizeof x);
      part[i] += share * x;
    }
  }
};

template <class M>
constexpr int64_t kItem = static_cast<int64_t>(sizeof(M));

/// Matrix[c][r] = group r's number c, for `rows` groups, and the other way round.
template <int kWide, class M>
void spread_groups(const M* groups, int64_t rows, int64_t channels, M* matrix, int64_t step) {
  transpose_part<M>(reinterpret_cast<char*>(matrix), step * kItem<M>,
                    reinterpret_cast<const char*>(groups), kWide * kItem<M>, rows, channels);
}
template <int kWide, class M>
void gather_groups(const M* matrix, int64_t step, int64_t channels, int64_t rows, M* groups) {
  transpose_part<M>(reinterpret_cast<char*>(groups), kWide * kItem<M>,
                    reinterpret_cast<const char*>(matrix), step * kItem<M>, channels, rows);
}

/// Calls f.operator()<kWide>(image, first channel, channels) for groups, each of which is one
/// thread's.
template <class M, class F>
void for_groups(const GridCall<M>& call, F&& f) {
  const auto run = [&]<int kWide>() {
    const int64_t groups = (call.channels + kWide - 1) / kWide;
    const int64_t work = (call.places * call.taps + call.plane) * kWide;
    parallel_for(0, call.batch * groups, grain_of(work), [&](int64_t begin, int64_t end) {
      for (int64_t g = begin; g < end; ++g) {
        const int64_t c = g % groups * kWide;
        f.template operator()<kWide>(g / groups, c, std::min<int64_t>(kWide, call.channels - c));
      }
    });
  };
  call.channels <= 4 ? run.template operator()<4>()
                     : run.template operator()<64 / static_cast<int>(sizeof(M))>();
}

template <class M>
void sample_groups(const GridCall<M>& call, M* out) {
  for_groups(call, [&]<int kWide>(int64_t n, int64_t c, int64_t channels) {
    const ScratchArray<M> packed(call.plane * kWide);
    if (channels < kWide) std::fill_n(packed.get(), call.plane * kWide, M(0));
    const int64_t channel = n * call.channels + c;
    gather_groups<kWide>(call.in + channel * call.plane, call.plane, channels, call.plane,
                         packed.get());
    constexpr M nothing[kWide] = {};
    const auto block = [&](int64_t, int64_t first, const auto&, const Elements<M>& e) {
      const int64_t count = std::min(kPlaces, call.places - first);
      alignas(64) M sums[kPlaces * kWide];
      for (int64_t k = 0; k < count; ++k) {
        Group<kWide, M> sum;
        for (int tap = 0; tap < call.taps; ++tap)
          sum.add(e.share[tap][k], e.on[tap][k] ? packed.get() + e.at[tap][k] * kWide : nothing);
        sum.store(sums + k * kWide);
      }
      spread_groups<kWide>(sums, count, channels, out + channel * call.places + first, call.places);
    };
    call.for_blocks(n * call.blocks(), (n + 1) * call.blocks(), block);
  });
}

template <class M>
void sample(const GridCall<M>& call, M* out) {
  const bool many = call.channels >= 8 || call.channels * call.taps >= 32;
  if (many && 2 * call.places >= call.plane) return sample_groups(call, out);
  const auto sum = call.taps == 1   ? &sum_taps<1, M>
                   : call.taps == 4 ? &sum_taps<4, M>
                   : call.taps == 8 ? &sum_taps<8, M>
                                    : &sum_taps<16, M>;
  const int64_t grain = grain_of(kPlaces * call.taps * (call.channels + 4));
  parallel_for(0, call.batch * call.blocks(), grain, [&](int64_t begin, int64_t end) {
    call.for_blocks(begin, end, [&](int64_t n, int64_t first, const auto&, const Elements<M>& e) {
      const int64_t count = std::min(kPlaces, call.places - first);
      for (int64_t c = n * call.channels; c < (n + 1) * call.channels; ++c) {
        M sums[kPlaces];
        M* const to = out + c * call.places + first;
        sum(e, call.in + c * call.plane, count == kPlaces ? to : sums);
        if (count < kPlaces) std::copy_n(sums, count, to);
      }
    });
  });
}

/// By groups: Note [Groups of channels].
template <class M>
void add_to_images(const GridCall<M>& call, const M* grad_out, M* grad_in) {
  for_groups(call, [&]<int kWide>(int64_t n, int64_t c, int64_t channels) {
    const ScratchArray<M> sums(call.plane * kWide);
    std::fill_n(sums.get(), call.plane * kWide, M(0));
    alignas(64) M grads[kPlaces * kWide] = {};
    const int64_t channel = n * call.channels + c;
    const auto block = [&](int64_t, int64_t first, const auto&, const Elements<M>& e) {
      const int64_t count = std::min(kPlaces, call.places - first);
      gather_groups<kWide>(grad_out + channel * call.places + first, call.places, channels, count,
                           grads);
      for (int64_t k = 0; k < count; ++k)
        for (int tap = 0; tap < call.taps; ++tap) {
          if (!e.on[tap][k]) continue;
          M* const to = sums.get() + e.at[tap][k] * kWide;
          Group<kWide, M> sum;
          sum.load(to);
          sum.add(e.share[tap][k], grads + k * kWide);
          sum.store(to);
        }
    };
    call.for_blocks(n * call.blocks(), (n + 1) * call.blocks(), block);
    spread_groups<kWide>(sums.get(), call.plane, channels, grad_in + channel * call.plane,
                         call.plane);
  });
}

/// The gradients by the shares of a tap: sums over all channels.
template <class M>
void share_gradients(const Elements<M>& e, int tap, const GridCall<M>& call, int64_t n,
                     int64_t first, const M* grad_out, M (&sums)[kPlaces]) {
  const int64_t count = std::min(kPlaces, call.places - first);
  std::fill_n(sums, kPlaces, M(0));
  for (int64_t c = n * call.channels; c < (n + 1) * call.channels; ++c) {
    const M* __restrict in = call.in + c * call.plane;
    const M* __restrict grad = grad_out + c * call.places + first;
    for (int64_t k = 0; k < count; ++k) sums[k] += grad[k] * only(e.on[tap][k], in[e.at[tap][k]]);
  }
}

template <class M>
void add_to_grid(const GridCall<M>& call, const M* grad_out, M* grad_grid) {
  const int64_t grain = grain_of(kPlaces * call.taps * (call.channels + 4)), dims = call.dims;
  parallel_for(0, call.batch * call.blocks(), grain, [&](int64_t begin, int64_t end) {
    call.for_blocks(
        begin, end,
        [&](int64_t n, int64_t first, const AxisTaps<M>(&axis)[kAxes], const Elements<M>& e) {
          M by[kAxes][kPlaces] = {}, ones[kPlaces];
          std::fill_n(ones, kPlaces, M(1));
          for (int tap = 0; tap < call.taps; ++tap) {
            M sums[kPlaces];
            share_gradients(e, tap, call, n, first, grad_out, sums);
            const int* const part = call.part[tap];
            for (int d = 0; d < dims; ++d) {
              const int a = (d + 1) % 3, b = (d + 2) % 3;
              const M* slope = axis[d].slope[part[d]];
              const M* one = a < dims ? axis[a].share[part[a]] : ones;
              const M* other = b < dims ? axis[b].share[part[b]] : ones;
              for (int64_t k = 0; k < kPlaces; ++k)
                by[d][k] += sums[k] * slope[k] * one[k] * other[k];
            }
          }
          const int64_t count = std::min(kPlaces, call.places - first);
          M* const to = grad_grid + (n * call.places + first) * dims;
          for (int64_t k = 0; k < count; ++k)
            for (int64_t d = 0; d < dims; ++d) to[k * dims + dims - 1 - d] = by[d][k];
        });
  });
}

void grid_sample_kernel(const Tensor& out, const Tensor& in, const Tensor& grid,
                        const GridSampling& s) {
  dispatch(FloatTypes{}, grid_sample_slot.name(), out.dtype(), [&]<class T>() {
    const DenseInput<T> images(in), places(grid);
    const DenseOutput<T> results(out);
    sample(GridCall(in, grid, images.get(), places.get(), s), results.get());
  });
}

void grid_sample_backward_kernel(const Tensor& grad_in, const Tensor& grad_grid,
                                 const Tensor& grad_out, const Tensor& in, const Tensor& grid,
                                 const GridSampling& s) {
  dispatch(FloatTypes{}, grid_sample_backward_slot.name(), in.dtype(), [&]<class T>() {
    const DenseInput<T> images(in), places(grid), grads(grad_out);
    const GridCall call(in, grid, images.get(), places.get(), s);
    const DenseOutput<T> by_images(grad_in), by_grid(grad_grid);
    if (grad_in.defined()) add_to_images(call, grads.get(), by_images.get());
    if (grad_grid.defined()) add_to_grid(call, grads.get(), by_grid.get());
  });
}

}  // namespace

void register_grid_sample() {
  grid_sample_slot.set(kCPU, &grid_sample_kernel);
  grid_sample_backward_slot.set(kCPU, &grid_sample_backward_kernel);
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
