// How workers come together, and part.

#include <algorithm>
#include <cctype>
#include <thread>

#include "taeda/base/error.h"
#include "taeda/base/warning.h"
#include "taeda/distributed/job.h"
#include "taeda/distributed/rendezvous.h"
#include "taeda/distributed/store/prefix_store.h"
#include "taeda/distributed/store/values.h"
#include "taeda/rpc/agent.h"
#include "taeda/rpc/codec.h"
#include "taeda/rpc/contexts.h"
#include "taeda/rpc/distributed_optimizer.h"
#include "taeda/rpc/references.h"

namespace taeda::inline v0_2::distributed::rpc {

namespace {

using std::chrono::milliseconds;

constexpr size_t kMostNameBytes = 128;
constexpr milliseconds kLeaveTimeout(5000);
/// For functions that are about to end when their worker does.
constexpr milliseconds kStopPatience(1000);
constexpr milliseconds kTurn(500);

void check_name(const std::string& name) {
  bool good = !name.empty() && name.size() <= kMostNameBytes;
  for (const char c : name)
    good &= std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == ':';
  TAEDA_CHECK_VALUE(good,
                    "rpc::init_rpc: a worker's name consists of letters, digits, '_', ':' and "
                    "'-' and has at most ",
                    kMostNameBytes, " of them, but got '", name, "'");
}

DeviceMap inverse(const DeviceMap& map) {
  DeviceMap out;
  for (const auto& [from, to] : map) out[to] = from;
  return out;
}

/// Devices by their names, as a worker tells them to others.
std::map<std::string, std::map<std::string, std::string>> names_of(
    const std::map<std::string, DeviceMap>& maps) {
  std::map<std::string, std::map<std::string, std::string>> out;
  for (const auto& [worker, map] : maps)
    for (const auto& [from, to] : map) out[worker][from.str()] = to.str();
  return out;
}

std::string key_of_worker(int64_t rank) { return "worker/" + std::to_string(rank); }
std::string key_of_ready(int64_t rank) { return "ready/" + std::to_string(rank); }

}  // namespace

void RpcBackendOptions::set_device_map(const std::string& to, const DeviceMap& device_map) {
  DeviceMap& map = device_maps[to];
  for (const auto& [from, target] : device_map) {
    for (const auto& [known, known_target] : map)
      TAEDA_CHECK_VALUE(known != from && known_target != target,
                        "`set_device_map` only supports 1-to-1 mapping, trying to map ", from,
                        " to ", target, " of ", to, ", but ", known, " is mapped to ",
                        known_target);
    map[from] = target;
  }
}

Agent::Agent(int64_t rank, int64_t world_size, RpcBackendOptions options)
    : rank_(rank),
      world_size_(world_size),
      options_(std::move(options)),
      workers_(static_cast<size_t>(world_size)),
      device_maps_(static_cast<size_t>(world_size)),
      pool_(options_.num_worker_threads) {
  contexts_ = std::make_unique<Contexts>(*this);
  references_ = std::make_unique<References>(*this);
  detail::serve_calls(*this);
  distributed::detail::register_optimizers();
}

/// The last to let go of a worker that was not shut down may be one of its own threads, which it
/// cannot wait for.
void Agent::destroy(Agent* agent) {
  if (!agent->process_.here()) return;  // a copy keeps what it cannot end
  if (agent->stopped())
    delete agent;
  else
    std::thread([agent] { delete agent; }).detach();
}

std::shared_ptr<Agent> Agent::join(const std::string& name, int64_t rank, int64_t world_size,
                                   RpcBackendOptions options, const TransportFactory& open) {
  check_name(name);
  TAEDA_CHECK_VALUE(options.num_worker_threads > 0,
                    "rpc::init_rpc: num_worker_threads must be positive, but got 0");
  TAEDA_CHECK_VALUE(options.rpc_timeout >= 0,
                    "rpc::init_rpc: rpc_timeout must not be negative, but got ",
                    options.rpc_timeout);
  if (!options.store) {
    const Rendezvous place = rendezvous(options.init_method, rank, world_size);
    options.store = place.store;
    rank = place.rank;
    world_size = place.world_size;
  }
  TAEDA_CHECK_VALUE(world_size > 0 && rank >= 0 && rank < world_size, "rpc::init_rpc: rank ", rank,
                    " is not one of a world of size ", world_size);
  const std::shared_ptr<Agent> agent(new Agent(rank, world_size, std::move(options)), &destroy);
  agent->meet(name, open);
  return agent;
}

/// Tells the others where this worker is, and hears where they are.
void Agent::meet(const std::string& name, const TransportFactory& open) {
  store_ = std::make_shared<PrefixStore>("rpc", options_.store);
  const int64_t times = store_->add("joined/" + std::to_string(rank_), 1);
  store_ = std::make_shared<PrefixStore>("rpc/" + std::to_string(times), options_.store);
  workers_[static_cast<size_t>(rank_)] = {name, rank_};
  transport_ =
      open({.id = rank_,
            .name = name,
            .world_size = world_size_,
            .job = options_.job ? *options_.job : job_name(),
            .security = options_.security ? *options_.security : Security::from_environment(),
            .interface_name = options_.interface_name,
            .on_request = [this](int64_t from, Packet packet, Transport::Reply reply) {
              receive(from, std::move(packet), std::move(reply));
            }});
  Writer own;
  own.text(name);
  own.text(transport_->address());
  const auto maps = names_of(options_.device_maps);
  Codec<std::decay_t<decltype(maps)>>::write(own, maps);
  store_->set(key_of_worker(rank_), own.take().head);
  for_each_worker("did not come",
                  [&](int64_t rank) { read_worker(rank, store_->get(key_of_worker(rank))); });
  check_names();
  // A worker is called by those that know it: it must know them all, too.
  store_->set(key_of_ready(rank_), "");
  for_each_worker("did not get ready", [&](int64_t rank) { store_->wait({key_of_ready(rank)}); });
}

/// Says of whom an error is.
void Agent::for_each_worker(const char* what, const std::function<void(int64_t)>& f) const {
  for (int64_t rank = 0; rank < world_size_; ++rank) {
    try {
      f(rank);
    } catch (DistributedError& e) {
      e.add_context("rpc::init_rpc: worker " + std::to_string(rank) + " of " +
                    std::to_string(world_size_) + " " + what);
      throw;
    }
  }
}

void Agent::read_worker(int64_t rank, const std::string& text) {
  Reader in({text, {}});
  WorkerInfo& worker = workers_[static_cast<size_t>(rank)];
  worker = {in.text(), rank};
  const std::string address = in.text();
  const auto theirs = Codec<decltype(names_of({}))>::read(in);
  if (rank != rank_) transport_->meet(rank, worker.name, address);
  DeviceMap& map = device_maps_[static_cast<size_t>(rank)];
  if (const auto own = options_.device_maps.find(worker.name); own != options_.device_maps.end())
    map = own->second;
  DeviceMap to_here;
  if (const auto entry = theirs.find(self().name); entry != theirs.end())
    for (const auto& [from, to] : entry->second) to_here[Device(from)] = Device(to);
  map.merge(inverse(to_here));
}

void Agent::check_names() const {
  std::map<std::string, int64_t> ids;
  for (const WorkerInfo& worker : workers_) {
    const auto [other, added] = ids.try_emplace(worker.name, worker.id);
    TAEDA_CHECK_VALUE(added, "rpc::init_rpc: RPC worker name ", worker.name,
                      " is not unique. Worker ", other->second, " and worker ", worker.id,
                      " both have it");
  }
  for (const auto& [name, map] : options_.device_maps)
    TAEDA_CHECK_VALUE(ids.contains(name), "rpc::init_rpc: node ", self().name,
                      " has a device map for ", name, ", which is no worker");
}

void Agent::check_may_end() const {
  TAEDA_CHECK(!pool_.runs_here(),
              "rpc::shutdown: a function that another worker called cannot end its own worker");
}

void Agent::shutdown(bool graceful, milliseconds timeout) {
  check_may_end();
  try {
    if (graceful && !stopped_) part({timeout, distributed::detail::deadline_after(timeout)});
  } catch (const DistributedError&) {
    stop(kStopPatience);
    throw;
  }
  stop(graceful ? kStopPatience : std::max(timeout, kStopPatience));
}

/// Returns when nobody has anything to do any more.
void Agent::part(const Limit& limit) {
  int64_t calls = -1;
  for (int64_t round = 0;; ++round) {
    const int64_t now = count_calls(round, limit);
    if (now == calls) break;
    calls = now;
  }
  report_leaks();
  leave();
}

/// Programs are to let go of their RRefs before.
void Agent::report_leaks() {
  leaks_ = references_->in_use();
  for (const std::string& leak : leaks_) TAEDA_WARN("rpc::shutdown: ", leak);
}

/// Waits until this worker has nothing to do; how many calls it has made until then.
int64_t Agent::wait_until_quiet(const Limit& limit) {
  const auto quiet = [&] { return pending_.empty() && ending_ == 0; };
  while (true) {
    std::unique_lock lock(mutex_);
    const bool in_time = changed_.wait_until(lock, limit.deadline, quiet) && !limit.over();
    const uint64_t calls = calls_;
    lock.unlock();
    const bool idle = pool_.idle();
    lock.lock();
    // The last that the pool did may have been a call.
    if (idle && quiet() && calls_ == calls) return static_cast<int64_t>(calls);
    lock.unlock();
    if (!in_time) fail_late(limit, self().name + " (" + what_is_to_do() + ")");
    if (!idle) std::this_thread::sleep_for(milliseconds(1));
  }
}

/// The calls that all workers made until each had nothing to do. A function that runs belongs to
/// the call of a worker that is not quiet; so when nobody called anything from one round to the
/// next, nobody ever will.
int64_t Agent::count_calls(int64_t round, const Limit& limit) {
  const std::string prefix = "quiet/" + std::to_string(round) + "/";
  store_->add(prefix + "calls", wait_until_quiet(limit));
  wait_for_keys(prefix, limit);
  return store_->add(prefix + "calls", 0);
}

/// What keeps this worker from being quiet, for an error.
std::string Agent::what_is_to_do() {
  const size_t running = pool_.running();
  std::string out = std::to_string(running) + (running == 1 ? " function runs" : " functions run");
  std::lock_guard lock(mutex_);
  if (pending_.empty()) return out;
  return out + "; waits for " + std::to_string(pending_.size()) + " calls, the first " +
         pending_.begin()->second->place;
}

void Agent::fail_late(const Limit& limit, const std::string& workers) {
  taeda::detail::fail<DistributedError>("rpc::shutdown: these workers are not done within " +
                                        std::to_string(limit.timeout.count()) + " ms: " + workers);
}

/// All workers are here. In turns, between which those that are not are asked whether they live.
void Agent::wait_for_keys(const std::string& prefix, const Limit& limit) {
  store_->set(prefix + std::to_string(rank_), "");
  std::vector<std::string> keys;
  for (int64_t rank = 0; rank < world_size_; ++rank) keys.push_back(prefix + std::to_string(rank));
  while (true) {
    const auto left =
        std::chrono::duration_cast<milliseconds>(limit.deadline - Clock::now()) + milliseconds(1);
    try {
      return store_->wait(keys, std::clamp(left, milliseconds(0), kTurn));
    } catch (const DistributedError&) {
      std::vector<WorkerInfo> missing;
      for (const WorkerInfo& worker : workers_)
        if (!store_->check({prefix + std::to_string(worker.id)})) missing.push_back(worker);
      std::string names;
      for (const WorkerInfo& worker : missing) names += (names.empty() ? "" : ", ") + worker.name;
      if (limit.over()) fail_late(limit, names);
      for (const WorkerInfo& worker : missing) check_reachable(worker, prefix);
    }
  }
}

/// Throws DistributedError if a worker is gone without having done what `prefix` is about.
void Agent::check_reachable(const WorkerInfo& worker, const std::string& prefix) {
  if (worker.id == rank_) return;
  const std::string why = transport_->loss_of(worker.id);
  if (why.empty() || store_->check({prefix + std::to_string(worker.id)})) return;
  taeda::detail::fail<DistributedError>("rpc::shutdown: " + why);
}

/// The first worker may serve the store, so it waits until the others need it no more.
void Agent::leave() {
  const std::string prefix = "left/";
  try {
    if (rank_ == 0 && world_size_ > 1)
      wait_for_keys(prefix, {kLeaveTimeout, Clock::now() + kLeaveTimeout});
    else
      store_->set(prefix + std::to_string(rank_), "");
  } catch (const DistributedError&) {  // they are quiet: nothing is lost
  }
}

}  // namespace taeda::inline v0_2::distributed::rpc
