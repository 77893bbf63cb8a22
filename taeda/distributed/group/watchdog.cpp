// The thread that looks after the groups of the process.
#include <list>

#include "taeda/distributed/group/group_core.h"

namespace taeda::inline v0_2::distributed {

namespace {

/// Lives as long as there are groups. It is never destroyed; its thread ends with the last group.
class Watchdog {
 public:
  void add(const std::shared_ptr<GroupCore>& group) {
    std::lock_guard lock(mutex_);
    groups_.push_back(group);
    if (std::exchange(running_, true)) return;
    std::thread([this] { run(); }).detach();
  }

 private:
  /// The groups that are left; notes that the thread ends where there are none.
  std::vector<std::shared_ptr<GroupCore>> living() {
    std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<GroupCore>> out;
    std::erase_if(groups_, [](const auto& group) { return group.expired(); });
    for (const auto& group : groups_)
      if (auto alive = group.lock()) out.push_back(std::move(alive));
    running_ = !groups_.empty();
    return out;
  }

  void run() {
    while (true) {
      std::this_thread::sleep_for(
          std::min(GroupCore::check_interval() / 4, std::chrono::milliseconds(100)));
      const auto groups = living();
      if (groups.empty()) return;
      for (const auto& group : groups) group->watch();
    }
  }

  std::mutex mutex_;
  std::list<std::weak_ptr<GroupCore>> groups_;
  bool running_ = false;
};

}  // namespace

void watch_over(const std::shared_ptr<GroupCore>& group) {
  static auto* watchdog = new Watchdog;
  watchdog->add(group);
}

}  // namespace taeda::distributed
