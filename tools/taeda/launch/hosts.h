// The machines of a cluster, from its file, and how their launchers are reached.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/taeda/launch/flags.h"

namespace taeda::tool {

struct Machine {
  std::string address;  ///< by which the other machines reach it
  std::string ssh;      ///< what ssh calls it; empty: this machine, without ssh
  int64_t port = 22;    ///< of ssh
  int64_t processes = 1;
  std::vector<int64_t> devices;
  std::string taeda = "taeda";  ///< the command there
  std::string folder;           ///< where the program runs
};

struct Cluster {
  std::vector<Machine> machines;
  int64_t port = 29400;                            ///< where the launchers meet, on the first one
  std::vector<std::string> ssh_options;            ///< of each call of ssh
  std::map<std::string, std::string> environment;  ///< of the processes
};

/// Reads a cluster's file (docs/launching.md). Throws UsageError naming file, line and key.
Cluster read_cluster(const std::string& path);

/// The command that runs `taeda` with `words` on a machine: through ssh, unless it is this one.
std::vector<std::string> command_on(const Cluster& cluster, const Machine& machine,
                                    const std::vector<std::string>& words);

/// `taeda launch --hosts`: a launcher on each machine. Returns the status for exit().
int launch_on_hosts(const LaunchFlags& flags);
/// `taeda launch --check-hosts`: says what is wrong with which machine; 1 if anything is.
int check_hosts(const LaunchFlags& flags);
/// What a machine answers to `check_hosts`, by its standard input and output.
int answer_probe(const LaunchFlags& flags);
/// Ends this process, as the terminal would, when its standard input ends: the launcher that
/// started it is gone. Returns the first line, the job's secret.
std::string obey_standard_input();

}  // namespace taeda::tool
