// Splitting a loop over the threads of one pool (OpenMP, shared with oneDNN).
#pragma once

#include <cstdint>
#include <type_traits>

namespace taeda::inline v0_2 {

/// Threads that one operation may use; the number of physical cores until set.
int get_num_threads();
/// Sets it for all threads of the process, those that exist already included; within a
/// NumThreadsGuard for the rest of its scope alone. Throws ValueError unless n >= 1.
void set_num_threads(int n);

/// The calling thread's operations use at most `n` threads in a scope; 0 for the process's number.
class NumThreadsGuard {
 public:
  explicit NumThreadsGuard(int n);
  ~NumThreadsGuard();
  NumThreadsGuard(const NumThreadsGuard&) = delete;
  NumThreadsGuard& operator=(const NumThreadsGuard&) = delete;

  /// What the innermost guard on this thread says; 0 without one.
  static int limit();

 private:
  int previous_;
};

/// Whether the caller already runs inside a parallel_for.
bool in_parallel_region();

/// The calling thread's number among those of its parallel_for, from 0; 0 outside of one.
int thread_number();

/// Elements of cheap work (one flop, a few bytes) below which splitting costs more than it gains.
constexpr int64_t kParallelGrain = 32768;

namespace detail {
using RangeFn = void (*)(void* context, int64_t begin, int64_t end);
void parallel_for(int64_t begin, int64_t end, int64_t grain, void* context, RangeFn fn);
}  // namespace detail

/// Calls `fn(b, e)` for disjoint ranges that cover [begin, end), each of at least `grain` elements
/// except the last, possibly at the same time. The first exception is rethrown here. A result must
/// not depend on how the ranges are cut: see Note [Thread-count independence] in docs/numerics.md.
template <class F>
void parallel_for(int64_t begin, int64_t end, int64_t grain, F&& fn) {
  if (begin >= end) return;
  if (end - begin <= grain) {
    fn(begin, end);
    return;
  }
  detail::parallel_for(begin, end, grain, const_cast<void*>(static_cast<const void*>(&fn)),
                       [](void* context, int64_t b, int64_t e) {
                         (*static_cast<std::remove_reference_t<F>*>(context))(b, e);
                       });
}

}  // namespace taeda
