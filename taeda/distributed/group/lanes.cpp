#include "taeda/distributed/group/lanes.h"

#include <system_error>
#include <utility>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::distributed {

Lanes::~Lanes() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  for (std::thread& t : threads_) t.join();
}

void Lanes::submit(Key key, Task task) {
  std::lock_guard lock(mutex_);
  const auto [lane, idle] = lanes_.try_emplace(key);
  lane->second.push_back(std::move(task));
  if (!idle || make_ready(key)) return;
  lanes_.erase(lane);
  throw DistributedError("the system has no thread for it");
}

void Lanes::run(Key key, Task task) {
  {
    std::lock_guard lock(mutex_);
    const auto [lane, idle] = lanes_.try_emplace(key);
    if (!idle) {
      lane->second.push_back(std::move(task));
      return;
    }
  }
  task();
  std::unique_lock lock(mutex_);
  if (const auto lane = lanes_.find(key); lane->second.empty())
    lanes_.erase(lane);
  else if (!make_ready(key))
    serve(key, lock);
}

/// With the lock held. False where there is no thread to serve it, now and later: those that are
/// busy may wait for what it would bring.
bool Lanes::make_ready(Key key) {
  ready_.push_back(key);
  try {
    if (ready_.size() > idle_) threads_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    ready_.pop_back();
    return false;
  }
  changed_.notify_one();
  return true;
}

void Lanes::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    changed_.wait(lock, [&] { return ending_ || !ready_.empty(); });
    --idle_;
    if (ready_.empty()) return;
    const Key key = ready_.front();
    ready_.pop_front();
    serve(key, lock);
  }
}

void Lanes::serve(Key key, std::unique_lock<std::mutex>& lock) {
  const auto lane = lanes_.find(key);
  while (!lane->second.empty()) {
    {
      const Task task = std::move(lane->second.front());
      lane->second.pop_front();
      lock.unlock();
      task();
    }
    lock.lock();
  }
  lanes_.erase(lane);
}

}  // namespace taeda::inline v0_2::distributed
