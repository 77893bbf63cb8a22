// A word now and then while others are waited for.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace taeda::inline v0_2::distributed::cluster {

/// As long as it lives it says what `text` returns: after `patience` for the first time, then each
/// time after twice as long, up to a minute. `say` and `text` are called on a thread of its own;
/// `say` may be empty. Where the system has no thread nothing is said.
class Reminder {
 public:
  Reminder(std::function<void(const std::string&)> say, std::function<std::string()> text,
           std::chrono::milliseconds patience);
  ~Reminder();
  Reminder(const Reminder&) = delete;
  Reminder& operator=(const Reminder&) = delete;

 private:
  void work(std::chrono::milliseconds turn);

  const std::function<void(const std::string&)> say_;
  const std::function<std::string()> text_;
  std::mutex mutex_;
  std::condition_variable over_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace taeda::inline v0_2::distributed::cluster
