// What the terminal or the system asks a launcher to do.
#pragma once

#include <signal.h>

namespace taeda::inline v0_2::distributed::cluster {

/// While one exists, SIGINT, SIGTERM and SIGHUP do not end this process but are remembered. Only
/// one exists at a time.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// The last one; 0 where none came.
  int last() const;
  int count() const;

 private:
  struct sigaction before_[3];
};

}  // namespace taeda::inline v0_2::distributed::cluster
