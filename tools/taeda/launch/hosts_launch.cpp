// `taeda launch --hosts`: a launcher on each machine of a cluster.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "taeda/distributed/cluster/guardian.h"
#include "taeda/distributed/cluster/job_secret.h"
#include "taeda/distributed/cluster/output.h"
#include "taeda/distributed/cluster/stop_signals.h"
#include "taeda/distributed/cluster/worker.h"
#include "taeda/distributed/network.h"
#include "tools/taeda/command.h"
#include "tools/taeda/launch/hosts.h"

namespace taeda::tool {

namespace {

using namespace distributed::cluster;
using Clock = std::chrono::steady_clock;

constexpr int kSshFailed = 255;
constexpr std::chrono::seconds kLeaving(5);

/// The launchers on the machines, which end when their standard input does.
class HostLaunchers {
 public:
  HostLaunchers(const Cluster& cluster, const LaunchFlags& flags, const LaunchOptions& options,
                Output& output)
      : cluster_(cluster),
        flags_(flags),
        options_(options),
        output_(output),
        secret_(/*invent=*/true) {
    for (size_t i = 0; i < cluster.machines.size(); ++i) start(i);
  }

  int run() {
    const StopSignals signals(options_.stop_signals);
    const auto patience = options_.shutdown_timeout;
    std::optional<Clock::time_point> deadline;
    while (!all_ended() && (!deadline || Clock::now() < *deadline)) {
      look();
      if (signals.count()) inputs_.clear();
      if (deadline || (!signals.count() && !failed())) continue;
      const bool unreachable = failed() && failed()->ended()->code == kSshFailed;
      if (unreachable) inputs_.clear();  // the others wait for it
      deadline = Clock::now() + patience + kLeaving;
    }
    inputs_.clear();
    for (const auto end = Clock::now() + kLeaving; !all_ended() && Clock::now() < end;) look();
    guardian_.signal(SIGKILL);
    while (!all_ended()) look();
    stopped_ = signals.count() > 0;
    if (stopped_) return 128 + signals.last();
    return failed_ ? report(*failed_) : 0;
  }

  /// Whether a signal ended it.
  bool stopped() const { return stopped_; }

 private:
  void start(size_t number) {
    const Machine& machine = cluster_.machines[number];
    Pipe input;
    ::fcntl(input.read.get(), F_SETFL, 0);
    WorkerOptions worker;
    worker.rank = static_cast<int64_t>(number);
    worker.child = {.command = command_on(cluster_, machine, words(number)),
                    .input = input.read.get(),
                    .group = guardian_.group()};
    launchers_.push_back(std::make_unique<Worker>(
        std::move(worker),
        [this](bool error, std::string_view line) { output_.line(error, line); }));
    write_all(input.write.get(), secret_.security().secret + "\n");
    inputs_.push_back(std::move(input.write));
  }

  /// What `taeda` is told there.
  std::vector<std::string> words(size_t number) const {
    const Machine& machine = cluster_.machines[number];
    const auto text = [](int64_t value) { return std::to_string(value); };
    std::vector<std::string> out = {
        "launch",
        "--controlled",
        "--nnodes",
        text(static_cast<int64_t>(cluster_.machines.size())),
        "--node-rank",
        text(static_cast<int64_t>(number)),
        "--nproc-per-node",
        text(machine.processes),
        "--rdzv-endpoint",
        distributed::endpoint(cluster_.machines[0].address, static_cast<uint16_t>(cluster_.port)),
        "--rdzv-id",
        job_,
        "--local-addr",
        machine.address,
    };
    for (const LaunchFlag& flag : launch_flags()) add(flag, out);
    out.push_back("env");
    for (const auto& [name, value] : cluster_.environment) out.push_back(name + "=" + value);
    if (!machine.devices.empty()) out.push_back("CUDA_VISIBLE_DEVICES=" + devices(machine));
    out.insert(out.end(), options_.command.begin(), options_.command.end());
    return out;
  }
  /// What the user has said, but for what is each machine's own or has been done here.
  void add(const LaunchFlag& flag, std::vector<std::string>& words) const {
    const std::string name = flag.name;
    for (const char* other : {"--nnodes", "--nproc-per-node", "--node-rank", "--rdzv-endpoint",
                              "--rdzv-id", "--local-addr", "--module", "--no-python", "--run-path"})
      if (name == other) return;
    if (!flags_.says(name)) return;
    words.push_back(name);
    if (flag.kind != LaunchFlag::Kind::kSwitch) words.push_back(flags_.given.at(name));
  }
  static std::string devices(const Machine& machine) {
    std::string out;
    for (const int64_t device : machine.devices)
      out += (out.empty() ? "" : ",") + std::to_string(device);
    return out;
  }

  void look() {
    const bool may_show = !output_.full();
    std::vector<pollfd> files;
    for (const auto& launcher : launchers_)
      for (const int file : launcher->outputs())
        if (may_show) files.push_back({file, POLLIN, 0});
    ::poll(files.data(), files.size(), /*milliseconds=*/20);
    for (const auto& launcher : launchers_) {
      launcher->look(may_show);
      if (!failed_ && launcher->failed()) failed_ = launcher.get();
    }
  }
  bool all_ended() const {
    return std::all_of(launchers_.begin(), launchers_.end(),
                       [](const auto& launcher) { return launcher->ended().has_value(); });
  }
  const Worker* failed() const { return failed_; }

  int report(const Worker& launcher) const {
    const Machine& machine = cluster_.machines[static_cast<size_t>(launcher.rank())];
    output_.line(true, "taeda: the launcher on machine " + machine.address +
                           (machine.ssh.empty() ? "" : " (ssh " + machine.ssh + ")") + " " +
                           launcher.ended()->text());
    return launcher.ended()->shell_code();
  }

  const Cluster& cluster_;
  const LaunchFlags& flags_;
  const LaunchOptions& options_;
  Output& output_;
  const JobSecret secret_;
  const std::string& job_ = options_.agents.job;
  bool stopped_ = false;
  Guardian guardian_;
  std::vector<std::unique_ptr<Worker>> launchers_;
  std::vector<Descriptor> inputs_;
  const Worker* failed_ = nullptr;
};

}  // namespace

int launch_on_hosts(const LaunchFlags& flags) {
  const Cluster cluster = read_cluster(flags.hosts);
  for (const char* flag : {"--nnodes", "--rdzv-endpoint", "--standalone"})
    check_flag(!flags.says(flag), "--hosts", "without --nnodes, --rdzv-endpoint and --standalone",
               flags.hosts);
  const LaunchOptions options = launch_options(flags);
  Output output;
  HostLaunchers launchers(cluster, flags, options, output);
  return output.deliver(launchers.run(), launchers.stopped());
}

std::string obey_standard_input() {
  std::string secret;
  char c = 0;
  while (::read(STDIN_FILENO, &c, 1) == 1 && c != '\n') secret += c;
  std::thread([] {
    char buffer[64];
    while (::read(STDIN_FILENO, buffer, sizeof buffer) > 0) {
    }
    ::kill(::getpid(), SIGTERM);  // not SIGHUP, which `nohup` lets nobody hear
  }).detach();
  return secret;
}

}  // namespace taeda::tool
