// Sorting along a dimension, and what rests on it: values become unsigned keys of the same order,
// the number of their line stands above the key, and one sort serves all lines.
#include "taeda/cuda/kernels/rows.cuh"
#include "taeda/cuda/kernels/scan.cuh"
#include "taeda/cuda/kernels/sorted.cuh"
#include "taeda/cuda/register.h"
#include "taeda/kernels/reduce.h"
#include "taeda/kernels/sort.h"

namespace taeda::inline v0_2::gpu {

namespace {

/// A floating number's bits as an unsigned key; zeros of both signs are equal, NaN is the largest.
__device__ uint64_t float_key(uint64_t bits, int width, uint64_t infinity) {
  const uint64_t sign = uint64_t{1} << (width - 1), all = sign | (sign - 1);
  if ((bits & ~sign) > infinity) return all;
  if ((bits & ~sign) == 0) bits = 0;
  return bits & sign ? ~bits & all : bits | sign;
}

/// An unsigned number that orders like the element at `p`, in as many bits as the element has.
__device__ uint64_t key_of(const char* p, ScalarType t) {
  switch (t) {
    case kFloat: return float_key(*reinterpret_cast<const uint32_t*>(p), 32, 0x7f800000u);
    case kDouble:
      return float_key(*reinterpret_cast<const uint64_t*>(p), 64, uint64_t{0x7ff} << 52);
    case kHalf: return float_key(*reinterpret_cast<const uint16_t*>(p), 16, 0x7c00);
    case kBFloat16: return float_key(*reinterpret_cast<const uint16_t*>(p), 16, 0x7f80);
    case kLong: return *reinterpret_cast<const uint64_t*>(p) ^ uint64_t { 1 } << 63;
    case kInt: return *reinterpret_cast<const uint32_t*>(p) ^ 0x80000000u;
    case kShort: return *reinterpret_cast<const uint16_t*>(p) ^ 0x8000u;
    case kChar: return *reinterpret_cast<const uint8_t*>(p) ^ 0x80u;
    default: return *reinterpret_cast<const uint8_t*>(p);
  }
}
__device__ bool is_nan_key(uint64_t key, int bits, bool floating) {
  return floating && key == ~uint64_t{0} >> (64 - bits);
}

/// The lines of a tensor along a dimension. Strides are in bytes.
struct Lines {
  char* data = nullptr;
  Offsets<1> start;
  int64_t step = 0;

  Lines() = default;
  Lines(const Tensor& t, int64_t dim) {
    if (!t.defined()) return;
    data = static_cast<char*>(t.data_ptr());
    for (int64_t d = t.dim(); d-- > 0;) {
      const int64_t stride[1] = {t.strides()[d] * t.element_size()};
      if (d != dim) start.add(t.sizes()[d], stride);
    }
    start.finish();
    step = t.dim() > 0 ? t.strides()[dim] * t.element_size() : 0;
  }
  __device__ char* at(int64_t line, int64_t i) const {
    int64_t offset[1];
    start.at(line, offset);
    return data + offset[0] + i * step;
  }
};

/// Sorted lines of n elements: place p holds element positions[p] of line p / n.
struct LineSort {
  Lines in;
  ScalarType dtype;
  int bits;  // of an element's key
  Divider n;
  int64_t total;
  bool descending;

  LineSort(const Tensor& t, int64_t dim, bool down)
      : in(t, dim),
        dtype(t.dtype()),
        bits(8 * static_cast<int>(t.element_size())),
        n(t.dim() > 0 ? t.sizes()[dim] : 1),
        total(t.numel()),
        descending(down) {}
  int64_t lines() const { return total / n.divisor; }
  __device__ uint64_t key(int64_t line, int64_t i) const {
    const uint64_t k = key_of(in.at(line, i), dtype);
    return descending ? ~k & ~uint64_t{0} >> (64 - bits) : k;
  }
};

/// With the line above the key, if there is room for it.
__global__ void __launch_bounds__(kThreads)
    line_keys_kernel(const __grid_constant__ LineSort s, bool with_line, uint64_t* keys) {
  for (int64_t e = thread_index(); e < s.total; e += thread_count()) {
    int64_t line, i;
    s.n.divide(e, line, i);
    const uint64_t key = s.key(line, i);
    keys[e] = with_line ? static_cast<uint64_t>(line) << s.bits | key : key;
  }
}

__global__ void __launch_bounds__(kThreads)
    line_numbers_kernel(const Divider n, const uint32_t* positions, uint64_t* keys, int64_t total) {
  for (int64_t p = thread_index(); p < total; p += thread_count()) {
    int64_t line, rest;
    n.divide(positions[p], line, rest);
    keys[p] = static_cast<uint64_t>(line);
  }
}

void sort_lines(const Context& context, const LineSort& s, SortedKeys& sorted) {
  const unsigned blocks = blocks_for(s.total);
  const int line_bits = bits_below(s.lines());
  const bool fits = s.bits + line_bits <= 64;
  line_keys_kernel<<<blocks, kThreads, 0, context.stream>>>(s, fits && line_bits > 0,
                                                            sorted.keys());
  if (fits) return sorted.sort(s.bits + line_bits);
  sorted.sort(s.bits);  // equal lines keep this order in the second sort
  line_numbers_kernel<<<blocks, kThreads, 0, context.stream>>>(s.n, sorted.positions(),
                                                               sorted.keys(), s.total);
  sorted.sort(line_bits);
}

__device__ void copy_element(char* to, const char* from, int bits) {
  switch (bits) {
    case 8: *to = *from; return;
    case 16: *reinterpret_cast<uint16_t*>(to) = *reinterpret_cast<const uint16_t*>(from); return;
    case 32: *reinterpret_cast<uint32_t*>(to) = *reinterpret_cast<const uint32_t*>(from); return;
    default: *reinterpret_cast<uint64_t*>(to) = *reinterpret_cast<const uint64_t*>(from); return;
  }
}

/// The first `keep` places of every line.
__global__ void __launch_bounds__(kThreads)
    write_sorted_kernel(const __grid_constant__ LineSort s, const uint32_t* positions,
                        const __grid_constant__ Lines values, const __grid_constant__ Lines indices,
                        const Divider keep, int64_t total) {
  for (int64_t e = thread_index(); e < total; e += thread_count()) {
    int64_t line, place;
    keep.divide(e, line, place);
    const int64_t i = positions[line * s.n.divisor + place] - line * s.n.divisor;
    *reinterpret_cast<int64_t*>(indices.at(line, place)) = i;
    copy_element(values.at(line, place), s.in.at(line, i), s.bits);
  }
}

void order_lines(const char* op, const Tensor& values, const Tensor& indices, const Tensor& in,
                 int64_t dim, bool descending) {
  if (values.numel() == 0) return;
  if (is_complex(in.dtype())) detail::throw_no_dtype(op, in.dtype());
  const Context context(in.device());
  const LineSort s(in, dim, descending);
  SortedKeys sorted(context, in.device(), s.total);
  sort_lines(context, s, sorted);
  const int64_t keep = values.dim() > 0 ? values.sizes()[dim] : 1;
  write_sorted_kernel<<<blocks_for(values.numel()), kThreads, 0, context.stream>>>(
      s, sorted.positions(), Lines(values, dim), Lines(indices, dim), Divider(keep),
      values.numel());
  context.launched(op);
}

void sort_cuda(const Tensor& values, const Tensor& indices, const Tensor& in, int64_t dim,
               bool descending) {
  order_lines("sort", values, indices, in, dim, descending);
}
void topk_cuda(const Tensor& values, const Tensor& indices, const Tensor& in, int64_t dim,
               bool largest) {
  order_lines("topk", values, indices, in, dim, largest);
}

/// The lower median, or the first NaN: those stand behind all numbers, in their order.
__global__ void __launch_bounds__(kThreads)
    median_kernel(const __grid_constant__ LineSort s, const uint32_t* positions, char* values,
                  int64_t* indices, int64_t lines) {
  const bool floating = is_floating_point(s.dtype);
  for (int64_t line = thread_index(); line < lines; line += thread_count()) {
    const int64_t first = line * s.n.divisor, n = s.n.divisor;
    const auto nan_at = [&](int64_t place) {
      return is_nan_key(s.key(line, positions[first + place] - first), s.bits, floating);
    };
    int64_t place = (n - 1) / 2;
    if (nan_at(n - 1)) {
      int64_t low = 0, high = n - 1;  // the first place of a NaN is in [low, high]
      while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (nan_at(middle))
          high = middle;
        else
          low = middle + 1;
      }
      place = low;
    }
    const int64_t i = positions[first + place] - first;
    indices[line] = i;
    if (values) copy_element(values + line * (s.bits / 8), s.in.at(line, i), s.bits);
  }
}

void median_cuda(const Tensor& values, const Tensor& indices, const Tensor& in, int64_t dim) {
  if (indices.numel() == 0) return;
  const Context context(in.device());
  const LineSort s(in, dim, false);
  SortedKeys sorted(context, in.device(), s.total);
  sort_lines(context, s, sorted);
  median_kernel<<<blocks_for(s.lines()), kThreads, 0, context.stream>>>(
      s, sorted.positions(), values.defined() ? static_cast<char*>(values.data_ptr()) : nullptr,
      static_cast<int64_t*>(indices.data_ptr()), s.lines());
  context.launched("median");
}

struct CountOp {
  using Acc = int64_t;
  const int64_t* counts;
  int64_t* ends;
  __device__ int64_t identity() const { return 0; }
  __device__ int64_t load(int64_t, int64_t i) const { return counts[i]; }
  __device__ int64_t combine(int64_t a, int64_t b) const { return a + b; }
  __device__ void store(int64_t, int64_t i, int64_t acc) const { ends[i] = acc; }
};

__global__ void __launch_bounds__(kThreads)
    repeat_kernel(const int64_t* ends, int64_t m, int64_t* out, int64_t n) {
  for (int64_t p = thread_index(); p < n; p += thread_count()) {
    int64_t low = 0, high = m - 1;  // the first entry that ends behind p is in [low, high]
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (ends[middle] > p)
        high = middle;
      else
        low = middle + 1;
    }
    out[p] = low;
  }
}

void repeat_counts_cuda(const Tensor& out, const Tensor& counts) {
  const int64_t m = counts.numel(), n = out.numel();
  if (n == 0 || m == 0) return;
  const Context context(out.device());
  const Scratch ends(out.device(), m * 8);
  run_scan("repeat_interleave", context, out.device(), ScanShape(1, m),
           CountOp{static_cast<const int64_t*>(counts.data_ptr()), ends.as<int64_t>()});
  repeat_kernel<<<blocks_for(n), kThreads, 0, context.stream>>>(
      ends.as<int64_t>(), m, static_cast<int64_t*>(out.data_ptr()), n);
  context.launched("repeat_interleave");
}

__global__ void __launch_bounds__(kThreads)
    searchsorted_kernel(const char* sorted, const char* values, ScalarType dtype, int item,
                        int64_t n, int64_t row_step, const Divider m, bool right, int64_t* out,
                        int64_t total) {
  for (int64_t e = thread_index(); e < total; e += thread_count()) {
    int64_t row, rest;
    m.divide(e, row, rest);
    const char* line = sorted + row * row_step * item;
    const uint64_t key = key_of(values + e * item, dtype);
    const bool floating = is_floating_point(dtype);
    const bool to_the_end = is_nan_key(key, 8 * item, floating);
    int64_t low = 0, high = n;
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      const uint64_t x = key_of(line + middle * item, dtype);
      // A NaN, on either side, sends the search on to the right.
      if (to_the_end || is_nan_key(x, 8 * item, floating) || (right ? x <= key : x < key))
        low = middle + 1;
      else
        high = middle;
    }
    out[e] = low;
  }
}

void searchsorted_cuda(const Tensor& out, const Tensor& sorted, const Tensor& values, bool right) {
  const int64_t n = sorted.sizes()[1], total = values.numel();
  if (total == 0) return;
  const Context context(out.device());
  searchsorted_kernel<<<blocks_for(total), kThreads, 0, context.stream>>>(
      static_cast<const char*>(sorted.data_ptr()), static_cast<const char*>(values.data_ptr()),
      values.dtype(), static_cast<int>(values.element_size()), n, sorted.sizes()[0] == 1 ? 0 : n,
      Divider(values.sizes()[1]), right, static_cast<int64_t*>(out.data_ptr()), total);
  context.launched("searchsorted");
}

}  // namespace

void register_sort() {
  sort_slot.set(kCUDA, &sort_cuda);
  topk_slot.set(kCUDA, &topk_cuda);
  median_slot.set(kCUDA, &median_cuda);
  repeat_counts_slot.set(kCUDA, &repeat_counts_cuda);
  searchsorted_slot.set(kCUDA, &searchsorted_cuda);
}

}  // namespace taeda::gpu
