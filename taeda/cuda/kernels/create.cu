// Sequences of numbers, and triangles of matrices.
#include "taeda/cuda/kernels/common.cuh"
#include "taeda/cuda/register.h"
#include "taeda/kernels/create.h"

namespace taeda::inline v0_2::gpu {

namespace {

/// What a sequence is computed in: int64_t, double or complex<double>.
ScalarType sequence_dtype(ScalarType t) {
  const ScalarType c = compute_dtype(t);
  return c == kFloat ? kDouble : c;
}

template <class M>
__global__ void __launch_bounds__(kThreads)
    arange_kernel(char* out, ScalarType dtype, int item, M first, M step, int64_t n) {
  for (int64_t i = thread_index(); i < n; i += thread_count()) {
    if constexpr (std::is_same_v<M, int64_t>)
      store_as<M>(out + i * item, dtype, first + step * i);
    else
      store_as<M>(out + i * item, dtype, first + step * M(static_cast<double>(i)));
  }
}

void arange_cuda(const Tensor& out, const Scalar& start, const Scalar& step) {
  const int64_t n = out.numel();
  if (n == 0) return;
  const Context context(out.device());
  dispatch(TypeList<int64_t, double, complex<double>>{}, "arange", sequence_dtype(out.dtype()),
           [&]<class M>() {
             arange_kernel<M><<<blocks_for(n), kThreads, 0, context.stream>>>(
                 static_cast<char*>(out.data_ptr()), out.dtype(),
                 static_cast<int>(out.element_size()), start.to<M>(), step.to<M>(), n);
           });
  context.launched("arange");
}

/// A number in double as an element of any real type. Integers are cut off, and wrap.
__device__ void store_real(char* p, ScalarType t, double value) {
  if (is_floating_point(t))
    store_as<double>(p, t, value);
  else
    store_as<int64_t>(p, t, static_cast<int64_t>(value));
}

template <class M>
__global__ void __launch_bounds__(kThreads)
    linspace_kernel(char* out, ScalarType dtype, int item, M first, M last, M step, int64_t n) {
  for (int64_t i = thread_index(); i < n; i += thread_count())
    store_real(out + i * item, dtype,
               i < n / 2 || n == 1 ? first + step * static_cast<M>(i)
                                   : last - step * static_cast<M>(n - 1 - i));
}

void linspace_cuda(const Tensor& out, const Scalar& start, const Scalar& end) {
  const int64_t n = out.numel();
  if (n == 0) return;
  const Context context(out.device());
  // Steps are in the result's own precision, and in double for integers.
  const ScalarType compute = compute_dtype(out.dtype()) == kFloat ? kFloat : kDouble;
  dispatch(TypeList<float, double>{}, "linspace", compute, [&]<class M>() {
    const M first = start.to<M>(), last = end.to<M>();
    const M step = n > 1 ? (last - first) / static_cast<M>(n - 1) : M(0);
    linspace_kernel<M><<<blocks_for(n), kThreads, 0, context.stream>>>(
        static_cast<char*>(out.data_ptr()), out.dtype(), static_cast<int>(out.element_size()),
        first, last, step, n);
  });
  context.launched("linspace");
}

struct TriangleShape {
  Divider rows, columns;
  int64_t stride[3];  // of the input: batch, row, column
  int64_t diagonal;
  bool upper;
};

template <class W>
__global__ void __launch_bounds__(kThreads)
    triangle_kernel(W* out, const W* in, const TriangleShape s, int64_t n) {
  for (int64_t i = thread_index(); i < n; i += thread_count()) {
    int64_t batch, row, column;
    s.columns.divide(i, batch, column);
    s.rows.divide(batch, batch, row);
    const int64_t right = column - row;
    const bool keep = s.upper ? right >= s.diagonal : right <= s.diagonal;
    out[i] = keep ? in[batch * s.stride[0] + row * s.stride[1] + column * s.stride[2]] : W{};
  }
}

void triangle_cuda(const Tensor& out, const Tensor& in, int64_t diagonal, bool upper) {
  const int64_t n = out.numel();
  if (n == 0) return;
  const Context context(out.device());
  const IntArrayRef strides = in.strides();
  const TriangleShape shape{Divider(in.sizes()[1]),
                            Divider(in.sizes()[2]),
                            {strides[0], strides[1], strides[2]},
                            diagonal,
                            upper};
  with_word(in.element_size(), [&]<class W>(W) {
    triangle_kernel<W><<<blocks_for(n), kThreads, 0, context.stream>>>(
        static_cast<W*>(out.data_ptr()), static_cast<const W*>(in.data_ptr()), shape, n);
  });
  context.launched("triangle");
}

}  // namespace

void register_create() {
  fill_slots<On<arange_slot, arange_cuda>, On<linspace_slot, linspace_cuda>,
             On<triangle_slot, triangle_cuda>>(kCUDA);
}

}  // namespace taeda::gpu
