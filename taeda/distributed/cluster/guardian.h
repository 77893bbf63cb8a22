// Ends what a process has started when the process is gone, whatever ended it.
#pragma once

#include <sys/types.h>

#include "taeda/distributed/cluster/descriptor.h"

namespace taeda::inline v0_2::distributed::cluster {

/// The leader of a process group, which only waits. When this object goes, or this process, it
/// kills the group: children, and what they have started.
class Guardian {
 public:
  Guardian();
  ~Guardian();
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;

  /// For ChildOptions::group.
  pid_t group() const { return id_; }
  /// Sends a signal to all of the group but the guardian.
  void signal(int number) const;

 private:
  Descriptor alive_;  ///< closes with this process
  pid_t id_ = -1;
};

}  // namespace taeda::inline v0_2::distributed::cluster
