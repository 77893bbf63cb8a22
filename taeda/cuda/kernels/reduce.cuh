// How every reduction walks its input.
//
// Note [Order of reductions]
// A block computes `tx` results with `ty` threads each. A thread takes every ty-th element of its
// result's segment, the threads' values are combined as a tree; where there are too few results to
// fill the device, a result has several segments, whose values a second launch combines. Where four
// elements of a result, or those of four results, always lie side by side, threads take four for
// one: memory is as fast as it can be while each thread waits for many bytes. All of that follows
// from the shape and the strides alone: equal inputs give equal bits, on every device.
#pragma once

#include <algorithm>
#include <limits>

#include "taeda/cuda/kernels/packs.cuh"
#include "taeda/kernels/reduce.h"

namespace taeda::inline v0_2::gpu {

/// The smallest power of two that is at least n, but at most `limit`.
inline int power_of_two(int64_t n, int limit) {
  int p = 1;
  while (p < n && p < limit) p *= 2;
  return p;
}

/// How results and elements are shared out. What is counted may be packs of them.
struct ReduceShape {
  int64_t outputs = 1, count = 1;  // number of results, and of elements in each
  int64_t segment = 1;             // elements of a segment
  int tx = 1, ty = kThreads;
  bool columns = false;  // neighbouring threads belong to neighbouring results
  int segments = 1;

  ReduceShape() = default;
  /// A thread takes at least `share` elements where there is a choice.
  ReduceShape(int64_t n_outputs, int64_t n_elements, bool by_columns, int share = 16)
      : outputs(n_outputs), count(n_elements), columns(by_columns) {
    constexpr int64_t kBlocks = 2048;  // fill any device
    if (columns) {
      tx = power_of_two(outputs, 32);
      if (outputs > 32) tx = kThreads / power_of_two((count + 7) / 8, kThreads / 32);
    } else {
      tx = kThreads / power_of_two((count + 3) / 4, kThreads);
      while (tx < kThreads / 32 && outputs / (2 * tx) >= kBlocks) tx *= 2;
    }
    ty = kThreads / tx;
    const int64_t wanted = std::min(kBlocks / blocks(), count / (share * ty));
    segment = std::max<int64_t>(1, wanted > 1 ? (count + wanted - 1) / wanted : count);
    segments = static_cast<int>(std::max<int64_t>(1, (count + segment - 1) / segment));
  }
  int64_t blocks() const { return (outputs + tx - 1) / tx; }
  dim3 grid() const { return dim3(static_cast<unsigned>(blocks()), segments); }

  /// This thread's lane of its result.
  __device__ int lane() const { return columns ? threadIdx.x / tx : threadIdx.x % ty; }
  __device__ int64_t output() const {
    return static_cast<int64_t>(blockIdx.x) * tx + (columns ? threadIdx.x % tx : threadIdx.x / ty);
  }
  __device__ int64_t begin() const { return blockIdx.y * segment + lane(); }
  __device__ int64_t end() const {
    const int64_t last = (blockIdx.y + 1) * segment;
    return last < count ? last : count;
  }
  /// The shape of the second launch, over the segments' values of `results` results.
  ReduceShape second(int64_t results) const {
    ReduceShape s;
    s.outputs = results;
    s.count = s.segment = segments;
    s.columns = true;
    s.ty = kThreads / power_of_two(results, segments > 32 ? 8 : 32);
    s.tx = kThreads / s.ty;
    return s;
  }
};

/// Combines the values of a result's threads; lane 0 gets it. All threads of the block take part.
template <class Acc, class Combine>
__device__ Acc combine_lanes(const ReduceShape& s, Acc acc, const Combine& combine) {
  alignas(16) __shared__ char memory[kThreads * sizeof(Acc)];  // Acc may have a constructor
  Acc* all = reinterpret_cast<Acc*>(memory);
  const int t = threadIdx.x, lane = s.lane(), step = s.columns ? s.tx : 1;
  __syncthreads();  // the previous call's values have been read
  all[t] = acc;
  for (int half = s.ty / 2; half > 0; half /= 2) {
    if (2 * half * step > 32)
      __syncthreads();
    else
      __syncwarp();  // those that are left are one warp's
    if (lane < half) all[t] = combine(all[t], all[t + half * step]);
  }
  return all[t];
}

/// The operands of a reduction. Strides are in bytes.
struct ReduceArgs {
  ReduceShape shape;  // in packs
  int64_t outputs, count;
  int elements = 1, results = 1;  // of a pack; one of them is 1
  bool vector;                    // packs are aligned
  Offsets<3> kept;                // of the input and both outputs
  Offsets<1> reduced;             // of the input
  const char* in = nullptr;
  char* out[2] = {};
  ScalarType in_dtype{}, out_dtype[2] = {};
  const void* shift = nullptr;  // a number for each result, in what the op computes in
  void* unrounded = nullptr;    // results as they are computed, by their number
  const void* partial_in = nullptr;
  void* partial_out = nullptr;

  /// `second` may be undefined, and has the strides of a tensor like `first`.
  ReduceArgs(const Tensor& first, const Tensor& second, const Tensor& input, DimMask dims);

 private:
  /// Whether four neighbours along the nearest dimension of `along` are neighbours in memory.
  bool has_packs(bool along_kept, int64_t item) const;
};

inline ReduceArgs::ReduceArgs(const Tensor& first, const Tensor& second, const Tensor& input,
                              DimMask dims)
    : in(static_cast<const char*>(input.data_ptr())), in_dtype(input.dtype()) {
  struct Dim {
    int64_t size, strides[3];
    int64_t distance() const {
      return strides[0] == 0 ? std::numeric_limits<int64_t>::max() : strides[0];
    }
  };
  const Tensor* targets[] = {&first, &second};
  for (int k = 0; k < 2; ++k) {
    if (!targets[k]->defined()) continue;
    out[k] = static_cast<char*>(targets[k]->data_ptr());
    out_dtype[k] = targets[k]->dtype();
  }
  const Tensor& like = first.defined() ? first : second;
  const bool keepdim = like.dim() == input.dim();
  Dim kept_dims[kMaxDims], reduced_dims[kMaxDims];
  int num_kept = 0, num_reduced = 0;
  int64_t at = 0;  // dimension of the outputs
  for (int64_t d = 0; d < input.dim(); ++d) {
    Dim dim{input.sizes()[d], {input.strides()[d] * input.element_size(), 0, 0}};
    if (dims.has(d)) {
      reduced_dims[num_reduced++] = dim;
    } else {
      for (int k = 0; k < 2; ++k)
        if (out[k]) dim.strides[k + 1] = targets[k]->strides()[at] * targets[k]->element_size();
      kept_dims[num_kept++] = dim;
    }
    if (keepdim || !dims.has(d)) ++at;
  }
  const auto nearer = [](const Dim& a, const Dim& b) { return a.distance() < b.distance(); };
  std::stable_sort(kept_dims, kept_dims + num_kept, nearer);
  std::stable_sort(reduced_dims, reduced_dims + num_reduced, nearer);
  for (int d = 0; d < num_kept; ++d) kept.add(kept_dims[d].size, kept_dims[d].strides);
  for (int d = 0; d < num_reduced; ++d)
    reduced.add(reduced_dims[d].size, {reduced_dims[d].strides[0]});
  const bool columns = reduced.ndim == 0 ||
                       (kept.ndim > 0 && kept.stride[0][0] != 0 &&
                        (reduced.stride[0][0] == 0 || kept.stride[0][0] < reduced.stride[0][0]));
  outputs = kept.numel;
  count = reduced.numel;
  if (has_packs(columns, input.element_size())) (columns ? results : elements) = 4;
  vector = is_aligned(in);
  shape =
      ReduceShape(outputs / results, count / elements, columns, elements * results > 1 ? 8 : 16);
  kept.finish();
  reduced.finish();
}

inline bool ReduceArgs::has_packs(bool along_kept, int64_t item) const {
  const int ndim = along_kept ? kept.ndim : reduced.ndim;
  if (ndim == 0 || (along_kept ? kept.size : reduced.size)[0].divisor % 4 != 0) return false;
  bool apart = true;  // packs start at multiples of a pack
  for (int d = 0; d < kept.ndim; ++d)
    apart &= along_kept && d == 0 ? kept.stride[0][d] == item : kept.stride[0][d] % (4 * item) == 0;
  for (int d = 0; d < reduced.ndim; ++d)
    apart &= !along_kept && d == 0 ? reduced.stride[0][d] == item
                                   : reduced.stride[0][d] % (4 * item) == 0;
  return apart;
}

/// One more element of a thread's share: elements come in their order.
template <class Op>
__device__ void accumulate(const Op& op, typename Op::Acc& acc, typename Op::In x, int64_t position,
                           typename Op::In shift) {
  if constexpr (requires { op.accumulate(acc, x, position, shift); })
    op.accumulate(acc, x, position, shift);
  else
    acc = op.combine(acc, op.map(x, position, shift));
}

/// A function that is called: it is long, and a batch asks often.
[[gnu::noinline]] __device__ inline int64_t place_of(const Offsets<1>& offsets, int64_t i) {
  int64_t at[1];
  offsets.at(i, at);
  return at[0];
}

/// The op's values of this thread's share of the input: of R results, E elements at once.
template <int E, int R, class Op>
__device__ void reduce_share(const Op& op, const ReduceArgs& a, const char* from, int64_t output,
                             typename Op::Acc (&acc)[R]) {
  using In = typename Op::In;
  constexpr int V = E * R, kBatch = V == 1 ? 8 : std::max<int>(1, 32 / sizeof(In));
  In shift[R] = {};
  if (a.shift)
    for (int q = 0; q < R; ++q) shift[q] = static_cast<const In*>(a.shift)[output * R + q];
  const int64_t end = a.shape.end(), step = a.shape.ty;
  for (int64_t r = a.shape.begin(); r < end; r += kBatch * step) {
    int64_t at[kBatch];
    In x[1][kBatch][V];
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
      const int64_t element = (r + b * step) * E;
      at[b] = a.reduced.ndim == 1 ? element * a.reduced.stride[0][0] : place_of(a.reduced, element);
    }
    const int count = places_below<kBatch>(end - r, step);
    load_packs({from}, a.in_dtype, at, count, a.vector, x);
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
      if (b >= count) break;
#pragma unroll
      for (int k = 0; k < V; ++k)
        accumulate(op, acc[k % R], x[0][b][k], (r + b * step) * E + k / R, shift[k % R]);
    }
  }
}

/// Op: types In and Acc; identity(); map(In, position, shift) -> Acc; combine(Acc, Acc);
/// store(args, number of the result, Acc, addresses of the outputs); accumulate, if it knows more.
/// A thread takes packs of E elements of one result, or of one element of R results.
template <class Op, int E, int R>
__global__ void __launch_bounds__(kThreads)
    reduce_kernel(const Op op, const __grid_constant__ ReduceArgs a) {
  using Acc = typename Op::Acc;
  const int64_t output = a.shape.output();
  const bool valid = output < a.shape.outputs;
  Acc acc[R];
  for (int k = 0; k < R; ++k) acc[k] = op.identity();
  if (valid && a.partial_in) {
    const Acc* from = static_cast<const Acc*>(a.partial_in);
#pragma unroll 4
    for (int64_t r = a.shape.begin(); r < a.shape.end(); r += a.shape.ty)
      acc[0] = op.combine(acc[0], from[r * a.shape.outputs + output]);
  } else if (valid) {
    int64_t at[3];
    a.kept.at(output * R, at);
    reduce_share<E>(op, a, a.in + at[0], output, acc);
  }
#pragma unroll
  for (int k = 0; k < R; ++k)
    acc[k] = combine_lanes(a.shape, acc[k],
                           [&](const Acc& p, const Acc& q) { return op.combine(p, q); });
  if (!valid || a.shape.lane() != 0) return;
#pragma unroll
  for (int k = 0; k < R; ++k) {
    const int64_t result = output * R + k;
    if (a.partial_out) {
      static_cast<Acc*>(a.partial_out)[blockIdx.y * a.outputs + result] = acc[k];
      continue;
    }
    int64_t at[3];
    a.kept.at(result, at);
    op.store(a, result, acc[k], a.out[0] + at[1], a.out[1] + at[2]);
  }
}

template <class Op>
void launch_reduction(const Context& context, const ReduceArgs& a, const Op& op) {
  const dim3 grid = a.shape.grid();
  if (a.elements > 1)
    reduce_kernel<Op, 4, 1><<<grid, kThreads, 0, context.stream>>>(op, a);
  else if (a.results > 1)
    reduce_kernel<Op, 1, 4><<<grid, kThreads, 0, context.stream>>>(op, a);
  else
    reduce_kernel<Op, 1, 1><<<grid, kThreads, 0, context.stream>>>(op, a);
}

template <class Op>
void run_reduction(const char* name, Device device, ReduceArgs a, const Op& op) {
  if (a.outputs == 0) return;
  const Context context(device);
  if (a.shape.segments == 1) {
    launch_reduction(context, a, op);
    return context.launched(name);
  }
  const Scratch partial(
      device, a.shape.segments * a.outputs * static_cast<int64_t>(sizeof(typename Op::Acc)));
  a.partial_out = partial.as<void>();
  launch_reduction(context, a, op);
  a.shape = a.shape.second(a.outputs);
  a.elements = a.results = 1;
  a.partial_in = a.partial_out;
  a.partial_out = nullptr;
  launch_reduction(context, a, op);
  context.launched(name);
}

}  // namespace taeda::inline v0_2::gpu
