#include "taeda/distributed/cluster/agents.h"

#include <algorithm>
#include <numeric>
#include <sstream>
#include <thread>

#include "taeda/base/error.h"
#include "taeda/distributed/network.h"
#include "taeda/distributed/store/prefix_store.h"
#include "taeda/distributed/store/tcp_store.h"

namespace taeda::inline v0_2::distributed::cluster {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kBetweenLooks(300), kGoodbye(5000);
constexpr const char *kRound = "round", *kLeft = "left";
constexpr char kFailed = 'f', kChanged = 'c';

milliseconds until(Clock::time_point deadline) {
  return std::max(milliseconds(1),
                  std::chrono::duration_cast<milliseconds>(deadline - Clock::now()));
}

}  // namespace

int64_t Gathering::world_size() const {
  return std::accumulate(processes.begin(), processes.end(), int64_t{0});
}

int64_t Gathering::first_rank() const {
  return std::accumulate(processes.begin(), processes.begin() + node, int64_t{0});
}

Agents::Agents(const AgentOptions& options) : options_(options) {
  open_store();
  store_ = std::make_shared<PrefixStore>("agents", server_);
  store_->compare_set(kRound, "", "0");
  now_.round = std::stoll(store_->get(kRound)) - 1;
}

Agents::~Agents() = default;

uint16_t Agents::port() const { return server_->port(); }

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
  try {
    server_ = std::make_shared<TCPStore>(options_.host, store);
  } catch (const DistributedError&) {
    if (!serves_ || options_.node_rank || objection().empty()) throw;
    serves_ = store.is_master = false;  // another launcher was quicker
    server_ = std::make_shared<TCPStore>(options_.host, store);
  }
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
  if (now_.node == 0) close_round(deadline);
  std::istringstream size(wait_for(key("size"), deadline));
  int64_t nodes = 0;
  size >> nodes >> now_.failures;
  if (now_.node >= nodes) {
    wait_for_next_round();
    return gather();
  }
  now_.processes.clear();
  now_.names.clear();
  for (int64_t node = 0; node < nodes; ++node) {
    std::istringstream in(wait_for(key_of_node("node", node), deadline));
    in >> now_.processes.emplace_back() >> now_.names.emplace_back();
  }
  beats_.assign(static_cast<size_t>(nodes), {"", Clock::now()});
  return now_;
}

/// This machine's place, among those that are there at the same time.
int64_t Agents::join_round() {
  const int64_t arrived = store_->add(key("joined"), 1) - 1;
  const int64_t node = options_.node_rank.value_or(arrived);
  const std::string mine = std::to_string(options_.processes) + " " + options_.name;
  const std::string there = store_->compare_set(key_of_node("node", node), "", mine);
  TAEDA_CHECK_AS(DistributedError, there == mine, "node rank ", node, " of job '", options_.job,
                 "' is taken by another machine: ", there.substr(there.find(' ') + 1));
  return node;
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
    store_->add(key("done"), 1);
}

void Agents::report_failure(const std::string& text) {
  if (alone()) {
    end_ = RoundEnd{RoundEnd::Kind::kFailed, text};
    ++now_.failures;
  } else {
    store_->compare_set(key("end"), "", kFailed + text);
  }
}

std::optional<RoundEnd> Agents::look() {
  if (alone()) return end_;
  if (Clock::now() < next_look_) return {};
  next_look_ = Clock::now() + kBetweenLooks;
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
  if (store_->add(key("done"), 0) < nodes) return {};
  return RoundEnd{RoundEnd::Kind::kDone, ""};
}

/// Who comes now takes part in the next start.
void Agents::advance(const RoundEnd& end) {
  if (end.kind == RoundEnd::Kind::kFailed) ++now_.failures;
  if (end.kind == RoundEnd::Kind::kDone) return;
  store_->compare_set(kRound, std::to_string(now_.round), std::to_string(now_.round + 1));
}

void Agents::check_alive() {
  for (int64_t node = 0; node < now_.nodes(); ++node) {
    Beat& beat = beats_[static_cast<size_t>(node)];
    const std::string name = key_of_node("beat", node);
    const std::string value = store_->check({name}) ? store_->get(name) : "";
    if (value != beat.value) beat = {value, Clock::now()};
    if (Clock::now() - beat.seen < options_.keep_alive) continue;
    report_failure("the launcher on machine " + now_.names[static_cast<size_t>(node)] +
                   " (node rank " + std::to_string(node) + ") has said nothing for " +
                   std::to_string(options_.keep_alive.count() / 1000) + " s");
  }
}

void Agents::leave() {
  if (alone()) return;
  const int64_t left = store_->add(kLeft, 1);
  const auto deadline = Clock::now() + kGoodbye;
  for (int64_t n = left; serves_ && n < now_.nodes() && Clock::now() < deadline;
       n = store_->add(kLeft, 0))
    std::this_thread::sleep_for(milliseconds(20));
}

void Agents::show(const std::string& value) {
  if (!alone()) store_->set(key_of_node("shown", now_.node), value);
}

std::vector<std::string> Agents::shown() {
  std::vector<std::string> out;
  for (int64_t node = 0; node < now_.nodes() && !alone(); ++node) {
    const std::string name = key_of_node("shown", node);
    out.push_back(store_->check({name}) ? store_->get(name) : "");
  }
  return out;
}

}  // namespace taeda::inline v0_2::distributed::cluster
