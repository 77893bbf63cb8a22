// Threads for calls that block.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace taeda::inline v0_2::distributed {

/// Tasks of one lane run in the order in which they came, those of different lanes side by side.
/// Threads are made when they are needed and stay for the tasks to come. Tasks must not throw.
class Lanes {
 public:
  using Key = uint64_t;
  using Task = std::function<void()>;

  Lanes() = default;
  ~Lanes();  ///< runs what is queued first
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  /// Queues a task. Throws DistributedError, and has queued nothing, where the system has no thread
  /// for it.
  void submit(Key key, Task task);
  /// Runs the task on the calling thread if its lane has nothing to do, else queues it: the shorter
  /// way for who waits for it anyway.
  void run(Key key, Task task);

 private:
  void work();
  void serve(Key key, std::unique_lock<std::mutex>& lock);
  bool make_ready(Key key);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Key, std::deque<Task>> lanes_;  ///< those that a thread serves, or is to serve
  std::deque<Key> ready_;                  ///< to be served
  size_t idle_ = 0;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace taeda::inline v0_2::distributed
