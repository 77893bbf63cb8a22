// Resampling: rows of the result side by side in memory are sums of rows of the input; where a row
// is one element, a line of them goes through the matrix.
#include "taeda/kernels/resample.h"

#include <algorithm>

#include "taeda/base/parallel_for.h"
#include "taeda/cpu/kernels/move.h"
#include "taeda/cpu/kernels/simd.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

namespace {

template <class M>
struct SparseRows {
  const int32_t *starts, *rows;
  const M* weights;
  int64_t taps;
};

/// `sum_rows` of floats, a few registers at a time; how many elements are done. Rows lie anywhere:
/// those to come, of the next results, too, are asked for while one is added.
inline int64_t sum_in_registers(const SparseRows<float>& m, int64_t first, int64_t last,
                                const float* in, int64_t width, float* out) {
  constexpr int64_t kGroup = 4, kStep = kGroup * kLanes<float>, kAhead = 8;
  int64_t k = 0;
  for (; k + kStep <= width; k += kStep) {
    Vec<float> sums[kGroup] = {};
    for (int64_t j = first; j < last; ++j) {
      const float* from = in + m.rows[j] * width + k;
      const float* next = in + m.rows[std::min(j + kAhead, m.taps - 1)] * width + k;
      for (int64_t b = 0; b < kStep; b += 16) __builtin_prefetch(next + b);
      const Vec<float> w = broadcast(m.weights[j]);
#pragma GCC unroll 4
      for (int64_t g = 0; g < kGroup; ++g) sums[g] += w * load(from + g * kLanes<float>);
    }
#pragma GCC unroll 4
    for (int64_t g = 0; g < kGroup; ++g) store(out + k + g * kLanes<float>, sums[g]);
  }
  return k;
}

/// out[k] = the weighted sum of elements k of rows first to last of a matrix, `width` wide.
template <class T, class M = opmath_t<T>>
void sum_rows(const SparseRows<M>& m, int64_t first, int64_t last, const T* in, int64_t width,
              T* __restrict out) {
  const auto row = [&](int64_t j) { return in + m.rows[j] * width; };
  if (last - first == 1 && m.weights[first] == M(1)) {
    move_row(reinterpret_cast<char*>(out), reinterpret_cast<const char*>(row(first)),
             width * static_cast<int64_t>(sizeof(T)));
  } else if (last - first == 2) {
    const T *a = row(first), *b = row(first + 1);
    const M v = m.weights[first], w = m.weights[first + 1];
    for (int64_t k = 0; k < width; ++k)
      out[k] = static_cast<T>(v * static_cast<M>(a[k]) + w * static_cast<M>(b[k]));
  } else {
    constexpr int64_t kBlock = 64;
    int64_t done = 0;
    if constexpr (std::is_same_v<T, float>) done = sum_in_registers(m, first, last, in, width, out);
    for (int64_t k = done; k < width; k += kBlock) {
      M sum[kBlock] = {};
      const int64_t n = std::min(kBlock, width - k);
      for (int64_t j = first; j < last; ++j) {
        const T* from = row(j) + k;
        const M w = m.weights[j];
        for (int64_t c = 0; c < n; ++c) sum[c] += w * static_cast<M>(from[c]);
      }
      for (int64_t c = 0; c < n; ++c) out[k + c] = static_cast<T>(sum[c]);
    }
  }
}

/// A line of `count` elements that are two taps each.
template <class T, class M = opmath_t<T>>
void sum_pairs(const SparseRows<M>& m, int64_t count, const T* in, T* __restrict out) {
  const int32_t* __restrict rows = m.rows;
  const M* __restrict w = m.weights;
  for (int64_t i = 0; i < count; ++i)
    out[i] = static_cast<T>(w[2 * i] * static_cast<M>(in[rows[2 * i]]) +
                            w[2 * i + 1] * static_cast<M>(in[rows[2 * i + 1]]));
}

/// A line of elements that are copies.
template <class T, class M = opmath_t<T>>
void copy_elements(const SparseRows<M>& m, int64_t count, const T* in, T* __restrict out) {
  const int32_t* __restrict rows = m.rows;
  for (int64_t i = 0; i < count; ++i) out[i] = in[rows[i]];
}

template <class T, class M = opmath_t<T>>
void sum_elements(const SparseRows<M>& m, int64_t count, const T* in, T* __restrict out) {
  for (int64_t i = 0; i < count; ++i) {
    M sum = 0;
    for (int64_t j = m.starts[i]; j < m.starts[i + 1]; ++j)
      sum += m.weights[j] * static_cast<M>(in[m.rows[j]]);
    out[i] = static_cast<T>(sum);
  }
}

void resample_kernel(const Tensor& out, const Tensor& in, const Tensor& starts, const Tensor& rows,
                     const Tensor& weights) {
  const int64_t m = out.size(1), n = in.size(1), width = out.size(2), taps = rows.numel();
  dispatch(FloatTypes{}, resample_slot.name(), out.dtype(), [&]<class T>() {
    using M = opmath_t<T>;
    const SparseRows<M> matrix{starts.data_ptr<int32_t>(), rows.data_ptr<int32_t>(),
                               weights.data_ptr<M>(), taps};
    const T* from = in.data_ptr<T>();
    T* to = out.data_ptr<T>();
    if (width == 1) {
      bool pairs = taps == 2 * m;
      for (int64_t i = 0; i < m && pairs; ++i) pairs = matrix.starts[i + 1] == 2 * (i + 1);
      bool copies = taps == m;
      for (int64_t i = 0; i < m && copies; ++i)
        copies = matrix.starts[i + 1] == i + 1 && matrix.weights[i] == M(1);
      const auto line = copies ? copy_elements<T> : pairs ? sum_pairs<T> : sum_elements<T>;
      const int64_t grain = std::max<int64_t>(1, kParallelGrain / std::max<int64_t>(1, taps));
      return parallel_for(0, out.size(0), grain, [&](int64_t begin, int64_t end) {
        for (int64_t o = begin; o < end; ++o) line(matrix, m, from + o * n, to + o * m);
      });
    }
    const int64_t work = width * std::max<int64_t>(1, taps / std::max<int64_t>(1, m));
    const int64_t grain = std::max<int64_t>(1, kParallelGrain / work);
    parallel_for(0, out.size(0) * m, grain, [&](int64_t begin, int64_t end) {
      int64_t i = begin % m;
      const T* part = from + begin / m * n * width;
      for (int64_t r = begin; r < end; ++r) {
        sum_rows(matrix, matrix.starts[i], matrix.starts[i + 1], part, width, to + r * width);
        if (++i < m) continue;
        i = 0;
        part += n * width;
      }
    });
  });
}

}  // namespace

void register_resample() { resample_slot.set(kCPU, &resample_kernel); }

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
