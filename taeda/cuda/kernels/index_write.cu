#include <optional>

#include "taeda/cuda/kernels/index.cuh"

namespace taeda::inline v0_2::gpu {

namespace {

template <class W>
__global__ void __launch_bounds__(kThreads)
    write_last_kernel(const __grid_constant__ MeetingWrites w) {
  const int64_t total = w.n * w.width.divisor;
  for (int64_t t = thread_index(); t < total; t += thread_count()) {
    int64_t p, j, at[2], from[1];
    w.width.divide(t, p, j);
    const uint64_t place = w.places[p];
    if (w.is_nowhere(place) || (p + 1 < w.n && w.places[p + 1] == place)) continue;
    w.block.at(j, at);
    W& to = reinterpret_cast<W*>(w.to)[static_cast<int64_t>(place) + at[0]];
    if (w.carried) {
      to = *reinterpret_cast<const W*>(w.entries + p);
      continue;
    }
    w.entry.at(w.entries[p], from);
    to = reinterpret_cast<const W*>(w.values)[from[0] + at[1]];
  }
}

// Note [Long runs]
// Entries of one place add up in their order, whatever the device: a run belongs to a thread. So
// that one that is long does not keep the others waiting, stretches of the sorted entries, of
// kChunk each and cut at multiples of kChunk, that lie in one run are added up beside each other
// first (or multiplied, or their extreme is found: what `how` says); kChunk of such sums make one
// of the next level. A run's thread then takes the sum of a stretch wherever one begins, and single
// entries else. The order depends on the places alone, and a run of less than kChunk entries never
// meets a stretch.
constexpr int kChunkBits = 8;
constexpr int64_t kChunk = int64_t{1} << kChunkBits;
constexpr int kLevels = 3;  // 2^24 entries; SortedKeys takes less than 2^32

/// Entries of a stretch of a level.
__host__ __device__ constexpr int64_t span_of(int level) {
  return int64_t{1} << (kChunkBits * (level + 1));
}

/// Sums of stretches: `sums[l][k * width + j]` is that of element j of the block over the entries
/// [k span, (k + 1) span), where these have one place.
template <class A>
struct StretchSums {
  A* sums[kLevels];
  int levels;
};

/// Element `j` of the block of each entry.
template <class A>
struct EntryValues {
  const MeetingWrites& w;
  const char* values;
  int item;

  __device__ A operator()(int64_t q) const {
    if (w.carried) return load_as<A>(w.entries + q, w.dtype);
    int64_t from[1];
    w.entry.at(w.entries[q], from);
    return load_as<A>(values + from[0] * item, w.dtype);
  }
};

/// Sums of the level below.
template <class A>
struct LowerSums {
  const A* sums;
  int64_t width;
  __device__ A operator()(int64_t k) const { return sums[k * width]; }
};

/// `sum` and values q to q + 3, in this order: four loads are under way at a time.
template <class A, class Value>
__device__ A add_four(Meeting how, A sum, const Value& value, int64_t q) {
  const A a = value(q), b = value(q + 1), c = value(q + 2), d = value(q + 3);
  return meet(how, meet(how, meet(how, meet(how, sum, a), b), c), d);
}

/// The sum of values first to first + kChunk - 1.
template <class A, class Value>
__device__ A add_chunk(Meeting how, const Value& value, int64_t first) {
  const A a = value(first), b = value(first + 1), c = value(first + 2), d = value(first + 3);
  A sum = meet(how, meet(how, meet(how, a, b), c), d);
  for (int64_t q = first + 4; q < first + kChunk; q += 4) sum = add_four(how, sum, value, q);
  return sum;
}

/// Whether a stretch of `span` entries begins at q and is of one place.
__device__ inline bool is_stretch(const MeetingWrites& w, int64_t q, int64_t span) {
  return q % span == 0 && q + span <= w.n && w.places[q + span - 1] == w.places[q];
}

template <class A>
__global__ void __launch_bounds__(kThreads)
    add_stretches_kernel(const __grid_constant__ MeetingWrites w, int item,
                         const __grid_constant__ StretchSums<A> s, int level) {
  const int64_t span = span_of(level), width = w.width.divisor, total = w.n / span * width;
  for (int64_t t = thread_index(); t < total; t += thread_count()) {
    int64_t k, j, at[2];
    w.width.divide(t, k, j);
    if (w.is_nowhere(w.places[k * span]) || !is_stretch(w, k * span, span)) continue;
    if (level > 0) {
      s.sums[level][t] =
          add_chunk<A>(w.how, LowerSums<A>{s.sums[level - 1] + j, width}, k * kChunk);
    } else {
      w.block.at(j, at);
      s.sums[0][t] =
          add_chunk<A>(w.how, EntryValues<A>{w, w.values + at[1] * item, item}, k * kChunk);
    }
  }
}

/// Adds the entries from q on that have q's place, up to the next multiple of kChunk, and moves q
/// behind them.
template <class A>
__device__ A add_piece(A sum, const EntryValues<A>& value, int64_t& q) {
  const MeetingWrites& w = value.w;
  const uint64_t place = w.places[q];
  int64_t end = (q / kChunk + 1) * kChunk;
  if (end > w.n) end = w.n;
  for (; q + 3 < end && w.places[q + 3] == place; q += 4) sum = add_four(w.how, sum, value, q);
  for (; q < end && w.places[q] == place; ++q) sum = meet(w.how, sum, value(q));
  return sum;
}

template <class A>
__global__ void __launch_bounds__(kThreads)
    add_up_kernel(const __grid_constant__ MeetingWrites w, int item,
                  const __grid_constant__ StretchSums<A> s) {
  const int64_t width = w.width.divisor, total = w.n * width;
  for (int64_t t = thread_index(); t < total; t += thread_count()) {
    int64_t p, j, at[2];
    w.width.divide(t, p, j);
    const uint64_t place = w.places[p];
    if (w.is_nowhere(place) || (p > 0 && w.places[p - 1] == place)) continue;
    w.block.at(j, at);
    const EntryValues<A> value{w, w.values + at[1] * item, item};
    char* to = w.to + (static_cast<int64_t>(place) + at[0]) * item;
    A sum = load_as<A>(to, w.dtype);
    for (int64_t q = p; q < w.n && w.places[q] == place;) {
      int level = s.levels - 1;
      while (level >= 0 && !is_stretch(w, q, span_of(level))) --level;
      if (level >= 0) {
        sum = meet(w.how, sum, s.sums[level][q / span_of(level) * width + j]);
        q += span_of(level);
      } else {
        sum = add_piece(sum, value, q);
      }
    }
    store_as<A>(to, w.dtype, sum);
  }
}

}  // namespace

void write_last(const Context& context, const MeetingWrites& w) {
  const int64_t total = w.n * w.width.divisor;
  with_word(element_size(w.dtype), [&]<class W>(W) {
    write_last_kernel<W><<<blocks_for(total), kThreads, 0, context.stream>>>(w);
  });
  context.launched("index_put_");
}

void add_up(const char* op, const Context& context, Device device, const MeetingWrites& w) {
  const int64_t width = w.width.divisor;
  const int item = static_cast<int>(element_size(w.dtype));
  dispatch_compute(AllCompute{}, op, w.dtype, [&]<class A>() {
    StretchSums<A> s{};
    std::optional<Scratch> memory[kLevels];
    for (int l = 0; l < kLevels && w.n >= span_of(l); ++l) {
      const int64_t count = w.n / span_of(l) * width;
      s.sums[l] = memory[l].emplace(device, count * static_cast<int64_t>(sizeof(A))).as<A>();
      s.levels = l + 1;
      add_stretches_kernel<A><<<blocks_for(count), kThreads, 0, context.stream>>>(w, item, s, l);
    }
    add_up_kernel<A><<<blocks_for(w.n * width), kThreads, 0, context.stream>>>(w, item, s);
  });
  context.launched(op);
}

}  // namespace taeda::inline v0_2::gpu
