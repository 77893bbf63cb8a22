#include "taeda/distributed/cluster/reminder.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace taeda::inline v0_2::distributed::cluster {

Reminder::Reminder(std::function<void(const std::string&)> say, std::function<std::string()> text,
                   std::chrono::milliseconds patience)
    : say_(std::move(say)), text_(std::move(text)) {
  if (say_) try {
      thread_ = std::thread([this, patience] { work(patience); });
    } catch (const std::system_error&) {
      return;
    }
}

Reminder::~Reminder() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  over_.notify_all();
  thread_.join();
}

void Reminder::work(std::chrono::milliseconds turn) {
  constexpr std::chrono::milliseconds kMost = std::chrono::minutes(1);
  std::unique_lock lock(mutex_);
  while (!over_.wait_for(lock, turn, [this] { return ending_; })) {
    turn = std::min(2 * turn, std::max(turn, kMost));
    lock.unlock();
    const std::string text = text_();
    lock.lock();
    if (!ending_) say_(text);
  }
}

}  // namespace taeda::inline v0_2::distributed::cluster
