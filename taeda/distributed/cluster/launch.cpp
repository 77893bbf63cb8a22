#include "taeda/distributed/cluster/launch.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <thread>

#include "taeda/base/error.h"
#include "taeda/distributed/cluster/agent_store.h"
#include "taeda/distributed/cluster/guardian.h"
#include "taeda/distributed/cluster/job_secret.h"
#include "taeda/distributed/cluster/monitor.h"
#include "taeda/distributed/cluster/output.h"
#include "taeda/distributed/cluster/stop_signals.h"
#include "taeda/distributed/network.h"
#include "taeda/log/terminal.h"

namespace taeda::inline v0_2::distributed::cluster {

namespace {

using Clock = std::chrono::steady_clock;
using Kind = RoundEnd::Kind;

/// Time that a clock can count in any unit.
constexpr std::chrono::hours kLongest(24 * 366 * 100);

std::array<bool, 2> outputs_of(const std::string& text, char digit) {
  TAEDA_CHECK_VALUE(digit >= '0' && digit <= '3',
                    "outputs must be 0 (none), 1 (stdout), 2 (stderr) "
                    "or 3 (both), or such a number for each local rank (0:1,1:3), got '",
                    text, "'");
  return {((digit - '0') & 1) != 0, ((digit - '0') & 2) != 0};
}

/// What no launcher can do, whoever parsed its flags.
void check_options(const LaunchOptions& o) {
  const AgentOptions& a = o.agents;
  TAEDA_CHECK_VALUE(a.processes >= 1 && a.processes <= kMostProcesses, "launch: expected 1 to ",
                    kMostProcesses, " processes on this machine, got ", a.processes);
  TAEDA_CHECK_VALUE(a.min_nodes >= 1 && a.min_nodes <= a.max_nodes && a.max_nodes <= kMostNodes,
                    "launch: expected a number of machines up to ", kMostNodes,
                    ", or min:max, got ", a.min_nodes, ":", a.max_nodes);
  for (const auto time : {o.shutdown_timeout, a.join_timeout, a.last_call, a.keep_alive})
    TAEDA_CHECK_VALUE(time.count() >= 0 && time <= kLongest, "launch: expected times from 0 to ",
                      kLongest.count(), " hours, got ", time.count(), " ms");
  const int64_t place = a.node_rank.value_or(0);
  TAEDA_CHECK_VALUE(place >= 0 && place < a.max_nodes,
                    "launch: expected a machine's place from 0 to ", a.max_nodes - 1, ", got ",
                    place);
  TAEDA_CHECK_VALUE(o.max_restarts >= 0, "launch: expected at least 0 restarts, got ",
                    o.max_restarts);
  const bool to_files = !o.redirects.some.empty() || !o.tee.some.empty() ||
                        o.redirects.all != std::array<bool, 2>{} ||
                        o.tee.all != std::array<bool, 2>{} || !o.filters[0].empty() ||
                        !o.filters[1].empty();
  TAEDA_CHECK_VALUE(!to_files || !o.log_folder.empty(),
                    "launch: outputs that go to files need a folder (--log-dir)");
}

/// A name that leads nowhere else, another one for each job.
std::string folder_of_job(const std::string& job) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : job) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || c == '-' || c == '_' || (c == '.' && !out.empty()))
      out += c;
    else
      out += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return out;
}

/// The processes of one start on this machine.
class Workers {
 public:
  /// While `full()`, nothing more is to be shown.
  Workers(const LaunchOptions& options, const Gathering& gathering, const Agents& agents,
          const JobSecret& secret, std::function<bool()> full)
      : options_(options),
        gathering_(gathering),
        secret_(secret),
        full_(std::move(full)),
        port_(agents.port()),
        log_folder_(options.log_folder + "/" + folder_of_job(options.agents.job) + "/attempt_" +
                    std::to_string(gathering.round)) {
    // A report that finds the pipe full is dropped: the next one says more.
    ::fcntl(progress_.write.get(), F_SETFL, O_NONBLOCK);
    for (size_t i = 0; i < filtered_.size(); ++i)
      if (!options.filters[i].empty())
        filtered_[i] = open_log(log_folder_, kFiltered[i], /*more=*/true);
    for (int64_t i = 0; i < options.agents.processes; ++i) start(i);
  }

  /// Passes on what the processes print; waits a moment for something to happen.
  void look() {
    const bool may_show = !full_();
    std::vector<pollfd> files;
    for (const auto& worker : workers_)
      for (const int file : worker->outputs())
        if (may_show) files.push_back({file, POLLIN, 0});
    files.push_back({progress_.read.get(), POLLIN, 0});
    ::poll(files.data(), files.size(), /*milliseconds=*/20);
    for (const auto& worker : workers_) worker->look(may_show);
    std::string reports;
    read_available(progress_.read.get(), reports);
    paces_.add(reports);
  }

  /// What the ranks of this machine have reported.
  const Paces& paces() const { return paces_; }

  bool all_ended() const {
    return std::all_of(workers_.begin(), workers_.end(),
                       [](const auto& worker) { return worker->ended().has_value(); });
  }

  /// The one that failed first, as far as can be seen. Of several that are found at once, one that
  /// a signal ended did not fail because of another one.
  Worker* failed() const {
    Worker* out = nullptr;
    for (const auto& worker : workers_)
      if (worker->failed() && (!out || worker->ended()->signal)) out = worker.get();
    return out;
  }

  std::string describe(Worker& worker) const {
    return worker.last_words() + "rank " + std::to_string(worker.rank()) + " (local rank " +
           std::to_string(worker.local_rank()) + " on " + options_.agents.name + ", process " +
           std::to_string(worker.child().id()) + ") " + worker.ended()->text();
  }

  /// Ends all that run: told to first, then, or when `hurry()`, by force.
  template <class F>
  void end(F&& hurry) {
    if (!all_ended()) guardian_.signal(SIGTERM);
    const auto deadline = Clock::now() + options_.shutdown_timeout;
    while (!all_ended() && Clock::now() < deadline && !hurry()) look();
    guardian_.signal(SIGKILL);
    while (!all_ended()) look();
  }

 private:
  void start(int64_t local_rank) {
    WorkerOptions worker;
    worker.local_rank = local_rank;
    worker.rank = gathering_.first_rank() + local_rank;
    worker.child = {.command = options_.command,
                    .environment = variables(worker.rank, local_rank),
                    .group = guardian_.group()};
    secret_.hand_to(worker.child);
    if (options_.monitor) {
      worker.child.inherited.push_back(progress_.write.get());
      worker.child.environment[kProgressFile] = std::to_string(progress_.write.get());
    }
    const auto redirected = options_.redirects.of(local_rank), both = options_.tee.of(local_rank);
    for (size_t i = 0; i < 2; ++i) {
      worker.shown[i] = is_shown(local_rank) && (!redirected[i] || both[i]);
      worker.kept[i] = redirected[i] || both[i];
      worker.filters[i] = options_.filters[i];
      worker.filtered[i] = filtered_[i].get();
    }
    const auto prefixed = options_.prefixed.of(local_rank);
    for (size_t i = 0; i < 2; ++i)
      if (prefixed[i]) worker.prefixes[i] = line_prefix(worker);
    worker.log_folder = log_folder_ + "/" + std::to_string(worker.rank);
    workers_.push_back(std::make_unique<Worker>(std::move(worker), options_.show));
  }

  std::string line_prefix(const WorkerOptions& worker) const {
    std::string out =
        options_.line_prefix.value_or(gathering_.world_size() > 1 ? "[rank ${rank}] " : "");
    const std::pair<std::string_view, std::string> values[] = {
        {"${rank}", std::to_string(worker.rank)},
        {"${local_rank}", std::to_string(worker.local_rank)},
        {"${role_name}", options_.role},
        {"${hostname}", options_.agents.name}};
    for (const auto& [name, value] : values)
      for (size_t at = 0; (at = out.find(name, at)) != out.npos; at += value.size())
        out.replace(at, name.size(), value);
    return out;
  }

  bool is_shown(int64_t local_rank) const {
    const auto& some = options_.shown_local_ranks;
    return some.empty() || std::find(some.begin(), some.end(), local_rank) != some.end();
  }

  /// torchrun's variables.
  Variables variables(int64_t rank, int64_t local_rank) const {
    Variables out;
    for (const auto& [name, value] : options_.environment) out[name] = value;
    out.merge(
        place_variables(rank, gathering_.world_size(), local_rank, options_.agents.processes));
    out.merge(store_variables(options_.agents.host, port_, gathering_.round));
    const std::string nodes = std::to_string(gathering_.nodes());
    out.merge(Variables{{"GROUP_RANK", std::to_string(gathering_.node)},
                        {"GROUP_WORLD_SIZE", nodes},
                        {"ROLE_RANK", out["RANK"]},
                        {"ROLE_WORLD_SIZE", out["WORLD_SIZE"]},
                        {"ROLE_NAME", options_.role},
                        {"TORCHELASTIC_RUN_ID", options_.agents.job},
                        {"TAEDA_DISTRIBUTED_JOB_ID", std::nullopt},
                        {"TORCHELASTIC_MAX_RESTARTS", std::to_string(options_.max_restarts)}});
    if (options_.virtual_local_rank) out.merge(virtual_place(local_rank, out));
    add_interface(out);
    add_threads(out);
    return out;
  }

  /// The local rank 0, and of the devices that this process sees the one of the local rank.
  static Variables virtual_place(int64_t local_rank, Variables& out) {
    out["LOCAL_RANK"] = "0";
    const char* seen = std::getenv("CUDA_VISIBLE_DEVICES");
    std::string left = seen ? seen : "";
    for (int64_t i = 0; i < local_rank && !left.empty(); ++i)
      left.erase(0, std::min(left.find(','), left.size() - 1) + 1);
    return {{"CUDA_VISIBLE_DEVICES",
             seen && *seen ? left.substr(0, left.find(',')) : std::to_string(local_rank)}};
  }

  /// Ranks on other machines reach this one where its launcher reaches the meeting place.
  void add_interface(Variables& out) const {
    if (std::getenv("TAEDA_DISTRIBUTED_INTERFACE") || std::getenv("GLOO_SOCKET_IFNAME")) return;
    const std::string& named = options_.local_address;
    const std::string address =
        named.empty() ? address_towards(options_.agents.host) : resolve(named);
    if (!is_loopback(address)) out["TAEDA_DISTRIBUTED_INTERFACE"] = address;
  }

  /// Processes of one machine share its cores.
  void add_threads(Variables& out) const {
    if (std::getenv("OMP_NUM_THREADS") || options_.agents.processes == 1) return;
    const int64_t cores = std::thread::hardware_concurrency();
    out["OMP_NUM_THREADS"] =
        std::to_string(std::max<int64_t>(1, cores / options_.agents.processes));
  }

  const LaunchOptions& options_;
  const Gathering& gathering_;
  const JobSecret& secret_;
  static constexpr std::array<const char*, 2> kFiltered = {"filtered_stdout.log",
                                                           "filtered_stderr.log"};
  const std::function<bool()> full_;
  const uint16_t port_;
  const std::string log_folder_;
  std::array<Descriptor, 2> filtered_;
  Pipe progress_;
  Paces paces_;
  Guardian guardian_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

class Launcher {
 public:
  explicit Launcher(const LaunchOptions& options)
      : output_(options.show ? nullptr : std::make_unique<Output>()),
        monitor_(output_ && logging::is_terminal(stdout), way_of_showing(options),
                 [this](const std::string& text) { draw(text); }),
        options_(with_monitor(options)),
        secret_(options.invent_secret && options.agents.max_nodes == 1),
        agents_(agent_options()) {}

  int run() {
    int code = 1;
    try {
      code = run_all();
    } catch (...) {
      if (output_) output_->deliver(code, /*stopped=*/true);
      throw;
    }
    return output_ ? output_->deliver(code, stopped_) : code;
  }

 private:
  int run_all() {
    for (bool first = true;; first = false) {
      const Gathering gathering = agents_.gather();
      if (first && options_.says_differences)
        for (const std::string& line : agents_.differences()) say("taeda: " + line);
      const Outcome outcome = run_once(gathering);
      stopped_ = outcome.stopped != 0;
      if (stopped_) return 128 + outcome.stopped;
      const bool again =
          outcome.end.kind == Kind::kChanged ||
          (outcome.end.kind == Kind::kFailed && gathering.failures < options_.max_restarts);
      if (again) {
        say_again(outcome.end, gathering);
        continue;
      }
      if (outcome.end.kind == Kind::kFailed) say_failed(outcome.end, gathering);
      agents_.leave();
      return outcome.end.kind == Kind::kDone ? 0 : outcome.code ? outcome.code : 1;
    }
  }

  struct Outcome {
    RoundEnd end;
    int code = 0;     ///< of the process of this machine that failed
    int stopped = 0;  ///< the signal that asked for the end
  };

  ShowLine way_of_showing(const LaunchOptions& options) {
    if (options.show) return options.show;
    return [this](bool error, std::string_view line) { output_->line(error, line); };
  }
  void draw(const std::string& text) {
    if (output_) output_->write(/*error=*/false, text);
  }
  LaunchOptions with_monitor(LaunchOptions options) {
    options.show = [this](bool error, std::string_view line) { monitor_.show(error, line); };
    return options;
  }
  AgentOptions agent_options() const {
    AgentOptions out = options_.agents;
    out.security = secret_.security();
    out.max_restarts = options_.max_restarts;
    out.say = [this](const std::string& text) { say("taeda: " + text); };
    for (const std::string& word : options_.command)
      if (options_.says_differences) out.program += (out.program.empty() ? "" : " ") + word;
    return out;
  }

  Outcome run_once(const Gathering& gathering) {
    const StopSignals signals(options_.stop_signals);
    Workers workers(options_, gathering, agents_, secret_,
                    [this] { return output_ && output_->full(); });
    Outcome out;
    const auto hurry = [&signals] { return signals.count() > 1; };
    std::optional<RoundEnd> end;
    try {
      end = watch(workers, signals, out.code);
      if (!end) {
        out.stopped = signals.last();
        agents_.report_failure("the launcher on " + options_.agents.name + " was told to end by " +
                               signal_name(out.stopped));
      }
    } catch (const DistributedError&) {  // nobody is there to agree with
      workers.end(hurry);
      throw;
    }
    workers.end(hurry);
    if (options_.monitor && end) monitor_.finish(progress(workers));
    if (end) out.end = *end;
    return out;
  }

  /// Why all machines end this start; nothing where this launcher was told to end.
  std::optional<RoundEnd> watch(Workers& workers, const StopSignals& signals, int& code) {
    bool reported = false;
    while (!signals.count()) {
      workers.look();
      Worker* failed = reported ? nullptr : workers.failed();
      if (failed) {
        code = failed->ended()->shell_code();
        agents_.report_failure(workers.describe(*failed));
      } else if (!reported && workers.all_ended()) {
        agents_.report_done();
      }
      reported = reported || failed || workers.all_ended();
      if (options_.monitor) show_progress(workers);
      if (const auto end = agents_.look()) return end;
    }
    return {};
  }

  void show_progress(const Workers& workers) {
    const auto now = Clock::now();
    if (now < next_progress_) return;
    next_progress_ = now + std::chrono::milliseconds(500);
    monitor_.update(progress(workers));
  }

  /// On the first machine, of the ranks of all.
  Paces progress(const Workers& workers) {
    Paces out = workers.paces();
    if (!out.empty()) agents_.show(out.lines());
    if (agents_.node() != 0) return {};
    for (const std::string& lines : agents_.shown()) out.add_lines(lines);
    return out;
  }

  void say(const std::string& text) const {
    std::string_view left = text;
    while (!left.empty()) {
      const size_t end = std::min(left.find('\n'), left.size());
      options_.show(true, left.substr(0, end));
      left.remove_prefix(std::min(end + 1, left.size()));
    }
  }
  void say_again(const RoundEnd& end, const Gathering& gathering) const {
    const bool failed = end.kind == Kind::kFailed;
    say(end.text + "\ntaeda: starting again" +
        (failed ? " (restart " + std::to_string(gathering.failures + 1) + " of " +
                      std::to_string(options_.max_restarts) + ")"
                : ""));
  }
  void say_failed(const RoundEnd& end, const Gathering& gathering) const {
    if (!options_.says_end) return;
    const size_t last = end.text.rfind('\n') + 1;
    if (last)
      say("taeda: what the process that failed first wrote last:\n" + end.text.substr(0, last));
    const std::string restarts =
        gathering.failures ? "; restarts before: " + std::to_string(gathering.failures) : "";
    say("taeda: " + end.text.substr(last) + restarts);
  }

  const std::unique_ptr<Output> output_;  ///< null where somebody else shows lines
  Monitor monitor_;
  const LaunchOptions options_;
  bool stopped_ = false;  ///< by a signal
  const JobSecret secret_;
  Agents agents_;
  Clock::time_point next_progress_ = {};
};

}  // namespace

std::array<bool, 2> OutputChoice::of(int64_t local_rank) const {
  const auto it = some.find(local_rank);
  return it == some.end() ? all : it->second;
}

OutputChoice OutputChoice::parse(const std::string& text) {
  OutputChoice out;
  if (text.size() == 1) {
    out.all = outputs_of(text, text[0]);
    return out;
  }
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, end - at);
    const size_t colon = part.find(':');
    const bool good = colon != std::string::npos && colon > 0 && colon + 2 == part.size() &&
                      part.find_first_not_of("0123456789") == colon && colon < 9;
    const auto chosen = outputs_of(text, good ? part[colon + 1] : 'x');
    out.some[std::stoll(part.substr(0, colon))] = chosen;
    at = end + 1;
  }
  return out;
}

int launch(const LaunchOptions& options) {
  check_options(options);
  logging::hold_standard_streams();
  return Launcher(options).run();
}

}  // namespace taeda::inline v0_2::distributed::cluster
