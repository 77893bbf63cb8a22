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

/// Element r of output c: a channel's of batch_norm, or a weight's of row_norm.
template <class A>
struct PairLoad {
  PairTerm term;
  Reader<A> x, g;
  const A *mean = nullptr, *rstd = nullptr;
  Divider spatial, channels;  // of a row, for PairTerm::Weight
  int64_t outputs = 1;        // channels of batch_norm; weights of row_norm
  bool interleaved = false;   // batch_norm: neighbours in memory are of neighbouring channels

  /// Where the element lies; (sample * outputs + c) * spatial + i is right for both kinds of norms,
  /// as the weights of row_norm are the channels of all its groups.
  __device__ int64_t at(int64_t c, int64_t r) const {
    if (interleaved) return r * outputs + c;
    int64_t sample, i;
    spatial.divide(r, sample, i);
    return (sample * outputs + c) * spatial.divisor + i;
  }
  __device__ int64_t row_of(int64_t at) const {
    int64_t row, rest;
    spatial.divide(at, row, rest);
    channels.divide(row, row, rest);
    return row;
  }
  __device__ Pair<A> value(int64_t c, int64_t at, A xi, A gi) const {
    switch (term) {
      case PairTerm::Value: return {xi, A(0)};
      case PairTerm::Deviation: return {(xi - mean[c]) * (xi - mean[c]), A(0)};
      case PairTerm::Gradient: return {gi, gi * (xi - mean[c])};
      default: break;
    }
    const int64_t row = row_of(at);
    return {gi, gi * ((xi - mean[row]) * rstd[row])};
  }
};

template <class A>
__global__ void __launch_bounds__(kThreads)
    pair_sum_kernel(const ReduceShape s, const PairLoad<A> load, Pair<A>* sums) {
  const int64_t c = s.output(), end = s.end(), step = s.ty;
  Pair<A> sum{0, 0};
  const bool with_g = load.g.data != nullptr;
  if (c < s.outputs) {
    int64_t r = s.begin();
    for (; r + 3 * step < end; r += 4 * step) {
      int64_t at[4];
      A x[4], g[4] = {};
#pragma unroll
      for (int k = 0; k < 4; ++k) at[k] = load.at(c, r + k * step);
      load.x.gather(at, x);
      if (with_g) load.g.gather(at, g);
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const Pair<A> p = load.value(c, at[k], x[k], g[k]);
        sum = {sum.a + p.a, sum.b + p.b};
      }
    }
    for (; r < end; r += step) {
      const int64_t at = load.at(c, r);
      const Pair<A> p = load.value(c, at, load.x[at], with_g ? load.g[at] : A(0));
      sum = {sum.a + p.a, sum.b + p.b};
    }
  }
  sum = combine_lanes(s, sum, [](const Pair<A>& p, const Pair<A>& q) {
    return Pair<A>{p.a + q.a, p.b + q.b};
  });
  if (c < s.outputs && s.lane() == 0) sums[blockIdx.y * s.outputs + c] = sum;
}

/// The whole sum of an output, segment after segment.
template <class A>
__device__ Pair<A> finished_sum(const Pair<A>* sums, const ReduceShape& s, int64_t c) {
  Pair<A> sum{0, 0};
  for (int k = 0; k < s.segments; ++k) {
    const Pair<A> p = sums[k * s.outputs + c];
    sum = {sum.a + p.a, sum.b + p.b};
  }
  return sum;
}

/// Pairs of all segments, and their shape.
template <class A>
class PairSums {
 public:
  PairSums(Device device, int64_t outputs, int64_t count, bool columns)
      : shape(outputs, count, columns),
        memory_(device, shape.segments * outputs * static_cast<int64_t>(sizeof(Pair<A>))) {}
  void compute(const Context& context, const PairLoad<A>& load) const {
    pair_sum_kernel<A><<<shape.grid(), kThreads, 0, context.stream>>>(shape, load, data());
  }
  Pair<A>* data() const { return memory_.as<Pair<A>>(); }

  const ReduceShape shape;

 private:
  Scratch memory_;
};

}  // namespace taeda::gpu
