// Attention for 32-bit floats on tensor cores, in the order of attention_mma.cu.
//
// Note [Floats on tensor cores]
// Tensor cores multiply floats of 11 significant bits (TF32) and add up in 24. A float is the sum
// of its upper 11 bits and of a rest of 13, of which they take 11 or more; with both, three
// products (upper upper, upper rest, rest upper) leave out no more than a float's own rounding
// does. They are five times as fast as ordinary multiplications at one product, so nearly twice at
// three (Markidis et al., "NVIDIA Tensor Core Programmability, Performance & Precision", 2018;
// Ootomo and Yokota, "Recovering single precision accuracy from Tensor Cores", 2022). As the latter
// found, tensor cores do not round their sums to nearest: so the products with rests, which are
// small, have sums of their own, and those of a tile are added to what was there before by ordinary
// additions. An infinite operand gives NaN.
#include "taeda/cuda/kernels/attention_mma.cuh"

namespace taeda::inline v0_2::gpu {

namespace {

/// The upper bits of a float, and the float that they leave.
template <int N>
__device__ void split(const uint32_t (&bits)[N], uint32_t (&high)[N], uint32_t (&low)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) {
    high[i] = bits[i] & 0xffffe000u;
    low[i] = __float_as_uint(__uint_as_float(bits[i]) - __uint_as_float(high[i]));
  }
}

/// Products of 16 rows with N times eight columns: `rest` has those with rests.
template <int N>
struct SplitSums {
  float high[N][4] = {}, rest[N][4] = {};

  /// Adds the products of eight columns of the left factor, `b` being two numbers for each of the
  /// N tiles of the right one. Neighbouring instructions do not wait for each other.
  __device__ void add(const uint32_t (&a)[4], const uint32_t (&b)[2 * N]) {
    uint32_t mine[4], a_high[4], a_low[4], b_high[2 * N], b_low[2 * N];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      mine[i] = a[i];
      asm volatile("" : "+r"(mine[i]));  // to be split anew: there are no registers to keep it
    }
    split(mine, a_high, a_low);
    split(b, b_high, b_low);
#pragma unroll
    for (int n = 0; n < N; ++n)
      multiply_tf32_tiles(a_low, b_high[2 * n], b_high[2 * n + 1], rest[n]);
#pragma unroll
    for (int n = 0; n < N; ++n)
      multiply_tf32_tiles(a_high, b_high[2 * n], b_high[2 * n + 1], high[n]);
#pragma unroll
    for (int n = 0; n < N; ++n)
      multiply_tf32_tiles(a_high, b_low[2 * n], b_low[2 * n + 1], rest[n]);
  }
};

/// kRows rows of floats in shared memory, up to D wide.
template <int D, int kRows>
struct FloatTile {
  static constexpr int kLine = D + 4;  // lest rows meet in one bank
  static constexpr int kSize = kRows * kLine;
  static constexpr int kTiles = kRows / 8;
  using Scores = float[kTiles][4];
  // Columns 32 g + 8 r + 4 (k % 2) + j of rows q and q + 8 are number k of sum 4 g + j: a lane
  // reads four neighbours of a row for four tiles, and writes eight.
  using Sums = float[D / 8][4];

  float* data;

  /// Rows [0, rows) from memory, zeros behind them and behind the width, after the next
  /// `wait_for_copies` and a barrier. The block takes part.
  __device__ void begin_load(const HeadMatrices& m, const char* from, int64_t rows) const {
    constexpr int kPacks = D / 4;
    const float* first = reinterpret_cast<const float*>(from);
    const int row = static_cast<int>(threadIdx.x) / kPacks, c = threadIdx.x % kPacks * 4;
    constexpr int kRowsAtOnce = kMmaThreads / kPacks;
    const float* p = first + row * m.row + c;
    float* to = data + row * kLine + c;
    if (m.vector) {
      const int count = c < m.width ? static_cast<int>(rows < kRows ? rows : kRows) : 0;
#pragma unroll
      for (int k = 0; k < kRows; k += kRowsAtOnce) {
        const bool there = row + k < count;
        begin_copy<16>(to + k * kLine, there ? p + k * m.row : first, there);
      }
      return;
    }
#pragma unroll 1
    for (int k = 0; k < kRows; k += kRowsAtOnce)
      for (int i = 0; i < 4; ++i) {
        const bool there = row + k < rows && c + i < m.width;
        begin_copy<4>(to + k * kLine + i, there ? p + k * m.row + i : first, there);
      }
  }

  /// Columns 8 k to 8 k + 7 of the 16 rows from `first` on, as left factor of products.
  __device__ void read_left(int first, int k, uint32_t (&out)[4]) const {
    const int lane = threadIdx.x % 32;
    load_matrices<false>(data + (first + lane % 16) * kLine + 8 * k + lane / 16 * 4, out);
  }

  /// out = left tile^T, where left(k, ..) gives columns 8 k to 8 k + 7 of 16 rows.
  template <class Left>
  __device__ void dot(const Left& left, Scores& out) const {
    constexpr int kGroup = kTiles < 4 ? kTiles : 4;
    const int lane = threadIdx.x % 32;
    const float* mine = data + (lane % 8 + lane / 16 * 8) * kLine + lane / 8 % 2 * 4;
    __syncwarp();  // the lanes may have parted over their scores; these instructions take a warp
#pragma unroll
    for (int g = 0; g < kTiles; g += kGroup) {
      SplitSums<kGroup> sums;
#pragma unroll
      for (int k = 0; k < D / 8; ++k) {
        uint32_t a[4], b[2 * kGroup];
        left(k, a);
#pragma unroll
        for (int n = 0; n < kGroup; n += 2) {
          uint32_t(&two)[4] = reinterpret_cast<uint32_t(&)[4]>(b[2 * n]);
          load_matrices<false>(mine + 8 * (g + n) * kLine + 8 * k, two);
        }
        sums.add(a, b);
      }
#pragma unroll
      for (int n = 0; n < kGroup; ++n)
#pragma unroll
        for (int k = 0; k < 4; ++k) out[g + n][k] = sums.high[n][k] + sums.rest[n][k];
    }
  }

  /// out += weights tile. Weights 2 r and 2 r + 1 of eight stand in the places of r and r + 4, and
  /// so do the rows that they meet.
  __device__ void add_product(const Scores& weights, Sums& out) const {
    using Word = Pack<float, 4>;
    const int q = threadIdx.x % 32 / 4, r = threadIdx.x % 4;
    __syncwarp();
#pragma unroll
    for (int g = 0; g < D / 32; ++g) {
      SplitSums<4> sums;
#pragma unroll
      for (int k = 0; k < kTiles; ++k) {
        const float(&w)[4] = weights[k];
        const uint32_t a[4] = {__float_as_uint(w[0]), __float_as_uint(w[2]), __float_as_uint(w[1]),
                               __float_as_uint(w[3])};
        const float* at = data + (8 * k + 2 * r) * kLine + 32 * g + 4 * q;
        const Word upper = *reinterpret_cast<const Word*>(at),
                   lower = *reinterpret_cast<const Word*>(at + kLine);
        uint32_t b[8];
#pragma unroll
        for (int n = 0; n < 4; ++n) {
          b[2 * n] = __float_as_uint(upper.x[n]);
          b[2 * n + 1] = __float_as_uint(lower.x[n]);
        }
        sums.add(a, b);
      }
#pragma unroll
      for (int n = 0; n < 4; ++n)
#pragma unroll
        for (int k = 0; k < 4; ++k) out[4 * g + n][k] += sums.high[n][k] + sums.rest[n][k];
    }
  }

  /// Rows row + lane_row of a head receive a warp's sums, times a factor for the upper and the
  /// lower.
  __device__ static void store(const HeadMatrices& to, int64_t b, int64_t h, int64_t row,
                               int64_t end, const Sums& sums, const float (&factor)[2]) {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int64_t r = row + lane_row(k);
      if (r >= end) continue;
      float* line = reinterpret_cast<float*>(to.at(b, h, r));
#pragma unroll
      for (int g = 0; g < D / 32; ++g) {
        const int column = 32 * g + 8 * (static_cast<int>(threadIdx.x) % 4) + 4 * (k % 2);
        Pack<float, 4> pack;
#pragma unroll
        for (int n = 0; n < 4; ++n) pack.x[n] = sums[4 * g + n][k] * factor[k / 2];
        if (to.vector) {
          if (column < to.width) *reinterpret_cast<Pack<float, 4>*>(line + column) = pack;
        } else {
#pragma unroll
          for (int n = 0; n < 4; ++n)
            if (column + n < to.width) line[column + n] = pack.x[n];
        }
      }
    }
  }
};

/// 16 rows as left factor, in registers or where they lie.
template <int D>
struct KeptRowsOfWarp {
  uint32_t x[D / 8][4];
  __device__ void operator()(int k, uint32_t (&out)[4]) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) out[i] = x[k][i];
  }
};
template <int D>
struct SharedRowsOfWarp {
  FloatTile<D, kBlockRows> tile;
  __device__ void operator()(int k, uint32_t (&out)[4]) const {
    tile.read_left(static_cast<int>(threadIdx.x) / 32 * 16, k, out);
  }
};

/// Rows of the tiles that are walked over; of two kinds of them, one lies in shared memory and the
/// next is on its way there.
template <int D>
constexpr int kStepRows = D <= 64 ? 32 : 16;
template <int D>
using Step = FloatTile<D, kStepRows<D>>;
template <int D>
using Own = FloatTile<D, kBlockRows>;

template <int D>
struct StepPair {
  Step<D> first, second;

  /// Pair 0 or 1 of those that begin at `memory`.
  __device__ StepPair(float* memory, int which)
      : first{memory + 2 * which * Step<D>::kSize}, second{first.data + Step<D>::kSize} {}
};

__device__ inline float* tile_memory() {
  extern __shared__ ::uint4 tile_words[];
  return reinterpret_cast<float*>(tile_words);
}

/// The rows of a block: the last ones first, which have most to do in a causal problem.
struct BlockRows {
  int64_t row, h, b;
  __device__ BlockRows(int64_t t, int64_t tiles, int64_t heads)
      : row((tiles - 1 - t % tiles) * kBlockRows), h(t / tiles % heads), b(t / tiles / heads) {}
};

template <int D>
constexpr int kForwardBytes = 4 * Step<D>::kSize* static_cast<int>(sizeof(float));

template <int D, bool kPlain>
__global__ void __launch_bounds__(kMmaThreads, D <= 64 ? 3 : 2)
    attention_tf32_kernel(const __grid_constant__ AttentionProblem p, const HeadMatrices out,
                          float* log_sum) {
  constexpr int kStep = kStepRows<D>;
  static_assert(4 * Step<D>::kSize >= Own<D>::kSize);
  float* const memory = tile_memory();
  const int warp = threadIdx.x / 32;
  const int64_t tiles = (p.queries + kBlockRows - 1) / kBlockRows;
  for (int64_t t = blockIdx.x; t < p.batches * p.heads * tiles; t += gridDim.x) {
    const BlockRows block(t, tiles, p.heads);
    const int64_t h = block.h, b = block.b, group = p.group_of(h), row = block.row + 16 * warp,
                  seen = p.keys_seen(block.row + kBlockRows);
    Dropper dropper(p, b, h);
    __syncthreads();  // the last round's tiles have been read
    const Own<D> own{memory};
    own.begin_load(p.query, p.query.at(b, h, block.row), p.queries - block.row);
    wait_for_copies();
    __syncthreads();
    KeptRowsOfWarp<D> query;
#pragma unroll
    for (int k = 0; k < D / 8; ++k) own.read_left(16 * warp, k, query.x[k]);
    __syncthreads();
    const auto begin_load = [&](int64_t column, int which) {
      const StepPair<D> to(memory, which);
      to.first.begin_load(p.key, p.key.at(b, group, column), p.keys - column);
      to.second.begin_load(p.value, p.value.at(b, group, column), p.keys - column);
    };
    begin_load(0, 0);
    typename Own<D>::Sums sums = {};
    RunningSoftmax rows;
    int which = 0;
    for (int64_t column = 0; column < seen; column += kStep, which = 1 - which) {
      wait_for_copies();
      __syncthreads();  // all have what they copied, and have read the tiles before
      if (column + kStep < seen) begin_load(column + kStep, 1 - which);
      if (p.spec.causal && column >= row + 16) continue;
      const StepPair<D> tile(memory, which);
      typename Step<D>::Scores s;
      tile.first.dot(query, s);
      rows.step<kPlain>(p, dropper, row, column, b, h, s, sums);
      tile.second.add_product(s, sums);
    }
    float factor[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int64_t r = row + lane_row(2 * half);
      factor[half] = inverse_of_sum(rows.sum[half]);
      if (threadIdx.x % 4 == 0 && r < p.queries)
        log_sum[(b * p.heads + h) * p.queries + r] =
            log_of_sum(rows.top[half] / kLog2OfE, rows.sum[half]);
    }
    Own<D>::store(out, b, h, row, p.queries, sums, factor);
  }
}

/// Of a block's rows of two matrices, and two pairs of tiles with two numbers for each of their
/// rows.
template <int D>
constexpr int kBackwardBytes = (2 * Own<D>::kSize + 4 * Step<D>::kSize +
                                4 * kStepRows<D>)*static_cast<int>(sizeof(float));

template <int D, bool kPlain>
__global__ void __launch_bounds__(kMmaThreads, 3)
    attention_tf32_query_grad_kernel(const __grid_constant__ AttentionProblem p,
                                     const __grid_constant__ AttentionGradients g,
                                     const float* log_sum, const float* delta) {
  constexpr int kStep = kStepRows<D>;
  const Own<D> queries{tile_memory()}, grads{queries.data + Own<D>::kSize};
  float* const memory = grads.data + Own<D>::kSize;
  const int warp = threadIdx.x / 32;
  const float kept = static_cast<float>(1 / (1 - p.spec.dropout));
  const int64_t tiles = (p.queries + kBlockRows - 1) / kBlockRows;
  for (int64_t t = blockIdx.x; t < p.batches * p.heads * tiles; t += gridDim.x) {
    const BlockRows block(t, tiles, p.heads);
    const int64_t h = block.h, b = block.b, group = p.group_of(h), row = block.row + 16 * warp,
                  seen = p.keys_seen(block.row + kBlockRows);
    Dropper dropper(p, b, h);
    const auto begin_load = [&](int64_t column, int which) {
      const StepPair<D> to(memory, which);
      to.first.begin_load(p.key, p.key.at(b, group, column), p.keys - column);
      to.second.begin_load(p.value, p.value.at(b, group, column), p.keys - column);
    };
    __syncthreads();  // the last round's tiles have been read
    queries.begin_load(p.query, p.query.at(b, h, block.row), p.queries - block.row);
    grads.begin_load(g.grad, g.grad.at(b, h, block.row), p.queries - block.row);
    begin_load(0, 0);
    float log[2], mean[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int64_t r = row + lane_row(2 * half), line = (b * p.heads + h) * p.queries + r;
      log[half] = r < p.queries ? log_sum[line] * kLog2OfE : 0;
      mean[half] = r < p.queries ? delta[line] : 0;
    }
    typename Own<D>::Sums sums = {};
    int which = 0;
    for (int64_t column = 0; column < seen; column += kStep, which = 1 - which) {
      wait_for_copies();
      __syncthreads();  // all have what they copied, and have read the tiles before
      if (column + kStep < seen) begin_load(column + kStep, 1 - which);
      if (p.spec.causal && column >= row + 16) continue;
      const StepPair<D> tile(memory, which);
      typename Step<D>::Scores s, d;
      tile.first.dot(SharedRowsOfWarp<D>{queries}, s);
      scale_scores<false, kPlain>(p, b, h, row, column, s);
      tile.second.dot(SharedRowsOfWarp<D>{grads}, d);
#pragma unroll
      for (int n = 0; n < Step<D>::kTiles; ++n)
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          if (!kPlain && dropper.active())
            d[n][k] *= kept * dropper.factor(row + lane_row(k), column + lane_column(n, k));
          s[n][k] = ::exp2f(s[n][k] - log[k / 2]) * (d[n][k] - mean[k / 2]);
        }
      tile.first.add_product(s, sums);
    }
    const float scale = static_cast<float>(p.spec.scale), factor[2] = {scale, scale};
    Own<D>::store(g.grad_query, b, h, row, p.queries, sums, factor);
  }
}

/// Numbers of rows [row, row + kStep) from two arrays, one kind behind the other.
template <int kStep>
__device__ void begin_load_numbers(const float* first, const float* second, int64_t row,
                                   int64_t rows, float* to) {
  const int i = threadIdx.x % kStep, kind = static_cast<int>(threadIdx.x) / kStep;
  if (kind > 1) return;
  const float* from = kind == 0 ? first : second;
  const bool there = row + i < rows;
  begin_copy<4>(to + kind * kStep + i, from + (there ? row + i : 0), there);
}

/// Of queries in columns: scores become weights, after dropout, and the gradients of the weights
/// those of the scores.
template <bool kPlain, int kTiles>
__device__ void weigh(float (&s)[kTiles][4], float (&d)[kTiles][4], const float* logs,
                      const float* means, float kept, Dropper& dropper, int64_t row,
                      int64_t column) {
#pragma unroll
  for (int n = 0; n < kTiles; ++n)
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int r = lane_column(n, k);
      const float weight = ::exp2f(s[n][k] - logs[r] * kLog2OfE);
      const float factor =
          !kPlain && dropper.active() ? kept * dropper.factor(row + r, column + lane_row(k)) : 1;
      s[n][k] = weight * factor;
      d[n][k] = weight * (d[n][k] * factor - means[r]);
    }
}

template <int D, bool kPlain>
__global__ void __launch_bounds__(kMmaThreads, 2)
    attention_tf32_key_grad_kernel(const __grid_constant__ AttentionProblem p,
                                   const __grid_constant__ AttentionGradients g,
                                   const float* log_sum, const float* delta) {
  constexpr int kStep = kStepRows<D>;
  const Own<D> keys{tile_memory()}, values{keys.data + Own<D>::kSize};
  float* const memory = values.data + Own<D>::kSize;
  float* const numbers = memory + 4 * Step<D>::kSize;  // logarithms and deltas of a tile's rows
  const int warp = threadIdx.x / 32;
  const float kept = static_cast<float>(1 / (1 - p.spec.dropout));
  const int64_t tiles = (p.keys + kBlockRows - 1) / kBlockRows, share = p.heads / p.groups;
  for (int64_t t = blockIdx.x; t < p.batches * p.groups * tiles; t += gridDim.x) {
    const int64_t first = t % tiles * kBlockRows, group = t / tiles % p.groups,
                  b = t / tiles / p.groups, column = first + 16 * warp;
    const int64_t first_row = p.spec.causal ? first : 0;
    __syncthreads();  // the last round's tiles have been read
    keys.begin_load(p.key, p.key.at(b, group, first), p.keys - first);
    values.begin_load(p.value, p.value.at(b, group, first), p.keys - first);
    typename Own<D>::Sums key_sums = {}, value_sums = {};
    for (int64_t h = group * share; h < (group + 1) * share; ++h) {
      Dropper dropper(p, b, h);
      const auto begin_load = [&](int64_t row, int which) {
        const StepPair<D> to(memory, which);
        to.first.begin_load(p.query, p.query.at(b, h, row), p.queries - row);
        to.second.begin_load(g.grad, g.grad.at(b, h, row), p.queries - row);
        const int64_t head = (b * p.heads + h) * p.queries;
        begin_load_numbers<kStep>(log_sum + head, delta + head, row, p.queries,
                                  numbers + 2 * which * kStep);
      };
      __syncthreads();  // the last head's tiles have been read
      if (first_row < p.queries) begin_load(first_row, 0);
      int which = 0;
      for (int64_t row = first_row; row < p.queries; row += kStep, which = 1 - which) {
        wait_for_copies();
        __syncthreads();  // all have what they copied, and have read the tiles before
        if (row + kStep < p.queries) begin_load(row + kStep, 1 - which);
        if (p.spec.causal && row + kStep <= column) continue;
        const StepPair<D> tile(memory, which);
        typename Step<D>::Scores s, d;  // transposed: a row for each key
        tile.first.dot(SharedRowsOfWarp<D>{keys}, s);
        scale_scores<true, kPlain>(p, b, h, row, column, s);
        tile.second.dot(SharedRowsOfWarp<D>{values}, d);
        weigh<kPlain>(s, d, numbers + 2 * which * kStep, numbers + (2 * which + 1) * kStep, kept,
                      dropper, row, column);
        tile.second.add_product(s, value_sums);
        tile.first.add_product(d, key_sums);
      }
    }
    const float scale = static_cast<float>(p.spec.scale), scales[2] = {scale, scale},
                ones[2] = {1, 1};
    Own<D>::store(g.grad_key, b, group, column, p.keys, key_sums, scales);
    Own<D>::store(g.grad_value, b, group, column, p.keys, value_sums, ones);
    wait_for_copies();
  }
}

int width_of(const AttentionProblem& p) {
  return p.query.width > p.value.width ? p.query.width : p.value.width;
}
bool is_plain(const AttentionProblem& p) { return !p.mask && p.spec.dropout == 0; }

/// Launches a kernel that wants more shared memory than a block gets without being asked for it.
template <class... Parameters, class... Arguments>
void launch(const Context& context, void (*kernel)(Parameters...), unsigned blocks, int bytes,
            const Arguments&... arguments) {
  check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                             cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
        "asking for shared memory");
  kernel<<<blocks, kMmaThreads, bytes, context.stream>>>(arguments...);
}

template <int D>
void launch_forward(const Context& context, const AttentionProblem& p, const HeadMatrices& out,
                    float* log_sum) {
  const unsigned blocks = row_blocks(p.batches * p.heads, p.queries);
  launch(context, is_plain(p) ? attention_tf32_kernel<D, true> : attention_tf32_kernel<D, false>,
         blocks, kForwardBytes<D>, p, out, log_sum);
}

template <bool kPlain>
void launch_backward(const Context& context, const AttentionProblem& p, const AttentionGradients& g,
                     const float* log_sum, const float* delta) {
  launch(context, attention_tf32_query_grad_kernel<64, kPlain>,
         row_blocks(p.batches * p.heads, p.queries), kBackwardBytes<64>, p, g, log_sum, delta);
  launch(context, attention_tf32_key_grad_kernel<64, kPlain>,
         row_blocks(p.batches * p.groups, p.keys), kBackwardBytes<64>, p, g, log_sum, delta);
}

}  // namespace

bool fits_tf32(const AttentionProblem& p, bool gradient) {
  if (p.query.dtype != kFloat || width_of(p) > (gradient ? 64 : 128)) return false;
  // What the kernels were compiled for counts: a new device may run code for an old one.
  cudaFuncAttributes code{};
  const auto kernel = &attention_tf32_kernel<64, true>;
  check(cudaFuncGetAttributes(&code, reinterpret_cast<const void*>(kernel)),
        "reading a kernel's properties");
  return code.ptxVersion >= 80;
}

void attention_by_tf32(const Context& context, const AttentionProblem& p, const HeadMatrices& out,
                       float* log_sum) {
  width_of(p) <= 64 ? launch_forward<64>(context, p, out, log_sum)
                    : launch_forward<128>(context, p, out, log_sum);
}

void attention_backward_by_tf32(const Context& context, const AttentionProblem& p,
                                const AttentionGradients& g, const float* log_sum,
                                const float* delta) {
  is_plain(p) ? launch_backward<true>(context, p, g, log_sum, delta)
              : launch_backward<false>(context, p, g, log_sum, delta);
}

}  // namespace taeda::inline v0_2::gpu
