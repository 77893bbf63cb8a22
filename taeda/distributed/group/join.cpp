// How processes become a group.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <numeric>

#include "taeda/base/error.h"
#include "taeda/distributed/engine.h"
#include "taeda/distributed/group/group_core.h"
#include "taeda/distributed/group/patience.h"
#include "taeda/distributed/group/process_group.h"
#include "taeda/distributed/group/termination.h"
#include "taeda/distributed/store/prefix_store.h"

namespace taeda::inline v0_2::distributed {

namespace {

bool cuda_is_simulated() {
  const char* devices = std::getenv("TAEDA_SIM_AS_CUDA");
  return devices && *devices;
}

void say_that_nccl_is_gloo() {
  static std::once_flag once;
  std::call_once(once, [] {
    std::cerr << "taeda: backend 'nccl' on simulated devices: Gloo exchanges their tensors through "
                 "pinned memory of the host\n";
  });
}

/// The engine that serves a backend's name.
const CommunicatorFunctions& engine_for(const std::string& backend) {
  TAEDA_CHECK_VALUE(backend == "gloo" || backend == "nccl" || backend == "mpi",
                    "init_process_group: expected a backend of gloo, mpi or nccl, got '", backend,
                    "'");
  std::string engine = backend;
  if (backend == "nccl" && cuda_is_simulated()) {
    say_that_nccl_is_gloo();
    engine = "gloo";
  }
  const char* const packages = engine == "gloo"  ? "libgloo-dev"
                               : engine == "mpi" ? "libopenmpi-dev and openmpi-bin"
                                                 : "a CUDA toolkit with nccl.h";
  return *static_cast<const CommunicatorFunctions*>(
      load_engine(engine, "the backend '" + backend + "'", packages));
}

std::string member_key(int rank) { return "member/" + std::to_string(rank); }

/// All members hear of it.
[[noreturn]] void refuse(Store& store, const std::string& reason) {
  store.set("refused", reason);
  throw DistributedError(reason);
}

/// Makes sure that this rank is alone with its number, and the group as large as others think.
void enter(Store& store, const Membership& members) {
  const std::string size = std::to_string(members.size());
  const std::string agreed = store.compare_set("size", "", size);
  const std::string who = "rank " + std::to_string(members.rank) + " of group '" + members.name;
  if (agreed != size)
    refuse(store, who + "' has a world size of " + size + ", others have one of " + agreed +
                      "; all processes make the same groups in the same order");
  if (store.add(member_key(members.rank), 1) != 1)
    refuse(store, who +
                      "' has joined twice: two processes have the same rank, or an earlier job "
                      "used this store");
}

/// Waits for the others, in short turns, so that a rank hears why they do not come.
void wait_for_all(Store& store, const Membership& members, std::chrono::milliseconds timeout,
                  Clock::time_point deadline) {
  Backoff turns = Backoff::for_store();
  while (true) {
    std::vector<int> missing;
    for (int r = 0; r < members.size(); ++r)
      if (!store.check({member_key(r)})) missing.push_back(r);
    if (missing.empty()) return;
    TAEDA_CHECK_AS(DistributedError, !store.check({"refused"}), store.get("refused"));
    TAEDA_CHECK_AS(DistributedError, Clock::now() < deadline, ranks_text(missing), " of group '",
                   members.name, "' did not come within the timeout of ", timeout.count(), " ms");
    turns.sleep();
  }
}

}  // namespace

std::shared_ptr<ProcessGroup> ProcessGroup::create(const std::string& backend, StorePtr store,
                                                   int rank, int size, Options options) {
  TAEDA_CHECK_VALUE(size >= 1 && rank >= 0 && rank < size,
                    "init_process_group: expected a rank "
                    "from 0 to world_size - 1, got rank ",
                    rank, " and world_size ", size);
  TAEDA_CHECK_VALUE(store, "init_process_group: expected a store, got none");
  TAEDA_CHECK_VALUE(options.timeout.count() > 0,
                    "init_process_group: expected a timeout above "
                    "0, got ",
                    options.timeout.count(), " ms");
  Membership members{options.name, rank, options.ranks};
  if (members.ranks.empty()) {
    members.ranks.resize(static_cast<size_t>(size));
    std::iota(members.ranks.begin(), members.ranks.end(), 0);
  }
  TAEDA_CHECK_VALUE(members.size() == size, "init_process_group: expected ", size,
                    " ranks of members, got ", members.size());
  GroupCore::check_interval();  // throws for a variable that is none
  const auto deadline = options.deadline.value_or(Clock::now() + options.timeout);
  const CommunicatorFunctions& engine = engine_for(backend);
  write_flight_record_on_sigterm(members.ranks[static_cast<size_t>(rank)]);
  auto own = std::make_shared<OwnKeys>(
      std::make_shared<PrefixStore>("group/" + options.name, std::move(store)));
  enter(*own, members);
  wait_for_all(*own, members, options.timeout, deadline);
  auto communicator = engine.connect(own, rank, size, Call{.deadline = deadline}.left());
  auto core = std::make_shared<GroupCore>(std::move(members), own, std::move(communicator),
                                          options.timeout);
  return std::shared_ptr<ProcessGroup>(new ProcessGroup(backend, std::move(core)));
}

void ProcessGroup::monitored_barrier(std::chrono::milliseconds timeout, bool wait_all_ranks,
                                     SourceLocation) {
  check_own("monitored_barrier");
  const std::string round = "monitored/" + std::to_string(++monitored_) + "/";
  Store& store = core_->store();
  const auto key = [&](int r) { return round + std::to_string(r); };
  if (rank_ != 0) {
    store.set(key(rank_), "here");
    store.wait({round + "end"}, timeout + std::chrono::seconds(1));
    const std::string end = store.get(round + "end");
    TAEDA_CHECK_AS(DistributedError, end == "ok", "Rank ", world_rank(rank_),
                   " successfully "
                   "reached monitoredBarrier, but rank ",
                   world_rank(0), " did not: ", end);
    return;
  }
  // All are here once more, so nobody looks at what they said the last time.
  const auto clear = [&](int64_t which) {
    const std::string old = "monitored/" + std::to_string(which) + "/";
    for (int r = 1; r < size(); ++r) store.delete_key(old + std::to_string(r));
    store.delete_key(old + "end");
  };
  const auto deadline = Clock::now() + timeout;
  std::vector<int> missing;
  for (int r = 1; r < size() && (missing.empty() || wait_all_ranks); ++r) {
    while (!store.check({key(r)}) && Clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (!store.check({key(r)})) missing.push_back(world_rank(r));
  }
  const std::string text = missing.empty() ? "ok"
                                           : taeda::detail::concat(ranks_text(missing),
                                                                   " failed to pass "
                                                                   "monitoredBarrier in ",
                                                                   timeout.count(), " ms");
  if (missing.empty() && monitored_ > 1) clear(monitored_ - 1);
  store.set(round + "end", text);
  TAEDA_CHECK_AS(DistributedError, missing.empty(), "[Rank ", world_rank(0), "]: ", text);
}

}  // namespace taeda::inline v0_2::distributed
