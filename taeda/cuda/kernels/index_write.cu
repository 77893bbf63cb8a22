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
    if (place == kNowhere || (p + 1 < w.n && w.places[p + 1] == place)) continue;
    w.block.at(j, at);
    w.entry.at(w.entries[p], from);
    reinterpret_cast<W*>(w.to)[static_cast<int64_t>(place) + at[0]] =
        reinterpret_cast<const W*>(w.values)[from[0] + at[1]];
  }
}

/// A thread adds up an element's whole run. Long runs load four values at a time.
template <class A>
__global__ void __launch_bounds__(kThreads)
    add_up_kernel(const __grid_constant__ MeetingWrites w, int item) {
  const int64_t total = w.n * w.width.divisor;
  for (int64_t t = thread_index(); t < total; t += thread_count()) {
    int64_t p, j, at[2];
    w.width.divide(t, p, j);
    const uint64_t place = w.places[p];
    if (place == kNowhere || (p > 0 && w.places[p - 1] == place)) continue;
    w.block.at(j, at);
    const char* values = w.values + at[1] * item;
    const auto value = [&](int64_t q) {
      int64_t from[1];
      w.entry.at(w.entries[q], from);
      return load_as<A>(values + from[0] * item, w.dtype);
    };
    char* to = w.to + (static_cast<int64_t>(place) + at[0]) * item;
    A sum = load_as<A>(to, w.dtype);
    int64_t q = p;
    while (q + 3 < w.n && w.places[q + 3] == place) {
      const A a = value(q), b = value(q + 1), c = value(q + 2), d = value(q + 3);
      sum = sum + a;
      sum = sum + b;
      sum = sum + c;
      sum = sum + d;
      q += 4;
    }
    for (; q < w.n && w.places[q] == place; ++q) sum = sum + value(q);
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

void add_up(const char* op, const Context& context, const MeetingWrites& w) {
  const int64_t total = w.n * w.width.divisor;
  dispatch_compute(AllCompute{}, op, w.dtype, [&]<class A>() {
    add_up_kernel<A><<<blocks_for(total), kThreads, 0, context.stream>>>(
        w, static_cast<int>(element_size(w.dtype)));
  });
  context.launched(op);
}

}  // namespace taeda::gpu
