// Optimizer steps and gradient norms over lists of parameters. The elements of all parameters form
// one index range that is cut across threads: a hundred small parameters cost one loop, not a
// hundred.
#include "taeda/kernels/optim.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "taeda/base/parallel_for.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

namespace {

/// Calls `f(ref, begin, end)` for pieces that cover all elements of all parameters, or not at all
/// if the list is to be left out.
template <class F>
void for_each_piece(const ParamList& list, F&& f) {
  if (list.skip() && list.skip()[0] != 0) return;
  int64_t total = 0;
  for (const ParamRef& r : list.items()) total += r.numel();
  if (total <= kParallelGrain) {
    for (const ParamRef& r : list.items()) f(r, 0, r.numel());
    return;
  }
  std::vector<int64_t> starts;
  starts.reserve(list.items().size());
  int64_t at = 0;
  for (const ParamRef& r : list.items()) {
    starts.push_back(at);
    at += r.numel();
  }
  parallel_for(0, total, kParallelGrain, [&](int64_t begin, int64_t end) {
    size_t i = std::upper_bound(starts.begin(), starts.end(), begin) - starts.begin() - 1;
    for (; i < starts.size() && starts[i] < end; ++i) {
      const ParamRef& r = list.items()[i];
      f(r, std::max(begin - starts[i], int64_t{0}), std::min(end - starts[i], r.numel()));
    }
  });
}

template <class T, class U>
T* as(U* p) {
  return reinterpret_cast<T*>(p);
}

template <class T, template <class> class F>
void formula_piece(const ParamRef& r, const F<opmath_t<T>> formula, int64_t begin, int64_t end) {
  using V = opmath_t<T>;
  constexpr int n = F<V>::kStates;
  T* __restrict p = as<T>(r.param());
  const T* __restrict grad = as<const T>(r.grad());
  T* __restrict first = as<T>(r.state(0));
  T* __restrict second = as<T>(r.state(1));
  T* __restrict third = as<T>(r.state(2));
  for (int64_t i = begin; i < end; ++i) {
    V param = V(p[i]), state[3] = {};
    if constexpr (n > 0) state[0] = V(first[i]);
    if constexpr (n > 1) state[1] = V(second[i]);
    if constexpr (n > 2) state[2] = V(third[i]);
    formula(param, V(grad[i]), state);
    p[i] = T(param);
    if constexpr (n > 0) first[i] = T(state[0]);
    if constexpr (n > 1) second[i] = T(state[1]);
    if constexpr (n > 2) third[i] = T(state[2]);
  }
}

void formula_step(const ParamList& list, const StepValues& values) {
  StepFormulas::with(values.formula, [&]<template <class> class F>() {
    dispatch(FloatTypes(), "formula_step", list.dtype(), [&]<class T>() {
      using V = opmath_t<T>;
      const F<V> given = formula_of<F, V>(values.numbers);
      for_each_piece(list, [&](const ParamRef& r, int64_t b, int64_t e) {
        const F<V> formula = r.live() ? formula_of<F, V>(r.live(), list.skip()) : given;
        formula_piece<T, F>(r, formula, b, e);
      });
    });
  });
}

/// Elements of one gradient that are summed together, whatever the number of threads.
constexpr int64_t kNormBlock = 4096;

enum class NormKind { One, Two, Infinity, Any };

/// The sum of |g|^p (the largest |g| for infinity) over one block. Eight partial sums let it
/// vectorise.
template <class T, NormKind Kind>
double norm_block(const T* g, int64_t n, double p) {
  using V = opmath_t<T>;
  double sums[8] = {};
  const auto add = [p](double& sum, V value) {
    const double x = std::abs(static_cast<double>(value));
    if constexpr (Kind == NormKind::One)
      sum += x;
    else if constexpr (Kind == NormKind::Two)
      sum += x * x;
    else if constexpr (Kind == NormKind::Infinity)
      sum = x > sum || x != x ? x : sum;
    else
      sum += std::pow(x, p);
  };
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (int k = 0; k < 8; ++k) add(sums[k], V(g[i + k]));
  for (; i < n; ++i) add(sums[i % 8], V(g[i]));
  double total = 0;
  for (double s : sums)
    total = Kind == NormKind::Infinity ? (s > total || s != s ? s : total) : total + s;
  return total;
}

template <class T>
auto norm_function(double p) {
  if (p == 1) return &norm_block<T, NormKind::One>;
  if (p == 2) return &norm_block<T, NormKind::Two>;
  return std::isinf(p) ? &norm_block<T, NormKind::Infinity> : &norm_block<T, NormKind::Any>;
}

void grad_norm(const Tensor& out, const ParamList& list, double p) {
  struct Block {
    const char* data;
    int64_t n;
  };
  std::vector<Block> blocks;
  const int64_t width = element_size(list.dtype());
  for (const ParamRef& r : list.items())
    for (int64_t at = 0; at < r.numel(); at += kNormBlock)
      blocks.push_back({r.grad() + at * width, std::min(kNormBlock, r.numel() - at)});
  std::vector<double> parts(blocks.size());
  dispatch(FloatTypes(), "grad_norm", list.dtype(), [&]<class T>() {
    const auto norm = norm_function<T>(p);
    parallel_for(0, static_cast<int64_t>(blocks.size()), 8, [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; ++i) parts[i] = norm(as<const T>(blocks[i].data), blocks[i].n, p);
    });
  });
  double total = 0;
  if (std::isinf(p)) {
    for (double x : parts) total = x > total || x != x ? x : total;
  } else {
    for (double x : parts) total += x;
    total = p == 1 ? total : p == 2 ? std::sqrt(total) : std::pow(total, 1 / p);
  }
  *static_cast<double*>(out.data_ptr()) = total;
}

template <class F>
void transform_gradients(const char* op, const ParamList& list, F&& f) {
  dispatch(FloatTypes(), op, list.dtype(), [&]<class T>() {
    for_each_piece(list, [&](const ParamRef& r, int64_t begin, int64_t end) {
      T* g = as<T>(r.param());
      for (int64_t i = begin; i < end; ++i) g[i] = T(f(r, opmath_t<T>(g[i])));
    });
  });
}

void grad_scale(const ParamList& list, double factor) {
  transform_gradients("grad_scale", list, [factor](const ParamRef& r, auto g) {
    return g * static_cast<decltype(g)>(r.live() ? r.live()[0] : factor);
  });
}

void unscale(const ParamList& list, double factor, const Tensor& found_inf) {
  std::atomic<bool> found = false;
  dispatch(FloatTypes(), "unscale", list.dtype(), [&]<class T>() {
    using V = opmath_t<T>;
    for_each_piece(list, [&](const ParamRef& r, int64_t begin, int64_t end) {
      T* g = as<T>(r.param());
      const V by = V(r.live() ? r.live()[0] : factor);
      int32_t wrong = 0;
      for (int64_t i = begin; i < end; ++i) {
        const V x = V(g[i]);
        wrong |= x - x == 0 ? 0 : 1;
        g[i] = T(x * by);
      }
      if (wrong) found = true;
    });
  });
  if (found) *static_cast<float*>(found_inf.data_ptr()) = 1;
}

void grad_clamp(const ParamList& list, double limit) {
  transform_gradients("grad_clamp", list, [limit](const ParamRef&, auto g) {
    const auto l = static_cast<decltype(g)>(limit);
    const auto upper = g > l ? l : g;  // nan stays nan
    return upper < -l ? -l : upper;
  });
}

void scale_update(const ScaleUpdate& update) { update.run(); }

void scale_tensors(const Tensor& scale, const Tensor& tracker, const Tensor& found_inf,
                   const ScaleFactors& factors) {
  auto* s = static_cast<float*>(scale.data_ptr());
  auto* t = static_cast<int32_t*>(tracker.data_ptr());
  double moved = *s, counted = *t;
  factors.next(moved, counted, *static_cast<const float*>(found_inf.data_ptr()) != 0);
  *s = static_cast<float>(moved);
  *t = static_cast<int32_t>(counted);
}

}  // namespace

void register_optim() {
  fill_slots<On<formula_step_slot, formula_step>, On<grad_norm_slot, grad_norm>,
             On<grad_scale_slot, grad_scale>, On<unscale_slot, unscale>,
             On<grad_clamp_slot, grad_clamp>, On<scale_update_slot, scale_update>,
             On<scale_tensors_slot, scale_tensors>>(kCPU);
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
