// The last operations of this process, for errors and for who looks at a stalled program.
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "taeda/distributed/group/fingerprint.h"

namespace taeda::inline v0_2::distributed {

/// Keeps the last kEntries operations of all groups. Any thread may call anything.
/// Sizes are in elements, times are of the system's clock; a number that is counted begins at 1.
class FlightRecorder {
 public:
  static constexpr size_t kEntries = 4096;
  enum class State : uint8_t { Running, Done, Failed, Withdrawn };
  using Time = std::chrono::system_clock::time_point;

  struct Entry {
    uint64_t number = 0;  ///< counts the process's operations, from 1; 0 by default
    uint32_t group = 0;
    State state = State::Running;
    Time started, ended;
    Fingerprint what;
  };

  /// The recorder of the process, made by the first call; it must not be destroyed.
  static FlightRecorder& instance();

  /// The number by which a group of that name, in which this process has rank `rank`, is known.
  uint32_t add_group(const std::string& name, int rank);
  /// The number of the new entry.
  uint64_t begin(uint32_t group, const Fingerprint& what);
  void end(uint64_t number, bool failed);
  /// It was not begun after all: nobody is told of it.
  void withdraw(uint64_t number);

  /// The last operations of a group, `limit` at most, oldest first.
  std::vector<Entry> last(uint32_t group, size_t limit) const;
  /// All entries, oldest first, as the text of a JSON object; times are nanoseconds.
  std::string to_json() const;

 private:
  FlightRecorder() = default;
  struct Group {
    std::string name;
    int rank;
  };

  void end_as(uint64_t number, State state);

  mutable std::mutex mutex_;
  uint64_t count_ = 0;
  std::vector<Entry> entries_;  ///< entry n at (n - 1) % kEntries
  std::vector<Group> groups_;
};

/// The last operations of this process, at most 4,096, as JSON.
std::string flight_record();
/// Writes them to a file, whole or not at all. A symbolic link in its place is replaced, not
/// followed: it could be another user's.
void write_flight_record(const std::string& path);

}  // namespace taeda::inline v0_2::distributed
