// How many threads the libraries that share our OpenMP pool may use.
#pragma once

#include <omp.h>

#include "taeda/base/parallel_for.h"

namespace taeda::inline v0_2::cpu {

/// The number of threads that oneDNN and LAPACK use for what is called in a scope, and our own
/// loops.
class ThreadScope {
 public:
  explicit ThreadScope(int n) : guard_(n), previous_(omp_get_max_threads()) {
    omp_set_num_threads(n);
  }
  ~ThreadScope() { omp_set_num_threads(previous_); }
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  const NumThreadsGuard guard_;
  const int previous_;
};

}  // namespace taeda::cpu
