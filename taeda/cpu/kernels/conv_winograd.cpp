// Note [Winograd]
// A tile of 4 x 4 outputs needs 6 x 6 inputs. Both are polynomials in two variables; a product of
// polynomials is found from its values at points, and 6 x 6 values take 36 multiplications where
// the taps take 144. With V the values of an input tile, U those of the weights, and products
// summed over channels,
//   outputs = A' (sum of U V) A,   V = B' tile B,   U = G taps G',
// the sums are 36 matrix products [tiles, channels] x [channels, output channels]. The gradient by
// the input is the same convolution with the taps turned around. The gradient by the weights is
// G' (sum over tiles of (A gradients A') V) G.
//
// The points are 0, +-5/8, +-3/2 and infinity, whose powers are exact in float32; with the 0, +-1,
// +-2 of the paper errors are twice as large. They come to two to five times a direct convolution's
// for outputs and gradients by the input, and to less than its for gradients by the weights.
//
// Values lie in panels of as many channels as two registers hold: [point][panel][tile][channel], so
// that a transform writes registers and a product reads memory in order. Each tile's outputs, and
// each weight's sum, are computed by one thread in an order that sizes alone set.
#include "taeda/cpu/kernels/conv_winograd.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "taeda/base/parallel_for.h"
#include "taeda/cpu/host_copy.h"
#include "taeda/cpu/kernels/simd.h"
#include "taeda/cpu/kernels/winograd_values.h"
#include "taeda/cpu/scratch.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

namespace {

using namespace winograd;

constexpr int kLanesF = kLanes<float>;
constexpr int64_t kWidth = 2 * kLanesF;              // channels of a panel
constexpr int kTileRows = kVectorRegisters * 3 / 8;  // tiles whose sums registers hold
constexpr int kChannelRows = kVectorRegisters / 4;   // channels, likewise
constexpr int64_t kPoints = kIn * kIn;               // at which a tile is evaluated
constexpr int64_t kTiles = 36;                       // of a block, for outputs
constexpr int64_t kTilesOfSums = 96;                 // of a block, for gradients by the weights
static_assert(kTiles % kTileRows == 0 && kWidth % kChannelRows == 0);

int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

// ---- Images and blocks of tiles

/// Images in channels-last memory: [image][height][width][channels].
struct Images {
  float* data;
  int64_t height, width, channels;

  float* at(int64_t image, int64_t y, int64_t x) const {
    return data + ((image * height + y) * width + x) * channels;
  }
  bool has(int64_t y, int64_t x) const { return y >= 0 && y < height && x >= 0 && x < width; }
};

/// The tiles of all images, row by row.
struct Tiles {
  int64_t rows, columns, count;

  Tiles(int64_t images, int64_t height, int64_t width)
      : rows((height + kOut - 1) / kOut),
        columns((width + kOut - 1) / kOut),
        count(images * rows * columns) {}
  int64_t image(int64_t t) const { return t / (rows * columns); }
  int64_t y(int64_t t) const { return t / columns % rows * kOut; }
  int64_t x(int64_t t) const { return t % columns * kOut; }
};

/// An offset in an image.
struct Corner {
  int64_t y = 0, x = 0;
};

/// How the values of some tiles lie in memory.
struct Block {
  int64_t tiles, panels, point;

  Block(int64_t tile_count, int64_t channels)
      : tiles(tile_count),
        panels(channels / kWidth),
        point(panels * tiles * kWidth + kLanesF) {}  // points do not meet in a cache
  int64_t size() const { return kPoints * point; }
  int64_t panel() const { return tiles * kWidth; }
  int64_t offset(int64_t channel, int64_t tile) const {
    return channel / kWidth * panel() + tile * kWidth + channel % kWidth;
  }
};

/// The pixels of a square of a side of N, at (y, x) of an image; `outside` for those beyond it.
template <int64_t N>
struct Pixels {
  float* at[N][N];

  Pixels(const Images& images, int64_t image, int64_t y, int64_t x, float* outside) {
    for (int64_t i = 0; i < N; ++i)
      for (int64_t j = 0; j < N; ++j)
        at[i][j] = images.has(y + i, x + j) ? images.at(image, y + i, x + j) : outside;
  }
};

/// Values of the N x N pixels of tiles [first, first + count), each at its tile's corner plus
/// `shift`.
/// They become the tiles from `at` of a block.
template <int64_t N, class Transform>
void transform_tiles(Transform&& transform, const Images& images, const Tiles& tiles, int64_t first,
                     int64_t count, Corner shift, float* zeros, const Block& block, int64_t at,
                     float* values) {
  for (int64_t t = 0; t < count; ++t) {
    const int64_t tile = first + t;
    const Pixels<N> pixels(images, tiles.image(tile), tiles.y(tile) + shift.y,
                           tiles.x(tile) + shift.x, zeros);
    for (int64_t c = 0; c < images.channels; c += kLanesF) {
      float* const to = values + block.offset(c, at + t);
      transform_square<N, kIn>(
          transform, [&](int64_t i, int64_t j) { return load(pixels.at[i][j] + c); },
          [&](int64_t i, int64_t j, V v) { store(to + (i * kIn + j) * block.point, v); });
    }
  }
}

/// Zeros for tiles [begin, end), which fill up the rows of a product.
void clear_tiles(const Block& block, int64_t begin, int64_t end, float* values) {
  for (int64_t p = 0; p < kPoints; ++p)
    for (int64_t j = 0; j < block.panels; ++j)
      std::fill_n(values + p * block.point + j * block.panel() + begin * kWidth,
                  (end - begin) * kWidth, 0.0f);
}

// ---- Outputs

/// The values of the weights: [point][panel of output channels][channel][output channel].
struct WeightValues {
  int64_t channels, panels;

  int64_t size() const { return kPoints * point(); }
  int64_t point() const { return panels * panel() + kLanesF; }
  int64_t panel() const { return channels * kWidth; }
};

/// Weights with any strides, negative ones to turn the taps around.
struct Taps {
  const float* data;
  int64_t out_channel, in_channel, y, x;
};

void transform_weights(const WeightValues& w, const Taps& taps, float* values) {
  parallel_for(0, w.panels * w.channels, 256, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      const int64_t panel = at / w.channels, c = at % w.channels;
      float lines[9][kWidth];
      const float* from = taps.data + panel * kWidth * taps.out_channel + c * taps.in_channel;
      for (int64_t k = 0; k < kWidth; ++k, from += taps.out_channel)
        for (int64_t i = 0; i < 3; ++i)
          for (int64_t j = 0; j < 3; ++j) lines[i * 3 + j][k] = from[i * taps.y + j * taps.x];
      float* const to = values + panel * w.panel() + c * kWidth;
      for (int64_t k = 0; k < kWidth; k += kLanesF)
        transform_square<3, kIn>(
            values_of_taps, [&](int64_t i, int64_t j) { return load(lines[i * 3 + j] + k); },
            [&](int64_t i, int64_t j, V v) { store(to + (i * kIn + j) * w.point() + k, v); });
    }
  });
}

/// Some tiles of one point times one panel of weights: sums over all channels.
void multiply_tiles(const float* values, const Block& block, const float* weights, float* sums) {
  V sum[kTileRows][2] = {};
  for (int64_t j = 0; j < block.panels; ++j, values += block.panel())
    for (int64_t c = 0; c < kWidth; ++c, weights += kWidth) {
      const V w0 = load(weights), w1 = load(weights + kLanesF);
#pragma GCC unroll 12
      for (int r = 0; r < kTileRows; ++r) {
        const V v = broadcast(values[r * kWidth + c]);
        sum[r][0] += v * w0;
        sum[r][1] += v * w1;
      }
    }
#pragma GCC unroll 12
  for (int r = 0; r < kTileRows; ++r) {
    store(sums + r * kWidth, sum[r][0]);
    store(sums + r * kWidth + kLanesF, sum[r][1]);
  }
}

/// Outputs of tiles [first, first + count); adds 0 times each to `check`, which is NaN then if one
/// of them is not finite.
void store_outputs(const Images& out, const Tiles& tiles, int64_t first, int64_t count,
                   const float* bias, float* dropped, const Block& block, const float* sums,
                   V* check) {
  V seen = *check;
  for (int64_t t = 0; t < count; ++t) {
    const int64_t tile = first + t;
    const Pixels<kOut> pixels(out, tiles.image(tile), tiles.y(tile), tiles.x(tile), dropped);
    for (int64_t c = 0; c < out.channels; c += kLanesF) {
      const float* const from = sums + block.offset(c, t);
      const V start = bias ? load(bias + c) : V{};
      transform_square<kIn, kOut>(
          outputs_of_sums,
          [&](int64_t i, int64_t j) { return load(from + (i * kIn + j) * block.point); },
          [&](int64_t i, int64_t j, V v) {
            seen += v * 0.0f;
            store(pixels.at[i][j] + c, v + start);
          });
    }
  }
  *check = seen;
}

bool is_finite(V check) { return sum_lanes<float>(check) == 0.0f; }

/// out = conv(in, taps) + bias, with `padding` in front of both dimensions of images.
bool convolve(int64_t images, const Images& out, const Images& in, const Taps& taps,
              const float* bias, Corner padding) {
  const WeightValues w{in.channels, out.channels / kWidth};
  const ScratchArray<float> weights(w.size());
  transform_weights(w, taps, weights.get());
  const Tiles tiles(images, out.height, out.width);
  const int64_t blocks = (tiles.count + kTiles - 1) / kTiles;
  std::atomic<bool> finite = true;
  parallel_for(0, blocks, 1, [&](int64_t begin, int64_t end) {
    const Block values(kTiles, in.channels), sums(kTiles, out.channels);
    const ScratchArray<float> memory(values.size() + sums.size() + in.channels + out.channels);
    float* const v = memory.get();
    float* const m = v + values.size();
    float* const zeros = m + sums.size();
    std::fill_n(zeros, in.channels, 0.0f);
    for (int64_t b = begin; b < end; ++b) {
      const int64_t first = b * kTiles, count = std::min(kTiles, tiles.count - first);
      const int64_t rows = round_up(count, kTileRows);
      transform_tiles<kIn>(values_of_inputs, in, tiles, first, count, {-padding.y, -padding.x},
                           zeros, values, 0, v);
      clear_tiles(values, count, rows, v);
      for (int64_t p = 0; p < kPoints; ++p)
        for (int64_t k = 0; k < w.panels; ++k)
          for (int64_t t = 0; t < rows; t += kTileRows)
            multiply_tiles(v + p * values.point + t * kWidth, values,
                           weights.get() + p * w.point() + k * w.panel(),
                           m + p * sums.point + k * sums.panel() + t * kWidth);
      V check{};
      store_outputs(out, tiles, first, count, bias, zeros + in.channels, sums, m, &check);
      if (!is_finite(check)) finite.store(false, std::memory_order_relaxed);
    }
  });
  return finite;
}

// ---- Gradients by the weights

/// sums[c, k] += sum over tiles of values[tile, c] gradients[tile, k], for kChannelRows channels
/// and a panel of output channels.
void add_products(const float* values, const float* gradients, int64_t tiles, float* sums) {
  V sum[kChannelRows][2] = {};
  for (int64_t t = 0; t < tiles; ++t, values += kWidth, gradients += kWidth) {
    const V g0 = load(gradients), g1 = load(gradients + kLanesF);
#pragma GCC unroll 8
    for (int r = 0; r < kChannelRows; ++r) {
      const V v = broadcast(values[r]);
      sum[r][0] += v * g0;
      sum[r][1] += v * g1;
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kChannelRows; ++r) {
    store(sums + r * kWidth, load(sums + r * kWidth) + sum[r][0]);
    float* const second = sums + r * kWidth + kLanesF;
    store(second, load(second) + sum[r][1]);
  }
}

/// The gradients of the taps from the sums; false if one is not finite.
bool store_taps(const WeightValues& w, const float* sums, float* grad, const Taps& steps) {
  const int64_t lines = w.panels * w.channels;
  std::atomic<bool> finite = true;
  parallel_for(0, lines, 256, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      const int64_t panel = at / w.channels, c = at % w.channels;
      const float* const from = sums + panel * w.panel() + c * kWidth;
      float taps[9][kWidth];
      V check{};
      for (int64_t k = 0; k < kWidth; k += kLanesF)
        transform_square<kIn, 3>(
            taps_of_sums,
            [&](int64_t i, int64_t j) { return load(from + (i * kIn + j) * w.point() + k); },
            [&](int64_t i, int64_t j, V v) {
              check += v * 0.0f;
              store(taps[i * 3 + j] + k, v);
            });
      float* to = grad + panel * kWidth * steps.out_channel + c * steps.in_channel;
      for (int64_t k = 0; k < kWidth; ++k, to += steps.out_channel)
        for (int64_t i = 0; i < 3; ++i)
          for (int64_t j = 0; j < 3; ++j) to[i * steps.y + j * steps.x] = taps[i * 3 + j][k];
      if (!is_finite(check)) finite.store(false, std::memory_order_relaxed);
    }
  });
  return finite;
}

bool sum_weights(int64_t images, const Images& in, const Images& grad_out, float* grad,
                 const Taps& steps, Corner padding) {
  const WeightValues w{in.channels, grad_out.channels / kWidth};
  const Tiles tiles(images, grad_out.height, grad_out.width);
  const int64_t size = std::min(kTilesOfSums, tiles.count);
  const Block values(size, in.channels), gradients(size, grad_out.channels);
  const int64_t channels = std::max(in.channels, grad_out.channels);
  const ScratchArray<float> memory(w.size() + values.size() + gradients.size() + channels);
  float* const sums = memory.get();
  float* const v = sums + w.size();
  float* const g = v + values.size();
  float* const zeros = g + gradients.size();
  std::fill_n(zeros, channels, 0.0f);
  std::fill_n(sums, w.size(), 0.0f);
  for (int64_t first = 0; first < tiles.count; first += size) {
    const int64_t count = std::min(size, tiles.count - first);
    parallel_for(0, count, 8, [&](int64_t begin, int64_t end) {
      transform_tiles<kIn>(values_of_inputs, in, tiles, first + begin, end - begin,
                           {-padding.y, -padding.x}, zeros, values, begin, v);
      transform_tiles<kOut>(values_of_gradients, grad_out, tiles, first + begin, end - begin, {},
                            zeros, gradients, begin, g);
    });
    parallel_for(0, kPoints * w.panels, 1, [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end; ++at) {
        const int64_t p = at / w.panels, k = at % w.panels;
        for (int64_t c = 0; c < in.channels; c += kChannelRows)
          add_products(v + p * values.point + values.offset(c, 0),
                       g + p * gradients.point + k * gradients.panel(), count,
                       sums + p * w.point() + k * w.panel() + c * kWidth);
      }
    });
  }
  return store_taps(w, sums, grad, steps);
}

/// Sums over all pixels, channel by channel.
void sum_pixels(const Images& images, int64_t count, float* sums) {
  constexpr int64_t kPart = 512;
  parallel_for(0, images.channels / kLanesF, 4, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin * kLanesF; c < end * kLanesF; c += kLanesF) {
      double total[kLanesF] = {};
      for (int64_t first = 0; first < count; first += kPart) {
        V part{};
        for (int64_t i = first; i < std::min(first + kPart, count); ++i)
          part += load(images.data + i * images.channels + c);
        for (int l = 0; l < kLanesF; ++l) total[l] += static_cast<double>(part[l]);
      }
      for (int l = 0; l < kLanesF; ++l) sums[c + l] = static_cast<float>(total[l]);
    }
  });
}

// ---- Tensors

/// A tensor [images, channels, height, width] in channels-last memory: its own, or a copy.
class ChannelsLast {
 public:
  enum class Use { Read, Write };

  ChannelsLast(const Tensor& t, Use use)
      : tensor_(t),
        layout_{DimVector(t.sizes()), strides_of(t), 0},
        own_(t.strides() == IntArrayRef(layout_.strides)) {
    if (own_) return;
    copy_.emplace(t.numel());
    if (use == Use::Read)
      copy_on_host("convolution", data(), layout_, t.data_ptr(), tensor_layout(), kFloat);
  }
  Images images() const { return {data(), tensor_.size(2), tensor_.size(3), tensor_.size(1)}; }
  void write_back() const {
    if (!own_)
      copy_on_host("convolution", tensor_.data_ptr(), tensor_layout(), data(), layout_, kFloat);
  }

 private:
  static DimVector strides_of(const Tensor& t) {
    const int64_t pixel = t.size(1), row = pixel * t.size(3);
    return {row * t.size(2), 1, row, pixel};
  }
  Layout tensor_layout() const { return {tensor_.sizes(), tensor_.strides(), 0}; }
  float* data() const { return own_ ? tensor_.data_ptr<float>() : copy_->get(); }

  const Tensor& tensor_;
  const Layout layout_;
  const bool own_;
  std::optional<ScratchArray<float>> copy_;
};

const float* data_of(const Tensor& bias) {
  return bias.defined() ? bias.data_ptr<float>() : nullptr;
}

bool is_plane(const Tensor& weight, const Tensor& bias) {
  return weight.dim() == 4 && (!bias.defined() || bias.stride(0) == 1);
}

bool is_switched_on() {
  static const bool on = [] {
    const char* text = std::getenv("TAEDA_WINOGRAD");
    return !text || std::string_view(text) != "0";
  }();
  return on;
}

}  // namespace

// The terms: 9 multiplications for each output and pair of channels; 36 for each tile, at two
// thirds of their speed; as much for the values of the weights as for 60 tiles; and the values of
// inputs and outputs, which are bound by memory.
bool prefers_winograd(const Shape& s) {
  if (!is_switched_on() || s.groups != 1 || s.in_channels % kWidth != 0 ||
      s.out_channels % kWidth != 0)
    return false;
  if (s.in[0] != 1 || s.taps[0] != 1 || s.out[0] != 1) return false;
  for (int d = 1; d < 3; ++d)
    if (s.taps[d] != 3 || s.stride[d] != 1 || s.dilation[d] != 1 || s.padding[d] > 2) return false;
  const int64_t tiles = Tiles(s.images, s.out[1], s.out[2]).count;
  const int64_t pairs = s.in_channels * s.out_channels;
  const int64_t direct = 9 * s.images * s.out_size() * pairs;
  return 58 * (tiles + 60) * pairs + 900 * tiles * (s.in_channels + s.out_channels) < direct;
}

bool winograd_conv(const Shape& s, const Tensor& out, const Tensor& in, const Tensor& weight,
                   const Tensor& bias) {
  if (!is_plane(weight, bias)) return false;
  const ChannelsLast x(in, ChannelsLast::Use::Read), y(out, ChannelsLast::Use::Write);
  const Taps taps{weight.data_ptr<float>(), weight.stride(0), weight.stride(1), weight.stride(2),
                  weight.stride(3)};
  if (!convolve(s.images, y.images(), x.images(), taps, data_of(bias),
                {s.padding[1], s.padding[2]}))
    return false;
  y.write_back();
  return true;
}

bool winograd_input_grad(const Shape& s, const Tensor& grad_in, const Tensor& grad_out,
                         const Tensor& weight, const Tensor& bias) {
  if (!is_plane(weight, bias)) return false;
  const ChannelsLast y(grad_out, ChannelsLast::Use::Read), x(grad_in, ChannelsLast::Use::Write);
  const float* last = weight.data_ptr<float>() + 2 * (weight.stride(2) + weight.stride(3));
  const Taps turned{last, weight.stride(1), weight.stride(0), -weight.stride(2), -weight.stride(3)};
  if (!convolve(s.images, x.images(), y.images(), turned, data_of(bias),
                {2 - s.padding[1], 2 - s.padding[2]}))
    return false;
  x.write_back();
  return true;
}

bool winograd_weight_grad(const Shape& s, const Tensor& grad_weight, const Tensor& grad_bias,
                          const Tensor& in, const Tensor& grad_out) {
  if (!is_plane(grad_weight, grad_bias)) return false;
  const ChannelsLast x(in, ChannelsLast::Use::Read), y(grad_out, ChannelsLast::Use::Read);
  const Taps steps{nullptr, grad_weight.stride(0), grad_weight.stride(1), grad_weight.stride(2),
                   grad_weight.stride(3)};
  if (!sum_weights(s.images, x.images(), y.images(), grad_weight.data_ptr<float>(), steps,
                   {s.padding[1], s.padding[2]}))
    return false;
  if (grad_bias.defined())
    sum_pixels(y.images(), s.images * s.out_size(), grad_bias.data_ptr<float>());
  return true;
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
