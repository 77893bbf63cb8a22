// What has a certain rank in a line, found without sorting the line: digit by digit of its key.
//
// Note [Digits]
// The highest eight bits of the keys are counted; those keys that share them with the key of the
// wanted rank are kept for the next eight, and so on. Whichever keys there are, a pass looks at no
// more of them than the one before, and usually at a small part. The last few are sorted.
#include <algorithm>
#include <limits>
#include <vector>

#include "taeda/base/parallel_for.h"
#include "taeda/cpu/kernels/keys.h"
#include "taeda/kernels/reduce.h"
#include "taeda/kernels/sort.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

namespace {

/// A key and its number, from 0, among those that are equal to it.
template <class U>
struct Ranked {
  U key;
  int64_t among;
};

/// Below, comparing is quicker than counting.
constexpr int64_t kFew = 48;
/// Above, counts would not fit.
constexpr int64_t kMost = std::numeric_limits<uint32_t>::max();

/// The key of `rank`, from 0, among keys[0, n), which are put into another order.
template <class U>
Ranked<U> select_key(U* keys, int64_t n, int64_t rank) {
  int shift = n <= kMost ? 8 * (static_cast<int>(sizeof(U)) - 1) : -1;
  for (; shift >= 0 && n > kFew; shift -= 8) {
    // Neighbours often share a digit: two counts do not wait for each other.
    uint32_t counts[2][256] = {};
    int64_t i = 0;
    for (; i + 2 <= n; i += 2) {
      ++counts[0][keys[i] >> shift & 255];
      ++counts[1][keys[i + 1] >> shift & 255];
    }
    if (i < n) ++counts[0][keys[i] >> shift & 255];
    int64_t before = 0;
    uint32_t digit = 0;
    while (before + counts[0][digit] + counts[1][digit] <= rank) {
      before += counts[0][digit] + counts[1][digit];
      ++digit;
    }
    rank -= before;
    if (counts[0][digit] + counts[1][digit] == static_cast<uint64_t>(n)) continue;
    int64_t kept = 0;
    for (int64_t k = 0; k < n; ++k) {  // written in any case: a branch would be guessed
      const U key = keys[k];
      keys[kept] = key;
      kept += (key >> shift & 255) == digit;
    }
    n = kept;
  }
  std::nth_element(keys, keys + rank, keys + n);
  const U key = keys[rank];
  return {key, rank - (std::partition(keys, keys + rank, [key](U k) { return k < key; }) - keys)};
}

/// Where in a line the key is that stands `among` others like it.
template <class U>
int64_t find_key(const U* keys, int64_t n, const Ranked<U>& wanted) {
  constexpr int64_t kBlock = 64;
  int64_t left = wanted.among + 1;
  for (int64_t at = 0; at < n; at += kBlock) {
    const int64_t end = std::min(n, at + kBlock);
    int32_t equal = 0;
    for (int64_t i = at; i < end; ++i) equal += keys[i] == wanted.key;
    if (equal < left) {
      left -= equal;
      continue;
    }
    for (int64_t i = at;; ++i) {
      left -= keys[i] == wanted.key;
      if (left == 0) return i;
    }
  }
  return 0;
}

/// Which rank is wanted of a line of n elements, of which `nans` are NaN; their keys are the
/// largest.
enum class Wanted { Kth, Median, NanMedian };

int64_t rank_of(Wanted wanted, int64_t k, int64_t n, int64_t nans) {
  if (wanted == Wanted::Kth) return k - 1;
  if (wanted == Wanted::Median) return nans > 0 ? n - nans : (n - 1) / 2;
  return std::max<int64_t>(n - nans - 1, 0) / 2;
}

template <class T>
void select_lines(const Tensor& values, const Tensor& indices, const Tensor& in, int64_t dim,
                  Wanted wanted, int64_t k) {
  using U = key_of_size<sizeof(T)>;
  int64_t outer = 1, n = 1, inner = 1;
  for (int64_t d = 0; d < in.dim(); ++d) (d < dim ? outer : d == dim ? n : inner) *= in.sizes()[d];
  const T* x = static_cast<const T*>(in.data_ptr());
  T* value = values.defined() ? static_cast<T*>(values.data_ptr()) : nullptr;
  int64_t* index = indices.data_ptr<int64_t>();
  const auto size = static_cast<size_t>(n);
  parallel_for(0, outer * inner, std::max<int64_t>(1, kParallelGrain / (8 * n)),
               [&](int64_t begin, int64_t end) {
                 std::vector<U> keys(size), work(size);
                 for (int64_t r = begin; r < end; ++r) {
                   const T* const line = x + r / inner * n * inner + r % inner;
                   for (int64_t i = 0; i < n; ++i)
                     work[static_cast<size_t>(i)] = keys[static_cast<size_t>(i)] =
                         to_key(line[i * inner]);
                   int64_t nans = 0;
                   if constexpr (!std::is_integral_v<T>)
                     for (const U key : keys) nans += key == static_cast<U>(~U{0});
                   const int64_t rank = rank_of(wanted, k, n, nans);
                   index[r] = find_key(keys.data(), n, select_key(work.data(), n, rank));
                   if (value) value[r] = line[index[r] * inner];
                 }
               });
}

void median_kernel(const Tensor& values, const Tensor& indices, const Tensor& in, int64_t dim) {
  dispatch(RealTypes{}, "median", in.dtype(),
           [&]<class T>() { select_lines<T>(values, indices, in, dim, Wanted::Median, 0); });
}

void nanmedian_kernel(const Tensor& values, const Tensor& indices, const Tensor& in, int64_t dim) {
  dispatch(RealBoolTypes{}, "nanmedian", in.dtype(),
           [&]<class T>() { select_lines<T>(values, indices, in, dim, Wanted::NanMedian, 0); });
}

void kthvalue_kernel(const Tensor& values, const Tensor& indices, const Tensor& in, int64_t dim,
                     int64_t k) {
  dispatch(RealBoolTypes{}, "kthvalue", in.dtype(),
           [&]<class T>() { select_lines<T>(values, indices, in, dim, Wanted::Kth, k); });
}

}  // namespace

void register_select() {
  fill_slots<On<median_slot, median_kernel>, On<nanmedian_slot, nanmedian_kernel>,
             On<kthvalue_slot, kthvalue_kernel>>(kCPU);
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
