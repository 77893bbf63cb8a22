// The matrix product slot: chooses between oneDNN and the own kernels, and walks over batches.
#include "taeda/kernels/matmul.h"

#include "taeda/base/parallel_for.h"
#include "taeda/cpu/kernels/gemm.h"
#include "taeda/cpu/kernels/matmul.h"
#include "taeda/cpu/kernels/simd.h"
#include "taeda/cpu/onednn.h"
#include "taeda/cpu/scratch.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

namespace {

// Below this many multiply-adds the call into oneDNN costs more than its kernels gain.
constexpr int64_t kOneDnnFrom = 300000;

using MatmulTypes = TypeList<float, double, int64_t, int32_t, int16_t, int8_t, uint8_t,
                             complex<float>, complex<double>>;
using ShortTypes = TypeList<Half, BFloat16>;

/// The matrices of a batch; a plain matrix is a batch of one.
template <class T>
struct Batch {
  Matrix<T> first;
  int64_t stride = 0;

  static Batch of(const Tensor& t) {
    if (!t.defined()) return {};
    const IntArrayRef s = t.strides();
    const size_t last = s.size() - 1;
    return {{static_cast<T*>(t.data_ptr()), s[last - 1], s[last]}, s.size() == 3 ? s[0] : 0};
  }
  Matrix<T> at(int64_t i) const {
    return {first.data ? first.data + i * stride : nullptr, first.row, first.column};
  }
};

/// Products of a few numbers, for which finding a way costs more than going it.
constexpr int64_t kTiny = 64;
template <class T>
void gemm_tiny(const Gemm<T>& g) {
  for (int64_t i = 0; i < g.m; ++i)
    for (int64_t j = 0; j < g.n; ++j) {
      T sum = 0;
      for (int64_t k = 0; k < g.k; ++k) sum += g.a.at(i, k) * g.b.at(k, j);
      sum *= g.alpha;
      if (g.addend.data) sum += g.beta * g.addend.at(i, j);
      g.out.at(i, j) = sum;
    }
}

/// The product of two vectors: sums in vectors over parts, which are added up in double.
template <class T>
T dot_lines(const T* a, const T* b, int64_t n) {
  constexpr int64_t kPart = 4096, kSums = 4, kStep = kSums * kLanes<T>;
  double total = 0;
  for (int64_t begin = 0; begin < n; begin += kPart) {
    const int64_t end = std::min(n, begin + kPart);
    Vec<T> sums[kSums] = {};
    int64_t i = begin;
    for (; i + kStep <= end; i += kStep)
#pragma GCC unroll 4
      for (int64_t s = 0; s < kSums; ++s)
        sums[s] += load(a + i + s * kLanes<T>) * load(b + i + s * kLanes<T>);
    T part = sum_lanes<T>((sums[0] + sums[1]) + (sums[2] + sums[3]));
    for (; i < end; ++i) part += a[i] * b[i];
    total += static_cast<double>(part);
  }
  return static_cast<T>(total);
}

/// Whether a product is that of two vectors that lie side by side, and no more.
template <class T>
bool is_dot(const Gemm<T>& g) {
  return g.m == 1 && g.n == 1 && g.a.column == 1 && g.b.row == 1 && !g.addend.data &&
         g.alpha == T(1);
}

/// The real and the imaginary parts of a matrix, by rows.
template <class R>
void split_parts(Matrix<const complex<R>> m, int64_t rows, int64_t columns, R* __restrict re,
                 R* __restrict im) {
  const auto split_row = [&](const complex<R>* from, int64_t step) {
    for (int64_t j = 0; j < columns; ++j) {
      re[j] = from[j * step].re;
      im[j] = from[j * step].im;
    }
  };
  for (int64_t i = 0; i < rows; ++i, re += columns, im += columns)
    m.column == 1 ? split_row(&m.at(i, 0), 1) : split_row(&m.at(i, 0), m.column);
}

/// A product of complex matrices as four of real ones, which fill registers.
constexpr int64_t kPartsFrom = 512;
template <class R>
void gemm_parts(const Gemm<complex<R>>& g) {
  const int64_t m = g.m, n = g.n, k = g.k;
  const ScratchArray<R> memory(2 * (m * k + k * n + m * n));
  R* const a[] = {memory.get(), memory.get() + m * k};
  R* const b[] = {a[1] + m * k, a[1] + m * k + k * n};
  R* const c[] = {b[1] + k * n, b[1] + k * n + m * n};
  split_parts(g.a, m, k, a[0], a[1]);
  split_parts(g.b, k, n, b[0], b[1]);
  const auto add = [&](const R* left, const R* right, R* out, R sign, bool first) {
    const Matrix<const R> before{first ? nullptr : out, n, 1};
    gemm(Gemm<R>{m, n, k, {left, k, 1}, {right, n, 1}, {out, n, 1}, before, sign, R(1)});
  };
  add(a[0], b[0], c[0], R(1), true);
  add(a[1], b[1], c[0], R(-1), false);
  add(a[0], b[1], c[1], R(1), true);
  add(a[1], b[0], c[1], R(1), false);
  const bool scaled = !(g.alpha == complex<R>(1));
  if (!scaled && !g.addend.data && g.out.column == 1) {
    for (int64_t i = 0; i < m; ++i) {
      R* __restrict const to = reinterpret_cast<R*>(&g.out.at(i, 0));
      for (int64_t j = 0; j < n; ++j) {
        to[2 * j] = c[0][i * n + j];
        to[2 * j + 1] = c[1][i * n + j];
      }
    }
    return;
  }
  for (int64_t i = 0, at = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j, ++at) {
      complex<R> value(c[0][at], c[1][at]);
      if (scaled) value = g.alpha * value;
      if (g.addend.data) value += g.beta * g.addend.at(i, j);
      g.out.at(i, j) = value;
    }
}

template <class T>
void run(const Gemm<T>& g) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    if (g.m * g.n * g.k <= kTiny) return gemm_tiny(g);
    if (!is_dot(g)) return gemm(g);
    *g.out.data = dot_lines(g.a.data, g.b.data, g.k);
  } else if constexpr (requires { typename T::value_type; }) {
    if (g.m * g.n * g.k < kPartsFrom) return gemm_plain(g);
    gemm_parts(g);
  } else {
    gemm_plain(g);
  }
}

template <class T>
void matmul_own(const Tensor& out, const Tensor& a, const Tensor& b, const Tensor& addend,
                const Scalar& beta, const Scalar& alpha) {
  const auto left = Batch<const T>::of(a), right = Batch<const T>::of(b),
             extra = Batch<const T>::of(addend);
  const auto result = Batch<T>::of(out);
  const bool batched = out.dim() == 3;
  const int64_t m = out.size(-2), n = out.size(-1), k = a.size(-1);
  const int64_t work = std::max<int64_t>(1, m * n * k);
  const auto range = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      run<T>({m, n, k, left.at(i), right.at(i), result.at(i), extra.at(i), alpha.to<T>(),
              beta.to<T>()});
  };
  if (!batched) return range(0, 1);
  // Small products are shared out whole, large ones share out their own rows.
  parallel_for(0, out.size(0),
               work < kOneDnnFrom ? std::max<int64_t>(1, 4 * kParallelGrain / work) : out.size(0),
               range);
}

/// to = from, both with these sizes; in steps along the dimension that lies densest in `to`.
template <class To, class From>
void convert(To* to, IntArrayRef to_stride, const From* from, IntArrayRef from_stride,
             IntArrayRef sizes) {
  const size_t last = sizes.size() - 1;
  const size_t inner = to_stride[last] <= to_stride[last - 1] ? last : last - 1;
  const size_t outer = inner == last ? last - 1 : last;
  const int64_t n = sizes[inner], rows = sizes[outer], count = last == 2 ? sizes[0] : 1;
  const int64_t ts = to_stride[inner], fs = from_stride[inner];
  const auto range = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      To* t = to + (i / rows) * (last == 2 ? to_stride[0] : 0) + i % rows * to_stride[outer];
      const From* f =
          from + (i / rows) * (last == 2 ? from_stride[0] : 0) + i % rows * from_stride[outer];
      if (ts == 1 && fs == 1)
        for (int64_t k = 0; k < n; ++k) t[k] = static_cast<To>(static_cast<float>(f[k]));
      else
        for (int64_t k = 0; k < n; ++k) t[k * ts] = static_cast<To>(static_cast<float>(f[k * fs]));
    }
  };
  parallel_for(0, count * rows, std::max<int64_t>(1, kParallelGrain / std::max<int64_t>(n, 1)),
               range);
}

/// The same matrices in float32; what an expanded tensor repeats stays repeated.
Tensor widened(const Tensor& t) {
  if (!t.defined() || t.dtype() == kFloat) return t;
  DimVector sizes(t.sizes());
  for (size_t d = 0; d < sizes.size(); ++d)
    if (t.strides()[d] == 0) sizes[d] = 1;
  Layout layout{sizes, strides_like(Layout{sizes, t.layout().strides, 0}), 0};
  const Tensor wide = make_tensor(layout, kFloat, kCPU);
  dispatch(ShortTypes{}, "matmul", t.dtype(), [&]<class T>() {
    convert(static_cast<float*>(wide.data_ptr()), layout.strides,
            static_cast<const T*>(t.data_ptr()), t.strides(), sizes);
  });
  for (size_t d = 0; d < sizes.size(); ++d)
    if (t.strides()[d] == 0) layout.strides[d] = 0;
  layout.sizes = t.sizes();
  return Tensor(make_intrusive<TensorImpl>(wide.storage(), std::move(layout), kFloat));
}

/// Without instructions for products of 16-bit numbers the quickest way is through float32: the
/// sums are kept in it in any case, and a conversion costs little beside a product.
void matmul_short(const Tensor& out, const Tensor& a, const Tensor& b, const Tensor& addend,
                  const Scalar& beta, const Scalar& alpha) {
  if (out.dtype() == kFloat)
    return matmul_kernel(out, widened(a), widened(b), widened(addend), beta, alpha);
  const Tensor wide = make_tensor(out.sizes(), kFloat, kCPU);
  matmul_kernel(wide, widened(a), widened(b), widened(addend), beta, alpha);
  dispatch(ShortTypes{}, "addmm_impl_cpu_", out.dtype(), [&]<class T>() {
    convert(static_cast<T*>(out.data_ptr()), out.strides(),
            static_cast<const float*>(wide.data_ptr()), wide.strides(), out.sizes());
  });
}

}  // namespace

void matmul_kernel(const Tensor& out, const Tensor& a, const Tensor& b, const Tensor& addend,
                   const Scalar& beta, const Scalar& alpha) {
  if (out.numel() == 0) return;
  const bool mixed = a.dtype() != out.dtype() || b.dtype() != out.dtype() ||
                     (addend.defined() && addend.dtype() != out.dtype());
  const int64_t work = out.numel() * a.size(-1);
  const bool small = (work < kOneDnnFrom || work == a.size(-1)) && out.dtype() == kFloat;
  if (!mixed && !small && onednn::matmul(out, a, b, addend, beta, alpha)) return;
  if (mixed || is_reduced_floating(out.dtype()))
    return matmul_short(out, a, b, addend, beta, alpha);
  dispatch(MatmulTypes{}, "addmm_impl_cpu_", out.dtype(),
           [&]<class T>() { matmul_own<T>(out, a, b, addend, beta, alpha); });
}

void register_matmul() {
  matmul_slot.set(kCPU, &matmul_kernel);
  product_precision_slot.set(kCPU, [](ScalarType dtype, ProductPrecision* precision) {
    precision->float32 = !onednn::multiplies(dtype);
  });
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
