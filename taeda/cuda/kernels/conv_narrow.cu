// Gradients of the weights of convolutions with few channels.
//
// Note [Narrow convolutions]
// With a dozen channels, cuDNN's tiles of tensor cores are mostly padding, and what it has that
// gives equal bits in every run does not cut the long sum over images and positions. Here a block
// takes bands of output rows, one after the other: the rows of the image that they read and those
// of the gradient go to shared memory, and a thread adds up one row of taps of one pair of
// channels, four positions at a time. What blocks have summed a reduction adds up. Which rows a
// block takes follows from the sizes alone.
#include <algorithm>

#include "taeda/cuda/conv_narrow.h"
#include "taeda/cuda/kernels/common.cuh"
#include "taeda/kernels/copy.h"
#include "taeda/kernels/reduce.h"

namespace taeda::inline v0_2::gpu {

namespace {

constexpr int kMostChannels = 16, kRounds = 4;  // rows of taps of a thread
constexpr int64_t kMostBlocks = 1056, kLeastPositions = 1 << 16;
constexpr size_t kBandBytes = 44 * 1024;

/// A tensor [N, C, y, x]; strides in bytes.
struct Planes {
  const char* data;
  ScalarType dtype;
  int channels, rows, columns;
  int64_t image, channel, row, column;

  explicit Planes(const Tensor& t)
      : data(static_cast<const char*>(t.data_ptr())),
        dtype(t.dtype()),
        channels(static_cast<int>(t.size(1))),
        rows(t.dim() == 4 ? static_cast<int>(t.size(2)) : 1),
        columns(static_cast<int>(t.size(-1))),
        image(t.stride(0) * t.element_size()),
        channel(t.stride(1) * t.element_size()),
        row(t.dim() == 4 ? t.stride(2) * t.element_size() : 0),
        column(t.stride(-1) * t.element_size()) {}

  /// Zero outside of the image.
  template <class A>
  __device__ A at(int64_t n, int c, int y, int x) const {
    if (y < 0 || y >= rows || x < 0 || x >= columns) return A(0);
    return load_as<A>(data + n * image + c * channel + y * row + x * column, dtype);
  }
};

struct NarrowGrad {
  Planes in, grad;
  int taps_down, pad_down, pad_across;
  int band = 0, bands = 0;  // output rows of a part, parts of an image
  int64_t images;

  __host__ __device__ int band_in() const { return band + taps_down - 1; }
  __host__ __device__ int width() const { return (grad.columns + 3) / 4 * 4; }
  /// Rows of taps.
  __host__ __device__ int units() const { return grad.channels * in.channels * taps_down; }
  __host__ __device__ int copies() const {
    return units() >= kThreads ? 1 : static_cast<int>(kThreads) / units();
  }
  int64_t parts() const { return images * bands; }
};

/// Elements of an image's row that a band of gradients reads, a multiple of 16 bytes.
template <int kTaps>
__host__ __device__ int reach(const NarrowGrad& p) {
  return (p.width() + kTaps - 1 + 3) / 4 * 4;
}

/// Copies rows to shared memory, a warp each; `first`: of the tensor, with its padding.
template <class A>
__device__ void stage_rows(A* to, const Planes& from, int64_t image, int first, int rows, int left,
                           int columns) {
  const int lane = threadIdx.x % 32;
  for (int r = threadIdx.x / 32; r < from.channels * rows; r += kThreads / 32) {
    const int channel = r / rows, y = first + r % rows;
    for (int x = lane; x < columns; x += 32)
      to[r * columns + x] = from.at<A>(image, channel, y, x - left);
  }
}

template <class A, int kTaps>
__global__ void __launch_bounds__(kThreads)
    narrow_weight_grad_kernel(const __grid_constant__ NarrowGrad p, A* partial) {
  extern __shared__ ::uint4 narrow_words[];
  A* const in = reinterpret_cast<A*>(narrow_words);
  A* const grad = in + p.in.channels * p.band_in() * reach<kTaps>(p);
  const int units = p.units(), copies = p.copies();
  const int copy = units >= kThreads ? 0 : threadIdx.x / units;
  int in_row[kRounds], grad_row[kRounds];
  bool active[kRounds];
  A acc[kRounds][kTaps] = {};
#pragma unroll
  for (int r = 0; r < kRounds; ++r) {
    const int unit = threadIdx.x - copy * units + r * static_cast<int>(kThreads);
    active[r] = copy < copies && unit < units && (r == 0 || units > kThreads);
    const int pair = unit / p.taps_down;
    in_row[r] = pair % p.in.channels * p.band_in() + unit % p.taps_down;
    grad_row[r] = pair / p.in.channels * p.band;
  }
  for (int64_t part = blockIdx.x; part < p.images * p.bands; part += gridDim.x) {
    const int64_t image = part / p.bands;
    const int first = static_cast<int>(part % p.bands) * p.band;
    const int rows = p.band < p.grad.rows - first ? p.band : p.grad.rows - first;
    __syncthreads();  // the part before has been read
    stage_rows(in, p.in, image, first - p.pad_down, p.band_in(), p.pad_across, reach<kTaps>(p));
    stage_rows(grad, p.grad, image, first, p.band, 0, p.width());
    __syncthreads();
#pragma unroll
    for (int r = 0; r < kRounds; ++r) {
      if (!active[r]) continue;
      for (int y = copy; y < rows; y += copies) {
        const A* const x_at = in + (in_row[r] + y) * reach<kTaps>(p);
        const A* const g_at = grad + (grad_row[r] + y) * p.width();
        for (int x = 0; x < p.grad.columns; x += 4) {
          A seen[kTaps + 3];
#pragma unroll
          for (int i = 0; i < kTaps + 3; ++i) seen[i] = x_at[x + i];
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            if (x + i >= p.grad.columns) break;  // 0 times an infinite pixel is none of the sum's
#pragma unroll
            for (int tap = 0; tap < kTaps; ++tap) acc[r][tap] += g_at[x + i] * seen[i + tap];
          }
        }
      }
    }
  }
#pragma unroll
  for (int r = 0; r < kRounds; ++r) {
    if (!active[r]) continue;
    const int64_t unit = threadIdx.x - copy * units + r * static_cast<int>(kThreads);
    for (int tap = 0; tap < kTaps; ++tap)
      partial[((blockIdx.x * static_cast<int64_t>(copies) + copy) * units + unit) * kTaps + tap] =
          acc[r][tap];
  }
}

template <class A, int kTaps>
bool run_narrow(const Context& context, const Tensor& grad_weight, NarrowGrad p) {
  const auto bytes = [&] {
    return sizeof(A) * (static_cast<size_t>(p.in.channels) * p.band_in() * reach<kTaps>(p) +
                        static_cast<size_t>(p.grad.channels) * p.band * p.width());
  };
  p.band = p.grad.rows;
  while (p.band > 1 && bytes() > kBandBytes) p.band = (p.band + 1) / 2;
  if (bytes() > kBandBytes) return false;
  p.bands = (p.grad.rows + p.band - 1) / p.band;
  const int64_t blocks = std::min(p.parts(), kMostBlocks);
  const int64_t sums[] = {blocks * p.copies(), grad_weight.numel()};
  const Tensor partial = make_tensor(Layout::contiguous(sums), dtype_of<A>(), grad_weight.device());
  narrow_weight_grad_kernel<A, kTaps>
      <<<static_cast<unsigned>(blocks), kThreads, bytes(), context.stream>>>(
          p, static_cast<A*>(partial.data_ptr()));
  context.launched("convolution_weight_grad");
  DimMask blocks_and_copies;
  blocks_and_copies.add(0);
  const int64_t flat[] = {grad_weight.numel()};
  const Tensor total = make_tensor(Layout::contiguous(flat), dtype_of<A>(), grad_weight.device());
  sum_slot(kCUDA, total, partial, blocks_and_copies);
  const Tensor shaped = make_alias(total);
  shaped.unsafe_impl()->layout = Layout::contiguous(grad_weight.sizes());
  shaped.unsafe_impl()->refresh();
  Tensor target = grad_weight;
  Tensor* outputs[] = {&target};
  copy_slot(kCUDA, Iter("convolution_weight_grad", outputs, grad_weight.dtype(), {Operand(shaped)},
                        shaped.dtype()));
  return true;
}

}  // namespace

bool narrow_weight_grad(const Context& context, const Tensor& grad_weight, const Tensor& in,
                        const Tensor& grad_out, const ConvGeometry& g) {
  if (g.ndim > 2 || g.groups != 1 || in.size(1) > kMostChannels ||
      grad_out.size(1) > kMostChannels || grad_out.numel() == 0 || in.numel() > INT32_MAX ||
      grad_out.numel() / grad_out.size(1) < kLeastPositions)
    return false;
  for (int d = 0; d < g.ndim; ++d)
    if (g.stride[d] != 1 || g.dilation[d] != 1) return false;
  NarrowGrad p{Planes(in), Planes(grad_out)};
  p.images = in.size(0);
  p.taps_down = g.ndim == 2 ? static_cast<int>(grad_weight.size(2)) : 1;
  p.pad_down = g.ndim == 2 ? static_cast<int>(g.padding[0]) : 0;
  p.pad_across = static_cast<int>(g.padding[g.ndim - 1]);
  if (p.units() > kRounds * static_cast<int>(kThreads)) return false;
  bool done = false;
  dispatch_compute(FloatCompute{}, "convolution_weight_grad", in.dtype(), [&]<class A>() {
    switch (grad_weight.size(-1)) {
      case 3: done = run_narrow<A, 3>(context, grad_weight, p); break;
      case 5: done = run_narrow<A, 5>(context, grad_weight, p); break;
      case 7: done = run_narrow<A, 7>(context, grad_weight, p); break;
      default: break;
    }
  });
  return done;
}

}  // namespace taeda::inline v0_2::gpu
