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

/// The gradient that the formula sees: negated to maximize, with weight decay added.
template <class V>
__device__ V seen_gradient(V g, V p, bool maximize, V weight_decay) {
  if (maximize) g = -g;
  return weight_decay != 0 ? g + weight_decay * p : g;
}

template <class V>
struct Sgd {
  V lr, momentum, fresh, decay;
  bool nesterov, maximize, first = false;
  explicit Sgd(const SgdStep& s)
      : lr(V(s.lr)),
        momentum(V(s.momentum)),
        fresh(V(1 - s.dampening)),
        decay(V(s.weight_decay)),
        nesterov(s.nesterov),
        maximize(s.maximize) {}
  __device__ void prepare(const ParamRef& r, const double*) {
    if (r.live()) lr = V(r.live()[2]);
    first = r.number_a() != 0;
  }
  __device__ void operator()(Element<V>& e, const ParamRef& r) const {
    V g = seen_gradient(e.grad, e.param, maximize, decay);
    if (r.state(0)) {
      // The first step takes the gradient as it is: the buffer's memory is still uninitialised.
      const V b = first ? g : e.state[0] * momentum + fresh * g;
      e.state[0] = b;
      g = nesterov ? g + momentum * b : b;
    }
    e.param -= lr * g;
  }
};

template <class V>
struct Adam {
  AdamStep settings;
  V beta1, beta2, fresh1, fresh2, eps;
  V step = 0, root = 1, decay = 0, shrink = 1;
  explicit Adam(const AdamStep& s)
      : settings(s),
        beta1(V(s.beta1)),
        beta2(V(s.beta2)),
        fresh1(V(1 - s.beta1)),
        fresh2(V(1 - s.beta2)),
        eps(V(s.eps)) {}
  __device__ void prepare(const ParamRef& r, const double* skip) {
    const AdamNumbers numbers(settings, r, skip);
    step = V(-numbers.rate);
    root = V(numbers.root);
    if (settings.decoupled)
      shrink = V(1 - r.rate(settings.lr) * settings.weight_decay);
    else
      decay = V(settings.weight_decay);
  }
  __device__ void operator()(Element<V>& e, const ParamRef&) const {
    const V value = e.param * shrink;
    const V g = seen_gradient(e.grad, value, settings.maximize, decay);
    const V m = e.state[0] * beta1 + fresh1 * g;
    const V v = e.state[1] * beta2 + fresh2 * g * g;
    e.state[0] = m;
    e.state[1] = v;
    V scale = v;
    if (settings.amsgrad) {
      scale = e.state[2] < v ? v : e.state[2];
      e.state[2] = scale;
    }
    e.param = value + step * m / (::sqrt(scale) / root + eps);
  }
};

template <class V>
struct Rmsprop {
  V lr, alpha, fresh, eps, decay, momentum;
  bool centered, with_momentum;
  explicit Rmsprop(const RmspropStep& s)
      : lr(V(s.lr)),
        alpha(V(s.alpha)),
        fresh(V(1 - s.alpha)),
        eps(V(s.eps)),
        decay(V(s.weight_decay)),
        momentum(V(s.momentum)),
        centered(s.centered),
        with_momentum(s.momentum > 0) {}
  __device__ void prepare(const ParamRef& r, const double*) {
    if (r.live()) lr = V(r.live()[2]);
  }
  __device__ void operator()(Element<V>& e, const ParamRef&) const {
    const V g = seen_gradient(e.grad, e.param, false, decay);
    V v = e.state[0] * alpha + fresh * g * g;
    e.state[0] = v;
    if (centered) {
      const V m = e.state[1] * alpha + fresh * g;
      e.state[1] = m;
      v -= m * m;
    }
    const V denominator = ::sqrt(v) + eps;
    if (with_momentum) {
      const V b = e.state[2] * momentum + g / denominator;
      e.state[2] = b;
      e.param -= lr * b;
    } else {
      e.param -= lr * g / denominator;
    }
  }
};

template <class V>
struct Adagrad {
  AdagradStep settings;
  V lr = 0;
  explicit Adagrad(const AdagradStep& s) : settings(s) {}
  __device__ void prepare(const ParamRef& r, const double* skip) {
    lr = V(adagrad_rate(settings, r, skip));
  }
  __device__ void operator()(Element<V>& e, const ParamRef&) const {
    const V g = seen_gradient(e.grad, e.param, false, V(settings.weight_decay));
    const V v = e.state[0] + g * g;
    e.state[0] = v;
    e.param -= lr * g / (::sqrt(v) + V(settings.eps));
  }
};

/// A formula of `step_formulas.h`.
template <template <class> class F>
struct OfFormula {
  template <class V>
  struct Step {
    StepValues values;
    F<V> formula = {};
    __device__ void prepare(const ParamRef& r, const double*) {
      formula = formula_of<F, V>(r.live() ? r.live() : values.numbers);
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

template <template <class> class Step, class Settings>
void run_optimizer(const char* op, const ParamList& list, const Settings& s) {
  dispatch_compute(FloatCompute{}, op, list.dtype(),
                   [&]<class V>() { run_steps<V>(op, list, Step<V>(s)); });
}

void sgd_cuda(const ParamList& list, const SgdStep& s) { run_optimizer<Sgd>("sgd", list, s); }
void adam_cuda(const ParamList& list, const AdamStep& s) { run_optimizer<Adam>("adam", list, s); }
void rmsprop_cuda(const ParamList& list, const RmspropStep& s) {
  run_optimizer<Rmsprop>("rmsprop", list, s);
}
void adagrad_cuda(const ParamList& list, const AdagradStep& s) {
  run_optimizer<Adagrad>("adagrad", list, s);
}

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
  fill_slots<On<sgd_slot, sgd_cuda>, On<adam_slot, adam_cuda>, On<rmsprop_slot, rmsprop_cuda>,
             On<adagrad_slot, adagrad_cuda>, On<formula_step_slot, formula_step_cuda>,
             On<grad_norm_slot, grad_norm_cuda>, On<grad_scale_slot, grad_scale_cuda>,
             On<unscale_slot, unscale_cuda>, On<grad_clamp_slot, grad_clamp_cuda>,
             On<scale_update_slot, scale_update_cuda>, On<scale_tensors_slot, scale_tensors_cuda>>(
      kCUDA);
}

}  // namespace taeda::gpu
