#include "taeda/distributed/environment.h"

#include <charconv>
#include <cstdlib>
#include <optional>

#include "taeda/base/error.h"
#include "taeda/distributed/job.h"

namespace taeda::inline v0_2::distributed {

namespace {

constexpr const char* kWhat = "Error initializing torch.distributed using env:// rendezvous: ";

std::optional<std::string> variable(const char* name) {
  const char* text = std::getenv(name);
  if (!text || !*text) return {};
  return text;
}

int64_t number(const char* name, int64_t least, int64_t most) {
  const std::string text = *variable(name);
  int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  TAEDA_CHECK_VALUE(whole && out >= least && out <= most, kWhat, "environment variable ", name,
                    " expected a number from ", least, " to ", most, ", but it is '", text, "'");
  return out;
}

enum class Launcher { kNone, kOpenMpi, kSlurm };

/// Who started this process. A batch script of Slurm has most variables of a step, but not its id.
Launcher launcher() {
  if (variable("OMPI_COMM_WORLD_RANK") && variable("OMPI_COMM_WORLD_SIZE"))
    return Launcher::kOpenMpi;
  if (variable("SLURM_PROCID") && variable("SLURM_NTASKS") && variable("SLURM_STEP_ID"))
    return Launcher::kSlurm;
  return Launcher::kNone;
}

[[noreturn]] void fail_missing(const char* name) {
  taeda::detail::fail<ValueError>(std::string(kWhat) + "environment variable " + name +
                                  " expected, but not set");
}

constexpr int64_t kMostRanks = 1 << 24;

int64_t number_of_launcher(const char* name, const char* of_mpi, const char* of_slurm,
                           int64_t least) {
  if (variable(name)) return number(name, least, kMostRanks);
  switch (launcher()) {
    case Launcher::kOpenMpi: return number(of_mpi, least, kMostRanks);
    case Launcher::kSlurm: return number(of_slurm, least, kMostRanks);
    case Launcher::kNone: break;
  }
  fail_missing(name);
}

const char* local_rank_variable(Launcher launcher) {
  switch (launcher) {
    case Launcher::kOpenMpi: return "OMPI_COMM_WORLD_LOCAL_RANK";
    case Launcher::kSlurm: return "SLURM_LOCALID";
    case Launcher::kNone: break;
  }
  return "LOCAL_RANK";
}

bool all_on_this_machine(Launcher launcher) {
  if (launcher == Launcher::kOpenMpi)
    return variable("OMPI_COMM_WORLD_LOCAL_SIZE") == variable("OMPI_COMM_WORLD_SIZE");
  const auto nodes = variable("SLURM_STEP_NUM_NODES");
  return launcher == Launcher::kSlurm && nodes == "1";
}

}  // namespace

int64_t rank_from_environment() {
  return number_of_launcher("RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", 0);
}

int64_t world_size_from_environment() {
  return number_of_launcher("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS", 1);
}

std::string master_address_from_environment() {
  if (const auto text = variable("MASTER_ADDR")) return *text;
  if (all_on_this_machine(launcher())) return "127.0.0.1";
  if (const auto nodes = variable("SLURM_STEP_NODELIST"); nodes && launcher() == Launcher::kSlurm)
    return first_host(*nodes);
  fail_missing("MASTER_ADDR");
}

uint16_t master_port_from_environment() {
  if (variable("MASTER_PORT")) return static_cast<uint16_t>(number("MASTER_PORT", 0, 65535));
  const std::string job = job_name();
  if (launcher() == Launcher::kNone || job.empty()) fail_missing("MASTER_PORT");
  // Between PyTorch's port and those that systems hand out. Two jobs that meet there are told apart
  // by name.
  uint32_t hash = 2166136261u;  // FNV-1a, the same in every process
  for (unsigned char c : job) hash = (hash ^ c) * 16777619u;
  return static_cast<uint16_t>(29500 + hash % 3000);
}

int get_node_local_rank(std::optional<int> fallback_rank) {
  for (const char* name : {"LOCAL_RANK", local_rank_variable(launcher())})
    if (variable(name)) return static_cast<int>(number(name, 0, kMostRanks));
  TAEDA_CHECK(fallback_rank,
              "LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow "
              "`get_node_local_rank` to work, assuming you are not running in a multi-device "
              "context and want the code to run locally instead.");
  return *fallback_rank;
}

std::string first_host(const std::string& node_list) {
  std::string out;
  for (size_t at = 0; at < node_list.size() && node_list[at] != ',';) {
    if (node_list[at] != '[') {
      out += node_list[at++];
      continue;
    }
    const size_t close = node_list.find(']', at);
    if (close == std::string::npos) return node_list;
    out.append(node_list, at + 1, node_list.find_first_of("-,]", at) - at - 1);
    at = close + 1;
  }
  return out;
}

}  // namespace taeda::inline v0_2::distributed
