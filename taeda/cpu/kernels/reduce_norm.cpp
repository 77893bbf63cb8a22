// norm and variance.
#include <cmath>
#include <memory>

#include "taeda/cpu/kernels/reduce_loops.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

namespace {

template <class V>
TAEDA_ALWAYS_INLINE V absolute(const V& x) {
  return x < 0 ? -x : x;
}

template <class A>
struct CountNonzero : SumReduce<A> {
  template <class V>
  TAEDA_ALWAYS_INLINE V map(const V& x, const V&) const {
    return x != 0 ? V{} + 1 : V{};
  }
};
template <class A>
struct AbsSum : SumReduce<A> {
  template <class V>
  TAEDA_ALWAYS_INLINE V map(const V& x, const V&) const {
    return absolute(x);
  }
};
template <class A>
struct SquareSum : SumReduce<A> {
  template <class V>
  TAEDA_ALWAYS_INLINE V map(const V& x, const V&) const {
    return x * x;
  }
};
template <class A>
struct AbsMax : MaxReduce<A> {
  A identity() const { return 0; }
  template <class V>
  TAEDA_ALWAYS_INLINE V map(const V& x, const V&) const {
    return absolute(x);
  }
};
template <class A>
struct AbsMin : MinReduce<A> {
  template <class V>
  TAEDA_ALWAYS_INLINE V map(const V& x, const V&) const {
    return absolute(x);
  }
};
template <class A>
struct CubeSum : SumReduce<A> {
  template <class V>
  TAEDA_ALWAYS_INLINE V map(const V& x, const V&) const {
    return absolute(x) * (x * x);
  }
};
template <class A>
struct PowerSum : SumReduce<A> {
  A p = 1;
  A map(const A& x, const A&) const { return std::pow(absolute(x), p); }
  template <class V>
  __attribute__((noinline)) V map(const V& x, const V&) const {
    V y;
    for (size_t i = 0; i < sizeof(V) / sizeof(A); ++i) y[i] = map(A(x[i]), A(0));
    return y;
  }
};

void norm(const Tensor& out, const Tensor& in, DimMask dims, double p) {
  dispatch(FloatTypes{}, "norm", in.dtype(), [&]<class T>() {
    using A = opmath_t<T>;
    const auto same = [](A a) { return a; };
    if (p == 0)
      reduce_to<T, T>(out, in, dims, CountNonzero<A>{}, same);
    else if (p == 1)
      reduce_to<T, T>(out, in, dims, AbsSum<A>{}, same);
    else if (p == 2)
      reduce_to<T, T>(out, in, dims, SquareSum<A>{}, [](A a) { return std::sqrt(a); });
    else if (p == 3)
      reduce_to<T, T>(out, in, dims, CubeSum<A>{}, [](A a) { return std::cbrt(a); });
    else if (std::isinf(p) && p > 0)
      reduce_to<T, T>(out, in, dims, AbsMax<A>{}, same);
    else if (std::isinf(p))
      reduce_to<T, T>(out, in, dims, AbsMin<A>{}, same);
    else {
      PowerSum<A> op;
      op.p = static_cast<A>(p);
      reduce_to<T, T>(out, in, dims, op, [p](A a) { return std::pow(a, static_cast<A>(1 / p)); });
    }
  });
}

/// Two passes: the mean, then the squared deviations from it.
void var(const Tensor& var_out, const Tensor& mean_out, const Tensor& in, DimMask dims,
         double correction, bool root) {
  dispatch(FloatTypes{}, "var", in.dtype(), [&]<class T>() {
    const ReducePlan plan(var_out, in, dims);
    const double count = static_cast<double>(plan.count);
    const double divisor = std::max(0.0, count - correction);
    const std::unique_ptr<double[]> means(new double[static_cast<size_t>(plan.outputs)]);
    char* mean_data = static_cast<char*>(mean_out.data_ptr());
    reduce(plan, reduce_functions<SumReduce<double>, T>({}), nullptr, [&](const ReduceResult& r) {
      for (int64_t k = 0; k < r.width; ++k) {
        const double mean = reinterpret_cast<const double*>(r.acc)[k] / count;
        means[static_cast<size_t>(r.first + k)] = mean;
        *reinterpret_cast<T*>(mean_data + (r.out - plan.out) + k * r.stride) = static_cast<T>(mean);
      }
    });
    const char* shift = reinterpret_cast<const char*>(means.get());
    reduce(plan, reduce_functions<SquareReduce<double>, T>({}), shift, [&](const ReduceResult& r) {
      for (int64_t k = 0; k < r.width; ++k) {
        const double variance = reinterpret_cast<const double*>(r.acc)[k] / divisor;
        *reinterpret_cast<T*>(r.out + k * r.stride) =
            static_cast<T>(root ? std::sqrt(variance) : variance);
      }
    });
  });
}

}  // namespace

void register_reduce_norm() {
  norm_slot.set(kCPU, &norm);
  var_slot.set(kCPU, &var);
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
