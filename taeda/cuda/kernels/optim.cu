// Optimizer steps and gradient norms over lists of parameters: the list travels with the launch, so
// that a hundred small parameters cost one launch, without a copy of pointers to the device.
#include <cmath>

#include "taeda/cuda/kernels/rows.cuh"
#include "taeda/cuda/register.h"
#include "taeda/kernels/optim.h"

namespace taeda::inline v0_2::gpu {

namespace {

constexpr int kMaxParams = 48;             // with 4 KiB of arguments
constexpr int64_t kChunk = 16 * kThreads;  // elements of a parameter that are one block's work

/// A part of a parameter list. Block b works on the parameter i with first[i] <= b < first[i + 1].
struct ParamTable {
  ParamRef items[kMaxParams];
  const double* skip;
  int32_t first[kMaxParams + 1];
  int count;
  ScalarType dtype;
  int item;

  __device__ int find(int block) const {
    int low = 0, high = count;
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      (first[middle] <= block ? low : high) = middle;
    }
    return low;
  }
};

/// Calls f(table, blocks) for tables that cover the list.
template <class F>
void for_each_table(const ParamList& list, F&& f) {
  ParamTable table;
  table.skip = list.skip();
  table.dtype = list.dtype();
  table.item = static_cast<int>(element_size(list.dtype()));
  table.count = 0;
  table.first[0] = 0;
  const auto flush = [&] {
    if (table.count > 0) f(table, static_cast<unsigned>(table.first[table.count]));
    table.count = 0;
  };
  constexpr int64_t kMaxChunks = int64_t{1} << 28;  // of one launch
  for (const ParamRef& r : list.items()) {
    const int64_t chunks = (r.numel() + kChunk - 1) / kChunk;
    if (chunks == 0) continue;
    if (table.count == kMaxParams ||
        (table.count > 0 && table.first[table.count] + chunks > kMaxChunks))
      flush();
    table.items[table.count] = r;
    table.first[table.count + 1] = table.first[table.count] + static_cast<int32_t>(chunks);
    ++table.count;
  }
  flush();
}

/// What a step reads and writes of one element.
template <class V>
struct Element {
  V param, grad, state[3];
};

/// Four elements at a time, so that their loads overlap. `prepare` takes what a step needs of the
/// parameter's numbers, once for each thread.
template <class V, class Step>
__global__ void __launch_bounds__(kThreads)
    step_kernel(const __grid_constant__ ParamTable table, const Step given) {
  if (table.skip && table.skip[0] != 0) return;
  const int number = table.find(static_cast<int>(blockIdx.x));
  const ParamRef& r = table.items[number];
  const int64_t begin = (static_cast<int64_t>(blockIdx.x) - table.first[number]) * kChunk;
  const int64_t end = begin + kChunk < r.numel() ? begin + kChunk : r.numel();
  const int item = table.item;
  Step step = given;
  step.prepare(r, table.skip);
  for (int64_t i = begin + threadIdx.x; i < end; i += 4 * kThreads) {
    Element<V> e[4] = {};
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int64_t at = (i + k * kThreads) * item;
      if (i + k * kThreads >= end) continue;
      e[k].param = load_as<V>(r.param() + at, table.dtype);
      if (r.grad()) e[k].grad = load_as<V>(r.grad() + at, table.dtype);
#pragma unroll
      for (int s = 0; s < 3; ++s)
        if (r.state(s)) e[k].state[s] = load_as<V>(r.state(s) + at, table.dtype);
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int64_t at = (i + k * kThreads) * item;
      if (i + k * kThreads >= end) continue;
      step(e[k], r);
      store_as<V>(r.param() + at, table.dtype, e[k].param);
#pragma unroll
      for (int s = 0; s < 3; ++s)
        if (r.state(s)) store_as<V>(r.state(s) + at, table.dtype, e[k].state[s]);
    }
  }
}

template <class V, class Step>
void run_steps(const char* op, const ParamList& list, const Step& step) {
  const Context context(list.device());
  for_each_table(list, [&](const ParamTable& table, unsigned blocks) {
    step_kernel<V, Step><<<blocks, kThreads, 0, context.stream>>>(table, step);
    context.launched(op);
  });
}

/// A formula of `step_formulas.h`.
template <template <class> class F>
struct OfFormula {
  template <class V>
  struct Step {
    StepValues values;
    F<V> formula = {};
    __device__ void prepare(const ParamRef& r, const double* skip) {
      formula = r.live() ? formula_of<F, V>(r.live(), skip) : formula_of<F, V>(values.numbers);
    }
    __device__ void operator()(Element<V>& e, const ParamRef&) const {
      formula(e.param, e.grad, e.state);
    }
  };
};

/// Scales a gradient, then clamps it; the list's parameters are the gradients.
template <class V>
struct GradientTransform {
  V factor, limit;
  __device__ void prepare(const ParamRef& r, const double*) {
    if (r.live()) factor = V(r.live()[0]);
  }
  __device__ void operator()(Element<V>& e, const ParamRef&) const {
    const V g = e.param * factor;
    const V upper = g > limit ? limit : g;  // nan stays nan
    e.param = upper < -limit ? -limit : upper;
  }
};

/// Scales a gradient, and notes what is not finite.
template <class V>
struct Unscale {
  V factor;
  float* found;
  __device__ void prepare(const ParamRef& r, const double*) {
    if (r.live()) factor = V(r.live()[0]);
  }
  __device__ void operator()(Element<V>& e, const ParamRef&) const {
    if (!(e.param - e.param == 0)) *found = 1;
    e.param *= factor;
  }
};

void formula_step_cuda(const ParamList& list, const StepValues& values) {
  StepFormulas::with(values.formula, [&]<template <class> class F>() {
    dispatch_compute(FloatCompute{}, "formula_step", list.dtype(), [&]<class V>() {
      run_steps<V>("formula_step", list, typename OfFormula<F>::template Step<V>{values});
    });
  });
}

void transform_gradients(const char* op, const ParamList& list, double factor, double limit) {
  dispatch_compute(FloatCompute{}, op, list.dtype(), [&]<class V>() {
    run_steps<V>(op, list, GradientTransform<V>{static_cast<V>(factor), static_cast<V>(limit)});
  });
}
void grad_scale_cuda(const ParamList& list, double factor) {
  transform_gradients("grad_scale", list, factor, std::numeric_limits<double>::infinity());
}
void unscale_cuda(const ParamList& list, double factor, const Tensor& found_inf) {
  dispatch_compute(FloatCompute{}, "unscale", list.dtype(), [&]<class V>() {
    run_steps<V>("unscale", list,
                 Unscale<V>{static_cast<V>(factor), static_cast<float*>(found_inf.data_ptr())});
  });
}
void grad_clamp_cuda(const ParamList& list, double limit) {
  transform_gradients("grad_clamp", list, 1, limit);
}

/// How a norm of order p adds up: sum |x|^p, or the largest |x|.
struct NormTerm {
  double p;
  bool largest;
  __device__ double map(double x) const {
    x = ::fabs(x);
    return p == 1 || largest ? x : p == 2 ? x * x : ::pow(x, p);
  }
  __device__ double combine(double a, double b) const { return largest ? larger(a, b) : a + b; }
  __device__ double finish(double sum) const {
    return p == 1 || largest ? sum : p == 2 ? ::sqrt(sum) : ::pow(sum, 1 / p);
  }
};

__global__ void __launch_bounds__(kThreads)
    norm_kernel(const __grid_constant__ ParamTable table, const NormTerm term, double* parts) {
  const int number = table.find(static_cast<int>(blockIdx.x));
  const ParamRef& r = table.items[number];
  const int64_t begin = (static_cast<int64_t>(blockIdx.x) - table.first[number]) * kChunk;
  const int64_t end = begin + kChunk < r.numel() ? begin + kChunk : r.numel();
  double sum = 0;
  for (int64_t i = begin + threadIdx.x; i < end; i += kThreads)
    sum = term.combine(sum, term.map(load_as<double>(r.grad() + i * table.item, table.dtype)));
  sum = combine_group(kThreads, sum, [&](double a, double b) { return term.combine(a, b); });
  if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

/// One block.
__global__ void __launch_bounds__(kThreads)
    finish_norm_kernel(const double* parts, int64_t n, const NormTerm term, double* out) {
  double sum = 0;
  for (int64_t i = threadIdx.x; i < n; i += kThreads) sum = term.combine(sum, parts[i]);
  sum = combine_group(kThreads, sum, [&](double a, double b) { return term.combine(a, b); });
  if (threadIdx.x == 0) *out = term.finish(sum);
}

void grad_norm_cuda(const Tensor& out, const ParamList& list, double p) {
  if (!is_floating_point(list.dtype())) detail::throw_no_dtype("grad_norm", list.dtype());
  int64_t parts = 0;
  for (const ParamRef& r : list.items()) parts += (r.numel() + kChunk - 1) / kChunk;
  const Context context(list.device());
  const Scratch memory(list.device(), parts * static_cast<int64_t>(sizeof(double)));
  const NormTerm term{p, std::isinf(p)};
  int64_t done = 0;
  for_each_table(list, [&](const ParamTable& table, unsigned blocks) {
    norm_kernel<<<blocks, kThreads, 0, context.stream>>>(table, term, memory.as<double>() + done);
    done += blocks;
  });
  finish_norm_kernel<<<1, kThreads, 0, context.stream>>>(memory.as<double>(), parts, term,
                                                         static_cast<double*>(out.data_ptr()));
  context.launched("grad_norm");
}

__global__ void scale_update_kernel(const ScaleUpdate update) { update.run(); }

__global__ void scale_tensors_kernel(float* scale, int32_t* tracker, const float* found_inf,
                                     const ScaleFactors factors) {
  double moved = *scale, counted = *tracker;
  factors.next(moved, counted, *found_inf != 0);
  *scale = static_cast<float>(moved);
  *tracker = static_cast<int32_t>(counted);
}

void scale_tensors_cuda(const Tensor& scale, const Tensor& tracker, const Tensor& found_inf,
                        const ScaleFactors& factors) {
  const Context context(scale.device());
  scale_tensors_kernel<<<1, 1, 0, context.stream>>>(
      static_cast<float*>(scale.data_ptr()), static_cast<int32_t*>(tracker.data_ptr()),
      static_cast<const float*>(found_inf.data_ptr()), factors);
  context.launched("scale_tensors");
}

void scale_update_cuda(const ScaleUpdate& update) {
  const Context context(update.device());
  scale_update_kernel<<<1, 1, 0, context.stream>>>(update);
  context.launched("scale_update");
}

}  // namespace

void register_optim() {
  fill_slots<On<formula_step_slot, formula_step_cuda>, On<grad_norm_slot, grad_norm_cuda>,
             On<grad_scale_slot, grad_scale_cuda>, On<unscale_slot, unscale_cuda>,
             On<grad_clamp_slot, grad_clamp_cuda>, On<scale_update_slot, scale_update_cuda>,
             On<scale_tensors_slot, scale_tensors_cuda>>(kCUDA);
}

}  // namespace taeda::inline v0_2::gpu
