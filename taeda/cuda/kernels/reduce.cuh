// How every reduction walks its input.
//
// Note [Order of reductions]
// A block computes `tx` results with `ty` threads each. A thread takes every ty-th element of its
// result's segment, the threads' values are combined as a tree; where there are too few results to
// fill the device, a result has several segments, whose values a second launch combines. All of
// that follows from the shape alone: equal inputs give equal bits, on every device.
#pragma once

#include <algorithm>
#include <limits>

#include "taeda/cuda/kernels/common.cuh"
#include "taeda/kernels/reduce.h"

namespace taeda::inline v0_2::gpu {

/// The smallest power of two that is at least n, but at most `limit`.
inline int power_of_two(int64_t n, int limit) {
  int p = 1;
  while (p < n && p < limit) p *= 2;
  return p;
}

/// How results and elements are shared out.
struct ReduceShape {
  int64_t outputs = 1, count = 1;  // number of results, and of elements in each
  int64_t segment = 1;             // elements of a segment
  int tx = 1, ty = kThreads;
  bool columns = false;  // neighbouring threads belong to neighbouring results
  int segments = 1;

  ReduceShape() = default;
  ReduceShape(int64_t n_outputs, int64_t n_elements, bool by_columns)
      : outputs(n_outputs), count(n_elements), columns(by_columns) {
    if (columns) {
      tx = power_of_two(outputs, 32);
      if (outputs > 32) tx = kThreads / power_of_two((count + 7) / 8, kThreads / 32);
    } else {
      tx = kThreads / power_of_two((count + 3) / 4, kThreads);
    }
    ty = kThreads / tx;
    constexpr int64_t kBlocks = 512;  // fill any device
    const int64_t wanted = std::min(kBlocks / blocks(), count / (16 * ty));
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
  /// The shape of the second launch, over the segments' values.
  ReduceShape second() const {
    ReduceShape s;
    s.outputs = outputs;
    s.count = s.segment = segments;
    s.columns = true;
    s.tx = power_of_two(outputs, 32);
    s.ty = kThreads / s.tx;
    return s;
  }
};

/// Combines the values of a result's threads; lane 0 gets it. All threads of the block take part.
template <class Acc, class Combine>
__device__ Acc combine_lanes(const ReduceShape& s, Acc acc, const Combine& combine) {
  alignas(16) __shared__ char memory[kThreads * sizeof(Acc)];  // Acc may have a constructor
  Acc* all = reinterpret_cast<Acc*>(memory);
  const int t = threadIdx.x, lane = s.lane(), step = s.columns ? s.tx : 1;
  all[t] = acc;
  for (int half = s.ty / 2; half > 0; half /= 2) {
    __syncthreads();
    if (lane < half) all[t] = combine(all[t], all[t + half * step]);
  }
  return all[t];
}

/// The operands of a reduction. Strides are in bytes.
struct ReduceArgs {
  ReduceShape shape;
  Offsets<3> kept;     // of the input and both outputs
  Offsets<1> reduced;  // of the input
  const char* in = nullptr;
  char* out[2] = {};
  ScalarType in_dtype{}, out_dtype[2] = {};
  const void* shift = nullptr;  // a number for each result, in what the op computes in
  void* unrounded = nullptr;    // results as they are computed, by their number
  const void* partial_in = nullptr;
  void* partial_out = nullptr;

  /// `second` may be undefined, and has the strides of a tensor like `first`.
  ReduceArgs(const Tensor& first, const Tensor& second, const Tensor& input, DimMask dims);
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
  const Tensor* outputs[] = {&first, &second};
  for (int k = 0; k < 2; ++k) {
    if (!outputs[k]->defined()) continue;
    out[k] = static_cast<char*>(outputs[k]->data_ptr());
    out_dtype[k] = outputs[k]->dtype();
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
        if (out[k]) dim.strides[k + 1] = outputs[k]->strides()[at] * outputs[k]->element_size();
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
  shape = ReduceShape(kept.numel, reduced.numel, columns);
  kept.finish();
  reduced.finish();
}

/// The op's value of this thread's share of the input.
template <class Op>
__device__ typename Op::Acc reduce_share(const Op& op, const ReduceArgs& a, const char* from,
                                         int64_t output) {
  using In = typename Op::In;
  constexpr int kBatch = 4;
  const In shift = a.shift ? static_cast<const In*>(a.shift)[output] : In();
  const int64_t end = a.shape.end(), step = a.shape.ty;
  typename Op::Acc acc = op.identity();
  int64_t r = a.shape.begin();
  for (; r + (kBatch - 1) * step < end; r += kBatch * step) {
    int64_t at[kBatch][1];
    In x[kBatch];
#pragma unroll
    for (int k = 0; k < kBatch; ++k) a.reduced.at(r + k * step, at[k]);
    with_stored<In>(a.in_dtype, [&]<class T>(T) {
#pragma unroll
      for (int k = 0; k < kBatch; ++k)
        x[k] = static_cast<In>(widen(*reinterpret_cast<const T*>(from + at[k][0])));
    });
#pragma unroll
    for (int k = 0; k < kBatch; ++k) acc = op.combine(acc, op.map(x[k], r + k * step, shift));
  }
  for (; r < end; r += step) {
    int64_t at[1];
    a.reduced.at(r, at);
    acc = op.combine(acc, op.map(load_as<In>(from + at[0], a.in_dtype), r, shift));
  }
  return acc;
}

/// Op: types In and Acc; identity(); map(In, position, shift) -> Acc; combine(Acc, Acc);
/// store(args, number of the result, Acc, addresses of the outputs).
template <class Op>
__global__ void __launch_bounds__(kThreads)
    reduce_kernel(const Op op, const __grid_constant__ ReduceArgs a) {
  using Acc = typename Op::Acc;
  const int64_t output = a.shape.output();
  const bool valid = output < a.shape.outputs;
  int64_t at[3] = {};
  Acc acc = op.identity();
  if (valid) {
    a.kept.at(output, at);
    if (a.partial_in) {
      const Acc* from = static_cast<const Acc*>(a.partial_in);
      for (int64_t r = a.shape.begin(); r < a.shape.end(); r += a.shape.ty)
        acc = op.combine(acc, from[r * a.shape.outputs + output]);
    } else {
      acc = reduce_share(op, a, a.in + at[0], output);
    }
  }
  acc = combine_lanes(a.shape, acc, [&](const Acc& p, const Acc& q) { return op.combine(p, q); });
  if (!valid || a.shape.lane() != 0) return;
  if (a.partial_out)
    static_cast<Acc*>(a.partial_out)[blockIdx.y * a.shape.outputs + output] = acc;
  else
    op.store(a, output, acc, a.out[0] + at[1], a.out[1] + at[2]);
}

template <class Op>
void run_reduction(const char* name, Device device, ReduceArgs a, const Op& op) {
  if (a.shape.outputs == 0) return;
  const Context context(device);
  if (a.shape.segments == 1) {
    reduce_kernel<Op><<<a.shape.grid(), kThreads, 0, context.stream>>>(op, a);
    return context.launched(name);
  }
  const Scratch partial(
      device, a.shape.segments * a.shape.outputs * static_cast<int64_t>(sizeof(typename Op::Acc)));
  a.partial_out = partial.as<void>();
  reduce_kernel<Op><<<a.shape.grid(), kThreads, 0, context.stream>>>(op, a);
  a.shape = a.shape.second();
  a.partial_in = a.partial_out;
  a.partial_out = nullptr;
  reduce_kernel<Op><<<a.shape.grid(), kThreads, 0, context.stream>>>(op, a);
  context.launched(name);
}

}  // namespace taeda::gpu
