#include "taeda/distributed/cluster/output.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "taeda/base/signals.h"
#include "taeda/distributed/cluster/stop_signals.h"

namespace taeda::inline v0_2::distributed::cluster {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// What a pipe takes whole: that much is written at a time, so that each tells that somebody reads.
constexpr size_t kPiece = 4096;
/// What somebody who has told a launcher to end waits for its last lines.
constexpr milliseconds kAfterStop(1000);

bool same_file(int a, int b) {
  struct stat first = {}, second = {};
  return ::fstat(a, &first) == 0 && ::fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

}  // namespace

/// What waits for one file. Its thread, which may stand in the system for ever, shares it.
struct Output::Sink {
  struct Piece {
    int file;
    std::string bytes;
  };

  explicit Sink(milliseconds patience) : patience(patience) {}

  const milliseconds patience;
  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  std::deque<Piece> waiting;
  size_t bytes = 0;              ///< that wait
  Clock::time_point taken = {};  ///< when the reader took something, or the first came to wait
  size_t dropped = 0, lost = 0;  ///< pieces: of a reader who stands still; that failed
  int reason = 0;                ///< for which they failed
  bool ending = false;

  bool stands_still() const { return bytes > 0 && Clock::now() - taken > patience; }

  void add(int file, std::string text) {
    {
      const std::lock_guard lock(mutex);
      if (reason) {
        ++lost;
        return;
      }
      if (dropped || (bytes >= kMostWaiting && stands_still())) {
        ++dropped;
        return;
      }
      push(file, std::move(text));
    }
    changed.notify_all();
  }

  void push(int file, std::string text) {
    if (bytes == 0) taken = Clock::now();
    bytes += text.size();
    waiting.push_back({file, std::move(text)});
  }

  bool settled() const { return bytes == 0; }

  /// The thread's part.
  void run() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return !waiting.empty() || ending; });
      if (waiting.empty()) return;
      const Piece piece = std::move(waiting.front());
      waiting.pop_front();
      lock.unlock();
      const int error = write_out(piece);
      lock.lock();
      if (error) fail(error);
      if (dropped && bytes < kMostWaiting / 2)
        push(piece.file, "taeda: " + std::to_string(std::exchange(dropped, 0)) +
                             " lines are left out here: nobody has read them\n");
      changed.notify_all();
    }
  }

  int write_out(const Piece& piece) {
    std::string_view left = piece.bytes;
    while (!left.empty()) {
      const ssize_t n = ::write(piece.file, left.data(), std::min(left.size(), kPiece));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) {  // somebody has made the file one that does not wait
        pollfd ready = {piece.file, POLLOUT, 0};
        ::poll(&ready, 1, /*milliseconds=*/100);
        continue;
      }
      if (n < 0) return errno;
      left.remove_prefix(static_cast<size_t>(n));
      const std::lock_guard lock(mutex);
      bytes -= static_cast<size_t>(n);
      taken = Clock::now();
    }
    return 0;
  }

  void fail(int error) {
    reason = error;
    lost += 1 + waiting.size() + std::exchange(dropped, 0);
    waiting.clear();
    bytes = 0;
  }
};

Output::Output(int standard, int error, milliseconds patience) : files_{standard, error} {
  std::fflush(stdout);
  std::fflush(stderr);
  sinks_[0] = std::make_shared<Sink>(patience);
  sinks_[1] = same_file(standard, error) ? sinks_[0] : std::make_shared<Sink>(patience);
  const WithoutSignals none;
  for (size_t i = 0; i < 2; ++i)
    if (i == 0 || sinks_[1] != sinks_[0]) std::thread([sink = sinks_[i]] { sink->run(); }).detach();
}

Output::~Output() {
  for (const auto& sink : sinks_) {
    const std::lock_guard lock(sink->mutex);
    sink->ending = true;
    sink->changed.notify_all();
  }
}

void Output::line(bool error, std::string_view text) { write(error, std::string(text) + '\n'); }

void Output::write(bool error, std::string bytes) {
  if (!bytes.empty()) sinks_[error]->add(files_[error], std::move(bytes));
}

bool Output::full() const {
  return std::any_of(sinks_.begin(), sinks_.end(), [](const auto& sink) {
    const std::lock_guard lock(sink->mutex);
    return sink->bytes >= kMostWaiting && !sink->stands_still();
  });
}

bool Output::settled(milliseconds time) const {
  const auto deadline = Clock::now() + time;
  return std::all_of(sinks_.begin(), sinks_.end(), [&](const auto& sink) {
    std::unique_lock lock(sink->mutex);
    return sink->changed.wait_until(lock, deadline, [&] { return sink->settled(); });
  });
}

std::string Output::loss() const {
  std::string out;
  for (size_t i = 0; i < 2; ++i) {
    const std::lock_guard lock(sinks_[i]->mutex);
    if (!sinks_[i]->lost || (i == 1 && sinks_[1] == sinks_[0])) continue;
    out += (out.empty() ? "" : "; ") + std::string(i ? "standard error" : "the standard output") +
           " cannot be written (" + std::strerror(sinks_[i]->reason) +
           "): " + std::to_string(sinks_[i]->lost) +
           (sinks_[i]->lost == 1 ? " line is lost" : " lines are lost");
  }
  return out;
}

int Output::deliver(int status, bool stopped) {
  const StopSignals signals;
  const auto begin = Clock::now();
  while (!settled(milliseconds(50)) && !signals.count())
    if (stopped && Clock::now() - begin > kAfterStop) break;
  if (signals.count() && !stopped) return 128 + signals.last();
  const std::string what = loss();
  if (what.empty()) return status;
  line(true, "taeda: " + what);
  settled(kAfterStop);
  return status ? status : 1;
}

}  // namespace taeda::inline v0_2::distributed::cluster
