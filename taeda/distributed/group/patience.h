// Waiting for somebody who may never answer.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace taeda::inline v0_2::distributed {

/// What `f` returns, called on a thread of its own; nothing if it throws or takes longer than
/// `patience`. It is then left to itself: `f` owns everything it uses.
template <class F>
auto within(std::chrono::milliseconds patience, F f) -> std::optional<decltype(f())> {
  struct Answer {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
    std::optional<decltype(f())> value;
  };
  auto answer = std::make_shared<Answer>();
  std::thread([answer, f = std::move(f)]() mutable {
    std::optional<decltype(f())> value;
    try {
      value = f();
    } catch (const std::exception&) {
      // no answer
    }
    std::lock_guard lock(answer->mutex);
    answer->done = true;
    answer->value = std::move(value);
    answer->changed.notify_all();
  }).detach();
  std::unique_lock lock(answer->mutex);
  answer->changed.wait_for(lock, patience, [&] { return answer->done; });
  return std::move(answer->value);
}

}  // namespace taeda::distributed
