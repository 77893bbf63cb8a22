#include "taeda/rpc/deadlines.h"

#include <system_error>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::distributed::rpc {

Deadlines::~Deadlines() { stop(); }

Deadlines::Key Deadlines::add(Clock::time_point time, std::function<void()> f) {
  std::lock_guard lock(mutex_);
  const Key key{time, ++last_};
  if (stopped_) return key;
  const auto entry = entries_.emplace(key, std::move(f)).first;
  if (!thread_.joinable()) try {
      thread_ = std::thread([this] { work(); });
    } catch (const std::system_error&) {
      entries_.erase(entry);
      throw DistributedError("rpc: the system has no thread that would watch over deadlines");
    }
  if (entry == entries_.begin()) changed_.notify_one();
  return key;
}

void Deadlines::remove(const Key& key) {
  std::function<void()> dropped;  // outside of the lock
  std::lock_guard lock(mutex_);
  if (const auto entry = entries_.find(key); entry != entries_.end()) {
    dropped = std::move(entry->second);
    entries_.erase(entry);
  }
}

void Deadlines::stop() {
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Deadlines::work() {
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    if (entries_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const auto first = entries_.begin();
    const Clock::time_point time = first->first.first;
    if (Clock::now() < time) {
      changed_.wait_until(lock, time);
      continue;
    }
    const std::function<void()> f = std::move(first->second);
    entries_.erase(first);
    lock.unlock();
    f();
    lock.lock();
  }
}

}  // namespace taeda::inline v0_2::distributed::rpc
