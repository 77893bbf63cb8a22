// topk, kthvalue and medians: what has a certain rank in a line, found without sorting the line.
//
// Note [Selection]
// The key of the wanted rank is found digit by digit, the highest first: a count of the digits of
// those keys that begin as it does tells which digit holds the rank. One more pass picks the
// elements before it and as many of its equals as the rank asks for, the first ones in the line;
// only they are sorted. A block does all of that for a line, which it reads once if the keys have
// room in its shared memory. Few long lines are shared by many blocks, a launch for each step.
#include "taeda/cuda/kernels/lines.cuh"
#include "taeda/cuda/register.h"
#include "taeda/kernels/reduce.h"
#include "taeda/kernels/sort.h"

namespace taeda::inline v0_2::gpu {

namespace {

constexpr int kDigitBits = 11, kBins = 1 << kDigitBits;
constexpr size_t kKeptKeys = 36 * 1024;  // bytes; the bins take 8 KiB, and any device has 48
constexpr int kEach = 4;                 // neighbouring elements that a thread picks from
constexpr int64_t kFewLines = 128, kLongLine = 16384;

/// A rank in a line, and what is known of its key.
struct Rank {
  uint64_t key;    // its highest digits; the others are 0
  uint32_t among;  // its number, from 1, among the keys that begin so
};

/// What is wanted of every line: all up to a rank, or the element of a rank, which may depend on
/// how many are NaN. Of a median with NaN that is the first NaN.
enum class Pick { All, Kth, Median, NanMedian };
struct Wanted {
  uint32_t rank;  // from 1, in the order of the sort
  Pick pick;
  int64_t keep;      // elements
  int64_t lines, n;  // of the input

  __device__ bool one() const { return pick != Pick::All; }
  __device__ bool counts_nans() const { return pick == Pick::Median || pick == Pick::NanMedian; }
  /// The rank, of which no digit is known, in a line with so many NaNs.
  __device__ Rank first_rank(const KeyRule& rule, uint32_t nans) const {
    if (nans == 0 || !counts_nans()) return {0, rank};
    if (pick == Pick::Median) return {rule.largest(), 1};
    const auto numbers = static_cast<uint32_t>(n) - nans;
    return {0, numbers == 0 ? 1 : (numbers - 1) / 2 + 1};
  }
};

/// Sums of the values of the threads before this one, and of all. All threads of the block take
/// part.
__device__ uint32_t sum_before(uint32_t value, uint32_t& all) {
  __shared__ uint32_t warps[kThreads / 32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  uint32_t sum = value;
  for (int d = 1; d < 32; d *= 2) {
    const uint32_t other = __shfl_up_sync(0xffffffffu, sum, d);
    if (lane >= d) sum += other;
  }
  __syncthreads();  // the previous call's values have been read
  if (lane == 31) warps[warp] = sum;
  __syncthreads();
  uint32_t before = 0;
  all = 0;
  for (int w = 0; w < kThreads / 32; ++w) {
    if (w < warp) before += warps[w];
    all += warps[w];
  }
  return before + sum - value;
}

/// Calls f(i, key) for this thread's elements among [begin, end) of a line.
template <class F>
__device__ void for_each_key(const LineSort& s, int64_t line, int64_t begin, int64_t end, F&& f) {
  const char* from = s.in.at(line, 0);
  s.rule.with_bits([&]<class U>(U) {
    int64_t i = begin + threadIdx.x;
    for (; i + 3 * kThreads < end; i += 4 * kThreads) {
      U x[4];
#pragma unroll
      for (int k = 0; k < 4; ++k)
        x[k] = *reinterpret_cast<const U*>(from + (i + k * kThreads) * s.in.step);
#pragma unroll
      for (int k = 0; k < 4; ++k) f(i + k * kThreads, s.turned(s.rule.key(x[k])));
    }
    for (; i < end; i += kThreads)
      f(i, s.turned(s.rule.key(*reinterpret_cast<const U*>(from + i * s.in.step))));
  });
}

__device__ void clear_bins(uint32_t* bins) {
  for (int b = threadIdx.x; b < kBins; b += kThreads) bins[b] = 0;
}
/// Counts a key's digit [low, high) if the digits above are the rank's.
__device__ void count_digit(uint32_t* bins, const LineSort& s, const Rank& rank, int low, int high,
                            uint64_t key) {
  if (high < s.rule.bits && (key ^ rank.key) >> high != 0) return;
  atomicAdd(&bins[key >> low & (uint64_t{1} << (high - low)) - 1], 1u);
}

/// The rank with one more digit, whose counts are in `bins`. All threads of the block get it.
__device__ Rank with_digit(const uint32_t* bins, Rank rank, int low) {
  constexpr int kMine = kBins / kThreads;
  __shared__ Rank found;
  uint32_t sum = 0, all;
  for (int k = 0; k < kMine; ++k) sum += bins[threadIdx.x * kMine + k];
  uint32_t before = sum_before(sum, all);
  if (before < rank.among && rank.among <= before + sum) {
    int digit = threadIdx.x * kMine;
    while (before + bins[digit] < rank.among) before += bins[digit++];
    found = {rank.key | static_cast<uint64_t>(digit) << low, rank.among - before};
  }
  __syncthreads();
  return found;
}

/// Picks from [begin, end) of a line; `key(i)` is the key of an element. `less` and `equal` are how
/// many elements before `begin` are less than the rank's key and equal to it.
template <class Key>
__device__ void pick(const Wanted& w, const Rank& rank, int64_t begin, int64_t end, uint32_t less,
                     uint32_t equal, const Key& key, uint32_t* picked) {
  const uint32_t all_less = w.one() ? 0 : w.rank - rank.among;
  for (int64_t at = begin; at < end; at += kEach * kThreads) {
    const int64_t first = at + kEach * static_cast<int64_t>(threadIdx.x);
    uint64_t k[kEach];
#pragma unroll
    for (int q = 0; q < kEach; ++q) k[q] = first + q < end ? key(first + q) : ~uint64_t{0};
    uint32_t counts = 0, all;  // two numbers of 16 bits
#pragma unroll
    for (int q = 0; q < kEach; ++q)
      if (first + q < end) counts += (k[q] < rank.key) + ((k[q] == rank.key) << 16);
    const uint32_t before = sum_before(counts, all);
    uint32_t l = less + (before & 0xffff), e = equal + (before >> 16);
#pragma unroll
    for (int q = 0; q < kEach; ++q) {
      if (first + q >= end) break;
      const uint32_t i = static_cast<uint32_t>(first + q);
      if (k[q] < rank.key) {
        if (!w.one()) picked[l++] = i;
      } else if (k[q] == rank.key) {
        ++e;
        if (w.one() ? e == rank.among : e <= rank.among) picked[w.one() ? 0 : all_less + e - 1] = i;
      }
    }
    less += all & 0xffff;
    equal += all >> 16;
    if ((w.one() || less == all_less) && equal >= rank.among) return;
  }
}

/// A block for each line. K: what a key has room in.
template <class K>
__global__ void __launch_bounds__(kThreads)
    select_lines_kernel(const __grid_constant__ LineSort s, const Wanted w, bool keeps,
                        uint32_t* picked) {
  extern __shared__ ::uint4 kept_keys[];
  __shared__ uint32_t bins[kBins];
  K* kept = reinterpret_cast<K*>(kept_keys);
  for (int64_t line = blockIdx.x; line < w.lines; line += gridDim.x) {
    Rank rank{0, w.rank};
    for (int high = s.rule.bits; high > 0; high -= kDigitBits) {
      const int low = high > kDigitBits ? high - kDigitBits : 0;
      const bool first = high == s.rule.bits;
      uint32_t nans = 0;
      clear_bins(bins);
      __syncthreads();
      const auto count = [&](int64_t i, uint64_t key) {
        if (first && keeps) kept[i] = static_cast<K>(key);
        if (first && w.counts_nans()) nans += s.rule.is_nan(key);
        count_digit(bins, s, rank, low, high, key);
      };
      if (first || !keeps)
        for_each_key(s, line, 0, w.n, count);
      else
        for (int64_t i = threadIdx.x; i < w.n; i += kThreads) count(i, kept[i]);
      if (first && w.counts_nans()) {
        sum_before(nans, nans);
        rank = w.first_rank(s.rule, nans);
        if (rank.key != 0) break;
      }
      __syncthreads();
      rank = with_digit(bins, rank, low);
    }
    __syncthreads();
    const auto key = [&](int64_t i) { return keeps ? uint64_t{kept[i]} : s.key(line, i); };
    pick(w, rank, 0, w.n, 0, 0, key, picked + line * w.keep);
    __syncthreads();  // before the keys of the next line come
  }
}

/// How few lines are shared by blocks: (segments, lines) of them.
struct Segments {
  int64_t length, count;
  uint32_t *bins, *nans;  // of each line
  Rank* ranks;
  uint32_t* counts;  // of each segment: elements that are less, and equal ones

  __device__ int64_t begin() const { return blockIdx.x * length; }
  __device__ int64_t end(int64_t n) const { return begin() + length < n ? begin() + length : n; }
};

__global__ void __launch_bounds__(kThreads)
    count_digits_kernel(const __grid_constant__ LineSort s, const Wanted w, const Segments g,
                        int low, int high) {
  __shared__ uint32_t bins[kBins];
  const int64_t line = blockIdx.y;
  const bool first = high == s.rule.bits;
  const Rank rank = first ? Rank{0, w.rank} : g.ranks[line];
  uint32_t nans = 0;
  clear_bins(bins);
  __syncthreads();
  for_each_key(s, line, g.begin(), g.end(w.n), [&](int64_t, uint64_t key) {
    if (first && w.counts_nans()) nans += s.rule.is_nan(key);
    count_digit(bins, s, rank, low, high, key);
  });
  __syncthreads();
  if (nans > 0) atomicAdd(&g.nans[line], nans);
  for (int b = threadIdx.x; b < kBins; b += kThreads)
    if (bins[b] > 0) atomicAdd(&g.bins[line * kBins + b], bins[b]);
}

/// A block for each line. Leaves the bins empty.
__global__ void __launch_bounds__(kThreads)
    choose_digits_kernel(const __grid_constant__ LineSort s, const Wanted w, const Segments g,
                         int low, int high) {
  __shared__ uint32_t bins[kBins];
  const int64_t line = blockIdx.x;
  for (int b = threadIdx.x; b < kBins; b += kThreads) {
    bins[b] = g.bins[line * kBins + b];
    g.bins[line * kBins + b] = 0;
  }
  __syncthreads();
  Rank rank = high == s.rule.bits ? w.first_rank(s.rule, g.nans[line]) : g.ranks[line];
  if (w.pick != Pick::Median || g.nans[line] == 0) rank = with_digit(bins, rank, low);
  if (threadIdx.x == 0) g.ranks[line] = rank;
}

__global__ void __launch_bounds__(kThreads)
    count_segments_kernel(const __grid_constant__ LineSort s, const Wanted w, const Segments g) {
  const Rank rank = g.ranks[blockIdx.y];
  uint32_t less = 0, equal = 0;
  for_each_key(s, blockIdx.y, g.begin(), g.end(w.n), [&](int64_t, uint64_t key) {
    less += key < rank.key;
    equal += key == rank.key;
  });
  sum_before(less, less);
  sum_before(equal, equal);
  if (threadIdx.x != 0) return;
  uint32_t* counts = g.counts + 2 * (blockIdx.y * g.count + blockIdx.x);
  counts[0] = less;
  counts[1] = equal;
}

__global__ void __launch_bounds__(kThreads)
    pick_segments_kernel(const __grid_constant__ LineSort s, const Wanted w, const Segments g,
                         uint32_t* picked) {
  const int64_t line = blockIdx.y;
  const Rank rank = g.ranks[line];
  const uint32_t* counts = g.counts + 2 * line * g.count;
  uint32_t less = 0, equal = 0;
  for (int64_t k = threadIdx.x; k < blockIdx.x; k += kThreads) {
    less += counts[2 * k];
    equal += counts[2 * k + 1];
  }
  sum_before(less, less);
  sum_before(equal, equal);
  pick(
      w, rank, g.begin(), g.end(w.n), less, equal, [&](int64_t i) { return s.key(line, i); },
      picked + line * w.keep);
}

void select_from_long_lines(const Context& context, Device device, const LineSort& s,
                            const Wanted& w, uint32_t* picked) {
  constexpr int64_t kBlocks = 1024;
  const int64_t wanted = (w.n * w.lines + kBlocks - 1) / kBlocks;
  Segments g{};
  g.length = std::max<int64_t>(8192, (wanted + 1023) / 1024 * 1024);
  g.count = (w.n + g.length - 1) / g.length;
  const int64_t cleared = w.lines * (kBins + 1) * static_cast<int64_t>(sizeof(uint32_t));
  const Scratch bins(device, cleared), ranks(device, w.lines * static_cast<int64_t>(sizeof(Rank))),
      counts(device, w.lines * g.count * 2 * static_cast<int64_t>(sizeof(uint32_t)));
  g.bins = bins.as<uint32_t>();
  g.nans = g.bins + w.lines * kBins;
  g.ranks = ranks.as<Rank>();
  g.counts = counts.as<uint32_t>();
  check(cudaMemsetAsync(g.bins, 0, static_cast<size_t>(cleared), context.stream), "topk");
  const dim3 grid(static_cast<unsigned>(g.count), static_cast<unsigned>(w.lines));
  const dim3 lines(static_cast<unsigned>(w.lines));
  for (int high = s.rule.bits; high > 0; high -= kDigitBits) {
    const int low = high > kDigitBits ? high - kDigitBits : 0;
    count_digits_kernel<<<grid, kThreads, 0, context.stream>>>(s, w, g, low, high);
    choose_digits_kernel<<<lines, kThreads, 0, context.stream>>>(s, w, g, low, high);
  }
  count_segments_kernel<<<grid, kThreads, 0, context.stream>>>(s, w, g);
  pick_segments_kernel<<<grid, kThreads, 0, context.stream>>>(s, w, g, picked);
}

/// `picked`: w.keep elements of each line, those of one key in the order of their places.
void select(const char* op, const Context& context, Device device, const LineSort& s,
            const Wanted& w, uint32_t* picked) {
  TAEDA_CHECK(w.n < int64_t{1} << 32, op,
              " on cuda: at most 2^32 - 1 elements of a line, but there are ", w.n);
  const bool small = s.rule.bits <= 32;
  const size_t bytes = static_cast<size_t>(w.n) * (small ? 4 : 8);
  const bool keeps = bytes <= kKeptKeys;
  if (w.lines < kFewLines && w.n >= kLongLine) {
    select_from_long_lines(context, device, s, w, picked);
  } else {
    const unsigned blocks = static_cast<unsigned>(std::min<int64_t>(w.lines, 1 << 20));
    const auto run = [&]<class K>(K) {
      select_lines_kernel<K>
          <<<blocks, kThreads, keeps ? bytes : 0, context.stream>>>(s, w, keeps, picked);
    };
    small ? run(uint32_t()) : run(uint64_t());
  }
  context.launched(op);
}

void topk_cuda(const Tensor& values, const Tensor& indices, const Tensor& in, int64_t dim,
               bool largest) {
  if (values.numel() == 0) return;
  if (is_complex(in.dtype())) detail::throw_no_dtype("topk", in.dtype());
  const Context context(in.device());
  const Device device = in.device();
  const LineSort s(in, dim, largest);
  const int64_t k = values.dim() > 0 ? values.sizes()[dim] : 1;
  const Lines v(values, dim), i(indices, dim);
  if (2 * k > s.n.divisor) return write_sorted("topk", context, device, s, v, i, k);
  const Scratch picked(device, s.lines() * k * static_cast<int64_t>(sizeof(uint32_t)));
  const Wanted w{static_cast<uint32_t>(k), Pick::All, k, s.lines(), s.n.divisor};
  select("topk", context, device, s, w, picked.as<uint32_t>());
  const LineSort found = s.of_picked(picked.as<uint32_t>(), k);
  if (k == 1) return write_unsorted("topk", context, found, v, i, 1);
  write_sorted("topk", context, device, found, v, i, k);
}

/// The element of one rank of each line.
void pick_one(const char* op, const Tensor& values, const Tensor& indices, const Tensor& in,
              int64_t dim, int64_t rank, Pick pick) {
  if (indices.numel() == 0) return;
  const Context context(in.device());
  const LineSort s(in, dim, false);
  const Scratch picked(in.device(), s.lines() * static_cast<int64_t>(sizeof(uint32_t)));
  const Wanted w{static_cast<uint32_t>(rank), pick, 1, s.lines(), s.n.divisor};
  select(op, context, in.device(), s, w, picked.as<uint32_t>());
  write_unsorted(op, context, s.of_picked(picked.as<uint32_t>(), 1), Lines::of_elements(values),
                 Lines::of_elements(indices), 1);
}

int64_t median_rank(const Tensor& in, int64_t dim) {
  return in.dim() == 0 ? 1 : (in.sizes()[dim] - 1) / 2 + 1;
}

void median_cuda(const Tensor& values, const Tensor& indices, const Tensor& in, int64_t dim) {
  pick_one("median", values, indices, in, dim, median_rank(in, dim), Pick::Median);
}
void nanmedian_cuda(const Tensor& values, const Tensor& indices, const Tensor& in, int64_t dim) {
  pick_one("nanmedian", values, indices, in, dim, median_rank(in, dim), Pick::NanMedian);
}
void kthvalue_cuda(const Tensor& values, const Tensor& indices, const Tensor& in, int64_t dim,
                   int64_t k) {
  if (is_complex(in.dtype())) detail::throw_no_dtype("kthvalue", in.dtype());
  pick_one("kthvalue", values, indices, in, dim, k, Pick::Kth);
}

}  // namespace

void register_select() {
  fill_slots<On<topk_slot, topk_cuda>, On<kthvalue_slot, kthvalue_cuda>,
             On<median_slot, median_cuda>, On<nanmedian_slot, nanmedian_cuda>>(kCUDA);
}

}  // namespace taeda::inline v0_2::gpu
