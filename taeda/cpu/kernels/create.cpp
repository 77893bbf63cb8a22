// Sequences of numbers, and triangles of matrices.
#include "taeda/kernels/create.h"

#include <algorithm>
#include <cstring>

#include "taeda/base/parallel_for.h"
#include "taeda/cpu/kernels/strided.h"
#include "taeda/kernels/complex_type.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

namespace {

/// The type a sequence is computed in.
template <class T>
using sequence_t = std::conditional_t<is_complex_v<T>, complex<double>,
                                      std::conditional_t<std::is_integral_v<T>, int64_t, double>>;

void arange_kernel(const Tensor& out, const Scalar& start, const Scalar& step) {
  dispatch(AllTypes{}, "arange", out.dtype(), [&]<class T>() {
    using M = sequence_t<T>;
    const M first = start.to<M>(), delta = step.to<M>();
    T* to = static_cast<T*>(out.data_ptr());
    parallel_for(0, out.numel(), kParallelGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        if constexpr (is_complex_v<T>)
          to[i] = T(first + delta * M(static_cast<double>(i)));
        else if constexpr (std::is_integral_v<T>)
          to[i] = static_cast<T>(first + delta * i);
        else
          to[i] = T(static_cast<opmath_t<T>>(first + delta * static_cast<double>(i)));
      }
    });
  });
}

void linspace_kernel(const Tensor& out, const Scalar& start, const Scalar& end) {
  const int64_t n = out.numel();
  dispatch(RealTypes{}, "linspace", out.dtype(), [&]<class T>() {
    // PyTorch steps in the result's own precision, and in double for integers.
    using M = std::conditional_t<std::is_integral_v<T>, double, opmath_t<T>>;
    const M first = start.to<M>(), last = end.to<M>();
    const M step = n > 1 ? (last - first) / static_cast<M>(n - 1) : M(0);
    T* to = static_cast<T*>(out.data_ptr());
    parallel_for(0, n, kParallelGrain, [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; ++i)
        to[i] = static_cast<T>(i < n / 2 || n == 1 ? first + step * static_cast<M>(i)
                                                   : last - step * static_cast<M>(n - 1 - i));
    });
  });
}

void triangle_kernel(const Tensor& out, const Tensor& in, int64_t diagonal, bool upper) {
  const int64_t rows = in.sizes()[1], columns = in.sizes()[2];
  const int64_t grain = std::max<int64_t>(1, kParallelGrain / std::max<int64_t>(columns, 1));
  with_word(in.element_size(), [&]<class W>(W) {
    W* to = static_cast<W*>(out.data_ptr());
    const W* from = static_cast<const W*>(in.data_ptr());
    const int64_t batch_stride = in.strides()[0], row_stride = in.strides()[1],
                  stride = in.strides()[2];
    parallel_for(0, in.sizes()[0] * rows, grain, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const int64_t row = r % rows;
        W* dst = to + r * columns;
        const W* src = from + r / rows * batch_stride + row * row_stride;
        // Columns [first, last) are kept.
        const int64_t edge = std::clamp<int64_t>(row + diagonal + !upper, 0, columns);
        const int64_t first = upper ? edge : 0, last = upper ? columns : edge;
        std::memset(static_cast<void*>(dst), 0, static_cast<size_t>(first) * sizeof(W));
        if (dst != src)  // else it is there
          for (int64_t c = first; c < last; ++c) dst[c] = src[c * stride];
        std::memset(static_cast<void*>(dst + last), 0,
                    static_cast<size_t>(columns - last) * sizeof(W));
      }
    });
  });
}

}  // namespace

void register_create() {
  fill_slots<On<arange_slot, arange_kernel>, On<linspace_slot, linspace_kernel>,
             On<triangle_slot, triangle_kernel>>(kCPU);
}

}  // namespace taeda::cpu::TAEDA_CPU_NAMESPACE
