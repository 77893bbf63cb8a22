// `taeda launch`: a program on several processes and machines, with torchrun's flags.
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <thread>

#include "taeda/distributed/cluster/descriptor.h"
#include "tools/taeda/command.h"
#include "tools/taeda/launch/flags.h"
#include "tools/taeda/launch/hosts.h"

namespace taeda::tool {

namespace {

using distributed::cluster::LaunchOptions;
using distributed::cluster::OutputChoice;

int64_t whole_number(const std::string& text, const char* flag, const char* rule, int64_t least) {
  int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  const bool good = error == std::errc() && end == text.data() + text.size() && out >= least;
  check_flag(good, flag, rule, "'" + text + "'");
  return out;
}

int64_t processes_of(const std::string& text) {
  const auto gpus = static_cast<int64_t>(accelerators().size());
  const auto cores = std::max<int64_t>(1, std::thread::hardware_concurrency());
  if (text == "cpu") return cores;
  if (text == "auto") return gpus > 0 ? gpus : cores;
  if (text != "gpu") return whole_number(text, "--nproc-per-node", "a number, auto, cpu or gpu", 1);
  check_flag(gpus > 0, "--nproc-per-node", "a number on a machine without accelerators", text);
  return gpus;
}

void set_nodes(const std::string& text, LaunchOptions& options) {
  const size_t colon = std::min(text.find(':'), text.size());
  const char* rule = "a number of machines, or min:max";
  options.agents.min_nodes = whole_number(text.substr(0, colon), "--nnodes", rule, 1);
  options.agents.max_nodes = options.agents.min_nodes;
  if (colon < text.size())
    options.agents.max_nodes = whole_number(text.substr(colon + 1), "--nnodes", rule, 1);
  check_flag(options.agents.min_nodes <= options.agents.max_nodes, "--nnodes", rule, text);
}

uint16_t port_of(const std::string& text, const char* flag) {
  const int64_t port = whole_number(text, flag, "a host and a port up to 65535", 1);
  check_flag(port <= 65535, flag, "a host and a port up to 65535", text);
  return static_cast<uint16_t>(port);
}

/// "host:port", "host" or "[address]:port".
void set_endpoint(const std::string& text, LaunchOptions& options) {
  const size_t bracket = text.rfind(']'), colon = text.rfind(':');
  const bool has_port =
      colon != std::string::npos && (bracket == std::string::npos || colon > bracket);
  const std::string host = text.substr(0, has_port ? colon : text.size());
  options.agents.host = host.starts_with('[') ? host.substr(1, host.size() - 2) : host;
  options.agents.port = has_port ? port_of(text.substr(colon + 1), "--rdzv-endpoint") : 29400;
}

void set_meeting_place(const LaunchFlags& flags, LaunchOptions& options) {
  check_flag(flags.backend == "c10d" || flags.backend == "static", "--rdzv-backend",
             "c10d or static", flags.backend);
  const bool several = options.agents.max_nodes > 1;
  check_flag(!flags.standalone || (!several && flags.endpoint.empty()), "--standalone",
             "alone: one machine needs neither --nnodes nor --rdzv-endpoint", flags.nodes);
  if (flags.node_rank >= 0) options.agents.node_rank = flags.node_rank;
  check_flag(flags.node_rank < options.agents.max_nodes, "--node-rank",
             "less than the number of machines", flags.node_rank);
  if (!flags.endpoint.empty()) {
    set_endpoint(flags.endpoint, options);
  } else if (several || flags.has_master) {
    check_flag(!several || flags.has_master, "--rdzv-endpoint (or --master-addr)",
               "given with several machines", "none");
    options.agents.host = flags.master_address;
    options.agents.port = port_of(std::to_string(flags.master_port), "--master-port");
  }
  options.agents.job = !flags.id.empty() ? flags.id : several ? "none" : new_job_name();
}

/// "join_timeout=60,last_call_timeout=5", in seconds.
void set_timeouts(const std::string& text, LaunchOptions& options) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, end - at);
    const size_t equals = std::min(part.find('='), part.size());
    const std::string name = part.substr(0, equals);
    const std::string value = equals < part.size() ? part.substr(equals + 1) : "";
    const std::chrono::seconds seconds(
        whole_number(value, "--rdzv-conf", "name=seconds,name=seconds", 1));
    if (name == "join_timeout" || name == "timeout")
      options.agents.join_timeout = seconds;
    else if (name == "last_call_timeout")
      options.agents.last_call = seconds;
    else if (name == "keep_alive_timeout")
      options.agents.keep_alive = seconds;
    else
      throw UsageError(
          "--rdzv-conf has join_timeout, last_call_timeout and keep_alive_timeout, not '" + name +
          "'");
    at = end + 1;
  }
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 && *name ? name : "this machine";
}

void set_outputs(const LaunchFlags& flags, LaunchOptions& options) {
  options.log_folder = flags.log_dir;
  options.redirects = OutputChoice::parse(flags.redirects);
  options.tee = OutputChoice::parse(flags.tee);
  const bool chosen = flags.redirects != "0" || flags.tee != "0";
  check_flag(!chosen || !flags.log_dir.empty(), "--log-dir", "given with --redirects and --tee",
             "none");
  if (!chosen && !flags.log_dir.empty()) options.tee = OutputChoice::parse("3");
}

}  // namespace

std::vector<std::string> command_of(const std::vector<std::string>& words) {
  if (!words.empty() && words[0].starts_with('-'))
    throw UsageError("launch does not know the flag " + words[0] + " (see --help)");
  if (words.empty()) throw UsageError("launch needs a program to run (see --help)");
  return words;
}

std::string new_job_name() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return "job_" + std::to_string(::getpid()) + "_" +
         std::to_string(now / std::chrono::milliseconds(1));
}

LaunchOptions launch_options(const LaunchFlags& flags) {
  LaunchOptions options;
  options.command = command_of(flags.command);
  options.agents.processes = processes_of(flags.processes);
  options.agents.name = host_name();
  set_nodes(flags.nodes, options);
  set_meeting_place(flags, options);
  set_timeouts(flags.conf, options);
  set_outputs(flags, options);
  check_flag(flags.max_restarts >= 0, "--max-restarts", "0 or more", flags.max_restarts);
  check_flag(flags.shutdown_timeout >= 0, "--shutdown-timeout", "0 or more",
             flags.shutdown_timeout);
  options.max_restarts = flags.max_restarts;
  options.shutdown_timeout = std::chrono::seconds(flags.shutdown_timeout);
  options.local_address = flags.local_address;
  options.monitor = flags.monitor;
  options.says_end = !flags.controlled || flags.node_rank <= 0;
  return options;
}

std::string both_ways(const std::string& flag) {
  std::string other = flag.substr(2);
  std::replace(other.begin(), other.end(), '-', '_');
  return "--" + other == flag ? flag : flag + ",--" + other;
}

namespace {

void add_flags(const Command& c, LaunchFlags& f) {
  const auto option = [&c](const char* flag, auto& value, const char* help) {
    return c.add_option(both_ways(flag), value, help);
  };
  c.add_flag("--standalone", f.standalone, "One machine, a port that the system chooses");
  option("--nproc-per-node", f.processes, "Processes on this machine: a number, auto, cpu or gpu");
  option("--nnodes", f.nodes, "Machines, or min:max; a launcher runs on each");
  option("--rdzv-endpoint", f.endpoint,
         "Where the launchers meet: host:port; one of them serves it");
  option("--rdzv-id", f.id, "The job's name, the same on all machines");
  option("--rdzv-backend", f.backend, "c10d or static; both mean the same here");
  option("--rdzv-conf", f.conf, "Seconds: join_timeout=600,last_call_timeout=30");
  option("--node-rank", f.node_rank, "This machine's place; by default, by the order of arrival");
  option("--master-addr", f.master_address, "As --rdzv-endpoint; machine 0's address").each([&f] {
    f.has_master = true;
  });
  option("--master-port", f.master_port, "The port there").each([&f] { f.has_master = true; });
  option("--local-addr", f.local_address, "The address by which other machines reach this one");
  option("--max-restarts", f.max_restarts, "How often all start again when a process fails");
  option("--shutdown-timeout", f.shutdown_timeout, "Seconds from SIGTERM to SIGKILL");
  option("--log-dir", f.log_dir, "Folder for <id>/attempt_<n>/<rank>/stdout.log and stderr.log");
  option("--redirects", f.redirects,
         "To files only: 1 stdout, 2 stderr, 3 both; or 0:1,1:3 by local rank");
  option("--tee", f.tee, "To files and the terminal");
  c.add_flag("--monitor", f.monitor, "Show the ranks' progress, as they report it");
  option("--hosts", f.hosts, "A file that names machines; a launcher is started on each");
  c.add_flag("--check-hosts", f.check_hosts, "Say what those machines lack, and start nothing");
  c.add_flag("--controlled", f.controlled, "").hidden();
  option("--probe", f.probe, "").hidden();
}

/// A secret that another launcher has sent, as if it had come with this process.
void take_secret(const std::string& secret) {
  if (secret.empty()) return;
  const int file = distributed::cluster::file_of_text("taeda_secret", secret).release();
  ::unsetenv("TAEDA_DISTRIBUTED_SECRET_FILE");
  ::setenv("TAEDA_DISTRIBUTED_SECRET_FD", std::to_string(file).c_str(), 1);
}

int run_launch(const LaunchFlags& flags) {
  if (!flags.probe.empty()) return answer_probe(flags);
  check_flag(!flags.check_hosts || !flags.hosts.empty(), "--hosts", "given with --check-hosts",
             "none");
  if (flags.check_hosts) return check_hosts(flags);
  if (!flags.hosts.empty()) return launch_on_hosts(flags);
  const LaunchOptions options = user_input([&] { return launch_options(flags); });
  if (flags.controlled) take_secret(obey_standard_input());
  return distributed::cluster::launch(options);
}

}  // namespace

void add_launch(const Command& app) {
  const Command c = app.add_command(
      "launch", "Run a program on several processes and machines",
      {"taeda launch --standalone --nproc-per-node 4 ./train --epochs 3",
       "taeda launch --nnodes 2 --nproc-per-node 8 --rdzv-endpoint node1:29400 ./train   # on both",
       "taeda launch --nproc-per-node 4 --max-restarts 3 --log-dir logs ./train",
       "taeda launch --hosts cluster.toml --check-hosts ./train",
       "taeda launch --hosts cluster.toml --monitor ./train"});
  c.take_rest();
  auto flags = std::make_shared<LaunchFlags>();
  add_flags(c, *flags);
  c.on_call([c, flags] {
    flags->command = c.remaining();
    return run_launch(*flags);
  });
}

}  // namespace taeda::tool
