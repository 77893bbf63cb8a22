// The matrix product slot: chooses between oneDNN and the own kernels, and walks over batches.
#include "taeda/kernels/matmul.h"

#include "taeda/base/parallel_for.h"
#include "taeda/cpu/kernels/gemm.h"
#include "taeda/cpu/onednn.h"

namespace taeda::cpu::TAEDA_CPU_NAMESPACE {

namespace {

// Below this many multiply-adds the call into oneDNN costs more than its kernels gain.
constexpr int64_t kOneDnnFrom = 300000;

using MatmulTypes = TypeList<float, double, Half, BFloat16, int64_t, int32_t, int16_t, int8_t,
                             uint8_t, complex<float>, complex<double>>;

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

template <class T>
void run(const Gemm<T>& g) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
    gemm(g);
  else
    gemm_plain(g);
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

void matmul_kernel(const Tensor& out, const Tensor& a, const Tensor& b, const Tensor& addend,
                   const Scalar& beta, const Scalar& alpha) {
  if (out.numel() == 0) return;
  const bool small = out.numel() * a.size(-1) < kOneDnnFrom && out.dtype() == kFloat;
  if (!small && onednn::matmul(out, a, b, addend, beta, alpha)) return;
  dispatch(MatmulTypes{}, "addmm_impl_cpu_", out.dtype(),
           [&]<class T>() { matmul_own<T>(out, a, b, addend, beta, alpha); });
}

}  // namespace

void register_matmul() { matmul_slot.set(kCPU, &matmul_kernel); }

}  // namespace taeda::cpu::TAEDA_CPU_NAMESPACE
