// Attention for 16-bit floats on tensor cores (Note [Attention tiles] in attention.cu, and Dao,
// "FlashAttention-2", 2023). A warp keeps 16 rows - of queries, or of keys for their gradients - in
// registers and walks with the three other warps of its block over tiles of the other side, which
// lie in shared memory. The weights of a tile are the left factor of the next product where they
// are: in registers.
#include "taeda/cuda/kernels/attention_mma.cuh"

namespace taeda::inline v0_2::gpu {

namespace {

/// Products of kRows rows in shared memory, up to D wide. D is a multiple of 16.
template <class T, int D, int kRows>
struct SharedTile {
  static constexpr int kLine = D + 8;  // lest rows meet in one bank
  static constexpr int kSize = kRows * kLine;
  static constexpr int kTiles = kRows / 8;
  using Left = uint32_t[D / 16][4];    // 16 rows as left factor
  using Scores = float[kRows / 8][4];  // 16 rows by kRows
  using Sums = float[D / 8][4];        // 16 rows by D

  T* data;

  /// Rows [0, rows) from memory, zeros behind them and behind the width. The block takes part.
  __device__ void load(const HeadMatrices& m, const char* from, int64_t rows) const {
    constexpr int kPacks = D / 8;
    for (int e = threadIdx.x; e < kRows * kPacks; e += kMmaThreads) {
      const int r = e / kPacks, c = e % kPacks * 8;
      const T* p = reinterpret_cast<const T*>(from) + r * m.row + c;
      Pack<T, 8> pack;
#pragma unroll
      for (int k = 0; k < 8; ++k) pack.x[k].bits = 0;
      if (r < rows) {
        if (m.vector) {
          if (c < m.width) pack = *reinterpret_cast<const Pack<T, 8>*>(p);
        } else {
          for (int k = 0; k < 8 && c + k < m.width; ++k) pack.x[k] = p[k];
        }
      }
      *reinterpret_cast<Pack<T, 8>*>(data + r * kLine + c) = pack;
    }
  }

  /// 16 rows from `first` on as left factor of products.
  __device__ void read_left(int first, Left& out) const {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int k = 0; k < D / 16; ++k)
      load_matrices<false>(data + (first + lane % 16) * kLine + 16 * k + lane / 16 * 8, out[k]);
  }

  /// out = left tile^T
  __device__ void dot(const Left& left, Scores& out) const {
    const int lane = threadIdx.x % 32;
    __syncwarp();  // the lanes may have parted over their scores; these instructions take a warp
#pragma unroll
    for (int n = 0; n < kTiles; ++n)
#pragma unroll
      for (int k = 0; k < 4; ++k) out[n][k] = 0;
#pragma unroll
    for (int k = 0; k < D / 16; ++k)
#pragma unroll
      for (int n = 0; n < kTiles; n += 2) {
        uint32_t b[4];  // two matrices along the width for rows 8 n .., then for the next eight
        load_matrices<false>(
            data + (8 * n + lane % 8 + lane / 16 * 8) * kLine + 16 * k + lane / 8 % 2 * 8, b);
        multiply_tiles<T>(left[k], b[0], b[1], out[n]);
        multiply_tiles<T>(left[k], b[2], b[3], out[n + 1]);
      }
  }

  /// out += weights tile
  __device__ void add_product(const Scores& weights, Sums& out) const {
    const int lane = threadIdx.x % 32;
    __syncwarp();
#pragma unroll
    for (int k = 0; k < kRows / 16; ++k) {
      const float(&x)[4] = weights[2 * k];
      const float(&y)[4] = weights[2 * k + 1];
      const uint32_t left[4] = {pack_pair<T>(x[0], x[1]), pack_pair<T>(x[2], x[3]),
                                pack_pair<T>(y[0], y[1]), pack_pair<T>(y[2], y[3])};
#pragma unroll
      for (int n = 0; n < D / 8; n += 2) {
        uint32_t b[4];  // two matrices down the rows for columns 8 n .., then for the next eight
        load_matrices<true>(data + (16 * k + lane % 16) * kLine + 8 * n + lane / 16 * 8, b);
        multiply_tiles<T>(left, b[0], b[1], out[n]);
        multiply_tiles<T>(left, b[2], b[3], out[n + 1]);
      }
    }
  }
};

/// Rows row + lane_row of a head receive a warp's sums, times a factor for the upper and the lower.
template <class T, int N>
__device__ void store_sums(const HeadMatrices& to, int64_t b, int64_t h, int64_t row, int64_t end,
                           const float (&sums)[N][4], const float (&factor)[2]) {
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int64_t r = row + lane_row(k);
    if (r >= end) continue;
    T* line = reinterpret_cast<T*>(to.at(b, h, r));
#pragma unroll
    for (int n = 0; n < N; ++n) {
      const int column = lane_column(n, k);
      if (column < to.width) line[column] = narrow<T>(sums[n][k] * factor[k / 2]);
    }
  }
}

template <class T, int D>
__global__ void __launch_bounds__(kMmaThreads)
    attention_mma_kernel(const __grid_constant__ AttentionProblem p, const HeadMatrices out,
                         float* log_sum) {
  using Tile = SharedTile<T, D, kBlockRows>;
  alignas(16) __shared__ char memory[2 * Tile::kSize * sizeof(T)];
  const Tile keys{reinterpret_cast<T*>(memory)}, values{keys.data + Tile::kSize};
  const int warp = threadIdx.x / 32;
  const int64_t tiles = (p.queries + kBlockRows - 1) / kBlockRows;
  for (int64_t t = blockIdx.x; t < p.batches * p.heads * tiles; t += gridDim.x) {
    const int64_t first = t % tiles * kBlockRows, h = t / tiles % p.heads, b = t / tiles / p.heads;
    const int64_t group = p.group_of(h), row = first + 16 * warp,
                  seen = p.keys_seen(first + kBlockRows);
    Dropper dropper(p, b, h);
    __syncthreads();  // the last round's tiles have been read
    keys.load(p.query, p.query.at(b, h, first), p.queries - first);
    __syncthreads();
    typename Tile::Left query;
    keys.read_left(16 * warp, query);
    typename Tile::Sums sums = {};
    RunningSoftmax rows;
    for (int64_t column = 0; column < seen; column += kBlockRows) {
      __syncthreads();
      keys.load(p.key, p.key.at(b, group, column), p.keys - column);
      values.load(p.value, p.value.at(b, group, column), p.keys - column);
      __syncthreads();
      typename Tile::Scores s;
      keys.dot(query, s);
      rows.step(p, dropper, row, column, b, h, s, sums);
      values.add_product(s, sums);
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
    store_sums<T>(out, b, h, row, p.queries, sums, factor);
  }
}

// Rows of the tiles that gradients walk along: both factors of two products stay in registers.
constexpr int kStepRows = 32;

template <class T, int D>
__global__ void __launch_bounds__(kMmaThreads)
    attention_mma_query_grad_kernel(const __grid_constant__ AttentionProblem p,
                                    const __grid_constant__ AttentionGradients g,
                                    const float* log_sum, const float* delta) {
  using Own = SharedTile<T, D, kBlockRows>;
  using Step = SharedTile<T, D, kStepRows>;
  alignas(16) __shared__ char memory[Own::kSize * sizeof(T)];
  const Own own{reinterpret_cast<T*>(memory)};
  const Step keys{own.data}, values{own.data + Step::kSize};
  const int warp = threadIdx.x / 32;
  const float kept = static_cast<float>(1 / (1 - p.spec.dropout));
  const int64_t tiles = (p.queries + kBlockRows - 1) / kBlockRows;
  for (int64_t t = blockIdx.x; t < p.batches * p.heads * tiles; t += gridDim.x) {
    const int64_t first = t % tiles * kBlockRows, h = t / tiles % p.heads, b = t / tiles / p.heads;
    const int64_t group = p.group_of(h), row = first + 16 * warp,
                  seen = p.keys_seen(first + kBlockRows);
    Dropper dropper(p, b, h);
    typename Own::Left query, grad;
    __syncthreads();  // the last round's tiles have been read
    own.load(p.query, p.query.at(b, h, first), p.queries - first);
    __syncthreads();
    own.read_left(16 * warp, query);
    __syncthreads();
    own.load(g.grad, g.grad.at(b, h, first), p.queries - first);
    __syncthreads();
    own.read_left(16 * warp, grad);
    float log[2], mean[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int64_t r = row + lane_row(2 * half), line = (b * p.heads + h) * p.queries + r;
      log[half] = r < p.queries ? log_sum[line] * kLog2OfE : 0;
      mean[half] = r < p.queries ? delta[line] : 0;
    }
    typename Own::Sums sums = {};
    for (int64_t column = 0; column < seen; column += kStepRows) {
      __syncthreads();
      keys.load(p.key, p.key.at(b, group, column), p.keys - column);
      values.load(p.value, p.value.at(b, group, column), p.keys - column);
      __syncthreads();
      typename Step::Scores s, d;
      keys.dot(query, s);
      scale_scores<false>(p, b, h, row, column, s);
      values.dot(grad, d);
#pragma unroll
      for (int n = 0; n < Step::kTiles; ++n)
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          if (dropper.active())
            d[n][k] *= kept * dropper.factor(row + lane_row(k), column + lane_column(n, k));
          s[n][k] = ::exp2f(s[n][k] - log[k / 2]) * (d[n][k] - mean[k / 2]);
        }
      keys.add_product(s, sums);
    }
    const float scale = static_cast<float>(p.spec.scale), factor[2] = {scale, scale};
    store_sums<T>(g.grad_query, b, h, row, p.queries, sums, factor);
  }
}

template <class T, int D>
__global__ void __launch_bounds__(kMmaThreads)
    attention_mma_key_grad_kernel(const __grid_constant__ AttentionProblem p,
                                  const __grid_constant__ AttentionGradients g,
                                  const float* log_sum, const float* delta) {
  using Own = SharedTile<T, D, kBlockRows>;
  using Step = SharedTile<T, D, kStepRows>;
  alignas(16) __shared__ char memory[Own::kSize * sizeof(T)];
  const Own own{reinterpret_cast<T*>(memory)};
  const Step queries{own.data}, grads{own.data + Step::kSize};
  const int warp = threadIdx.x / 32;
  const float kept = static_cast<float>(1 / (1 - p.spec.dropout));
  const int64_t tiles = (p.keys + kBlockRows - 1) / kBlockRows, share = p.heads / p.groups;
  for (int64_t t = blockIdx.x; t < p.batches * p.groups * tiles; t += gridDim.x) {
    const int64_t first = t % tiles * kBlockRows, group = t / tiles % p.groups,
                  b = t / tiles / p.groups, column = first + 16 * warp;
    typename Own::Left key, value;
    __syncthreads();  // the last round's tiles have been read
    own.load(p.key, p.key.at(b, group, first), p.keys - first);
    __syncthreads();
    own.read_left(16 * warp, key);
    __syncthreads();
    own.load(p.value, p.value.at(b, group, first), p.keys - first);
    __syncthreads();
    own.read_left(16 * warp, value);
    typename Own::Sums key_sums = {}, value_sums = {};
    for (int64_t h = group * share; h < (group + 1) * share; ++h) {
      Dropper dropper(p, b, h);
      for (int64_t row = p.spec.causal ? first : 0; row < p.queries; row += kStepRows) {
        __syncthreads();
        queries.load(p.query, p.query.at(b, h, row), p.queries - row);
        grads.load(g.grad, g.grad.at(b, h, row), p.queries - row);
        __syncthreads();
        typename Step::Scores s, d;  // transposed: a row for each key
        queries.dot(key, s);
        scale_scores<true>(p, b, h, row, column, s);
        grads.dot(value, d);
#pragma unroll
        for (int n = 0; n < Step::kTiles; ++n)
#pragma unroll
          for (int k = 0; k < 4; ++k) {
            const int64_t r = row + lane_column(n, k), c = column + lane_row(k);
            const int64_t line = (b * p.heads + h) * p.queries + r;
            const float log = r < p.queries ? log_sum[line] * kLog2OfE : 0,
                        mean = r < p.queries ? delta[line] : 0;
            const float weight = ::exp2f(s[n][k] - log);
            const float factor = dropper.active() ? kept * dropper.factor(r, c) : 1;
            s[n][k] = weight * factor;
            d[n][k] = weight * (d[n][k] * factor - mean);
          }
        grads.add_product(s, value_sums);
        queries.add_product(d, key_sums);
      }
    }
    const float scale = static_cast<float>(p.spec.scale), scales[2] = {scale, scale},
                ones[2] = {1, 1};
    store_sums<T>(g.grad_key, b, group, column, p.keys, key_sums, scales);
    store_sums<T>(g.grad_value, b, group, column, p.keys, value_sums, ones);
  }
}

/// Calls `f.template operator()<T, D>()` with the stored type and the least width that fits.
template <class F>
void with_mma_types(const AttentionProblem& p, F&& f) {
  const bool narrow_heads = p.query.width <= 64 && p.value.width <= 64;
  if (p.query.dtype == kHalf)
    narrow_heads ? f.template operator()<Half, 64>() : f.template operator()<Half, 128>();
  else
    narrow_heads ? f.template operator()<BFloat16, 64>() : f.template operator()<BFloat16, 128>();
}

}  // namespace

bool fits_mma(const AttentionProblem& p) {
  if (p.query.item != 2 || p.query.width > 128 || p.value.width > 128) return false;
  // What the kernels were compiled for counts: a new device may run code for an old one.
  cudaFuncAttributes code{};
  check(
      cudaFuncGetAttributes(&code, reinterpret_cast<const void*>(&attention_mma_kernel<Half, 64>)),
      "reading a kernel's properties");
  return code.ptxVersion >= 80;
}

void attention_by_mma(const Context& context, const AttentionProblem& p, const HeadMatrices& out,
                      float* log_sum) {
  const unsigned blocks = row_blocks(p.batches * p.heads, p.queries);
  with_mma_types(p, [&]<class T, int D>() {
    attention_mma_kernel<T, D><<<blocks, kMmaThreads, 0, context.stream>>>(p, out, log_sum);
  });
}

void attention_backward_by_mma(const Context& context, const AttentionProblem& p,
                               const AttentionGradients& g, const float* log_sum,
                               const float* delta) {
  const unsigned by_rows = row_blocks(p.batches * p.heads, p.queries),
                 by_keys = row_blocks(p.batches * p.groups, p.keys);
  with_mma_types(p, [&]<class T, int D>() {
    attention_mma_query_grad_kernel<T, D>
        <<<by_rows, kMmaThreads, 0, context.stream>>>(p, g, log_sum, delta);
    attention_mma_key_grad_kernel<T, D>
        <<<by_keys, kMmaThreads, 0, context.stream>>>(p, g, log_sum, delta);
  });
}

}  // namespace taeda::inline v0_2::gpu
