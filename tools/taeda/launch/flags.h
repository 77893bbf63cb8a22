// What `taeda launch` can be told.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "taeda/distributed/cluster/launch.h"

namespace taeda::tool {

/// What the user wrote: torchrun's flags, and Taeda's.
struct LaunchFlags {
  bool standalone = false;
  std::string processes = "1", nodes = "1", endpoint, id, backend = "c10d", conf;
  std::string master_address = "127.0.0.1", local_address;
  int64_t node_rank = -1, master_port = 29500, max_restarts = 0, shutdown_timeout = 30;
  bool has_master = false;
  std::string log_dir, redirects = "0", tee = "0";
  bool monitor = false;
  std::string hosts;
  bool check_hosts = false;
  // Of launchers that a launcher starts on other machines.
  bool controlled = false;
  std::string probe;
  std::vector<std::string> command;
};

/// The name of a flag, and as torchrun also writes it: "--node-rank,--node_rank".
std::string both_ways(const std::string& flag);

/// The program and its arguments, from what follows the flags. Throws UsageError for none.
std::vector<std::string> command_of(const std::vector<std::string>& words);
/// A name that no other job has.
std::string new_job_name();

/// What a launcher on this machine does. Throws UsageError.
distributed::cluster::LaunchOptions launch_options(const LaunchFlags& flags);

}  // namespace taeda::tool
