// What `taeda launch` can be told.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "taeda/distributed/cluster/launch_flags.h"

namespace taeda::tool {

/// What the user wrote: the library's flags as texts, and the command's own.
struct LaunchFlags {
  std::map<std::string, std::string> given;
  std::string hosts;
  bool check_hosts = false;
  // Of launchers that a launcher starts on other machines.
  bool controlled = false;
  std::string probe;
  std::vector<std::string> command;

  /// Whether a flag has another value than it has by itself.
  bool says(const std::string& flag) const;
};

/// What a launcher on this machine does. Throws UsageError.
distributed::cluster::LaunchOptions launch_options(const LaunchFlags& flags);

}  // namespace taeda::tool
