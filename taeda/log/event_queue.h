// A thread that makes records and writes them to a file, behind a bounded queue.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "taeda/log/record_file.h"

namespace taeda::inline v0_2::logging {

/// A failure does not stop the one who adds: it is kept, and the next flush() or close() throws it.
class EventQueue {
 public:
  /// Makes the bytes of a record; called on the thread, so that costly ones do not hold up
  /// training.
  using Make = std::function<std::string()>;

  /// Writes out when `max_queue` records are waiting, and every `flush_secs` seconds. Throws Error
  /// when the file cannot be created, ValueError for settings that make no sense.
  EventQueue(std::string path, int64_t max_queue, double flush_secs);
  /// Closes; a failure that nobody asked for goes to stderr.
  ~EventQueue();
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  /// Waits while `max_queue` records are still to be made.
  void add(Make make);
  /// Returns when all that was added is in the file; throws Error where writing failed.
  void flush();
  /// Writes all to the file and ends the thread; adding afterwards is an Error.
  void close();
  const std::string& path() const { return file_.path(); }

 private:
  void run();
  void make_waiting(std::unique_lock<std::mutex>& lock);
  void write_out(std::unique_lock<std::mutex>& lock);
  void note_failure(const std::string& what);
  void throw_failure();

  RecordFile file_;
  const size_t max_queue_;
  const std::chrono::duration<double> flush_every_;
  std::mutex mutex_;
  std::condition_variable work_, room_, flushed_;
  std::deque<Make> waiting_;
  /// Records so far, and up to which one somebody waits.
  uint64_t added_ = 0, made_ = 0, written_ = 0, wanted_ = 0;
  int64_t failures_ = 0;
  std::string failure_;  ///< the first one since the last that was thrown
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace taeda::logging
