// The matrix product slot: cuBLASLt where it is found and takes the operands, else the own kernel.
#include "taeda/cuda/cublaslt.h"
#include "taeda/cuda/kernels/gemm.cuh"
#include "taeda/cuda/register.h"
#include "taeda/kernels/matmul.h"

namespace taeda::inline v0_2::gpu {

namespace {

/// The matrices of a batch; strides are in bytes.
struct Matrices {
  char* data = nullptr;
  int64_t batch = 0, row = 0, column = 0;

  Matrices() = default;
  explicit Matrices(const Tensor& t) {
    if (!t.defined()) return;
    const IntArrayRef s = t.strides();
    const size_t last = s.size() - 1;
    data = static_cast<char*>(t.data_ptr());
    row = s[last - 1] * t.element_size();
    column = s[last] * t.element_size();
    batch = s.size() == 3 ? s[0] * t.element_size() : 0;
  }
  __device__ char* at(int64_t b, int64_t r, int64_t c) const {
    return data + b * batch + r * row + c * column;
  }
};

/// out = alpha a b + beta addend.
template <class A>
struct Product {
  using Row = const char*;
  using Column = const char*;
  Matrices left, right, addend, out;
  ScalarType dtype;
  A alpha, beta;

  __device__ Row row(int64_t batch, int64_t m) const { return left.at(batch, m, 0); }
  __device__ Column column(int64_t batch, int64_t n) const { return right.at(batch, 0, n); }
  __device__ A a(Row r, int64_t k) const { return load_as<A>(r + k * left.column, dtype); }
  __device__ A b(Column c, int64_t k) const { return load_as<A>(c + k * right.row, dtype); }
  __device__ void store(int64_t batch, int64_t m, int64_t n, A acc) const {
    A result = alpha * acc;
    if (addend.data) result = result + beta * load_as<A>(addend.at(batch, m, n), dtype);
    store_as<A>(out.at(batch, m, n), dtype, result);
  }
};

void matmul_cuda(const Tensor& out, const Tensor& a, const Tensor& b, const Tensor& addend,
                 const Scalar& beta, const Scalar& alpha) {
  if (out.numel() == 0) return;
  if (out.dtype() == kBool) detail::throw_no_dtype("addmm_impl_cuda_", kBool);
  const Context context(out.device());
  if (cublaslt_matmul(context, out, a, b, addend, beta, alpha)) return;
  dispatch_compute(AllCompute{}, "addmm_impl_cuda_", out.dtype(), [&]<class A>() {
    const Product<A> p{Matrices(a), Matrices(b),   Matrices(addend), Matrices(out),
                       out.dtype(), alpha.to<A>(), beta.to<A>()};
    const GemmShape shape(out.dim() == 3 ? out.size(0) : 1, out.size(-2), out.size(-1), a.size(-1),
                          p.left.column <= p.left.row, p.right.row < p.right.column);
    run_gemm<A>("matmul", context, out.device(), shape, p);
  });
}

}  // namespace

void register_matmul() { matmul_slot.set(kCUDA, &matmul_cuda); }

}  // namespace taeda::gpu
