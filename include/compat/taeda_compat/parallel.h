// at::parallel_reduce and the names around it (ATen/Parallel.h). There is one pool of threads, that
// of operations: work that libtorch gives to a second one runs on a thread of its own.
#pragma once

#include <taeda/tensor/thread_state.h>
#include <taeda_compat/namespaces.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace taeda_compat {

namespace parallel_detail {
inline std::atomic<int>& interop_threads() {
  static std::atomic<int> n{0};
  return n;
}
}  // namespace parallel_detail

/// x / y, rounded up.
inline int64_t divup(int64_t x, int64_t y) { return (x + y - 1) / y; }

inline int intraop_default_num_threads() { return get_num_threads(); }
/// Takes the number of threads from the environment: that has been done when the first operation
/// runs.
inline void init_num_threads() {}
/// The number of the calling thread among those of a parallel region; 0 outside of one.
inline int get_thread_num() { return taeda::thread_number(); }
inline void set_num_interop_threads(int n) {
  TAEDA_CHECK(n > 0, "Expected positive number of threads");
  parallel_detail::interop_threads() = n;
}
/// As set; otherwise as many as operations have.
inline int get_num_interop_threads() {
  const int n = parallel_detail::interop_threads();
  return n > 0 ? n : get_num_threads();
}
/// What computes, with how many threads, in words.
inline std::string get_parallel_info() {
  return "ATen/Parallel:\n\tat::get_num_threads() : " + std::to_string(get_num_threads()) +
         "\n\tat::get_num_interop_threads() : " + std::to_string(get_num_interop_threads()) +
         "\nATen parallel backend: OpenMP\n";
}

/// Runs `task` on a thread of its own, in the caller's state: gradient mode, streams, autocast.
inline void launch(std::function<void()> task) {
  std::thread([state = taeda::ThreadState::here(), task = std::move(task)] {
    const taeda::ThreadState::Scope scope(state);
    task();
  }).detach();
}
inline void intraop_launch(std::function<void()> task) { launch(std::move(task)); }

/// Combines `f(begin, end, identity)` of parts of [begin, end) of `grain_size` each by `combine`,
/// in their order: the result does not depend on the number of threads.
template <class scalar_t, class F, class SF>
scalar_t parallel_reduce(const int64_t begin, const int64_t end, const int64_t grain_size,
                         const scalar_t identity, const F& f, const SF& combine) {
  TAEDA_CHECK(grain_size >= 0, "parallel_reduce: grain_size must not be negative, got ",
              grain_size);
  if (begin >= end) return identity;
  const int64_t grain = grain_size > 0 ? grain_size : taeda::kParallelGrain;
  const int64_t parts = divup(end - begin, grain);
  const auto results = std::make_unique<scalar_t[]>(static_cast<size_t>(parts));
  taeda::parallel_for(0, parts, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i)
      results[i] = f(begin + i * grain, std::min(end, begin + (i + 1) * grain), identity);
  });
  scalar_t out = identity;
  for (int64_t i = 0; i < parts; ++i) out = combine(out, results[i]);
  return out;
}

}  // namespace taeda_compat
