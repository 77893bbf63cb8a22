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

/// `gemm_tiny` of N x N matrices in rows of neighbours, for a batch: how many numbers there are is
/// known when it is compiled.
template <int64_t N, class T>
void multiply_squares(const Batch<const T>& a, const Batch<const T>& b, const Batch<T>& out,
                      int64_t begin, int64_t end) {
  for (int64_t s = begin; s < end; ++s) {
    const Matrix<const T> left = a.at(s), right = b.at(s);
    T product[N][N];
    for (int64_t i = 0; i < N; ++i)
      for (int64_t j = 0; j < N; ++j) {
        T sum = 0;
        for (int64_t k = 0; k < N; ++k)
          sum += left.data[i * left.row + k] * right.data[k * right.row + j];
        product[i][j] = sum;
      }
    const Matrix<T> to = out.at(s);
    for (int64_t i = 0; i < N; ++i)
      for (int64_t j = 0; j < N; ++j) to.data[i * to.row + j] = product[i][j];
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

/// Each row of a complex matrix and, behind it, i times that row, as rows of real numbers.
template <class R>
void turn_rows(Matrix<const complex<R>> m, int64_t rows, int64_t columns, R* __restrict to) {
  const auto turn = [&](const complex<R>* from, int64_t step, R* __restrict as_it_is,
                        R* __restrict turned) {
    for (int64_t j = 0; j < columns; ++j) {
      const R re = from[j * step].re, im = from[j * step].im;
      as_it_is[2 * j] = re;
      as_it_is[2 * j + 1] = im;
      turned[2 * j] = -im;
      turned[2 * j + 1] = re;
    }
  };
  for (int64_t i = 0; i < rows; ++i, to += 4 * columns)
    m.column == 1 ? turn(&m.at(i, 0), 1, to, to + 2 * columns)
                  : turn(&m.at(i, 0), m.column, to, to + 2 * columns);
}

/// A complex matrix whose rows are contiguous as one of real numbers, twice as wide.
template <class C, class R = std::conditional_t<std::is_const_v<C>, const typename C::value_type,
                                                typename C::value_type>>
Matrix<R> as_real(Matrix<C> m) {
  return {reinterpret_cast<R*>(m.data), 2 * m.row, 1};
}

/// A product of complex matrices as one of real ones, which fills registers: rows of a are pairs of
/// real numbers, and so are those of the product with each row of b and i times that row.
constexpr int64_t kRealFrom = 512;
template <class R>
void gemm_by_real(const Gemm<complex<R>>& g) {
  using C = complex<R>;
  const int64_t m = g.m, n = g.n, k = g.k;
  const bool scaled = !(g.alpha == C(1)) || g.addend.data;
  const bool copies_a = g.a.column != 1, copies_out = scaled || g.out.column != 1;
  const ScratchArray<R> turned(4 * k * n);
  const ScratchArray<C> left(copies_a ? m * k : 0), product(copies_out ? m * n : 0);
  turn_rows(g.b, k, n, turned.get());
  for (int64_t i = 0; copies_a && i < m; ++i)
    for (int64_t p = 0; p < k; ++p) left.get()[i * k + p] = g.a.at(i, p);
  const Matrix<const C> a = copies_a ? Matrix<const C>{left.get(), k, 1} : g.a;
  const Matrix<C> out = copies_out ? Matrix<C>{product.get(), n, 1} : g.out;
  gemm(
      Gemm<R>{m, 2 * n, 2 * k, as_real(a), {turned.get(), 2 * n, 1}, as_real(out), {}, R(1), R(1)});
  for (int64_t i = 0; copies_out && i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      C value = scaled ? g.alpha * out.at(i, j) : out.at(i, j);
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
    if (g.m * g.n * g.k < kRealFrom) return gemm_plain(g);
    gemm_by_real(g);
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
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    const bool plain = !addend.defined() && alpha.to<T>() == T(1) && left.first.column == 1 &&
                       right.first.column == 1 && result.first.column == 1;
    if (plain && m == n && n == k && 2 <= n && n <= 4) {
      const auto multiply = n == 2   ? multiply_squares<2, T>
                            : n == 3 ? multiply_squares<3, T>
                                     : multiply_squares<4, T>;
      return parallel_for(
          0, out.size(0), 4 * kParallelGrain / work,
          [&](int64_t begin, int64_t end) { multiply(left, right, result, begin, end); });
    }
  }
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
