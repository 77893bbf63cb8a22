// The thread that looks after the groups of the process.
#include <pthread.h>

#include <cstdlib>
#include <list>

#include "taeda/distributed/group/group_core.h"

namespace taeda::inline v0_2::distributed {

namespace {

/// Lives as long as there are groups. It is never destroyed; its thread ends with the last group,
/// or when the program ends: what it uses, a store's connections among it, goes then.
class Watchdog {
 public:
  void add(const std::shared_ptr<GroupCore>& group) {
    std::lock_guard lock(mutex_);
    if (!process_.here()) {  // a copy has no thread
      process_ = OwnProcess();
      groups_.clear();
      running_ = false;
    }
    groups_.push_back(group);
    if (running_) return;
    std::thread([this] { run(); }).detach();
    running_ = true;
  }
  /// Around fork(), so that no copy of the process begins with the lock that the thread holds.
  void before_fork() { mutex_.lock(); }
  void after_fork() { mutex_.unlock(); }
  /// Waits until it looks at nothing any more, but not for a store that does not answer.
  void stop() {
    if (!process_.here()) return;
    std::unique_lock lock(mutex_);
    stopped_ = true;
    changed_.wait_for(lock, std::chrono::seconds(1), [&] { return !looking_; });
  }

 private:
  /// The groups that are left; notes that the thread ends where there are none.
  std::vector<std::shared_ptr<GroupCore>> living() {
    std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<GroupCore>> out;
    std::erase_if(groups_, [](const auto& group) { return group.expired(); });
    for (const auto& group : groups_)
      if (auto alive = group.lock(); alive && !stopped_) out.push_back(std::move(alive));
    running_ = !groups_.empty();
    looking_ = !out.empty();
    return out;
  }

  void run() {
    while (true) {
      std::this_thread::sleep_for(
          std::min(GroupCore::check_interval() / 4, std::chrono::milliseconds(100)));
      auto groups = living();
      if (groups.empty()) return;
      for (const auto& group : groups) group->watch();
      groups.clear();
      std::lock_guard lock(mutex_);
      looking_ = false;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<std::weak_ptr<GroupCore>> groups_;
  bool running_ = false, looking_ = false, stopped_ = false;
  OwnProcess process_;
};

Watchdog& watchdog() {
  static auto* one = [] {
    auto* out = new Watchdog;
    ::pthread_atfork([] { watchdog().before_fork(); }, [] { watchdog().after_fork(); },
                     [] { watchdog().after_fork(); });
    std::atexit([] { watchdog().stop(); });
    return out;
  }();
  return *one;
}

}  // namespace

void watch_over(const std::shared_ptr<GroupCore>& group) { watchdog().add(group); }

}  // namespace taeda::inline v0_2::distributed
