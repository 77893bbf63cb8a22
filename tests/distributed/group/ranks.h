// Ranks of a test as threads of this program, which meet in a HashStore.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "taeda/distributed/group/process_group.h"
#include "taeda/distributed/store/hash_store.h"

namespace taeda {

/// Calls f(group) on `size` threads, each with its own place in a group of that size. Throws what
/// the lowest rank threw.
inline void run_ranks(int size, const std::function<void(distributed::ProcessGroup&)>& f,
                      distributed::ProcessGroup::Options options = {}) {
  const auto store = std::make_shared<distributed::HashStore>();
  std::vector<std::exception_ptr> errors(static_cast<size_t>(size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      try {
        const auto group = distributed::ProcessGroup::create("gloo", store, rank, size, options);
        f(*group);
      } catch (...) {
        errors[static_cast<size_t>(rank)] = std::current_exception();
      }
    });
  for (std::thread& t : threads) t.join();
  for (const std::exception_ptr& e : errors)
    if (e) std::rethrow_exception(e);
}

/// What each rank's f(group) says when it fails; "no error" where it does not.
inline std::vector<std::string> errors_of_ranks(
    int size, const std::function<void(distributed::ProcessGroup&)>& f,
    distributed::ProcessGroup::Options options = {}) {
  std::vector<std::string> out(static_cast<size_t>(size), "no error");
  run_ranks(
      size,
      [&](distributed::ProcessGroup& group) {
        try {
          f(group);
        } catch (const std::exception& e) {
          out[static_cast<size_t>(group.rank())] = e.what();
        }
      },
      std::move(options));
  return out;
}

}  // namespace taeda
