// Processes that say on pipes of their own how their part went.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "taeda/distributed/cluster/child.h"
#include "taeda/distributed/cluster/descriptor.h"

namespace taeda::inline v0_2::distributed::cluster {

struct ReportingChild {
  Child child;
  Descriptor report;  ///< where its pipe is read
  std::string said = {};
  std::optional<ExitStatus> ended = {};  ///< and all that it said has been read
};

/// Those that one process started, by rank.
class ReportingChildren {
 public:
  void start(const ChildOptions& options, Descriptor report);

  int count() const { return static_cast<int>(children_.size()); }
  const ReportingChild& operator[](int rank) const { return children_[static_cast<size_t>(rank)]; }
  bool all_ended() const;
  /// Waits for up to `time` until one says something, and sees what they said and who ended.
  void look(std::chrono::milliseconds time);
  void signal(int rank, int number) { children_[static_cast<size_t>(rank)].child.signal(number); }
  void signal_all(int number);
  /// Kills those that still run, and waits for their ends.
  void kill_all();

 private:
  std::vector<ReportingChild> children_;
};

}  // namespace taeda::inline v0_2::distributed::cluster
