// Sorting along a dimension. Values become unsigned keys of the same order, so that one radix sort
// per key width serves all dtypes, ascending and descending.
#include "taeda/kernels/sort.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "taeda/base/parallel_for.h"
#include "taeda/cpu/kernels/keys.h"
#include "taeda/cpu/kernels/strided.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

namespace {

/// Indices have 32 bits: longer lines are refused.
template <class U>
struct Entry {
  U key;
  uint32_t index;
  friend bool operator<(const Entry& a, const Entry& b) {
    return a.key != b.key ? a.key < b.key : a.index < b.index;
  }
};

/// Sorts by key, keeping the order of equal ones: least significant byte first. `spare` is as
/// large.
template <class U>
void radix_sort(std::vector<Entry<U>>& list, std::vector<Entry<U>>& spare) {
  uint32_t counts[sizeof(U)][256] = {};
  for (const Entry<U>& e : list)
    for (size_t d = 0; d < sizeof(U); ++d) ++counts[d][e.key >> 8 * d & 255];
  for (size_t shift = 0; shift < 8 * sizeof(U); shift += 8) {
    const uint32_t* const count = counts[shift / 8];
    if (*std::max_element(count, count + 256) == list.size()) continue;  // one digit for all
    size_t start[256];
    size_t sum = 0;
    for (int i = 0; i < 256; sum += count[i++]) start[i] = sum;
    for (const Entry<U>& e : list) spare[start[e.key >> shift & 255]++] = e;
    list.swap(spare);
  }
}

constexpr size_t kRadixFrom = 512;
/// topk lists candidates alone in lines of at least so many elements, and up to this share of them.
constexpr int64_t kCandidatesFrom = 128, kCandidatesShare = 16;

/// The lines of several tensors along `dim`.
struct Lines {
  int64_t count = 1;
  DimVector sizes;
  int64_t dim;

  Lines(const Tensor& t, int64_t d) : sizes(t.sizes()), dim(d) {
    for (int64_t i = 0; i < t.dim(); ++i)
      if (i != dim) count *= sizes[i];
  }
  int64_t offset(const Tensor& t, int64_t line) const {
    int64_t out = 0;
    for (int64_t d = t.dim() - 1; d >= 0; --d) {
      if (d == dim) continue;
      out += line % sizes[d] * t.strides()[d];
      line /= sizes[d];
    }
    return out;
  }
};

/// What ordering a line needs, kept from line to line.
template <class U>
struct Work {
  std::vector<Entry<U>> list, spare;
  std::vector<U> keys, minima;
};

/// Visits every line of `in`: `order(work, line, step, n, flip)` puts at least values.size(dim)
/// entries in order at the front of `work.list`, and their values and indices are written.
template <class T, class Order>
void order_lines(const Tensor& values, const Tensor& indices, const Tensor& in, int64_t dim,
                 bool descending, Order order) {
  using U = key_of_size<sizeof(T)>;
  const Lines lines(in, dim);
  TAEDA_CHECK(in.sizes()[dim] <= int64_t{0xffffffff},
              "sort: at most 2^32 - 1 elements of a line, but there are ", in.sizes()[dim]);
  const int64_t n = in.sizes()[dim], keep = values.sizes()[dim];
  const int64_t in_step = in.strides()[dim], value_step = values.strides()[dim],
                index_step = indices.strides()[dim];
  const U flip = descending ? static_cast<U>(~U{0}) : U{0};
  const int64_t grain = std::max<int64_t>(1, kParallelGrain / 8 / std::max<int64_t>(n, 1));
  parallel_for(0, lines.count, grain, [&](int64_t begin, int64_t end) {
    Work<U> work;
    for (int64_t line = begin; line < end; ++line) {
      const T* from = static_cast<const T*>(in.data_ptr()) + lines.offset(in, line);
      order(work, from, in_step, n, flip);
      T* value = static_cast<T*>(values.data_ptr()) + lines.offset(values, line);
      int64_t* index = static_cast<int64_t*>(indices.data_ptr()) + lines.offset(indices, line);
      for (int64_t i = 0; i < keep; ++i) {
        const int64_t at = work.list[static_cast<size_t>(i)].index;
        index[i * index_step] = at;
        value[i * value_step] = from[at * in_step];
      }
    }
  });
}

/// Entries of a whole line, in its order.
template <class T, class U>
void list_line(std::vector<Entry<U>>& list, const T* from, int64_t step, int64_t n, U flip) {
  list.resize(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i)
    list[static_cast<size_t>(i)] = {static_cast<U>(to_key(from[i * step]) ^ flip),
                                    static_cast<uint32_t>(i)};
}

/// Puts all entries of a line that can be among the k smallest to the front of `work.list` and
/// returns how many: those up to the k-th smallest of the minima of 2 k groups, few more than k.
template <class T, class U>
int64_t list_candidates(Work<U>& work, int64_t k, const T* from, int64_t step, int64_t n, U flip) {
  constexpr int64_t kBlock = 32;
  const int64_t groups = (2 * k + 63) / 64 * 64;
  work.keys.resize(static_cast<size_t>(n));
  U* keys = work.keys.data();
  if (step == 1)
    for (int64_t i = 0; i < n; ++i) keys[i] = static_cast<U>(to_key(from[i]) ^ flip);
  else
    for (int64_t i = 0; i < n; ++i) keys[i] = static_cast<U>(to_key(from[i * step]) ^ flip);

  work.minima.assign(keys, keys + groups);
  U* minima = work.minima.data();
  for (int64_t at = groups; at + groups <= n; at += groups)
#pragma GCC ivdep
    for (int64_t g = 0; g < groups; ++g) minima[g] = std::min(minima[g], keys[at + g]);
  std::nth_element(minima, minima + k - 1, minima + groups);
  const U bound = minima[k - 1];

  work.list.resize(static_cast<size_t>(n));
  Entry<U>* list = work.list.data();
  int64_t found = 0;
  for (int64_t at = 0; at < n; at += kBlock) {
    const int64_t count = std::min(kBlock, n - at);
    if (count == kBlock) {
      U smallest = keys[at];
      for (int64_t i = 1; i < kBlock; ++i) smallest = std::min(smallest, keys[at + i]);
      if (smallest > bound) continue;
    }
    for (int64_t i = at; i < at + count; ++i) {  // written in any case: a branch would be guessed
      list[found] = {keys[i], static_cast<uint32_t>(i)};
      found += keys[i] <= bound;
    }
  }
  return found;
}

/// A line of bytes: how often each occurs tells where it goes.
template <class T>
void count_line(const T* from, int64_t step, int64_t n, uint8_t flip, T* value, int64_t value_step,
                int64_t* index, int64_t index_step) {
  constexpr int kApart = 4;  // counts, so that equal neighbours do not wait for each other
  uint32_t counts[kApart][256] = {};
  const auto key = [&](int64_t i) { return static_cast<uint8_t>(to_key(from[i * step]) ^ flip); };
  for (int64_t i = 0; i < n; ++i) ++counts[i % kApart][key(i)];
  int64_t* next[256];
  for (int k = 0; k < 256; ++k) {
    next[k] = index;
    for (int c = 1; c < kApart; ++c) counts[0][k] += counts[c][k];
    index += counts[0][k] * index_step;
  }
  for (int64_t i = 0; i < n; ++i) {
    int64_t*& to = next[key(i)];
    *to = i;
    to += index_step;
  }
  for (int k = 0; k < 256; ++k) {
    if (counts[0][k] == 0) continue;
    const T each = from[*(next[k] - index_step) * step];
    for (uint32_t i = 0; i < counts[0][k]; ++i, value += value_step) *value = each;
  }
}

template <class T>
void count_bytes(const Tensor& values, const Tensor& indices, const Tensor& in, int64_t dim,
                 bool descending) {
  const Lines lines(in, dim);
  const int64_t n = in.sizes()[dim];
  parallel_for(0, lines.count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line)
      count_line(static_cast<const T*>(in.data_ptr()) + lines.offset(in, line), in.strides()[dim],
                 n, descending ? uint8_t{255} : uint8_t{0},
                 static_cast<T*>(values.data_ptr()) + lines.offset(values, line),
                 values.strides()[dim],
                 static_cast<int64_t*>(indices.data_ptr()) + lines.offset(indices, line),
                 indices.strides()[dim]);
  });
}

void sort_kernel(const Tensor& values, const Tensor& indices, const Tensor& in, int64_t dim,
                 bool descending) {
  const auto n = static_cast<uint64_t>(in.sizes()[dim]);
  dispatch(RealBoolTypes{}, "sort", in.dtype(), [&]<class T>() {
    if constexpr (sizeof(T) == 1)
      if (n >= kRadixFrom && n <= 0xffffffffu)
        return count_bytes<T>(values, indices, in, dim, descending);
    order_lines<T>(values, indices, in, dim, descending,
                   [](auto& work, const T* from, int64_t step, int64_t n, auto flip) {
                     list_line(work.list, from, step, n, flip);
                     if (work.list.size() >= kRadixFrom) {
                       work.spare.resize(work.list.size());
                       radix_sort(work.list, work.spare);
                     } else {
                       std::sort(work.list.begin(), work.list.end());
                     }
                   });
  });
}

void topk_kernel(const Tensor& values, const Tensor& indices, const Tensor& in, int64_t dim,
                 bool largest) {
  const int64_t k = values.sizes()[dim];
  if (k == 0) return;
  dispatch(RealBoolTypes{}, "topk", in.dtype(), [&]<class T>() {
    order_lines<T>(values, indices, in, dim, largest,
                   [k](auto& work, const T* from, int64_t step, int64_t n, auto flip) {
                     int64_t listed = n;
                     if (n >= kCandidatesFrom && k <= n / kCandidatesShare)
                       listed = list_candidates(work, k, from, step, n, flip);
                     else
                       list_line(work.list, from, step, n, flip);
                     const auto first = work.list.begin(), last = first + k;
                     if (k < listed) std::nth_element(first, last - 1, first + listed);
                     std::sort(first, last);
                   });
  });
}

void repeat_counts_kernel(const Tensor& out, const Tensor& counts) {
  const int64_t* count = static_cast<const int64_t*>(counts.data_ptr());
  int64_t* to = static_cast<int64_t*>(out.data_ptr());
  for (int64_t i = 0; i < counts.numel(); ++i) to = std::fill_n(to, count[i], i);
}

/// How many of n numbers, in order, are `below`. Without a branch, which would be guessed.
template <class T, class Below>
TAEDA_ALWAYS_INLINE int64_t count_below(const T* row, int64_t n, Below below) {
  const T* from = row;
  for (int64_t half = n / 2; n > 1; n -= half, half = n / 2)
    from += half & -static_cast<int64_t>(below(from[half - 1]));
  return from - row + (n == 1 && below(*from) ? 1 : 0);
}

void searchsorted_kernel(const Tensor& out, const Tensor& sorted, const Tensor& values,
                         bool right) {
  const int64_t n = sorted.sizes()[1], m = values.sizes()[1];
  const int64_t row_step = sorted.sizes()[0] == 1 ? 0 : n;
  dispatch(RealTypes{}, "searchsorted", values.dtype(), [&]<class T>() {
    const T* rows = static_cast<const T*>(sorted.data_ptr());
    const T* from = static_cast<const T*>(values.data_ptr());
    int64_t* to = static_cast<int64_t*>(out.data_ptr());
    parallel_for(0, values.numel(), 1024, [&](int64_t begin, int64_t end) {
      const auto is_number = [](const T& x) { return x == x; };
      const auto search = [&](auto below) {
        for (int64_t i = begin; i < end; ++i) {
          const T* row = rows + i / m * row_step;
          const T value = from[i];
          // NaN stands behind all numbers, as `sort` puts it.
          if (value != value) [[unlikely]]
            to[i] = right ? n : count_below(row, n, is_number);
          else
            to[i] = count_below(row, n, [&](const T& x) { return below(x, value); });
        }
      };
      if (right)
        search([](T x, T value) { return x <= value; });
      else
        search([](T x, T value) { return x < value; });
    });
  });
}

}  // namespace

void register_sort() {
  fill_slots<On<sort_slot, sort_kernel>, On<topk_slot, topk_kernel>,
             On<repeat_counts_slot, repeat_counts_kernel>,
             On<searchsorted_slot, searchsorted_kernel>>(kCPU);
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
