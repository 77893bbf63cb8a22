// Cumulative sums, products and extremes. Blocks scan along the dimension; where there are many
// rows side by side, a thread walks down each of them.
#include "taeda/cuda/kernels/rows.cuh"
#include "taeda/cuda/kernels/scan.cuh"
#include "taeda/cuda/register.h"
#include "taeda/kernels/scan.h"

namespace taeda::inline v0_2::gpu {

namespace {

constexpr int64_t kManyColumns = 4096;

/// Where element i of a row lies in a tensor seen as (outer, n, inner).
struct Axis {
  Divider inner;
  int64_t n = 1, rows = 1;

  Axis(const Tensor& t, int64_t dim) {
    int64_t before = 1, behind = 1;
    for (int64_t d = 0; d < t.dim(); ++d)
      (d < dim ? before : d == dim ? n : behind) *= t.sizes()[d];
    inner = Divider(behind);
    rows = before * behind;
  }
  __device__ int64_t at(int64_t row, int64_t i) const {
    int64_t outer, rest;
    inner.divide(row, outer, rest);
    return (outer * n + i) * inner.divisor + rest;
  }
};

/// Floating types are accumulated in double.
template <class A>
struct CumulateOp {
  using Acc = A;
  Axis axis;
  Reader<A> in;
  Writer<A> out;
  bool product;

  __device__ A identity() const { return product ? A(1) : A(0); }
  __device__ A load(int64_t row, int64_t i) const { return in[axis.at(row, i)]; }
  __device__ A combine(A a, A b) const { return product ? a * b : a + b; }
  __device__ void store(int64_t row, int64_t i, A acc) const { out.set(axis.at(row, i), acc); }
};

template <class A>
struct Extreme {
  A value;
  int64_t index;  // -1: none yet
};

/// The last of equal ones; NaN is extreme.
template <class A>
struct ExtremeScanOp {
  using Acc = Extreme<A>;
  Axis axis;
  Reader<A> in;
  Writer<A> values;
  int64_t* indices;
  bool smallest;

  __device__ Acc identity() const { return {A(0), -1}; }
  __device__ Acc load(int64_t row, int64_t i) const { return {in[axis.at(row, i)], i}; }
  __device__ Acc combine(const Acc& a, const Acc& b) const {
    if (b.index < 0) return a;
    if (a.index < 0) return b;
    if constexpr (std::is_floating_point_v<A>) {
      if (b.value != b.value) return b;
      if (a.value != a.value) return a;
    }
    return (smallest ? b.value <= a.value : b.value >= a.value) ? b : a;
  }
  __device__ void store(int64_t row, int64_t i, const Acc& acc) const {
    const int64_t at = axis.at(row, i);
    values.set(at, acc.value);
    indices[at] = acc.index;
  }
};

template <class Op>
__global__ void __launch_bounds__(kThreads) scan_columns_kernel(const Op op, const Axis axis) {
  for (int64_t row = thread_index(); row < axis.rows; row += thread_count()) {
    typename Op::Acc acc = op.identity();
    for (int64_t i = 0; i < axis.n; ++i) {
      acc = op.combine(acc, op.load(row, i));
      op.store(row, i, acc);
    }
  }
}

template <class Op>
void scan(const char* name, const Tensor& in, const Axis& axis, const Op& op) {
  if (axis.rows == 0 || axis.n == 0) return;
  const Context context(in.device());
  if (axis.inner.divisor == 1 || axis.rows < kManyColumns)
    return run_scan(name, context, in.device(), ScanShape(axis.rows, axis.n), op);
  scan_columns_kernel<Op><<<blocks_for(axis.rows), kThreads, 0, context.stream>>>(op, axis);
  context.launched(name);
}

void cumulate(const char* name, const Tensor& out, const Tensor& in, int64_t dim, bool product) {
  const Axis axis(in, dim);
  const ScalarType t = compute_dtype(in.dtype());
  dispatch(TypeList<double, int64_t, complex<double>>{}, name, t == kFloat ? kDouble : t,
           [&]<class A>() {
             scan(name, in, axis, CumulateOp<A>{axis, Reader<A>(in), Writer<A>(out), product});
           });
}

void extreme(const char* name, const Tensor& values, const Tensor& indices, const Tensor& in,
             int64_t dim, bool smallest) {
  const Axis axis(in, dim);
  const bool integral = compute_dtype(in.dtype()) == kLong;
  dispatch(TypeList<double, int64_t>{}, name, integral ? kLong : kDouble, [&]<class A>() {
    scan(name, in, axis,
         ExtremeScanOp<A>{axis, Reader<A>(in), Writer<A>(values),
                          static_cast<int64_t*>(indices.data_ptr()), smallest});
  });
}

}  // namespace

void register_scan() {
  cumsum_slot.set(kCUDA, [](const Tensor& out, const Tensor& in, int64_t dim) {
    cumulate("cumsum", out, in, dim, false);
  });
  cumprod_slot.set(kCUDA, [](const Tensor& out, const Tensor& in, int64_t dim) {
    cumulate("cumprod", out, in, dim, true);
  });
  cummax_slot.set(kCUDA, [](const Tensor& values, const Tensor& indices, const Tensor& in,
                            int64_t dim) { extreme("cummax", values, indices, in, dim, false); });
  cummin_slot.set(kCUDA, [](const Tensor& values, const Tensor& indices, const Tensor& in,
                            int64_t dim) { extreme("cummin", values, indices, in, dim, true); });
}

}  // namespace taeda::gpu
