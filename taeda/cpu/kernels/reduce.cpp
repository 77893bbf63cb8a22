// sum, nansum, mean, prod, any, all, amax, amin, aminmax.
#include <algorithm>

#include "taeda/cpu/kernels/reduce_loops.h"
#include "taeda/cpu/scratch.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

namespace {

/// Results are what was accumulated.
constexpr auto kSame = [](auto a) { return a; };

/// Integers are accumulated in int64, 16-bit floats in float.
template <class T>
using acc_t = std::conditional_t<std::is_integral_v<T>, int64_t, opmath_t<T>>;
template <class T>
using sum_out_t = std::conditional_t<std::is_integral_v<T>, int64_t, T>;

using SumTypes = TypeList<float, double, Half, BFloat16, int64_t, int32_t, int16_t, int8_t, uint8_t,
                          complex<float>, complex<double>>;
using ProductTypes =
    TypeList<float, double, Half, BFloat16, int64_t, complex<float>, complex<double>>;

/// The number of bytes that are not 0.
struct CountReduce : SumReduce<int64_t> {
  template <class V>
  TAEDA_ALWAYS_INLINE V map(const V& byte, const V&) const {
    return (byte + 255) >> 8;
  }
  /// Of n adjacent ones; bytes count up to 255 of them before they are added up.
  int64_t row(const uint8_t* x, int64_t n) const {
    constexpr int64_t kBytes = 64;
    int64_t total = 0;
    while (n >= kBytes) {
      const int64_t blocks = std::min<int64_t>(n / kBytes, 255);
      uint8_t counts[kBytes] = {};
      for (int64_t b = 0; b < blocks; ++b, x += kBytes)
        for (int64_t j = 0; j < kBytes; ++j)
          counts[j] = static_cast<uint8_t>(counts[j] + (x[j] != 0));
      for (const uint8_t c : counts) total += c;
      n -= blocks * kBytes;
    }
    for (int64_t i = 0; i < n; ++i) total += x[i] != 0;
    return total;
  }
};

/// Of what is not NaN.
template <class A>
struct NumberSumReduce : SumReduce<A> {
  template <class V>
  TAEDA_ALWAYS_INLINE V map(const V& x, const V&) const {
    return x == x ? x : V{};
  }
};

/// Whether elements are complex and can be seen as pairs of real ones, which are added up apart.
bool are_pairs(const Tensor& t) {
  return is_complex(t.dtype()) && t.dtype() != kComplexHalf && t.dim() < kMaxLoopDims;
}
Tensor as_pairs(const Tensor& t) {
  Layout layout = t.layout();
  for (int64_t& stride : layout.strides) stride *= 2;
  layout.sizes.push_back(2);
  layout.strides.push_back(1);
  layout.offset *= 2;
  return Tensor(
      make_intrusive<TensorImpl>(t.storage(), std::move(layout), to_real_type(t.dtype())));
}

/// The sums of both numbers of pairs side by side: in the order of `reduce_row`, whose lanes are of
/// one kind each, but for the last addition.
template <class T>
void sum_row_of_pairs(const T* x, int64_t n, T* sums) {
  constexpr int64_t w = kLanes<T>, l = kPieceLanes<T>;
  Piece<T> a[4 * kPieces] = {};
  int64_t i = 0;
  for (; i + 4 * w <= 2 * n; i += 4 * w)
#pragma GCC unroll 16
    for (int64_t k = 0; k < 4 * kPieces; ++k) a[k] += load_piece<T>(x + i + k * l);
  T lanes[w];
#pragma GCC unroll 4
  for (int64_t k = 0; k < kPieces; ++k) {
    const Piece<T> all = (a[k] + a[kPieces + k]) + (a[2 * kPieces + k] + a[3 * kPieces + k]);
    std::memcpy(lanes + k * l, &all, sizeof all);
  }
  for (int64_t half = w / 2; half >= 2; half /= 2)
    for (int64_t k = 0; k < half; ++k) lanes[k] += lanes[half + k];
  for (; i < 2 * n; i += 2) lanes[0] += x[i], lanes[1] += x[i + 1];
  sums[0] = lanes[0], sums[1] = lanes[1];
}

/// Sums over all dimensions in `dims` of pairs, divided.
void sum_of_pairs(const Tensor& out, const Tensor& in, DimMask dims, double divisor) {
  dispatch(TypeList<float, double>{}, "sum", in.dtype(), [&]<class T>() {
    constexpr int64_t item = sizeof(T);
    ReduceFunctions f = reduce_functions<SumReduce<T>, T>({});
    f.run = [](char* acc, const ReduceRun& r) {
      if (r.width == 2 && r.across == item && r.along == 2 * item && r.n >= kLanes<T>)
        sum_row_of_pairs(reinterpret_cast<const T*>(r.x), r.n, reinterpret_cast<T*>(acc));
      else
        reduce_run<SumReduce<T>, T>({}, acc, r);
    };
    reduce(ReducePlan(out, in, dims), f, nullptr, [divisor](const ReduceResult& r) {
      const T* const acc = reinterpret_cast<const T*>(r.acc);
      for (int64_t k = 0; k < r.width; ++k)
        *reinterpret_cast<T*>(r.out + k * r.stride) = acc[k] / static_cast<T>(divisor);
    });
  });
}

void sum(const Tensor& out, const Tensor& in, DimMask dims) {
  if (are_pairs(in)) return sum_of_pairs(as_pairs(out), as_pairs(in), dims, 1);
  if (in.dtype() == kBool) return reduce_to<uint8_t, int64_t>(out, in, dims, CountReduce{}, kSame);
  dispatch(SumTypes{}, "sum", in.dtype(), [&]<class T>() {
    reduce_to<T, sum_out_t<T>>(out, in, dims, SumReduce<acc_t<T>>{}, kSame);
  });
}

void nansum(const Tensor& out, const Tensor& in, DimMask dims) {
  dispatch(FloatTypes{}, "nansum", in.dtype(),
           [&]<class T>() { reduce_to<T, T>(out, in, dims, NumberSumReduce<acc_t<T>>{}, kSame); });
}

void mean(const Tensor& out, const Tensor& in, DimMask dims) {
  int64_t count = 1;
  for (int64_t d = 0; d < in.dim(); ++d)
    if (dims.has(d)) count *= in.sizes()[d];
  if (are_pairs(in))
    return sum_of_pairs(as_pairs(out), as_pairs(in), dims, static_cast<double>(count));
  dispatch(FloatComplexTypes{}, "mean", in.dtype(), [&]<class T>() {
    const acc_t<T> n(static_cast<double>(count));
    reduce_to<T, T>(out, in, dims, SumReduce<acc_t<T>>{}, [n](acc_t<T> a) { return a / n; });
  });
}

void prod(const Tensor& out, const Tensor& in, DimMask dims) {
  dispatch(ProductTypes{}, "prod", in.dtype(),
           [&]<class T>() { reduce_to<T, T>(out, in, dims, ProductReduce<acc_t<T>>{}, kSame); });
}

// Of bytes, "any" is the largest and "all" the smallest; of nothing, false and true.
void any(const Tensor& out, const Tensor& in, DimMask dims) {
  reduce_to<uint8_t, uint8_t>(out, in, dims, MaxReduce<uint8_t>{},
                              [](uint8_t a) { return a != 0; });
}
void all(const Tensor& out, const Tensor& in, DimMask dims) {
  reduce_to<uint8_t, uint8_t>(out, in, dims, MinReduce<uint8_t>{},
                              [](uint8_t a) { return a != 0; });
}

template <template <class> class Op>
void extreme(const char* name, const Tensor& out, const Tensor& in, DimMask dims) {
  dispatch(RealTypes{}, name, in.dtype(),
           [&]<class T>() { reduce_to<T, T>(out, in, dims, Op<opmath_t<T>>{}, kSame); });
}
void amax(const Tensor& out, const Tensor& in, DimMask dims) {
  if (in.dtype() == kBool) return any(out, in, dims);
  extreme<MaxReduce>("amax", out, in, dims);
}
void amin(const Tensor& out, const Tensor& in, DimMask dims) {
  if (in.dtype() == kBool) return all(out, in, dims);
  extreme<MinReduce>("amin", out, in, dims);
}

template <class A>
struct Extremes {
  A least, most;
};

/// Both extremes of a run, one after the other: it is in the cache for the second.
template <class A, class T>
ReduceFunctions extremes_functions() {
  const auto run = [](char* acc, const ReduceRun& r) {
    const ScratchArray<A> least(r.width), most(r.width);
    reduce_run<MinReduce<A>, T>({}, reinterpret_cast<char*>(least.get()), r);
    reduce_run<MaxReduce<A>, T>({}, reinterpret_cast<char*>(most.get()), r);
    auto* const both = reinterpret_cast<Extremes<A>*>(acc);
    for (int64_t k = 0; k < r.width; ++k) both[k] = {least.get()[k], most.get()[k]};
  };
  const auto merge = [](char* into, const char* from, int64_t width) {
    auto* const a = reinterpret_cast<Extremes<A>*>(into);
    const auto* const b = reinterpret_cast<const Extremes<A>*>(from);
    for (int64_t k = 0; k < width; ++k)
      a[k] = {MinReduce<A>().combine(a[k].least, b[k].least),
              MaxReduce<A>().combine(a[k].most, b[k].most)};
  };
  return {sizeof(Extremes<A>), run, merge};
}

void aminmax(const Tensor& least, const Tensor& most, const Tensor& in, DimMask dims) {
  if (in.dtype() == kBool) {
    all(least, in, dims);
    return any(most, in, dims);
  }
  dispatch(RealTypes{}, "aminmax", in.dtype(), [&]<class T>() {
    using A = opmath_t<T>;
    const ReducePlan plan(least, in, dims);
    const ptrdiff_t away = static_cast<char*>(most.data_ptr()) - plan.out;
    reduce(plan, extremes_functions<A, T>(), nullptr, [&](const ReduceResult& r) {
      const auto* both = reinterpret_cast<const Extremes<A>*>(r.acc);
      for (int64_t k = 0; k < r.width; ++k) {
        char* const to = r.out + k * r.stride;
        *reinterpret_cast<T*>(to) = static_cast<T>(both[k].least);
        *reinterpret_cast<T*>(to + away) = static_cast<T>(both[k].most);
      }
    });
  });
}

}  // namespace

void register_reduce() {
  fill_slots<On<sum_slot, sum>, On<nansum_slot, nansum>, On<mean_slot, mean>, On<prod_slot, prod>,
             On<amax_slot, amax>, On<amin_slot, amin>, On<aminmax_slot, aminmax>, On<any_slot, any>,
             On<all_slot, all>>(kCPU);
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
