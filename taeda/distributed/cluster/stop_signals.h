// What the terminal or the system asks a launcher to do.
#pragma once

#include <signal.h>

#include <utility>
#include <vector>

namespace taeda::inline v0_2::distributed::cluster {

/// While one exists, these signals do not end this process but are remembered. Only one exists at a
/// time. A SIGHUP that is ignored stays so: `nohup` has asked for it.
class StopSignals {
 public:
  explicit StopSignals(const std::vector<int>& signals = {SIGINT, SIGTERM, SIGHUP});
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// The last one; 0 where none came.
  int last() const;
  int count() const;

 private:
  std::vector<std::pair<int, struct sigaction>> before_;
};

}  // namespace taeda::inline v0_2::distributed::cluster
