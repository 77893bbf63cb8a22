// Sums of pairs that normalisations need: over channels, or over the rows that share a weight.
#pragma once

#include "taeda/cuda/kernels/reduce.cuh"
#include "taeda/cuda/kernels/rows.cuh"

namespace taeda::inline v0_2::gpu {

template <class A>
struct Pair {
  A a, b;
};

/// Which pair an element contributes to its output.
enum class PairTerm : int {
  Value,      // x, 0
  Deviation,  // (x - mean)^2, 0
  Gradient,   // g, g (x - mean)
  Weight,     // g, g (x - mean) rstd, with the statistics of the element's row
};

/// Element r of output c: a channel's of batch_norm, or a weight's of row_norm. Where planes have
/// one element, neighbours in memory are of neighbouring outputs.
template <class A>
struct PairLoad {
  PairTerm term;
  Reader<A> x, g;
  const A *mean = nullptr, *rstd = nullptr;
  Divider spatial;       // of a plane
  Divider row_channels;  // of a row, for PairTerm::Weight
  int64_t outputs = 1;   // channels of batch_norm; weights of row_norm

  __host__ __device__ bool columns() const { return spatial.divisor == 1; }
  /// Whether four neighbours are of one plane, or of one row and of four outputs.
  bool has_packs() const {
    if (!columns()) return spatial.divisor % 4 == 0;
    return outputs % 4 == 0 && (term != PairTerm::Weight || row_channels.divisor % 4 == 0);
  }
  bool is_vector() const { return is_aligned(x.data) && is_aligned(g.data); }

  /// Where the element lies; (sample * outputs + c) * spatial + i is right for both kinds of norms,
  /// as the weights of row_norm are the channels of all its groups.
  __device__ int64_t at(int64_t c, int64_t r) const {
    if (columns()) return r * outputs + c;
    int64_t sample, i;
    spatial.divide(r, sample, i);
    return (sample * outputs + c) * spatial.divisor + i;
  }
  __device__ int64_t row_of(int64_t at) const {
    int64_t row, rest;
    spatial.divide(at, row, rest);
    row_channels.divide(row, row, rest);
    return row;
  }
  /// With the mean of its channel or, for a weight, both statistics of its row.
  __device__ Pair<A> value(A xi, A gi, A center, A scale) const {
    switch (term) {
      case PairTerm::Value: return {xi, A(0)};
      case PairTerm::Deviation: return {(xi - center) * (xi - center), A(0)};
      case PairTerm::Gradient: return {gi, gi * (xi - center)};
      default: return {gi, gi * ((xi - center) * scale)};
    }
  }
};

/// A thread takes packs of E elements of an output, or of one element of R outputs, as in
/// Note [Order of reductions].
template <class A, int E, int R>
__global__ void __launch_bounds__(kThreads)
    pair_sum_kernel(const ReduceShape s, const __grid_constant__ PairLoad<A> load, bool vector,
                    Pair<A>* sums) {
  constexpr int V = E * R, kBatch = V == 1 ? 8 : 4;
  const int64_t c = s.output() * R, outputs = s.outputs * R, end = s.end(), step = s.ty;
  Pair<A> sum[R] = {};
  const bool with_g = load.g.data != nullptr, of_weight = load.term == PairTerm::Weight;
  if (c < outputs) {
    A mean[R] = {};
    if (load.term != PairTerm::Value && !of_weight)
      for (int k = 0; k < R; ++k) mean[k] = load.mean[c + k];
    for (int64_t r = s.begin(); r < end; r += kBatch * step) {
      int64_t at[kBatch];
      A x[2][kBatch][V] = {};
#pragma unroll
      for (int b = 0; b < kBatch; ++b) at[b] = load.at(c, (r + b * step) * E);
      const int count = places_below<kBatch>(end - r, step);
      if (with_g)
        read_packs({load.x, load.g}, at, count, vector, x);
      else
        read_packs({load.x}, at, count, vector, reinterpret_cast<A(&)[1][kBatch][V]>(x));
#pragma unroll
      for (int b = 0; b < kBatch; ++b) {
        if (b >= count) break;
        const int64_t row = of_weight ? load.row_of(at[b]) : 0;
        const A row_mean = of_weight ? load.mean[row] : A(0),
                rstd = of_weight ? load.rstd[row] : A(0);
#pragma unroll
        for (int k = 0; k < V; ++k) {
          const Pair<A> p =
              load.value(x[0][b][k], x[1][b][k], of_weight ? row_mean : mean[k % R], rstd);
          sum[k % R] = {sum[k % R].a + p.a, sum[k % R].b + p.b};
        }
      }
    }
  }
#pragma unroll
  for (int k = 0; k < R; ++k) {
    sum[k] = combine_lanes(s, sum[k], [](const Pair<A>& p, const Pair<A>& q) {
      return Pair<A>{p.a + q.a, p.b + q.b};
    });
    if (c < outputs && s.lane() == 0) sums[blockIdx.y * outputs + c + k] = sum[k];
  }
}

/// Pairs of all segments, whose sums a warp finds for each output.
template <class A>
struct SegmentPairs {
  const Pair<A>* data;
  int64_t outputs, count;  // elements of an output
  int segments;

  unsigned blocks() const { return blocks_for(32 * outputs); }
  /// Calls f(output, its sum) in one thread.
  template <class F>
  __device__ void for_each(F&& f) const {
    const int lane = threadIdx.x % 32;
    for (int64_t c = thread_index() / 32; c < outputs; c += thread_count() / 32) {
      Pair<A> sum{0, 0};
      for (int k = lane; k < segments; k += 32) {
        const Pair<A> p = data[k * outputs + c];
        sum = {sum.a + p.a, sum.b + p.b};
      }
      sum = {group_sum(32, sum.a), group_sum(32, sum.b)};
      if (lane == 0) f(c, sum);
    }
  }
};

/// The sums of `count` elements of each output.
template <class A>
class PairSums {
 public:
  PairSums(Device device, const PairLoad<A>& like, int64_t count)
      : packs_(like.has_packs() ? 4 : 1),
        shape_(like.outputs / (like.columns() ? packs_ : 1), count / (like.columns() ? 1 : packs_),
               like.columns(), packs_ > 1 ? 8 : 16),
        memory_(device, shape_.segments * like.outputs * static_cast<int64_t>(sizeof(Pair<A>))),
        pairs{memory_.as<Pair<A>>(), like.outputs, count, shape_.segments} {}
  /// Of the same elements as the first ones.
  void compute(const Context& context, const PairLoad<A>& load) const {
    const auto launch = [&](auto kernel) {
      kernel<<<shape_.grid(), kThreads, 0, context.stream>>>(shape_, load, load.is_vector(),
                                                             memory_.as<Pair<A>>());
    };
    if (packs_ == 1)
      launch(pair_sum_kernel<A, 1, 1>);
    else if (load.columns())
      launch(pair_sum_kernel<A, 1, 4>);
    else
      launch(pair_sum_kernel<A, 4, 1>);
  }

 private:
  int packs_;
  ReduceShape shape_;
  Scratch memory_;

 public:
  const SegmentPairs<A> pairs;
};

}  // namespace taeda::inline v0_2::gpu
