// Cumulative sums, products and extremes: one pass along a dimension, neighbouring columns
// together.
#include "taeda/kernels/scan.h"

#include <algorithm>

#include "taeda/base/parallel_for.h"
#include "taeda/kernels/wrapping.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

namespace {

constexpr int64_t kColumns = 128;

using SumTypes = TypeList<float, double, Half, BFloat16, int64_t, complex<float>, complex<double>>;

/// What a scan accumulates in.
template <class T>
struct ScanAcc {
  using type = double;
};
template <>
struct ScanAcc<int64_t> {
  using type = int64_t;
};
template <class V>
struct ScanAcc<complex<V>> {
  using type = complex<double>;
};
template <class T>
using scan_acc_t = typename ScanAcc<T>::type;

/// Calls `f(offset, stride, n, width)` for blocks of neighbouring columns along `dim`.
template <class F>
void for_each_block(const Tensor& in, int64_t dim, F&& f) {
  int64_t outer = 1, n = 1, inner = 1;
  for (int64_t d = 0; d < in.dim(); ++d) (d < dim ? outer : d == dim ? n : inner) *= in.sizes()[d];
  const int64_t blocks = (inner + kColumns - 1) / kColumns;
  const int64_t work = std::max<int64_t>(1, n * std::min(inner, kColumns));
  parallel_for(0, outer * blocks, std::max<int64_t>(1, kParallelGrain / work),
               [&](int64_t begin, int64_t end) {
                 for (int64_t b = begin; b < end; ++b) {
                   const int64_t column = b % blocks * kColumns;
                   f(b / blocks * n * inner + column, inner, n, std::min(kColumns, inner - column));
                 }
               });
}

/// One line, in a register. Each step waits for the last; where an accumulator is so much wider
/// that four elements cannot overflow it, four are combined first and taken in one step.
template <class T, class A, class Combine>
void scan_line(T* y, const T* x, int64_t stride, int64_t n, A total, Combine combine) {
  int64_t i = 0;
  if constexpr (std::is_same_v<A, double> && !std::is_same_v<T, double>) {
    for (; i + 4 <= n; i += 4, x += 4 * stride, y += 4 * stride) {
      const A x0 = static_cast<A>(x[0]), x1 = static_cast<A>(x[stride]),
              x2 = static_cast<A>(x[2 * stride]), x3 = static_cast<A>(x[3 * stride]);
      const A two = combine(x0, x1), three = combine(two, x2);
      y[0] = static_cast<T>(combine(total, x0));
      y[stride] = static_cast<T>(combine(total, two));
      y[2 * stride] = static_cast<T>(combine(total, three));
      total = combine(total, combine(two, combine(x2, x3)));
      y[3 * stride] = static_cast<T>(total);
    }
  }
  for (; i < n; ++i, x += stride, y += stride) {
    total = combine(total, static_cast<A>(*x));
    *y = static_cast<T>(total);
  }
}

template <class Combine>
void scan(const char* name, const Tensor& out, const Tensor& in, int64_t dim, double start,
          Combine combine) {
  dispatch(SumTypes{}, name, in.dtype(), [&]<class T>() {
    using A = scan_acc_t<T>;
    const T* x = in.data_ptr<T>();
    T* y = out.data_ptr<T>();
    for_each_block(in, dim, [&](int64_t at, int64_t stride, int64_t n, int64_t width) {
      if (width == 1) return scan_line(y + at, x + at, stride, n, static_cast<A>(start), combine);
      A acc[kColumns];
      std::fill_n(acc, width, static_cast<A>(start));
      for (int64_t i = 0; i < n; ++i, at += stride)
        for (int64_t k = 0; k < width; ++k) {
          acc[k] = combine(acc[k], static_cast<A>(x[at + k]));
          y[at + k] = static_cast<T>(acc[k]);
        }
    });
  });
}

void cumsum(const Tensor& out, const Tensor& in, int64_t dim) {
  scan("cumsum", out, in, dim, 0, [](auto a, auto b) { return wrapping::add(a, b); });
}
void cumprod(const Tensor& out, const Tensor& in, int64_t dim) {
  scan("cumprod", out, in, dim, 1, [](auto a, auto b) { return wrapping::mul(a, b); });
}

template <class Replaces>
void extreme(const char* name, const Tensor& values, const Tensor& indices, const Tensor& in,
             int64_t dim, Replaces replaces) {
  const ScalarType dtype = in.dtype() == kBool ? kByte : in.dtype();
  dispatch(RealTypes{}, name, dtype, [&]<class T>() {
    using A = opmath_t<T>;
    const T* x = static_cast<const T*>(in.data_ptr());
    T* y = static_cast<T*>(values.data_ptr());
    int64_t* index = indices.data_ptr<int64_t>();
    for_each_block(in, dim, [&](int64_t at, int64_t stride, int64_t n, int64_t width) {
      for (int64_t k = 0; k < width; ++k) {
        int64_t best = 0;
        A value = static_cast<A>(x[at + k]);
        for (int64_t i = 0, j = at + k; i < n; ++i, j += stride) {
          const A next = static_cast<A>(x[j]);
          if (next != next || (value == value && replaces(value, next))) {
            best = i;
            value = next;
          }
          y[j] = static_cast<T>(value);
          index[j] = best;
        }
      }
    });
  });
}

void cummax(const Tensor& values, const Tensor& indices, const Tensor& in, int64_t dim) {
  extreme("cummax", values, indices, in, dim, [](auto a, auto b) { return b >= a; });
}
void cummin(const Tensor& values, const Tensor& indices, const Tensor& in, int64_t dim) {
  extreme("cummin", values, indices, in, dim, [](auto a, auto b) { return b <= a; });
}

}  // namespace

void register_scan() {
  fill_slots<On<cumsum_slot, cumsum>, On<cumprod_slot, cumprod>, On<cummax_slot, cummax>,
             On<cummin_slot, cummin>>(kCPU);
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
