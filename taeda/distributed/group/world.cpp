#include "taeda/distributed/group/world.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "taeda/base/error.h"
#include "taeda/distributed/engine.h"
#include "taeda/distributed/group/collectives.h"
#include "taeda/distributed/rendezvous.h"
#include "taeda/distributed/store/prefix_store.h"

namespace taeda::inline v0_2::distributed {

World& World::instance() {
  static auto* world = new World;
  return *world;
}

void World::set_default(ProcessGroupPtr group, StorePtr store) {
  std::lock_guard lock(mutex_);
  default_ = std::move(group);
  store_ = std::move(store);
  groups_ = 0;
}

ProcessGroupPtr World::default_group() const {
  std::lock_guard lock(mutex_);
  return default_;
}

StorePtr World::store() const {
  std::lock_guard lock(mutex_);
  return store_;
}

std::string World::next_world() {
  std::lock_guard lock(mutex_);
  return "world/" + std::to_string(worlds_++);
}

std::string World::next_group() {
  std::lock_guard lock(mutex_);
  return "group_" + std::to_string(++groups_);
}

void World::add(ProcessGroupPtr group) {
  std::lock_guard lock(mutex_);
  others_.push_back(std::move(group));
}

std::vector<ProcessGroupPtr> World::remove(const ProcessGroupPtr& group) {
  std::lock_guard lock(mutex_);
  if (group && group != default_) {
    std::erase(others_, group);
    return {group};
  }
  std::vector<ProcessGroupPtr> out(std::make_move_iterator(others_.rbegin()),
                                   std::make_move_iterator(others_.rend()));
  if (default_) out.push_back(std::move(default_));
  others_.clear();
  default_.reset();
  store_.reset();
  return out;
}

int index_of(const std::vector<int>& list, int value) {
  const auto it = std::find(list.begin(), list.end(), value);
  return it == list.end() ? -1 : static_cast<int>(it - list.begin());
}

namespace {

/// PyTorch's for NCCL.
constexpr std::chrono::milliseconds kNcclTimeout = std::chrono::minutes(10);

/// PyTorch's names for "whatever fits the tensors" mean the engine that serves all of them.
std::string backend_named(const std::string& text) {
  if (text.empty() || text == "cpu:gloo,cuda:nccl" || text == "cpu:gloo" ||
      text == "cpu:gloo,cuda:gloo")
    return "gloo";
  return text == "cuda:nccl" ? "nccl" : text;
}

ProcessGroup& given_or_default(const ProcessGroupPtr& group) {
  return group ? *group : *default_group();
}

}  // namespace

void init_process_group(const std::string& backend, const InitOptions& options) {
  World& world = World::instance();
  if (const ProcessGroupPtr inherited = world.default_group(); inherited && !inherited->is_own())
    world.remove({});  // it is the process's that this one is a copy of
  TAEDA_CHECK(!world.default_group(), "trying to initialize the default process group twice!");
  TAEDA_CHECK_VALUE(!options.store || options.init_method.empty(),
                    "Cannot specify both init_method and store.");
  TAEDA_CHECK_VALUE(!options.store || (options.rank >= 0 && options.world_size > 0),
                    "init_process_group: a store needs rank and world_size, got ", options.rank,
                    " and ", options.world_size);
  ProcessGroup::Options group;
  const std::string name = backend_named(backend);
  group.timeout = options.timeout.value_or(name == "nccl" ? kNcclTimeout : kProcessGroupTimeout);
  group.name = options.group_name.empty() ? "default" : options.group_name;
  group.deadline = Clock::now() + group.timeout;
  Rendezvous meeting{options.store, options.rank, options.world_size};
  if (!meeting.store)
    meeting = rendezvous(options.init_method, options.rank, options.world_size, group.timeout);
  // One store may serve several worlds, one after the other.
  auto store = std::make_shared<PrefixStore>(world.next_world(), meeting.store);
  world.set_default(ProcessGroup::create(name, store, static_cast<int>(meeting.rank),
                                         static_cast<int>(meeting.world_size), std::move(group)),
                    store);
}

void destroy_process_group(const ProcessGroupPtr& group) {
  (group ? group : default_group())->check_own("destroy_process_group");
  for (const ProcessGroupPtr& g : World::instance().remove(group)) g->leave();
}

bool is_available() { return is_gloo_available(); }
bool is_gloo_available() { return has_engine("gloo"); }
bool is_initialized() { return World::instance().default_group() != nullptr; }

ProcessGroupPtr default_group() {
  ProcessGroupPtr out = World::instance().default_group();
  TAEDA_CHECK_VALUE(out,
                    "Default process group has not been initialized, please make sure to "
                    "call init_process_group.");
  return out;
}

int get_rank(const ProcessGroupPtr& group) { return given_or_default(group).rank(); }

int get_world_size(const ProcessGroupPtr& group) {
  const ProcessGroup& g = given_or_default(group);
  return g.is_member() ? g.size() : -1;
}

std::string get_backend(const ProcessGroupPtr& group) { return given_or_default(group).backend(); }

int get_group_rank(const ProcessGroupPtr& group, int global_rank) {
  const ProcessGroup& g = given_or_default(group);
  const int out = index_of(g.ranks(), global_rank);
  TAEDA_CHECK_VALUE(out >= 0, "Global rank ", global_rank, " is not part of group ", g.name());
  return out;
}

int get_global_rank(const ProcessGroupPtr& group, int group_rank) {
  const ProcessGroup& g = given_or_default(group);
  TAEDA_CHECK_VALUE(group_rank >= 0 && group_rank < g.size(), "Group rank ", group_rank,
                    " is not part of group ", g.name());
  return g.ranks()[static_cast<size_t>(group_rank)];
}

std::vector<int> get_process_group_ranks(const ProcessGroupPtr& group) {
  return given_or_default(group).ranks();
}

ProcessGroupPtr new_group(std::vector<int> ranks, std::optional<std::chrono::milliseconds> timeout,
                          const std::string& backend) {
  const ProcessGroupPtr all = default_group();
  all->check_own("new_group");
  World& world = World::instance();
  if (ranks.empty()) ranks = all->ranks();
  std::sort(ranks.begin(), ranks.end());
  TAEDA_CHECK_VALUE(std::adjacent_find(ranks.begin(), ranks.end()) == ranks.end(),
                    "new_group: expected every rank once, got one several times");
  TAEDA_CHECK_VALUE(ranks.front() >= 0 && ranks.back() < all->size(),
                    "new_group: expected ranks from 0 to ", all->size() - 1, ", got ",
                    ranks.front() < 0 ? ranks.front() : ranks.back());
  ProcessGroup::Options options{timeout.value_or(all->timeout()), world.next_group(), ranks};
  const int rank = index_of(ranks, all->rank());
  if (rank < 0) return std::make_shared<ProcessGroup>(options.name);
  const std::string name = backend.empty() ? all->backend() : backend_named(backend);
  const int size = static_cast<int>(ranks.size());
  auto group = ProcessGroup::create(name, world.store(), rank, size, std::move(options));
  world.add(group);
  return group;
}

}  // namespace taeda::inline v0_2::distributed
