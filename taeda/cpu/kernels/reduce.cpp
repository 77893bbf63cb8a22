// sum, mean, prod, any, all, amax, amin.
#include "taeda/cpu/kernels/reduce_loops.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

namespace {

/// Integers are accumulated in int64, 16-bit floats in float.
template <class T>
using acc_t = std::conditional_t<std::is_integral_v<T>, int64_t, opmath_t<T>>;
template <class T>
using sum_out_t = std::conditional_t<std::is_integral_v<T>, int64_t, T>;

/// bool is stored as a byte that is 0 or 1.
ScalarType storage_dtype(ScalarType t) { return t == kBool ? kByte : t; }

using SumTypes = TypeList<float, double, Half, BFloat16, int64_t, int32_t, int16_t, int8_t, uint8_t,
                          complex<float>, complex<double>>;
using ProductTypes =
    TypeList<float, double, Half, BFloat16, int64_t, complex<float>, complex<double>>;

void sum(const Tensor& out, const Tensor& in, DimMask dims) {
  dispatch(SumTypes{}, "sum", storage_dtype(in.dtype()), [&]<class T>() {
    reduce_to<T, sum_out_t<T>>(out, in, dims, SumReduce<acc_t<T>>{}, [](acc_t<T> a) { return a; });
  });
}

void mean(const Tensor& out, const Tensor& in, DimMask dims) {
  dispatch(FloatComplexTypes{}, "mean", in.dtype(), [&]<class T>() {
    int64_t count = 1;
    for (int64_t d = 0; d < in.dim(); ++d)
      if (dims.has(d)) count *= in.sizes()[d];
    const acc_t<T> n(static_cast<double>(count));
    reduce_to<T, T>(out, in, dims, SumReduce<acc_t<T>>{}, [n](acc_t<T> a) { return a / n; });
  });
}

void prod(const Tensor& out, const Tensor& in, DimMask dims) {
  dispatch(ProductTypes{}, "prod", in.dtype(), [&]<class T>() {
    reduce_to<T, T>(out, in, dims, ProductReduce<acc_t<T>>{}, [](acc_t<T> a) { return a; });
  });
}

template <template <class> class Op>
void extreme(const char* name, const Tensor& out, const Tensor& in, DimMask dims) {
  dispatch(RealTypes{}, name, storage_dtype(in.dtype()), [&]<class T>() {
    reduce_to<T, T>(out, in, dims, Op<opmath_t<T>>{}, [](opmath_t<T> a) { return a; });
  });
}
void amax(const Tensor& out, const Tensor& in, DimMask dims) {
  extreme<MaxReduce>("amax", out, in, dims);
}
void amin(const Tensor& out, const Tensor& in, DimMask dims) {
  extreme<MinReduce>("amin", out, in, dims);
}

// On bytes of 0 and 1, "any" is the largest and "all" the smallest; of nothing, false and true.
void any(const Tensor& out, const Tensor& in, DimMask dims) {
  reduce_to<uint8_t, uint8_t>(out, in, dims, MaxReduce<uint8_t>{}, [](uint8_t a) { return a; });
}
void all(const Tensor& out, const Tensor& in, DimMask dims) {
  reduce_to<uint8_t, uint8_t>(out, in, dims, MinReduce<uint8_t>{},
                              [](uint8_t a) { return a != 0; });
}

}  // namespace

void register_reduce() {
  sum_slot.set(kCPU, &sum);
  mean_slot.set(kCPU, &mean);
  prod_slot.set(kCPU, &prod);
  amax_slot.set(kCPU, &amax);
  amin_slot.set(kCPU, &amin);
  any_slot.set(kCPU, &any);
  all_slot.set(kCPU, &all);
}

}  // namespace taeda::cpu::TAEDA_CPU_NAMESPACE
