// What happens at a time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

namespace taeda::inline v0_2::distributed::rpc {

/// Calls functions at given times, on a thread of its own that begins with the first.
class Deadlines {
 public:
  using Clock = std::chrono::steady_clock;
  using Key = std::pair<Clock::time_point, uint64_t>;

  Deadlines() = default;
  ~Deadlines();  ///< stop()
  Deadlines(const Deadlines&) = delete;
  Deadlines& operator=(const Deadlines&) = delete;

  /// Calls `f` at `time`, unless it is removed before.
  Key add(Clock::time_point time, std::function<void()> f);
  /// Nothing if it was called, or is being called, already.
  void remove(const Key& key);
  void stop();

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Key, std::function<void()>> entries_;
  uint64_t last_ = 0;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace taeda::inline v0_2::distributed::rpc
