#include "taeda/distributed/cluster/agents.h"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <sstream>
#include <thread>
#include <utility>

#include "taeda/base/error.h"
#include "taeda/distributed/cluster/agent_store.h"
#include "taeda/distributed/cluster/reminder.h"
#include "taeda/distributed/group/patience.h"
#include "taeda/distributed/network.h"
#include "taeda/distributed/store/prefix_store.h"
#include "taeda/distributed/store/tcp_store.h"

namespace taeda::inline v0_2::distributed::cluster {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kBetweenLooks(300), kGoodbye(5000);
/// How long an answer may take while processes run, which are looked after by the thread that asks.
constexpr milliseconds kAnswer(2000);
/// And while nothing else is to be done.
constexpr milliseconds kUnhurried(30000);
constexpr const char *kRound = "round", *kLeft = "left", *kAgreed = "agreed";
constexpr char kFailed = 'f', kChanged = 'c';

milliseconds until(Clock::time_point deadline) {
  return std::max(milliseconds(1),
                  std::chrono::duration_cast<milliseconds>(deadline - Clock::now()));
}

/// What no other launcher is called, on any machine.
std::string new_launcher() {
  uint64_t number = 0;
  TAEDA_CHECK_AS(DistributedError, ::getrandom(&number, sizeof number, 0) == sizeof number,
                 "the system gives no random bytes");
  return std::to_string(::getpid()) + " " + std::to_string(number);
}

/// What a launcher writes at its place.
struct Entry {
  int64_t processes = 0, process = 0;  ///< process: the launcher's own id
  std::string number, name, program;

  std::string text() const {
    return std::to_string(processes) + " " + std::to_string(process) + " " + number + "\n" + name +
           "\n" + program;
  }
  static Entry parse(const std::string& text) {
    Entry out;
    std::istringstream in(text);
    in >> out.processes >> out.process >> out.number;
    in.ignore(1);
    std::getline(in, out.name);
    std::getline(in, out.program, '\0');
    return out;
  }
};

}  // namespace

int64_t Gathering::world_size() const {
  return std::accumulate(processes.begin(), processes.end(), int64_t{0});
}

int64_t Gathering::first_rank() const {
  return std::accumulate(processes.begin(), processes.begin() + node, int64_t{0});
}

Agents::Agents(const AgentOptions& options) : options_(options), launcher_(new_launcher()) {
  open_store();
  store_->compare_set(kRound, "", "0");
  now_.round = std::stoll(store_->get(kRound)) - 1;
  if (!alone()) agree();
}

Agents::~Agents() = default;

uint16_t Agents::port() const { return port_; }

/// The machine that has the address serves. Of several launchers there it is the one that gets the
/// port.
void Agents::open_store() {
  TCPStoreOptions store{.port = options_.port,
                        .wait_for_workers = false,
                        .timeout = options_.join_timeout,
                        .job = options_.job,
                        .security = options_.security};
  const auto objection = [&] {
    return listen_objection(listen_address(options_.host), options_.port);
  };
  serves_ = options_.node_rank ? *options_.node_rank == 0 : objection().empty();
  store.is_master = serves_;
  if (serves_) check_own_address(options_.host);
  const auto open = [&] {
    std::optional<Reminder> waiting;
    if (!serves_)
      waiting.emplace(
          options_.say,
          [this] {
            return "waiting for the launcher that serves job '" + options_.job + "' at " +
                   endpoint(options_.host, options_.port);
          },
          options_.patience);
    server_ = std::make_shared<TCPStore>(options_.host, store);
  };
  try {
    open();
  } catch (const DistributedError&) {
    if (!serves_ || options_.node_rank || objection().empty()) throw;
    serves_ = store.is_master = false;  // another launcher was quicker
    open();
  }
  port_ = server_->port();
  use_store(server_);
  if (!serves_) server_.reset();
}

void Agents::use_store(std::shared_ptr<TCPStore> store) {
  store_ = std::make_shared<PrefixStore>("agents", std::move(store));
  store_->set_timeout(kUnhurried);
}

/// Launchers that were told otherwise would wait for machines that never come, or start again
/// alone. The first to come counts.
void Agents::agree() {
  const auto number = [](int64_t value) { return std::to_string(value); };
  const std::string nodes = options_.min_nodes == options_.max_nodes
                                ? number(options_.min_nodes)
                                : number(options_.min_nodes) + ":" + number(options_.max_nodes);
  const std::string mine = nodes + " " + number(options_.max_restarts) + "\n" + options_.name;
  std::istringstream first(store_->compare_set(kAgreed, "", mine));
  std::string their_nodes, their_name;
  int64_t their_restarts = 0;
  first >> their_nodes >> their_restarts;
  first.ignore(1);
  std::getline(first, their_name);
  const std::string job = "the launchers of job '" + options_.job + "' must be told the same, but ";
  TAEDA_CHECK_AS(DistributedError, nodes == their_nodes, job, "this one has --nnodes ", nodes,
                 " and the first, on ", their_name, ", ", their_nodes);
  TAEDA_CHECK_AS(DistributedError, options_.max_restarts == their_restarts, job,
                 "this one has --max-restarts ", options_.max_restarts, " and the first, on ",
                 their_name, ", ", their_restarts);
}

/// Asks the store. One that does not answer, because its machine stands still or the network does,
/// is asked again over a connection of its own: the old one may be lost for good.
template <class F>
void Agents::ask(F&& question) {
  const auto begin = Clock::now();
  if (begin < next_question_) return;
  try {
    if (silent_since_)
      use_store(std::make_shared<TCPStore>(options_.host,
                                           TCPStoreOptions{.port = port_,
                                                           .wait_for_workers = false,
                                                           .timeout = kAnswer,
                                                           .job = options_.job,
                                                           .security = options_.security}));
    store_->set_timeout(kAnswer);
    question();
    store_->set_timeout(kUnhurried);
    silent_since_.reset();
  } catch (const DistributedError& e) {
    if (!silent_since_) silent_since_ = begin;
    next_question_ = Clock::now() + kBetweenLooks;
    check_patience(e.message());
  }
}

/// A connection that is refused tells that the launcher there has ended, silence tells nothing.
void Agents::check_patience(const std::string& error) const {
  const bool ended =
      !serves_ && connect_objection(options_.host, port_, kAnswer) == std::strerror(ECONNREFUSED);
  if (!ended && Clock::now() - *silent_since_ < options_.keep_alive) return;
  taeda::detail::fail<DistributedError>(
      "the launcher that serves job '" + options_.job + "' at " + endpoint(options_.host, port_) +
      (ended
           ? " has ended"
           : " has said nothing for " + std::to_string(options_.keep_alive.count() / 1000) + " s") +
      " (" + error + ")");
}

std::string Agents::key(const std::string& name) const {
  return std::to_string(now_.round) + " " + name;
}

std::string Agents::key_of_node(const std::string& name, int64_t node) const {
  return key(name) + " " + std::to_string(node);
}

const Gathering& Agents::gather() {
  ++now_.round;
  end_.reset();
  if (alone()) {
    now_.processes = {options_.processes};
    now_.names = {options_.name};
    return now_;
  }
  now_.node = join_round();
  const auto deadline = Clock::now() + options_.join_timeout;
  std::istringstream size(wait_for_size(deadline));
  int64_t nodes = 0;
  size >> nodes >> now_.failures;
  if (now_.node >= nodes) {
    wait_for_next_round();
    return gather();
  }
  now_.processes.clear();
  now_.names.clear();
  now_.programs.clear();
  for (int64_t node = 0; node < nodes; ++node) {
    const Entry entry = Entry::parse(wait_for(key_of_node("node", node), deadline));
    now_.processes.push_back(entry.processes);
    now_.names.push_back(entry.name);
    now_.programs.push_back(entry.program);
  }
  beats_.assign(static_cast<size_t>(nodes), {"", Clock::now()});
  last_check_ = Clock::now();
  return now_;
}

std::vector<std::string> Agents::differences() const {
  std::vector<std::string> out;
  if (alone() || now_.node == 0 || options_.program.empty() || now_.programs[0].empty()) return out;
  const std::string first = " and machine " + now_.names[0] + " (node rank 0) ";
  if (options_.processes != now_.processes[0])
    out.push_back("this machine has --nproc-per-node " + std::to_string(options_.processes) +
                  first + std::to_string(now_.processes[0]));
  if (options_.program != now_.programs[0])
    out.push_back("this machine runs '" + options_.program + "'" + first + "'" + now_.programs[0] +
                  "'");
  return out;
}

/// This machine's place, among those that are there at the same time.
int64_t Agents::join_round() {
  if (options_.node_rank) {  // who is refused has not come
    take_place(*options_.node_rank);
    store_->add(key("joined"), 1);
    return *options_.node_rank;
  }
  const int64_t node = store_->add(key("joined"), 1) - 1;
  take_place(node);
  return node;
}

void Agents::take_place(int64_t node) {
  const size_t space = launcher_.find(' ');
  const Entry mine{.processes = options_.processes,
                   .process = std::stoll(launcher_.substr(0, space)),
                   .number = launcher_.substr(space + 1),
                   .name = options_.name,
                   .program = options_.program};
  const std::string text = store_->compare_set(key_of_node("node", node), "", mine.text());
  if (text == mine.text()) return;
  const Entry there = Entry::parse(text);
  taeda::detail::fail<DistributedError>(
      "node rank " + std::to_string(node) + " of job '" + options_.job +
      "' is taken by another launcher: process " + std::to_string(there.process) + " on " +
      there.name + "; each machine has a --node-rank of its own, or none has one");
}

std::string Agents::wait_for(const std::string& key, Clock::time_point deadline) {
  try {
    store_->wait({key}, until(deadline));
  } catch (const DistributedError&) {
    if (Clock::now() < deadline) throw;
    const int64_t came = store_->add(this->key("joined"), 0);
    taeda::detail::fail<DistributedError>(
        "job '" + options_.job + "': " + std::to_string(came) + " of at least " +
        std::to_string(options_.min_nodes) + " machines came to " +
        endpoint(options_.host, port()) + " within " +
        std::to_string(options_.join_timeout.count() / 1000) + " s");
  }
  return store_->get(key);
}

/// How many machines there are, and starts that failed.
std::string Agents::wait_for_size(Clock::time_point deadline) {
  const Reminder waiting(
      options_.say,
      [this] {
        return "waiting for machines of job '" + options_.job + "' at " +
               endpoint(options_.host, port_) + ": " + missing();
      },
      options_.patience);
  if (now_.node == 0) close_round(deadline);
  return wait_for(key("size"), deadline);
}

/// How many have come, and which have not where they were told their places.
std::string Agents::missing() const {
  constexpr int64_t kMostNamed = 8;
  std::string wanted = std::to_string(options_.min_nodes);
  if (options_.max_nodes > options_.min_nodes)
    wanted += " to " + std::to_string(options_.max_nodes);
  const auto count = within(kAnswer, [store = store_, name = key("joined")] {
    return std::to_string(store->add(name, 0));
  });
  std::string out = count.value_or("?") + " of " + wanted + " have come";
  std::string names;
  int64_t named = 0;
  for (int64_t node = 0; options_.node_rank && node < options_.min_nodes; ++node) {
    const auto there = within(kAnswer, [store = store_, name = key_of_node("node", node)] {
      return store->check({name});
    });
    if (!there || *there) continue;
    if (++named > kMostNamed) break;
    names += (names.empty() ? "" : ", ") + std::to_string(node);
  }
  if (!names.empty()) out += ", not node rank " + names + (named > kMostNamed ? ", ..." : "");
  return out;
}

/// The first machine decides how many there are.
void Agents::close_round(Clock::time_point deadline) {
  const auto came = [&] { return store_->add(key("joined"), 0); };
  int64_t nodes = came();
  auto changed = Clock::now();
  while (nodes < options_.max_nodes && Clock::now() < deadline) {
    if (nodes >= options_.min_nodes && Clock::now() - changed > options_.last_call) break;
    std::this_thread::sleep_for(milliseconds(50));
    const int64_t now = came();
    if (now != nodes) changed = Clock::now();
    nodes = now;
  }
  if (nodes < options_.min_nodes) return;  // nobody gets a size: all say who is missing
  store_->set(key("size"), std::to_string(std::min(nodes, options_.max_nodes)) + " " +
                               std::to_string(now_.failures));
}

/// For a machine that came when the others had started: it takes the place of one that fails.
void Agents::wait_for_next_round() {
  store_->add(key("waiting"), 1);
  const Reminder waiting(
      options_.say,
      [this] {
        return "job '" + options_.job +
               "' runs on other machines; this one waits until it starts again";
      },
      options_.patience);
  while (!next_end()) std::this_thread::sleep_for(kBetweenLooks);
  const std::optional<RoundEnd> end = next_end();
  TAEDA_CHECK_AS(DistributedError, end->kind != RoundEnd::Kind::kDone, "job '", options_.job,
                 "' ended before this machine was needed");
  advance(*end);
}

void Agents::report_done() {
  if (alone())
    end_ = RoundEnd{RoundEnd::Kind::kDone, ""};
  else
    report(key_of_node("done", now_.node), "1");
}

void Agents::report_failure(const std::string& text) {
  if (alone()) {
    end_ = RoundEnd{RoundEnd::Kind::kFailed, text};
    ++now_.failures;
  } else {
    report(key("end"), kFailed + text);
  }
}

/// What the store does not hear now it hears when it answers again.
void Agents::report(const std::string& key, const std::string& text) {
  to_report_[key] = text;
  ask([this] {
    for (const auto& [name, value] : to_report_) store_->compare_set(name, "", value);
    to_report_.clear();
  });
}

std::optional<RoundEnd> Agents::look() {
  if (alone()) return end_;
  if (Clock::now() < next_look_) return {};
  next_look_ = Clock::now() + kBetweenLooks;
  std::optional<RoundEnd> end;
  ask([&] { end = look_at_store(); });
  return end;
}

std::optional<RoundEnd> Agents::look_at_store() {
  for (const auto& [name, value] : to_report_) store_->compare_set(name, "", value);
  to_report_.clear();
  store_->set(key_of_node("beat", now_.node), std::to_string(++beat_));
  if (serves_) check_alive();
  const bool more = now_.nodes() < options_.max_nodes && store_->check({key("waiting")});
  if (more) store_->compare_set(key("end"), "", std::string(1, kChanged) + "a machine has come");
  const std::optional<RoundEnd> end = next_end();
  if (end) advance(*end);
  return end;
}

std::optional<RoundEnd> Agents::next_end() {
  if (store_->check({key("end")})) {
    const std::string text = store_->get(key("end"));
    const auto kind = text[0] == kFailed ? RoundEnd::Kind::kFailed : RoundEnd::Kind::kChanged;
    return RoundEnd{kind, text.substr(1)};
  }
  const int64_t nodes = std::stoll(store_->get(key("size")));
  for (int64_t node = 0; node < nodes; ++node)
    if (!store_->check({key_of_node("done", node)})) return {};
  return RoundEnd{RoundEnd::Kind::kDone, ""};
}

/// Who comes now takes part in the next start.
void Agents::advance(const RoundEnd& end) {
  if (end.kind == RoundEnd::Kind::kFailed) ++now_.failures;
  if (end.kind == RoundEnd::Kind::kDone) return;
  store_->compare_set(kRound, std::to_string(now_.round), std::to_string(now_.round + 1));
}

void Agents::check_alive() {
  // While this process itself stood still it has heard nobody.
  const auto missed = Clock::now() - std::exchange(last_check_, Clock::now());
  if (missed > kAnswer)
    for (Beat& beat : beats_) beat.seen += missed;
  for (int64_t node = 0; node < now_.nodes(); ++node) {
    Beat& beat = beats_[static_cast<size_t>(node)];
    const std::string name = key_of_node("beat", node);
    const std::string value = store_->check({name}) ? store_->get(name) : "";
    if (value != beat.value) beat = {value, Clock::now()};
    if (Clock::now() - beat.seen < options_.keep_alive) continue;
    const std::string text = "the launcher on machine " + now_.names[static_cast<size_t>(node)] +
                             " (node rank " + std::to_string(node) + ") has said nothing for " +
                             std::to_string(options_.keep_alive.count() / 1000) + " s";
    store_->compare_set(key("end"), "", kFailed + text);
  }
}

void Agents::leave() {
  if (alone()) return;
  const auto deadline = Clock::now() + kGoodbye;
  const auto left = [this](int64_t more) {
    int64_t out = now_.nodes();  // nobody who does not answer is waited for
    ask([&] { out = store_->add(kLeft, more); });
    return out;
  };
  try {
    for (int64_t n = left(1); serves_ && n < now_.nodes() && Clock::now() < deadline; n = left(0))
      std::this_thread::sleep_for(milliseconds(20));
  } catch (const DistributedError&) {  // the others have left: the job is over for all
  }
}

void Agents::show(const std::string& value) {
  if (!alone()) ask([&] { store_->set(key_of_node("shown", now_.node), value); });
}

std::vector<std::string> Agents::shown() {
  std::vector<std::string> out;
  if (alone()) return out;
  ask([&] {
    for (int64_t node = 0; node < now_.nodes(); ++node) {
      const std::string name = key_of_node("shown", node);
      out.push_back(store_->check({name}) ? store_->get(name) : "");
    }
  });
  return out;
}

}  // namespace taeda::inline v0_2::distributed::cluster
