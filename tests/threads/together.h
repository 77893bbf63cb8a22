// Threads that begin at the same moment.
#pragma once

#include <barrier>
#include <thread>
#include <vector>

namespace taeda {

/// Calls job(0) to job(n - 1) on threads of their own, which start together.
template <class Job>
void together(int n, const Job& job) {
  std::barrier start(n);
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i)
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      job(i);
    });
  for (std::thread& t : threads) t.join();
}

}  // namespace taeda
