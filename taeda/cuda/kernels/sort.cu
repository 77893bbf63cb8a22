// Sorting along a dimension, and what rests on it: values become unsigned keys of the same order,
// the number of their line stands above the key, and one sort serves all lines. Lines that a block
// holds are sorted there (sort_block.cu).
#include "taeda/cuda/kernels/lines.cuh"
#include "taeda/cuda/kernels/scan.cuh"
#include "taeda/cuda/register.h"
#include "taeda/kernels/sort.h"

namespace taeda::inline v0_2::gpu {

namespace {

/// With the line above the key, if there is room for it.
__global__ void __launch_bounds__(kThreads)
    line_keys_kernel(const __grid_constant__ LineSort s, bool with_line, const KeyArray keys) {
  for (int64_t e = thread_index(); e < s.total; e += thread_count()) {
    int64_t line, i;
    s.n.divide(e, line, i);
    const uint64_t key = s.key(line, i);
    keys.set(e, with_line ? static_cast<uint64_t>(line) << s.rule.bits | key : key);
  }
}

__global__ void __launch_bounds__(kThreads)
    line_numbers_kernel(const Divider n, const uint32_t* positions, const KeyArray keys,
                        int64_t total) {
  for (int64_t p = thread_index(); p < total; p += thread_count()) {
    int64_t line, rest;
    n.divide(positions[p], line, rest);
    keys.set(p, static_cast<uint64_t>(line));
  }
}

/// How many bits an element's key and its line's number above it take; more than 64 do not fit.
int line_key_bits(const LineSort& s) { return s.rule.bits + bits_below(s.lines()); }

void sort_lines(const Context& context, const LineSort& s, SortedKeys& sorted) {
  const unsigned blocks = blocks_for(s.total);
  const int line_bits = bits_below(s.lines());
  const bool fits = line_key_bits(s) <= 64;
  line_keys_kernel<<<blocks, kThreads, 0, context.stream>>>(s, fits && line_bits > 0,
                                                            sorted.keys());
  if (fits) return sorted.sort(s.rule.bits + line_bits);
  sorted.sort(s.rule.bits);  // equal lines keep this order in the second sort
  line_numbers_kernel<<<blocks, kThreads, 0, context.stream>>>(s.n, sorted.positions(),
                                                               sorted.keys(), s.total);
  sorted.sort(line_bits);
}

/// The first `keep` places of every line. Place p holds element positions[p], or p where that is
/// null; keys[p] ends in its key, unless there are none.
__global__ void __launch_bounds__(kThreads)
    write_lines_kernel(const __grid_constant__ LineSort s, const uint32_t* positions,
                       const KeyArray keys, const __grid_constant__ Lines values,
                       const __grid_constant__ Lines indices, const Divider keep, int64_t total) {
  for (int64_t e = thread_index(); e < total; e += thread_count()) {
    int64_t line, place;
    keep.divide(e, line, place);
    const int64_t first = line * s.n.divisor;
    const int64_t i = s.element(line, positions ? positions[first + place] - first : place);
    if (keys.data)
      s.write(line, i, keys[first + place] & s.rule.largest(), place, values, indices);
    else
      s.write(line, i, place, values, indices);
  }
}

void sort_cuda(const Tensor& values, const Tensor& indices, const Tensor& in, int64_t dim,
               bool descending) {
  if (values.numel() == 0) return;
  if (is_complex(in.dtype())) detail::throw_no_dtype("sort", in.dtype());
  const Context context(in.device());
  const LineSort s(in, dim, descending);
  write_sorted("sort", context, in.device(), s, Lines(values, dim), Lines(indices, dim),
               s.n.divisor);
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
    searchsorted_kernel(const char* sorted, const char* values, const KeyRule rule, int64_t n,
                        int64_t row_step, const Divider m, bool right, int64_t* out,
                        int64_t total) {
  for (int64_t e = thread_index(); e < total; e += thread_count()) {
    int64_t row, rest;
    m.divide(e, row, rest);
    const int item = rule.bits / 8;
    const char* line = sorted + row * row_step * item;
    const uint64_t key = rule.at(values + e * item);
    const bool is_nan = rule.is_nan(key);
    int64_t low = 0, high = n;
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      const uint64_t x = rule.at(line + middle * item);
      // NaN stands behind all numbers, as `sort` puts it.
      const bool number = !rule.is_nan(x);
      if (right ? is_nan || (number && x <= key) : number && (is_nan || x < key))
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
      KeyRule(values.dtype()), n, sorted.sizes()[0] == 1 ? 0 : n, Divider(values.sizes()[1]), right,
      static_cast<int64_t*>(out.data_ptr()), total);
  context.launched("searchsorted");
}

}  // namespace

void write_unsorted(const char* op, const Context& context, const LineSort& s, const Lines& values,
                    const Lines& indices, int64_t keep) {
  const int64_t total = s.lines() * keep;
  write_lines_kernel<<<blocks_for(total), kThreads, 0, context.stream>>>(
      s, nullptr, KeyArray{}, values, indices, Divider(keep), total);
  context.launched(op);
}

void write_sorted(const char* op, const Context& context, Device device, const LineSort& s,
                  const Lines& values, const Lines& indices, int64_t keep) {
  if (sort_in_blocks(context, s, values, indices, keep)) return context.launched(op);
  const int bits = line_key_bits(s);
  SortedKeys sorted(context, device, s.total, bits);
  sort_lines(context, s, sorted);
  const int64_t total = s.lines() * keep;
  write_lines_kernel<<<blocks_for(total), kThreads, 0, context.stream>>>(
      s, sorted.positions(), bits <= 64 ? sorted.keys() : KeyArray{}, values, indices,
      Divider(keep), total);
  context.launched(op);
}

void register_sort() {
  fill_slots<On<sort_slot, sort_cuda>, On<repeat_counts_slot, repeat_counts_cuda>,
             On<searchsorted_slot, searchsorted_cuda>>(kCUDA);
}

}  // namespace taeda::inline v0_2::gpu
