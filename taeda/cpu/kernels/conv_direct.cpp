// Note [Flattened rows] A channel is copied into rows of a common length, with zeros between them.
// Then output number p = y * row + x of a channel needs, for the tap (i, j), the input at
// p + i * row + j: a convolution in one dimension, and registers full of neighbouring p need not
// know where a row ends. What falls between two rows of the output is computed and dropped. The
// zeros behind one row are at the same time those before the next.
#include "taeda/cpu/kernels/conv_direct.h"

#include <algorithm>

#include "taeda/base/parallel_for.h"
#include "taeda/cpu/kernels/simd.h"
#include "taeda/cpu/scratch.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

namespace {

constexpr int kLanesF = kLanes<float>;
using V16 = Vec<float>;

int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }
int64_t ceil_div(int64_t n, int64_t by) { return (n + by - 1) / by; }

/// Where things lie in the flattened channels.
struct Flat {
  int64_t row;     ///< from one row to the next
  int64_t first;   ///< position of input (0, 0)
  int64_t length;  ///< positions of the output, from its first to its last
  int64_t vecs;    ///< registers over `length`
  int64_t plane;   ///< floats of an input channel, reads past the end included

  /// `step`: registers that are read together.
  Flat(const DirectShape& s, int64_t step) {
    const int64_t below = s.out_height - 1 + (s.taps_y - 1) * s.dilation_y - s.pad_top;
    const int64_t right = s.out_width + (s.taps_x - 1) * s.dilation_x - s.pad_left - s.in_width;
    row = std::max(s.in_width + std::max({s.pad_left, right, int64_t{0}}), s.out_width);
    first = s.pad_top * row + s.pad_left;
    length = (s.out_height - 1) * row + s.out_width;
    vecs = ceil_div(length, kLanesF);
    const int64_t reads = round_up(vecs, step) * kLanesF + (s.taps_y - 1) * s.dilation_y * row +
                          (s.taps_x - 1) * s.dilation_x;
    plane =
        round_up(std::max(reads, first + (std::max(s.in_height - 1, below) + 1) * row), kLanesF);
  }
};

/// Copies n floats; both sides may be unaligned, nothing past the end is touched.
TAEDA_ALWAYS_INLINE void copy_row(const float* in, float* out, int64_t n) {
  int64_t i = 0;
  for (; i + kLanesF <= n; i += kLanesF) store(out + i, load(in + i));
  if (i < n) store_first(out + i, load_first(in + i, n - i), n - i);
}

/// Spreads the rows of an image's channels; what lies between them is zero already.
void spread_rows(const float* in, int64_t channels, int64_t height, int64_t width, float* out,
                 int64_t row, int64_t plane) {
  for (int64_t c = 0; c < channels; ++c, out += plane)
    for (int64_t y = 0; y < height; ++y, in += width) copy_row(in, out + y * row, width);
}

// ---- Forward

/// Taps that can reach the input from the rows of a tile.
struct TapRows {
  int64_t begin, end;
};

struct TileArguments {
  const float* in;       ///< first position of the tile, channel 0
  const float* weights;  ///< [in_channels, taps_y, taps_x, O]
  const float* bias;     ///< O values
  float* out;
  int64_t out_plane;
  TapRows rows;
};

/// O channels times V registers of positions.
template <int O, int V>
void conv_tile(const DirectShape& s, const Flat& flat, const TileArguments& a) {
  V16 sum[O][V];
#pragma GCC unroll 16
  for (int o = 0; o < O; ++o)
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) sum[o][v] = broadcast(a.bias[o]);
  for (int64_t c = 0; c < s.in_channels; ++c) {
    for (int64_t i = a.rows.begin; i < a.rows.end; ++i) {
      const float* in = a.in + c * flat.plane + i * s.dilation_y * flat.row;
      const float* w = a.weights + (c * s.taps_y + i) * s.taps_x * O;
      for (int64_t j = 0; j < s.taps_x; ++j, in += s.dilation_x, w += O) {
        V16 x[V];
#pragma GCC unroll 8
        for (int v = 0; v < V; ++v) x[v] = load(in + v * kLanesF);
#pragma GCC unroll 16
        for (int o = 0; o < O; ++o) {
          const V16 factor = broadcast(w[o]);
#pragma GCC unroll 8
          for (int v = 0; v < V; ++v) sum[o][v] += factor * x[v];
        }
      }
    }
  }
#pragma GCC unroll 16
  for (int o = 0; o < O; ++o)
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) store(a.out + o * a.out_plane + v * kLanesF, sum[o][v]);
}

struct ConvTile {
  int channels, width;  ///< in vectors
  void (*run)(const DirectShape&, const Flat&, const TileArguments&);
};

constexpr ConvTile kConvTiles[] = {
#if defined(__AVX512F__)
    {4, 6, &conv_tile<4, 6>}, {6, 4, &conv_tile<6, 4>},   {8, 3, &conv_tile<8, 3>},
    {6, 3, &conv_tile<6, 3>}, {12, 2, &conv_tile<12, 2>}, {2, 8, &conv_tile<2, 8>},
#else
    {4, 3, &conv_tile<4, 3>},
    {6, 2, &conv_tile<6, 2>},
    {2, 4, &conv_tile<2, 4>},
#endif
};

/// The tile that leaves the least empty.
template <class Tile, size_t N>
const Tile& choose_tile(const Tile (&tiles)[N], int64_t channels, int64_t width) {
  const Tile* best = nullptr;
  int64_t least = 0;
  for (const Tile& tile : tiles) {
    const int64_t cost = round_up(channels, tile.channels) * round_up(width, tile.width);
    if (!best || cost < least) best = &tile, least = cost;
  }
  return *best;
}

/// Weights and bias of each block of channels; the last block is filled up with zeros.
void pack_weights(const DirectShape& s, const DirectWeights& w, const float* bias, int64_t block,
                  float* out, float* out_bias) {
  const int64_t blocks = ceil_div(s.out_channels, block);
  const int64_t taps = s.in_channels * s.taps_y * s.taps_x;
  for (int64_t o = 0; o < blocks * block; ++o) {
    float* to = out + o / block * taps * block + o % block;
    if (o >= s.out_channels) {
      for (int64_t t = 0; t < taps; ++t) to[t * block] = 0.0f;
      continue;
    }
    for (int64_t c = 0; c < s.in_channels; ++c)
      for (int64_t i = 0; i < s.taps_y; ++i) {
        const float* const from = w.data + o * w.out_channel + c * w.in_channel + i * w.y;
        for (int64_t j = 0; j < s.taps_x; ++j, to += block) *to = from[j * w.x];
      }
  }
  for (int64_t o = 0; o < blocks * block; ++o)
    out_bias[o] = bias && o < s.out_channels ? bias[o] : 0.0f;
}

TapRows tap_rows(const DirectShape& s, const Flat& flat, int64_t begin, int64_t end) {
  const int64_t top = begin / flat.row - s.pad_top;
  const int64_t bottom = std::min((end - 1) / flat.row, s.out_height - 1) - s.pad_top;
  TapRows rows{0, s.taps_y};
  while (rows.begin < rows.end && bottom + rows.begin * s.dilation_y < 0) ++rows.begin;
  while (rows.end > rows.begin && top + (rows.end - 1) * s.dilation_y >= s.in_height) --rows.end;
  return rows;
}

// ---- Gradient by the weights

/// Adds O channels of the gradient times T shifted inputs, over all positions of `images` images.
template <int O, int T>
void weight_tile(const float* const* grad, const int64_t* shift, const float* in, int64_t vecs,
                 int64_t images, int64_t in_stride, int64_t grad_stride, V16* sums) {
  V16 sum[O][T];
#pragma GCC unroll 16
  for (int o = 0; o < O; ++o)
#pragma GCC unroll 8
    for (int t = 0; t < T; ++t) sum[o][t] = sums[o * T + t];
  const float *g[O], *x[T];
  for (int64_t n = 0; n < images; ++n) {
#pragma GCC unroll 16
    for (int o = 0; o < O; ++o) g[o] = grad[o] + n * grad_stride;
#pragma GCC unroll 8
    for (int t = 0; t < T; ++t) x[t] = in + n * in_stride + shift[t];
    for (int64_t p = 0; p < vecs * kLanesF; p += kLanesF) {
      V16 left[O];
#pragma GCC unroll 16
      for (int o = 0; o < O; ++o) left[o] = load(g[o] + p);
#pragma GCC unroll 8
      for (int t = 0; t < T; ++t) {
        const V16 right = load(x[t] + p);
#pragma GCC unroll 16
        for (int o = 0; o < O; ++o) sum[o][t] += left[o] * right;
      }
    }
  }
#pragma GCC unroll 16
  for (int o = 0; o < O; ++o)
#pragma GCC unroll 8
    for (int t = 0; t < T; ++t) sums[o * T + t] = sum[o][t];
}

struct WeightTile {
  int channels, width;  ///< in taps
  void (*run)(const float* const*, const int64_t*, const float*, int64_t, int64_t, int64_t, int64_t,
              V16*);
};

constexpr WeightTile kWeightTiles[] = {
#if defined(__AVX512F__)
    {4, 6, &weight_tile<4, 6>}, {6, 4, &weight_tile<6, 4>}, {4, 5, &weight_tile<4, 5>},
    {3, 5, &weight_tile<3, 5>}, {8, 3, &weight_tile<8, 3>},
#else
    {4, 2, &weight_tile<4, 2>},
    {3, 3, &weight_tile<3, 3>},
#endif
};
constexpr int kMostTileChannels = 8, kMostTileTaps = 6;

/// The gradients of a run of images.
class WeightGrad {
 public:
  WeightGrad(const DirectShape& shape)
      : s_(shape),
        flat_(shape, 1),
        taps_(shape.in_channels * shape.taps_y * shape.taps_x),
        tile_(choose_tile(kWeightTiles, shape.out_channels, taps_)),
        grad_plane_(flat_.vecs * kLanesF) {}

  int64_t taps() const { return taps_; }
  /// Images per run: enough that adding up the lanes at its end costs little. A rule of the sizes
  /// alone, so that the sums do not depend on the number of threads.
  int64_t run_length() const {
    return std::max<int64_t>({1, ceil_div(100, flat_.vecs), ceil_div(s_.images, 16)});
  }

  void run(const float* in, const float* grad_out, int64_t images, float* grad_weights,
           float* grad_bias) const {
    const int64_t in_size = s_.in_channels * flat_.plane, grad_size = s_.out_channels * grad_plane_;
    // As many images at a time as stay in the nearest cache.
    const int64_t group = std::clamp<int64_t>(8192 / (in_size + grad_size), 1, images);
    const int64_t sums = round_up(s_.out_channels, tile_.channels) * round_up(taps_, tile_.width);
    ScratchArray<float> x(group * in_size), g(group * grad_size), sum(sums * kLanesF),
        bias(s_.out_channels * kLanesF);
    std::fill_n(x.get(), group * in_size, 0.0f);
    std::fill_n(g.get(), group * grad_size, 0.0f);
    std::fill_n(sum.get(), sums * kLanesF, 0.0f);
    std::fill_n(bias.get(), s_.out_channels * kLanesF, 0.0f);
    for (int64_t n = 0; n < images; n += group) {
      const int64_t count = std::min(group, images - n);
      for (int64_t i = 0; i < count; ++i) {
        spread_rows(in + (n + i) * s_.in_channels * s_.in_height * s_.in_width, s_.in_channels,
                    s_.in_height, s_.in_width, x.get() + i * in_size + flat_.first, flat_.row,
                    flat_.plane);
        spread_rows(grad_out + (n + i) * s_.out_channels * s_.out_height * s_.out_width,
                    s_.out_channels, s_.out_height, s_.out_width, g.get() + i * grad_size,
                    flat_.row, grad_plane_);
      }
      add(x.get(), g.get(), count, in_size, grad_size, sum.get());
      if (grad_bias) add_bias(g.get(), count, grad_size, bias.get());
    }
    finish(sum.get(), bias.get(), grad_weights, grad_bias);
  }

 private:
  void add(const float* x, const float* g, int64_t images, int64_t in_size, int64_t grad_size,
           float* sums) const {
    for (int64_t o = 0; o < s_.out_channels; o += tile_.channels) {
      const float* grad[kMostTileChannels];
      for (int i = 0; i < tile_.channels; ++i)
        grad[i] = g + std::min(o + i, s_.out_channels - 1) * grad_plane_;
      for (int64_t t = 0; t < taps_; t += tile_.width) {
        int64_t shift[kMostTileTaps];
        for (int i = 0; i < tile_.width; ++i) shift[i] = shift_of(std::min(t + i, taps_ - 1));
        tile_.run(grad, shift, x, flat_.vecs, images, in_size, grad_size,
                  reinterpret_cast<V16*>(sums));
        sums += tile_.channels * tile_.width * kLanesF;
      }
    }
  }
  int64_t shift_of(int64_t tap) const {
    const int64_t area = s_.taps_y * s_.taps_x;
    const int64_t c = tap / area, i = tap % area / s_.taps_x, j = tap % s_.taps_x;
    return c * flat_.plane + i * s_.dilation_y * flat_.row + j * s_.dilation_x;
  }
  void add_bias(const float* g, int64_t images, int64_t grad_size, float* sums) const {
    for (int64_t n = 0; n < images; ++n)
      for (int64_t o = 0; o < s_.out_channels; ++o) {
        V16 sum = load(sums + o * kLanesF);
        for (int64_t v = 0; v < flat_.vecs; ++v)
          sum += load(g + n * grad_size + o * grad_plane_ + v * kLanesF);
        store(sums + o * kLanesF, sum);
      }
  }
  void finish(const float* sums, const float* bias, float* grad_weights, float* grad_bias) const {
    const int64_t tap_blocks = ceil_div(taps_, tile_.width);
    for (int64_t o = 0; o < s_.out_channels; ++o)
      for (int64_t t = 0; t < taps_; ++t) {
        const int64_t block = o / tile_.channels * tap_blocks + t / tile_.width;
        const int64_t at =
            (block * tile_.channels + o % tile_.channels) * tile_.width + t % tile_.width;
        grad_weights[o * taps_ + t] = sum_lanes<float>(load(sums + at * kLanesF));
      }
    if (grad_bias)
      for (int64_t o = 0; o < s_.out_channels; ++o)
        grad_bias[o] = sum_lanes<float>(load(bias + o * kLanesF));
  }

  const DirectShape& s_;
  const Flat flat_;
  const int64_t taps_;
  const WeightTile& tile_;
  const int64_t grad_plane_;
};

}  // namespace

void direct_conv(const DirectShape& s, const float* in, const DirectWeights& weights,
                 const float* bias, float* out) {
  const ConvTile& tile = choose_tile(kConvTiles, s.out_channels, Flat(s, 1).vecs);
  const Flat flat(s, tile.width);
  const int64_t blocks = ceil_div(s.out_channels, tile.channels);
  const int64_t block_weights = s.in_channels * s.taps_y * s.taps_x * tile.channels;
  ScratchArray<float> packed(blocks * block_weights), packed_bias(blocks * tile.channels);
  pack_weights(s, weights, bias, tile.channels, packed.get(), packed_bias.get());

  const int64_t out_plane = round_up(flat.vecs, tile.width) * kLanesF;
  const int64_t in_image = s.in_channels * s.in_height * s.in_width;
  const int64_t out_channel = s.out_height * s.out_width;
  const int64_t work = block_weights * flat.vecs;  // a task: one image, one block
  parallel_for(
      0, s.images * blocks, std::max<int64_t>(1, 8192 / work), [&](int64_t begin, int64_t end) {
        ScratchArray<float> x(s.in_channels * flat.plane), y(tile.channels * out_plane);
        std::fill_n(x.get(), s.in_channels * flat.plane, 0.0f);
        for (int64_t task = begin; task < end; ++task) {
          const int64_t n = task / blocks, block = task % blocks, o = block * tile.channels;
          if (block == 0 || task == begin)
            spread_rows(in + n * in_image, s.in_channels, s.in_height, s.in_width,
                        x.get() + flat.first, flat.row, flat.plane);
          for (int64_t p = 0; p < out_plane; p += tile.width * kLanesF)
            tile.run(s, flat,
                     {x.get() + p, packed.get() + block * block_weights, packed_bias.get() + o,
                      y.get() + p, out_plane,
                      tap_rows(s, flat, p, std::min(p + tile.width * kLanesF, flat.length))});
          float* to = out + (n * s.out_channels + o) * out_channel;
          for (int64_t c = 0; c < std::min<int64_t>(tile.channels, s.out_channels - o); ++c)
            for (int64_t r = 0; r < s.out_height; ++r, to += s.out_width)
              copy_row(y.get() + c * out_plane + r * flat.row, to, s.out_width);
        }
      });
}

void direct_weight_grad(const DirectShape& s, const float* in, const float* grad_out,
                        float* grad_weights, float* grad_bias) {
  const WeightGrad grad(s);
  const int64_t length = grad.run_length(), runs = ceil_div(s.images, length);
  const int64_t count = s.out_channels * grad.taps();
  ScratchArray<float> parts(runs * (count + s.out_channels));
  parallel_for(0, runs, 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t n = r * length;
      float* part = parts.get() + r * (count + s.out_channels);
      grad.run(in + n * s.in_channels * s.in_height * s.in_width,
               grad_out + n * s.out_channels * s.out_height * s.out_width,
               std::min(length, s.images - n), part, grad_bias ? part + count : nullptr);
    }
  });
  const auto add_up = [&](float* to, int64_t offset, int64_t n) {
    std::fill_n(to, n, 0.0f);
    for (int64_t r = 0; r < runs; ++r) {
      const float* part = parts.get() + r * (count + s.out_channels) + offset;
      for (int64_t i = 0; i < n; ++i) to[i] += part[i];
    }
  };
  add_up(grad_weights, 0, count);
  if (grad_bias) add_up(grad_bias, count, s.out_channels);
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
