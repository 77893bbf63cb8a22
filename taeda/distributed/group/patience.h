// Waiting for somebody who may never answer.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

namespace taeda::inline v0_2::distributed {

/// Turns of waiting for what nobody signals, each twice as long as the one before.
class Backoff {
 public:
  Backoff(std::chrono::microseconds first, std::chrono::microseconds most)
      : turn_(first), most_(most) {}
  void sleep() {
    std::this_thread::sleep_for(turn_);
    turn_ = std::min(2 * turn_, most_);
  }
  /// For what other ranks tell a store.
  static Backoff for_store() {
    return {std::chrono::milliseconds(1), std::chrono::milliseconds(50)};
  }

 private:
  std::chrono::microseconds turn_, most_;
};

/// What `f` returns, called on a thread of its own; nothing if it throws or takes longer than
/// `patience`, or if the system has no thread. It is then left to itself: `f` owns everything it
/// uses.
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
  auto task = [answer, call = std::move(call)]() mutable {
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
  };
  try {
    std::thread(std::move(task)).detach();
  } catch (const std::system_error&) {
    return {};
  }
  std::unique_lock lock(answer->mutex);
  answer->changed.wait_for(lock, patience, [&] { return answer->done; });
  return std::move(answer->value);
}

}  // namespace taeda::inline v0_2::distributed
