#include "taeda/distributed/cluster/launch_flags.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <thread>
#include <tuple>

#include "taeda/base/error.h"
#include "taeda/device/accelerator.h"
#include "taeda/device/plugin.h"
#include "taeda/distributed/cluster/child.h"

namespace taeda::inline v0_2::distributed::cluster {

namespace {

const LaunchFlag kFlags[] = {
    {.name = "--nnodes", .help = "Machines, or min:max; a launcher runs on each", .otherwise = "1"},
    {.name = "--nproc-per-node",
     .help = "Processes on this machine: a number, auto, cpu or gpu",
     .otherwise = "1"},
    {.name = "--standalone",
     .kind = LaunchFlag::Kind::kSwitch,
     .help = "One machine, a port that the system chooses"},
    {.name = "--rdzv-endpoint",
     .help = "Where the launchers meet: host:port; one of them serves it"},
    {.name = "--rdzv-id", .help = "The job's name, the same on all machines"},
    {.name = "--rdzv-backend",
     .help = "c10d or static; both mean the same here",
     .otherwise = "c10d"},
    {.name = "--rdzv-conf", .help = "Seconds: join_timeout=600,last_call_timeout=30"},
    {.name = "--node-rank",
     .kind = LaunchFlag::Kind::kNumber,
     .help = "This machine's place; by default, by the order of arrival"},
    {.name = "--master-addr", .help = "As --rdzv-endpoint; machine 0's address"},
    {.name = "--master-port", .kind = LaunchFlag::Kind::kNumber, .help = "The port there; 29500"},
    {.name = "--local-addr", .help = "The address by which other machines reach this one"},
    {.name = "--max-restarts",
     .kind = LaunchFlag::Kind::kNumber,
     .help = "How often all start again when a process fails",
     .otherwise = "0"},
    {.name = "--shutdown-timeout",
     .kind = LaunchFlag::Kind::kNumber,
     .help = "Seconds from SIGTERM to SIGKILL",
     .otherwise = "30"},
    {.name = "--signals-to-handle",
     .help = "Signals that end all processes",
     .otherwise = "SIGTERM,SIGINT,SIGHUP,SIGQUIT"},
    {.name = "--log-dir", .help = "Folder for <id>/attempt_<n>/<rank>/stdout.log and stderr.log"},
    {.name = "--redirects",
     .letter = "-r",
     .help = "To files only: 1 stdout, 2 stderr, 3 both; or 0:1,1:3 by local rank",
     .otherwise = "0"},
    {.name = "--tee", .letter = "-t", .help = "To files and the terminal", .otherwise = "0"},
    {.name = "--local-ranks-filter",
     .help = "Local ranks that are shown on the terminal: 0,1; by default all"},
    {.name = "--log-line-prefix-template",
     .help = "Before lines that are shown: ${rank}, ${local_rank}, ${role_name}, ${hostname}"},
    {.name = "--duplicate-stdout-filters",
     .help = "Lines with one of these words also go to filtered_stdout.log: loss,error"},
    {.name = "--duplicate-stderr-filters", .help = "The same for stderr"},
    {.name = "--module",
     .letter = "-m",
     .kind = LaunchFlag::Kind::kSwitch,
     .help = "The program is a module of Python"},
    {.name = "--no-python",
     .kind = LaunchFlag::Kind::kSwitch,
     .help = "The program is not Python's"},
    {.name = "--run-path",
     .kind = LaunchFlag::Kind::kSwitch,
     .help = "The program is a script of Python"},
    {.name = "--role", .help = "ROLE_NAME of the processes", .otherwise = "default"},
    {.name = "--virtual-local-rank",
     .kind = LaunchFlag::Kind::kSwitch,
     .help = "Each process has LOCAL_RANK 0 and sees the one device that is its own"},
    {.name = "--monitor",
     .kind = LaunchFlag::Kind::kSwitch,
     .help = "Show the ranks' progress, as they report it"},
    {.name = "--monitor-interval",
     .help = "Accepted: processes are watched all the time",
     .otherwise = "0.1"},
    {.name = "--start-method", .help = "Accepted: spawn, fork or forkserver", .otherwise = "spawn"},
    {.name = "--event-log-handler", .help = "Accepted", .otherwise = "null"},
    {.name = "--logs-specs", .help = "Refused: loggers of torchrun's plug-ins"},
    {.name = "--numa-binding", .help = "Refused: numactl binds processes"}};

/// A hundred years: no clock overflows.
constexpr int64_t kMostSeconds = int64_t{3600} * 24 * 365 * 100, kMostRestarts = 1'000'000'000;
constexpr int64_t kPort = 29500, kEndpointPort = 29400;

template <class... T>
[[noreturn]] void refuse(const T&... what) {
  taeda::detail::fail<ValueError>(taeda::detail::concat(what...));
}

std::optional<int64_t> number_of(const std::string& text) {
  int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return out;
}

int64_t number_within(const std::string& text, const std::string& flag, const std::string& rule,
                      int64_t least, int64_t most) {
  const std::optional<int64_t> out = number_of(text);
  if (!out || *out < least || *out > most) refuse(flag, " must be ", rule, ", got '", text, "'");
  return *out;
}

/// What lies between commas.
std::vector<std::string> list_of(const std::string& text) {
  std::vector<std::string> out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

std::vector<int> signals_of(const std::string& text) {
  std::vector<int> out;
  for (const std::string& name : list_of(text)) {
    int found = 0;
    for (int signal = 1; signal < SIGRTMIN; ++signal)
      if (signal_name(signal) == name) found = signal;
    if (!found || found == SIGKILL || found == SIGSTOP)
      refuse(
          "--signals-to-handle must be names of signals that can be handled, such as "
          "SIGTERM,SIGINT, got '",
          name, "'");
    out.push_back(found);
  }
  return out;
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 && *name ? name : "this machine";
}

/// Reads flags one after the other.
class Reader {
 public:
  Reader(std::map<std::string, std::string> given, const std::vector<std::string>& program,
         const ProgramRules& rules)
      : given_(std::move(given)), program_(program), rules_(rules) {
    for (const LaunchFlag& flag : launch_flags()) given_.emplace(flag.name, flag.initial());
  }

  LaunchOptions options() {
    out_.command = command();
    out_.agents.name = host_name();
    out_.agents.processes = local_processes(text("--nproc-per-node"));
    std::tie(out_.agents.min_nodes, out_.agents.max_nodes) = least_and_most_nodes(text("--nnodes"));
    read_meeting_place();
    read_timeouts();
    read_outputs();
    refuse_others();
    out_.max_restarts =
        number_within(text("--max-restarts"), "--max-restarts", "0 or more", 0, kMostRestarts);
    out_.shutdown_timeout = std::chrono::seconds(number_within(
        text("--shutdown-timeout"), "--shutdown-timeout", "0 or more seconds", 0, kMostSeconds));
    out_.local_address = text("--local-addr");
    out_.role = text("--role");
    out_.virtual_local_rank = is_on("--virtual-local-rank");
    out_.stop_signals = signals_of(text("--signals-to-handle"));
    out_.monitor = is_on("--monitor");
    return out_;
  }

 private:
  const std::string& text(const char* flag) const { return given_.at(flag); }
  bool is_on(const char* flag) const {
    const std::string& value = text(flag);
    if (value != "" && value != "0" && value != "1")
      refuse(flag, " must be 0 or 1, got '", value, "'");
    return value == "1";
  }
  bool several() const { return out_.agents.max_nodes > 1; }

  std::vector<std::string> command() const {
    if (program_.empty()) refuse("launch needs a program to run");
    const bool module = is_on("--module"), no_python = is_on("--no-python");
    if (module && no_python)
      refuse("Don't use both the '--no-python' flag and the '--module' flag at the same time.");
    std::vector<std::string> out;
    if (module || is_on("--run-path") || (rules_.is_python && !no_python))
      out = {rules_.python, "-u"};
    if (module) out.push_back("-m");
    out.insert(out.end(), program_.begin(), program_.end());
    return out;
  }

  static uint16_t port_of(const std::string& text, const char* flag) {
    return static_cast<uint16_t>(
        number_within(text, flag, "a host and a port from 1 to 65535", 1, 65535));
  }

  /// "host:port", "host" or "[address]:port".
  void read_endpoint(const std::string& text) {
    const size_t bracket = text.rfind(']'), colon = text.rfind(':');
    const bool has_port =
        colon != std::string::npos && (bracket == std::string::npos || colon > bracket);
    const std::string host = text.substr(0, has_port ? colon : text.size());
    out_.agents.host = host.starts_with('[') ? host.substr(1, host.size() - 2) : host;
    out_.agents.port =
        has_port ? port_of(text.substr(colon + 1), "--rdzv-endpoint") : uint16_t{kEndpointPort};
  }

  void read_meeting_place() {
    AgentOptions& agents = out_.agents;
    const std::string &backend = text("--rdzv-backend"), &endpoint = text("--rdzv-endpoint"),
                      &address = text("--master-addr"), &port = text("--master-port");
    if (backend != "c10d" && backend != "static")
      refuse("--rdzv-backend must be c10d or static, got ", backend);
    if (is_on("--standalone") && (several() || !endpoint.empty()))
      refuse(
          "--standalone must be alone: one machine needs neither --nnodes nor "
          "--rdzv-endpoint, got ",
          text("--nnodes"));
    if (const std::string& place = text("--node-rank"); !place.empty())
      agents.node_rank =
          number_within(place, "--node-rank", "from 0 to less than the number of machines", 0,
                        agents.max_nodes - 1);
    if (!endpoint.empty()) {
      read_endpoint(endpoint);
    } else if (!address.empty() || !port.empty()) {
      if (!address.empty()) agents.host = address;
      agents.port = port.empty() ? uint16_t{kPort} : port_of(port, "--master-port");
    } else if (several()) {
      refuse("--rdzv-endpoint (or --master-addr) must be given with several machines");
    }
    if (is_on("--standalone")) agents.port = 0;
    const std::string& id = text("--rdzv-id");
    agents.job = !id.empty() ? id : several() ? "none" : new_job_name();
  }

  /// "join_timeout=60,last_call_timeout=5", in seconds.
  void read_timeouts() {
    for (const std::string& part : list_of(text("--rdzv-conf"))) {
      const size_t equals = std::min(part.find('='), part.size());
      const std::string name = part.substr(0, equals);
      if (equals == part.size())
        refuse("--rdzv-conf must be name=seconds,name=seconds, got '", part, "'");
      const std::chrono::seconds seconds(number_within(
          part.substr(equals + 1), "--rdzv-conf", "name=seconds,name=seconds", 1, kMostSeconds));
      if (name == "join_timeout" || name == "timeout")
        out_.agents.join_timeout = seconds;
      else if (name == "last_call_timeout")
        out_.agents.last_call = seconds;
      else if (name == "keep_alive_timeout")
        out_.agents.keep_alive = seconds;
      else
        refuse("--rdzv-conf has join_timeout, last_call_timeout and keep_alive_timeout, not '",
               name, "'");
    }
  }

  /// torchrun passes on what processes print as it is, unless it also goes to files by --tee.
  void read_line_prefix() {
    const char* const variable = std::getenv("TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE");
    if (const std::string& given = text("--log-line-prefix-template"); !given.empty())
      out_.line_prefix = given;
    else if (variable && *variable)
      out_.line_prefix = variable;
    else if (rules_.is_python)
      out_.line_prefix = "[${role_name}${local_rank}]:";
    if (rules_.is_python) out_.prefixed = out_.tee;
  }

  void read_outputs() {
    out_.log_folder = text("--log-dir");
    const std::string &redirects = text("--redirects"), &tee = text("--tee");
    out_.redirects = OutputChoice::parse(redirects);
    out_.tee = OutputChoice::parse(tee);
    read_line_prefix();
    // torchrun takes --tee without a folder, for the prefix.
    const bool only_prefixes = rules_.is_python && out_.log_folder.empty();
    if (only_prefixes) out_.tee = {};
    const bool chosen = redirects != "0" || (tee != "0" && !only_prefixes);
    out_.filters = {list_of(text("--duplicate-stdout-filters")),
                    list_of(text("--duplicate-stderr-filters"))};
    const bool filtered = !out_.filters[0].empty() || !out_.filters[1].empty();
    if ((chosen || filtered) && out_.log_folder.empty())
      refuse("--log-dir must be given with --redirects, --tee and --duplicate-stdout-filters");
    if (!chosen && !out_.log_folder.empty()) out_.tee = OutputChoice::parse("3");
    for (const std::string& rank : list_of(text("--local-ranks-filter")))
      out_.shown_local_ranks.push_back(number_within(
          rank, "--local-ranks-filter", "local ranks with commas between", 0, kMostProcesses - 1));
  }

  /// What has no meaning here is taken as torchrun takes it, or refused.
  void refuse_others() const {
    const std::string& start = text("--start-method");
    if (start != "spawn" && start != "fork" && start != "forkserver")
      refuse("--start-method must be spawn, fork or forkserver, got ", start);
    for (const char* flag : {"--numa-binding", "--logs-specs"})
      if (!text(flag).empty()) refuse(flag, " is not supported, got '", text(flag), "'");
  }

  std::map<std::string, std::string> given_;
  const std::vector<std::string>& program_;
  const ProgramRules& rules_;
  LaunchOptions out_;
};

}  // namespace

std::string LaunchFlag::variable() const {
  std::string out = "PET_" + std::string(name).substr(2);
  for (char& c : out) c = c == '-' ? '_' : static_cast<char>(std::toupper(c));
  return out;
}

std::string LaunchFlag::initial() const {
  const char* text = std::getenv(variable().c_str());
  return text ? text : otherwise;
}

const std::vector<LaunchFlag>& launch_flags() {
  static const std::vector<LaunchFlag> all(std::begin(kFlags), std::end(kFlags));
  return all;
}

LaunchOptions launch_options(std::map<std::string, std::string> given,
                             const std::vector<std::string>& program, const ProgramRules& rules) {
  try {
    return Reader(given, program, rules).options();
  } catch (const ValueError& e) {  // it may not be the command line that is wrong
    std::string variables;
    for (const LaunchFlag& flag : launch_flags())
      if (e.message().find(flag.name) != std::string::npos &&
          std::getenv(flag.variable().c_str()) &&
          (!given.contains(flag.name) || given[flag.name] == flag.initial()))
        variables += (variables.empty() ? "" : ", ") + flag.variable() + "=" + flag.initial();
    if (variables.empty()) throw;
    throw ValueError(e.message() + " (the environment has " + variables + ")");
  }
}

int64_t local_processes(const std::string& text) {
  if (text != "cpu" && text != "auto" && text != "gpu") {
    const std::optional<int64_t> number = number_of(text);
    if (!number || *number < 1 || *number > kMostProcesses)
      refuse("Unsupported nproc_per_node value: ", text,
             " (--nproc-per-node must be a number from ", "1 to ", kMostProcesses,
             ", auto, cpu or gpu)");
    return *number;
  }
  load_plugins();
  const std::optional<DeviceType> type = accelerator::preferred_type();
  const int64_t devices = type ? device_count(*type) : 0;
  const auto cores = std::max<int64_t>(1, std::thread::hardware_concurrency());
  if (text == "gpu" && devices == 0)
    refuse("--nproc-per-node gpu: Cuda is not available. This machine has no accelerators");
  return std::min(kMostProcesses, text == "cpu" || devices == 0 ? cores : devices);
}

std::pair<int64_t, int64_t> least_and_most_nodes(const std::string& text) {
  const size_t colon = std::min(text.find(':'), text.size());
  const std::string rule =
      "a number of machines up to " + std::to_string(kMostNodes) + ", or min:max";
  const int64_t least = number_within(text.substr(0, colon), "--nnodes", rule, 1, kMostNodes);
  if (colon == text.size()) return {least, least};
  const int64_t most = number_within(text.substr(colon + 1), "--nnodes", rule, 1, kMostNodes);
  if (least > most) refuse("--nnodes must be ", rule, ", got '", text, "'");
  return {least, most};
}

std::string new_job_name() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return "job_" + std::to_string(::getpid()) + "_" +
         std::to_string(now / std::chrono::milliseconds(1));
}

}  // namespace taeda::inline v0_2::distributed::cluster
