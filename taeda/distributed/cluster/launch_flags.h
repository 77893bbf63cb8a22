// What a launcher can be told: torchrun's flags and Taeda's own, with their rules, for every
// command line that starts one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "taeda/distributed/cluster/launch.h"

namespace taeda::inline v0_2::distributed::cluster {

struct LaunchFlag {
  enum class Kind { kText, kNumber, kSwitch };

  const char* name;  ///< "--nproc-per-node"; command lines take underscores, too
  const char* letter = "";
  Kind kind = Kind::kText;
  const char* help = "";
  /// What stands for it where it is not given; of a switch "1" is on.
  const char* otherwise = "";

  /// That, unless the environment has another.
  std::string initial() const;
  /// Where it has, as for torchrun: PET_NPROC_PER_NODE.
  std::string variable() const;
};

/// All of them, in the order of a help.
const std::vector<LaunchFlag>& launch_flags();

/// How those who were given no such flag start a program.
struct ProgramRules {
  std::string python = "python3";  ///< what runs programs and modules of Python
  bool is_python = false;          ///< whether a program is Python's unless --no-python says no
};

/// What flags mean: texts by the names of flags; those that are missing are as initial() says. Each
/// is checked here and nowhere else: throws ValueError naming flag, rule and value.
LaunchOptions launch_options(std::map<std::string, std::string> given,
                             const std::vector<std::string>& program,
                             const ProgramRules& rules = {});

/// The processes of "4", "auto", "cpu" or "gpu" on this machine. Throws ValueError.
int64_t local_processes(const std::string& text);
/// The fewest and the most machines of "2" or "1:4". Throws ValueError.
std::pair<int64_t, int64_t> least_and_most_nodes(const std::string& text);
/// A name that no other job has.
std::string new_job_name();

}  // namespace taeda::inline v0_2::distributed::cluster
