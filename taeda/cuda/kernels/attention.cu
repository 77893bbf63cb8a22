// Attention in tiles of the scores (Dao, "FlashAttention-2", 2023), for every dtype, by ordinary
// multiplications; attention_mma.cu and attention_tf32.cu have the kernels on tensor cores.
//
// Note [Attention tiles]
// A block of 16 x 16 threads computes a tile of kSide x kSide scores, a thread R x R of them, and
// passes the weights through shared memory to a second product. Forward, and for the gradient of
// the queries, it walks along the keys; for the gradients of keys and values along the queries. So
// every result has one block that adds it up in one order, and nothing is added atomically. What a
// thread reads of shared memory are words of R elements, and while it multiplies, what comes next
// is on its way into registers.
#include "taeda/cuda/cudnn_attention.h"
#include "taeda/cuda/kernels/attention.cuh"
#include "taeda/cuda/register.h"

namespace taeda::inline v0_2::gpu {

namespace {

constexpr int kDepth = 16;  // of operands that are in shared memory at once

/// R rows and columns of a thread, R elements being 16 bytes. N: the widest head, a multiple of
/// 16 R.
template <class A, int R, int N>
struct Tile {
  static constexpr int kSide = 16 * R, kLine = kSide + 4, kColumns = N / 16;
  static constexpr int kStage = 2 * kDepth * kLine > kDepth* N ? 2 * kDepth* kLine : kDepth* N;
  using Scores = A[R][R];
  using Rows = A[R][kColumns];

  using Word = Pack<A, R>;

  __device__ static int ty() { return static_cast<int>(threadIdx.x) / 16; }
  __device__ static int tx() { return static_cast<int>(threadIdx.x) % 16; }

  A* stage;    // kStage
  A* weights;  // kSide lines

  __device__ static Word word(const A* at) { return *reinterpret_cast<const Word*>(at); }
  /// Which of a head's columns the thread's c-th is.
  __device__ static int column(int c) { return (c / R * 16 + tx()) * R + c % R; }

  /// A thread's elements (r, depth + d) of a matrix; zero behind `rows` and the width.
  __device__ static void fetch_depth(const HeadMatrices& m, const char* from, int64_t rows,
                                     int depth, A (&to)[R]) {
    const int d = depth + tx();
    with_stored<A>(m.dtype, [&]<class T>(T) {
#pragma unroll
      for (int k = 0; k < R; ++k) {
        const int r = ty() + 16 * k;
        const T* p = reinterpret_cast<const T*>(from) + r * m.row + d;
        to[k] = r < rows && d < m.width ? static_cast<A>(widen(*p)) : A(0);
      }
    });
  }
  /// to[d * kLine + r] = element (r, d) of what was fetched.
  __device__ static void stage_depth(const A (&fetched)[R], A* to) {
#pragma unroll
    for (int k = 0; k < R; ++k) to[tx() * kLine + ty() + 16 * k] = fetched[k];
  }

  /// out = x y^T: the products of `x_rows` rows of x and `y_rows` of y, zero behind them.
  __device__ void dot(const HeadMatrices& x, const char* x_from, int64_t x_rows,
                      const HeadMatrices& y, const char* y_from, int64_t y_rows,
                      Scores& out) const {
#pragma unroll
    for (int i = 0; i < R; ++i)
#pragma unroll
      for (int j = 0; j < R; ++j) out[i][j] = 0;
    A* left = stage;
    A* right = stage + kDepth * kLine;
    A x_next[R], y_next[R];
    fetch_depth(x, x_from, x_rows, 0, x_next);
    fetch_depth(y, y_from, y_rows, 0, y_next);
    for (int depth = 0; depth < x.width; depth += kDepth) {
      __syncthreads();  // what was staged before has been read
      stage_depth(x_next, left);
      stage_depth(y_next, right);
      __syncthreads();
      if (depth + kDepth < x.width) {  // on its way during the products
        fetch_depth(x, x_from, x_rows, depth + kDepth, x_next);
        fetch_depth(y, y_from, y_rows, depth + kDepth, y_next);
      }
#pragma unroll
      for (int d = 0; d < kDepth; ++d) {
        const Word a = word(left + d * kLine + ty() * R), b = word(right + d * kLine + tx() * R);
#pragma unroll
        for (int i = 0; i < R; ++i)
#pragma unroll
          for (int j = 0; j < R; ++j) out[i][j] += a.x[i] * b.x[j];
      }
    }
  }

  __device__ void set_weights(int i, const Word& row) const {
    *reinterpret_cast<Word*>(weights + (ty() * R + i) * kLine + tx() * R) = row;
  }
  __device__ void set_weights(const Scores& all) const {
#pragma unroll
    for (int i = 0; i < R; ++i) {
      Word row;
#pragma unroll
      for (int j = 0; j < R; ++j) row.x[j] = all[i][j];
      set_weights(i, row);
    }
  }

  /// A thread's elements of kDepth rows from `first` on, and their place.
  static constexpr int kFetched = kDepth * N / static_cast<int>(kThreads);
  __device__ static void fetch_rows(const HeadMatrices& m, const char* from, int64_t rows,
                                    int first, A (&to)[kFetched]) {
    with_stored<A>(m.dtype, [&]<class T>(T) {
#pragma unroll
      for (int k = 0; k < kFetched; ++k) {
        const int e = static_cast<int>(threadIdx.x) + k * static_cast<int>(kThreads);
        const int r = first + e / N, c = e % N;
        const T* p = reinterpret_cast<const T*>(from) + r * m.row + c;
        to[k] = r < rows && c < m.width ? static_cast<A>(widen(*p)) : A(0);
      }
    });
  }

  /// out += weights x, or weights^T x.
  template <bool kTransposed>
  __device__ void add_product(const HeadMatrices& x, const char* from, int64_t rows,
                              Rows& out) const {
    A next[kFetched];
    fetch_rows(x, from, rows, 0, next);
    for (int first = 0; first < kSide; first += kDepth) {
      __syncthreads();  // the weights are written, what was staged before has been read
#pragma unroll
      for (int k = 0; k < kFetched; ++k)
        stage[static_cast<int>(threadIdx.x) + k * static_cast<int>(kThreads)] = next[k];
      __syncthreads();
      if (first + kDepth < kSide) fetch_rows(x, from, rows, first + kDepth, next);
#pragma unroll 2
      for (int d = 0; d < kDepth; d += R) {
        Word a[R];  // of element k, R rows; or of row i, R elements
#pragma unroll
        for (int k = 0; k < R; ++k)
          a[k] = word(weights + (kTransposed ? (first + d + k) * kLine + ty() * R
                                             : (ty() * R + k) * kLine + first + d));
#pragma unroll
        for (int k = 0; k < R; ++k)
#pragma unroll
          for (int c = 0; c < kColumns; c += R) {
            const Word b = word(stage + (d + k) * N + column(c));
#pragma unroll
            for (int i = 0; i < R; ++i)
#pragma unroll
              for (int j = 0; j < R; ++j)
                out[i][c + j] += (kTransposed ? a[k].x[i] : a[i].x[k]) * b.x[j];
          }
      }
    }
  }

  /// Rows [row, end) of a head receive what the threads hold, times a factor for each row.
  __device__ static void store(const HeadMatrices& to, int64_t b, int64_t h, int64_t row,
                               int64_t end, const Rows& values, const A (&factor)[R]) {
#pragma unroll
    for (int i = 0; i < R; ++i) {
      const int64_t r = row + ty() * R + i;
      if (r >= end) continue;
      char* line = to.at(b, h, r);
#pragma unroll
      for (int c = 0; c < kColumns; ++c) {
        if (column(c) < to.width)
          store_as<A>(line + column(c) * to.item, to.dtype, values[i][c] * factor[i]);
      }
    }
  }
};

/// Combines the values of the 16 threads that share rows.
template <class A, class Combine>
__device__ A combine_row(A value, Combine combine) {
#pragma unroll
  for (int d = 8; d > 0; d /= 2) value = combine(value, __shfl_xor_sync(0xffffffffu, value, d));
  return value;
}

template <class A>
__device__ A top_of_row(A value) {
  return combine_row(value, [](A x, A y) { return larger(x, y); });
}
template <class A>
__device__ A sum_of_row(A value) {
  return combine_row(value, [](A x, A y) { return x + y; });
}

template <class A, int R, int N>
__device__ Tile<A, R, N> shared_tile() {
  using T = Tile<A, R, N>;
  alignas(16) __shared__ char stage[T::kStage * sizeof(A)];
  alignas(16) __shared__ char weights[T::kSide * T::kLine * sizeof(A)];
  return {reinterpret_cast<A*>(stage), reinterpret_cast<A*>(weights)};
}

/// Blocks that a multiprocessor has registers for: one waits while another computes.
template <int N>
constexpr int kBlocks = N <= 64 ? 2 : 1;

template <class A, int R, int N>
__global__ void __launch_bounds__(kThreads, kBlocks<N>)
    attention_kernel(const __grid_constant__ AttentionProblem p, const HeadMatrices out,
                     A* log_sum) {
  using T = Tile<A, R, N>;
  const T tile = shared_tile<A, R, N>();
  const int64_t tiles = (p.queries + T::kSide - 1) / T::kSide;
  for (int64_t t = blockIdx.x; t < p.batches * p.heads * tiles; t += gridDim.x) {
    const int64_t row = t % tiles * T::kSide, h = t / tiles % p.heads, b = t / tiles / p.heads;
    const int64_t group = p.group_of(h), seen = p.keys_seen(row + T::kSide);
    Dropper dropper(p, b, h);
    const A kept = static_cast<A>(1 / (1 - p.spec.dropout));
    typename T::Rows sums = {};
    A top[R], sum[R];
#pragma unroll
    for (int i = 0; i < R; ++i) top[i] = minus_infinity<A>(), sum[i] = 0;
    for (int64_t column = 0; column < seen; column += T::kSide) {
      typename T::Scores s;
      tile.dot(p.query, p.query.at(b, h, row), p.queries - row, p.key, p.key.at(b, group, column),
               p.keys - column, s);
      __syncthreads();  // the weights have been read
#pragma unroll
      for (int i = 0; i < R; ++i) {
        const int64_t r = row + T::ty() * R + i;
        A now = top[i];
#pragma unroll
        for (int j = 0; j < R; ++j)
          now = larger(now, s[i][j] = p.score<A>(b, h, r, column + T::tx() * R + j, s[i][j]));
        now = top_of_row(now);
        // Nothing seen yet: whatever is finite keeps exp(-inf - shift) at 0.
        const A shift = now == minus_infinity<A>() ? A(0) : now;
        const A rescale = ::exp(top[i] - shift);
        A part = 0;
        typename T::Word weights;
#pragma unroll
        for (int j = 0; j < R; ++j) {
          const A e = ::exp(s[i][j] - shift);
          part += e;
          weights.x[j] = e * kept * dropper.factor(r, column + T::tx() * R + j);
        }
        tile.set_weights(i, weights);
        sum[i] = sum[i] * rescale + sum_of_row(part);
        top[i] = now;
#pragma unroll
        for (int c = 0; c < T::kColumns; ++c) sums[i][c] *= rescale;
      }
      tile.template add_product<false>(p.value, p.value.at(b, group, column), p.keys - column,
                                       sums);
    }
    A factor[R], *const logs = log_sum + (b * p.heads + h) * p.queries;
#pragma unroll
    for (int i = 0; i < R; ++i) {
      const int64_t r = row + T::ty() * R + i;
      factor[i] = inverse_of_sum(sum[i]);
      if (T::tx() == 0 && r < p.queries) logs[r] = log_of_sum(top[i], sum[i]);
    }
    T::store(out, b, h, row, p.queries, sums, factor);
  }
}

/// delta = sum of grad out over each row; a warp for a row.
template <class A>
__global__ void __launch_bounds__(kThreads)
    attention_delta_kernel(const HeadMatrices grad, const HeadMatrices out, int64_t heads,
                           int64_t queries, int64_t rows, A* delta) {
  const int lane = threadIdx.x % 32;
  const int64_t step = thread_count() / 32;
  for (int64_t r = thread_index() / 32; r < rows; r += step) {
    const int64_t i = r % queries, h = r / queries % heads, b = r / queries / heads;
    const char *g = grad.at(b, h, i), *y = out.at(b, h, i);
    A sum = 0;
    for (int c = lane; c < out.width; c += 32)
      sum += load_as<A>(g + c * grad.item, grad.dtype) * load_as<A>(y + c * out.item, out.dtype);
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (lane == 0) delta[r] = sum;
  }
}

/// The probabilities of a tile, and the gradients of its scores.
template <class A, int R, int N>
struct TileGradient {
  using T = Tile<A, R, N>;
  typename T::Scores probability, gradient, factor;

  __device__ void compute(const T& tile, const AttentionProblem& p, const AttentionGradients& g,
                          const A* log_sum, const A* delta, int64_t b, int64_t h, int64_t row,
                          int64_t column) {
    const int64_t group = p.group_of(h);
    Dropper dropper(p, b, h);
    const A kept = static_cast<A>(1 / (1 - p.spec.dropout));
    tile.dot(p.query, p.query.at(b, h, row), p.queries - row, p.key, p.key.at(b, group, column),
             p.keys - column, probability);
    tile.dot(g.grad, g.grad.at(b, h, row), p.queries - row, p.value, p.value.at(b, group, column),
             p.keys - column, gradient);
#pragma unroll
    for (int i = 0; i < R; ++i) {
      const int64_t r = row + T::ty() * R + i, line = (b * p.heads + h) * p.queries + r;
      const A log = r < p.queries ? log_sum[line] : A(0), d = r < p.queries ? delta[line] : A(0);
#pragma unroll
      for (int j = 0; j < R; ++j) {
        const int64_t k = column + T::tx() * R + j;
        probability[i][j] = ::exp(p.score<A>(b, h, r, k, probability[i][j]) - log);
        factor[i][j] = kept * dropper.factor(r, k);
        gradient[i][j] = probability[i][j] * (gradient[i][j] * factor[i][j] - d);
      }
    }
  }
};

template <class A, int R, int N>
__global__ void __launch_bounds__(kThreads, kBlocks<N>)
    attention_query_grad_kernel(const __grid_constant__ AttentionProblem p,
                                const __grid_constant__ AttentionGradients g, const A* log_sum,
                                const A* delta) {
  using T = Tile<A, R, N>;
  const T tile = shared_tile<A, R, N>();
  const int64_t tiles = (p.queries + T::kSide - 1) / T::kSide;
  for (int64_t t = blockIdx.x; t < p.batches * p.heads * tiles; t += gridDim.x) {
    const int64_t row = t % tiles * T::kSide, h = t / tiles % p.heads, b = t / tiles / p.heads;
    const int64_t group = p.group_of(h), seen = p.keys_seen(row + T::kSide);
    typename T::Rows sums = {};
    for (int64_t column = 0; column < seen; column += T::kSide) {
      TileGradient<A, R, N> s;
      s.compute(tile, p, g, log_sum, delta, b, h, row, column);
      __syncthreads();  // the weights have been read
      tile.set_weights(s.gradient);
      tile.template add_product<false>(p.key, p.key.at(b, group, column), p.keys - column, sums);
    }
    A factor[R];
#pragma unroll
    for (int i = 0; i < R; ++i) factor[i] = static_cast<A>(p.spec.scale);
    T::store(g.grad_query, b, h, row, p.queries, sums, factor);
  }
}

template <class A, int R, int N>
__global__ void __launch_bounds__(kThreads, kBlocks<N>)
    attention_key_grad_kernel(const __grid_constant__ AttentionProblem p,
                              const __grid_constant__ AttentionGradients g, const A* log_sum,
                              const A* delta) {
  using T = Tile<A, R, N>;
  const T tile = shared_tile<A, R, N>();
  const int64_t tiles = (p.keys + T::kSide - 1) / T::kSide, share = p.heads / p.groups;
  for (int64_t t = blockIdx.x; t < p.batches * p.groups * tiles; t += gridDim.x) {
    const int64_t column = t % tiles * T::kSide, group = t / tiles % p.groups,
                  b = t / tiles / p.groups;
    typename T::Rows keys = {}, values = {};
    for (int64_t h = group * share; h < (group + 1) * share; ++h)
      for (int64_t row = p.spec.causal ? column : 0; row < p.queries; row += T::kSide) {
        TileGradient<A, R, N> s;
        s.compute(tile, p, g, log_sum, delta, b, h, row, column);
        __syncthreads();  // the weights have been read
#pragma unroll
        for (int i = 0; i < R; ++i)
#pragma unroll
          for (int j = 0; j < R; ++j) s.factor[i][j] *= s.probability[i][j];
        tile.set_weights(s.factor);
        tile.template add_product<true>(g.grad, g.grad.at(b, h, row), p.queries - row, values);
        __syncthreads();
        tile.set_weights(s.gradient);
        tile.template add_product<true>(p.query, p.query.at(b, h, row), p.queries - row, keys);
      }
    A scale[R], one[R];
#pragma unroll
    for (int i = 0; i < R; ++i) scale[i] = static_cast<A>(p.spec.scale), one[i] = 1;
    T::store(g.grad_key, b, group, column, p.keys, keys, scale);
    T::store(g.grad_value, b, group, column, p.keys, values, one);
  }
}

/// Rows and columns of a thread: what shared memory and registers hold.
template <class A>
constexpr int kPerThread = sizeof(A) == 8 ? 2 : 4;

/// Calls `f.template operator()<N>()` with the least width that all heads fit in.
template <class F>
void with_width(const AttentionProblem& p, F&& f) {
  const int width = p.query.width > p.value.width ? p.query.width : p.value.width;
  if (width <= 64) return f.template operator()<64>();
  if (width <= 128) return f.template operator()<128>();
  f.template operator()<256>();
}

/// A block for each tile, up to a bound.
template <class A>
unsigned tile_blocks(int64_t heads, int64_t rows) {
  constexpr int64_t kSide = 16 * kPerThread<A>;
  const int64_t tiles = heads * ((rows + kSide - 1) / kSide);
  return static_cast<unsigned>(tiles < (1 << 30) ? tiles : 1 << 30);
}

void attention_cuda(const Tensor& out, const Tensor& log_sum, const Tensor& query,
                    const Tensor& key, const Tensor& value, const Tensor& mask, AttentionSpec spec,
                    const PhiloxState& state, const Tensor&) {
  const Context context(query.device());
  if (cudnn_attention(context, out, log_sum, query, key, value, mask, spec)) return;
  const AttentionProblem p(query, key, value, mask, spec, state);
  const HeadMatrices to(out);
  if (fits_mma(p)) {
    attention_by_mma(context, p, to, log_sum.data_ptr<float>());
  } else if (fits_tf32(p, false)) {
    attention_by_tf32(context, p, to, log_sum.data_ptr<float>());
  } else {
    dispatch_compute(FloatCompute{}, attention_slot.name(), query.dtype(), [&]<class A>() {
      const unsigned blocks = tile_blocks<A>(p.batches * p.heads, p.queries);
      with_width(p, [&]<int N>() {
        attention_kernel<A, kPerThread<A>, N>
            <<<blocks, kThreads, 0, context.stream>>>(p, to, log_sum.data_ptr<A>());
      });
    });
  }
  context.launched(attention_slot.name());
}

void attention_backward_cuda(const Tensor& grad_query, const Tensor& grad_key,
                             const Tensor& grad_value, const Tensor& grad, const Tensor& query,
                             const Tensor& key, const Tensor& value, const Tensor& mask,
                             const Tensor& out, const Tensor& log_sum, AttentionSpec spec,
                             const PhiloxState& state, const Tensor&) {
  const Context context(query.device());
  if (cudnn_attention_backward(context, grad_query, grad_key, grad_value, grad, query, key, value,
                               mask, out, log_sum, spec))
    return;
  const AttentionProblem p(query, key, value, mask, spec, state);
  const AttentionGradients g{HeadMatrices(grad), HeadMatrices(grad_query), HeadMatrices(grad_key),
                             HeadMatrices(grad_value)};
  const int64_t rows = log_sum.numel();
  const Scratch delta_memory(query.device(), rows * static_cast<int64_t>(log_sum.element_size()));
  const char* op = attention_backward_slot.name();
  dispatch_compute(FloatCompute{}, op, query.dtype(), [&]<class A>() {
    A* delta = delta_memory.as<A>();
    const A* log = log_sum.data_ptr<A>();
    attention_delta_kernel<A><<<blocks_for(32 * rows), kThreads, 0, context.stream>>>(
        g.grad, HeadMatrices(out), p.heads, p.queries, rows, delta);
    if constexpr (std::is_same_v<A, float>) {
      if (fits_mma(p)) return attention_backward_by_mma(context, p, g, log, delta);
      if (fits_tf32(p, true)) return attention_backward_by_tf32(context, p, g, log, delta);
    }
    const unsigned by_rows = tile_blocks<A>(p.batches * p.heads, p.queries),
                   by_keys = tile_blocks<A>(p.batches * p.groups, p.keys);
    with_width(p, [&]<int N>() {
      attention_query_grad_kernel<A, kPerThread<A>, N>
          <<<by_rows, kThreads, 0, context.stream>>>(p, g, log, delta);
      attention_key_grad_kernel<A, kPerThread<A>, N>
          <<<by_keys, kThreads, 0, context.stream>>>(p, g, log, delta);
    });
  });
  context.launched(op);
}

}  // namespace

void register_attention() {
  attention_slot.set(kCUDA, &attention_cuda);
  attention_backward_slot.set(kCUDA, &attention_backward_cuda);
}

}  // namespace taeda::inline v0_2::gpu
