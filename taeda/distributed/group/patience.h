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
  auto call = std::make_unique<F>(std::move(f));
  std::thread([answer, call = std::move(call)]() mutable {
    std::optional<decltype(f())> value;
    try {
      value = (*call)();
    } catch (const std::exception&) {
      // no answer
    }
    call.reset();  // nothing of it is left when who waits goes on
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
