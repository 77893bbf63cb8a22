// Programs on several processes and machines: what `taeda launch` does.
#pragma once

#include <signal.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "taeda/distributed/cluster/agents.h"
#include "taeda/distributed/cluster/worker.h"

namespace taeda::inline v0_2::distributed::cluster {

/// Which outputs of which processes something is done with.
struct OutputChoice {
  std::array<bool, 2> all = {};                      ///< stdout, stderr
  std::map<int64_t, std::array<bool, 2>> some = {};  ///< by local rank, where it is another one

  std::array<bool, 2> of(int64_t local_rank) const;
  /// torchrun's: "3", or "0:1,1:2"; 0 is none, 1 stdout, 2 stderr, 3 both. Throws ValueError.
  static OutputChoice parse(const std::string& text);
};

/// As many processes as a launcher starts on a machine, and machines as a job has.
inline constexpr int64_t kMostProcesses = 4096, kMostNodes = 65536;

struct LaunchOptions {
  std::vector<std::string> command;
  AgentOptions agents;
  /// Whether the single machine's processes get a secret of their own where none is set.
  bool invent_secret = true;
  int64_t max_restarts = 0;  ///< starts after failures
  std::string role = "default";
  /// Whether each process has the local rank 0, and sees the one device that is its own.
  bool virtual_local_rank = false;
  /// Logs lie in a folder of the job's below this one; what of its name is no letter, digit, '-',
  /// '_' or '.' is written as '%' and two digits there.
  std::string log_folder = {};
  OutputChoice redirects = {};                  ///< to files instead of to the terminal
  OutputChoice tee = {};                        ///< to files and to the terminal
  std::vector<int64_t> shown_local_ranks = {};  ///< on the terminal; empty: all
  /// What stands before lines that are shown, with ${rank}, ${local_rank}, ${role_name} and
  /// ${hostname} filled in; without a value "[rank ${rank}] " where there are several processes.
  std::optional<std::string> line_prefix = {};
  OutputChoice prefixed = OutputChoice::parse("3");  ///< the outputs that have it
  /// Lines of stdout and stderr with one of these words also go to the file of their start that is
  /// called filtered_stdout.log or filtered_stderr.log.
  std::array<std::vector<std::string>, 2> filters = {};
  /// The address by which this machine's processes are reached; empty: found out.
  std::string local_address = {};
  std::chrono::milliseconds shutdown_timeout = std::chrono::seconds(30);
  std::map<std::string, std::string> environment = {};
  std::vector<int> stop_signals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};  ///< that end all processes
  ShowLine show = {};  ///< by default, to stdout and stderr, whoever reads them
  /// Whether the ranks' progress is shown: as a table, or where `show` is no terminal as lines.
  bool monitor = false;
  /// Whether it is said in what this machine's program and processes differ from the first one's.
  bool says_differences = true;
  /// Whether a failure's last line is shown; one machine's launcher is enough where one person sees
  /// the output of all.
  bool says_end = true;
};

/// Starts the program's processes on this machine, with torchrun's variables, meets the launchers
/// of the other machines, passes on what the processes print, and starts all again when one fails,
/// as often as the options say. When one fails for good the others are ended, SIGTERM first.
/// Returns the status for exit(): 0, that of the first process to fail, or 128 and the signal that
/// ended that or that this process got; the last line shown says who failed and how. Where what was
/// to be shown could not be written it is not 0 either. Throws
/// DistributedError where the machines do not meet, or a program cannot be started.
int launch(const LaunchOptions& options);

}  // namespace taeda::inline v0_2::distributed::cluster
