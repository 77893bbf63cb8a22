#include "taeda/base/parallel_for.h"

#include <omp.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <utility>

#include "taeda/base/error.h"
#include "taeda/base/signals.h"

namespace taeda::inline v0_2 {

namespace {

/// Physical cores this process may run on: hyper-threads share the vector units.
int default_threads() {
  if (const char* text = std::getenv("OMP_NUM_THREADS"))
    if (const int n = std::atoi(text); n > 0) return n;
  return std::max(1, omp_get_num_procs());
}

int process_default() {
  static const int n = default_threads();
  return n;
}

std::atomic<int> setting{0};             // of the process; 0 until it is set
constinit thread_local int limited = 0;  // by the innermost guard on this thread
constinit thread_local bool inside = false;
constinit thread_local bool holds_signals = false;  // of OpenMP's own threads

// Note [Threads after a fork]
// OpenMP keeps its threads from loop to loop. A child of fork() inherits the record of them but not
// the threads, and its first loop would wait for them for ever. So the child of a process that may
// have had such threads stays at one, whatever is set there.
std::atomic<bool> may_have_team{false}, alone{false};

void in_child() {
  if (!may_have_team.load(std::memory_order_relaxed)) return;
  alone.store(true, std::memory_order_relaxed);
  omp_set_num_threads(1);
}

/// Notes that whoever asked will use more than one thread.
int for_a_team(int n) {
  if (n > 1 && !may_have_team.load(std::memory_order_relaxed)) {
    [[maybe_unused]] static const int registered = pthread_atfork(nullptr, nullptr, &in_child);
    may_have_team.store(true, std::memory_order_relaxed);
  }
  return n;
}

}  // namespace

int get_num_threads() {
  if (alone.load(std::memory_order_relaxed)) return 1;
  if (limited > 0) return for_a_team(limited);
  const int n = setting.load(std::memory_order_relaxed);
  return for_a_team(n > 0 ? n : process_default());
}

void set_num_threads(int n) {
  TAEDA_CHECK_VALUE(n > 0, "set_num_threads expects a positive integer, got ", n);
  if (alone.load(std::memory_order_relaxed)) return;
  if (limited > 0)
    limited = n;
  else
    setting.store(n, std::memory_order_relaxed);
  omp_set_num_threads(n);
}

NumThreadsGuard::NumThreadsGuard(int n) : previous_(std::exchange(limited, n)) {}
NumThreadsGuard::~NumThreadsGuard() { limited = previous_; }
int NumThreadsGuard::limit() { return limited; }

bool in_parallel_region() { return inside; }

int thread_number() { return inside ? omp_get_thread_num() : 0; }

void detail::parallel_for(int64_t begin, int64_t end, int64_t grain, void* context, RangeFn fn) {
  const int64_t n = end - begin;
  const int64_t threads =
      std::min<int64_t>(get_num_threads(), (n + grain - 1) / std::max<int64_t>(grain, 1));
  if (threads <= 1 || inside) {
    fn(context, begin, end);
    return;
  }
  std::exception_ptr error;
  std::mutex error_mutex;
#pragma omp parallel num_threads(static_cast <int>(threads))
  {
    const int64_t team = omp_get_num_threads(), rank = omp_get_thread_num();
    const int64_t chunk = (n + team - 1) / team;
    const int64_t b = begin + rank * chunk, e = std::min(end, b + chunk);
    if (rank != 0 && !holds_signals) {
      hold_signals();
      holds_signals = true;
    }
    inside = true;
    try {
      if (b < e) fn(context, b, e);
    } catch (...) {
      std::lock_guard lock(error_mutex);
      if (!error) error = std::current_exception();
    }
    inside = false;
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace taeda::inline v0_2
