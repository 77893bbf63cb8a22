// NCCL's functions on simulated devices: ranks are threads of one process, what they queue runs on
// the devices' streams, and nothing blocks that does not in NCCL.
//
// As there, calls of one group go on side by side; ranks whose collectives differ in kind or size
// wait for ever, others get what they call; nobody notices that a peer is gone; and a communicator
// that was aborted lets go of its streams. Unlike there, ranks are always strict about arguments.

#include <nccl.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "taeda/base/dtype.h"
#include "taeda/device/registry.h"
#include "taeda/device/sim.h"
#include "tests/distributed/nccl/simulated/control.h"

using namespace taeda;

namespace {

using Bytes = std::vector<char>;

enum class Kind { Broadcast, AllReduce, Reduce, AllGather, ReduceScatter };

/// What one rank brings to a collective.
struct Part {
  Kind kind;
  size_t bytes;
  int root;
  Bytes data;
};

/// Ranks that meet under one number.
struct World {
  std::mutex mutex;
  std::condition_variable changed;
  int size = 0;
  std::set<int> joined;
  std::map<uint64_t, std::map<int, Part>> collectives;         ///< by number, rank
  std::map<std::pair<int, int>, std::vector<Bytes>> messages;  ///< by direction, in order
  std::map<std::pair<int, int>, size_t> taken;
};

struct State {
  std::shared_ptr<World> world;
  int rank = 0;
  Device device;
  bool aborted = false;  ///< under the world's mutex
  uint64_t collectives = 0;
  std::map<int, double> factors;
  int next_op = ncclNumOps;
  int polls = 0;  ///< to be answered with "in progress"
};

}  // namespace

struct ncclComm {
  std::shared_ptr<State> state = std::make_shared<State>();
};

namespace {

struct Operation {
  enum class What { Collective, Send, Recv } what;
  std::shared_ptr<State> state;
  ncclComm_t comm;
  StreamId stream;
  Kind kind = Kind::Broadcast;
  const void* from = nullptr;
  void* to = nullptr;
  size_t count = 0;
  ncclDataType_t type = ncclUint8;
  int op = ncclSum;
  double factor = 1;
  int peer = 0;
  uint64_t number = 0;
};

std::mutex global_mutex;
std::map<std::string, std::shared_ptr<World>> worlds;
NcclCounts counts = {};
std::string fail_next;
int lost_rank = -1;
int64_t next_world = 0;

thread_local int depth = 0;
thread_local std::vector<Operation> group;

size_t size_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
    case ncclUint8: return 1;
    case ncclFloat16:
    case ncclBfloat16: return 2;
    case ncclInt64:
    case ncclUint64:
    case ncclFloat64: return 8;
    default: return 4;
  }
}

template <class T>
void combine(Bytes& sum, const Bytes& other, int op) {
  const size_t n = sum.size() / sizeof(T);
  T* a = reinterpret_cast<T*>(sum.data());
  const T* b = reinterpret_cast<const T*>(other.data());
  for (size_t i = 0; i < n; ++i) switch (op) {
      case ncclProd: a[i] = static_cast<T>(a[i] * b[i]); break;
      case ncclMax: a[i] = a[i] < b[i] ? b[i] : a[i]; break;
      case ncclMin: a[i] = b[i] < a[i] ? b[i] : a[i]; break;
      default: a[i] = static_cast<T>(a[i] + b[i]);
    }
}

template <class T>
void scale(Bytes& data, double factor) {
  T* a = reinterpret_cast<T*>(data.data());
  for (size_t i = 0; i < data.size() / sizeof(T); ++i)
    a[i] = static_cast<T>(static_cast<float>(a[i]) * static_cast<float>(factor));
}

template <class F>
void with_type(ncclDataType_t type, F&& f) {
  switch (type) {
    case ncclInt8: return f(int8_t{});
    case ncclInt32: return f(int32_t{});
    case ncclInt64: return f(int64_t{});
    case ncclFloat16: return f(Half{});
    case ncclBfloat16: return f(BFloat16{});
    case ncclFloat32: return f(float{});
    case ncclFloat64: return f(double{});
    default: return f(uint8_t{});
  }
}

/// The ranks' parts in their order, as one.
Bytes reduced(const std::map<int, Part>& parts, const Operation& o) {
  Bytes sum = parts.at(0).data;
  with_type(o.type, [&](auto x) {
    using T = decltype(x);
    for (const auto& [rank, part] : parts)
      if (rank > 0)
        combine<T>(sum, part.data, o.op >= ncclNumOps || o.op == ncclAvg ? ncclSum : o.op);
    if (o.op == ncclAvg) scale<T>(sum, 1.0 / static_cast<double>(parts.size()));
  });
  return sum;
}

size_t bytes_of(const Operation& o) { return o.count * size_of(o.type); }

/// Puts what this rank gives where the others find it. With the world's mutex.
void give(const Operation& o) {
  State& s = *o.state;
  const size_t bytes =
      bytes_of(o) * (o.kind == Kind::ReduceScatter ? static_cast<size_t>(s.world->size) : 1);
  Bytes data(o.what == Operation::What::Recv ? 0 : bytes);
  if (!data.empty() && o.from) std::memcpy(data.data(), sim::host_view(s.device, o.from), bytes);
  if (o.op >= ncclNumOps) with_type(o.type, [&](auto x) { scale<decltype(x)>(data, o.factor); });
  if (o.what == Operation::What::Send)
    s.world->messages[{s.rank, o.peer}].push_back(std::move(data));
  else if (o.what == Operation::What::Collective)
    s.world->collectives[o.number].emplace(s.rank, Part{o.kind, bytes, o.peer, std::move(data)});
  s.world->changed.notify_all();
}

/// Waits with the world's mutex; false where the communicator is aborted.
template <class F>
bool wait_for(State& s, std::unique_lock<std::mutex>& lock, F&& f) {
  s.world->changed.wait(lock, [&] { return s.aborted || f(); });
  return !s.aborted;
}

void store(const Operation& o, const char* data, size_t bytes) {
  if (o.to && bytes > 0) std::memcpy(sim::host_view(o.state->device, o.to), data, bytes);
}

bool take_message(const Operation& o, std::unique_lock<std::mutex>& lock) {
  State& s = *o.state;
  const std::pair way(o.peer, s.rank);
  size_t& taken = s.world->taken[way];
  const auto here = [&] {
    return s.world->messages[way].size() > taken &&
           s.world->messages[way][taken].size() == bytes_of(o);
  };
  if (!wait_for(s, lock, here)) return false;
  store(o, s.world->messages[way][taken].data(), bytes_of(o));
  ++taken;
  s.world->changed.notify_all();
  return true;
}

bool take_collective(const Operation& o, std::unique_lock<std::mutex>& lock) {
  State& s = *o.state;
  std::map<int, Part>& parts = s.world->collectives[o.number];
  const auto complete = [&] {
    const Part& own = parts.at(s.rank);
    return parts.size() == static_cast<size_t>(s.world->size) &&
           std::ranges::all_of(parts, [&](const auto& p) {
             return p.second.kind == own.kind && p.second.bytes == own.bytes;
           });
  };
  if (!wait_for(s, lock, complete)) return false;
  const size_t bytes = bytes_of(o);
  switch (o.kind) {
    case Kind::Broadcast: store(o, parts.at(o.peer).data.data(), bytes); break;
    case Kind::AllReduce: store(o, reduced(parts, o).data(), bytes); break;
    case Kind::Reduce:
      if (s.rank == o.peer) store(o, reduced(parts, o).data(), bytes);
      break;
    case Kind::ReduceScatter:
      store(o, reduced(parts, o).data() + static_cast<size_t>(s.rank) * bytes, bytes);
      break;
    case Kind::AllGather: {
      Bytes all;
      for (const auto& [rank, part] : parts)
        all.insert(all.end(), part.data.begin(), part.data.end());
      store(o, all.data(), all.size());
    }
  }
  return true;
}

/// The calls of one group on one stream: all give, then all take, then wait until what they gave
/// was taken.
void run(const std::vector<Operation>& operations) {
  State& s = *operations[0].state;
  std::unique_lock lock(s.world->mutex);
  if (s.aborted) return;
  std::map<int, size_t> sent;
  for (const Operation& o : operations) {
    give(o);
    if (o.what == Operation::What::Send) sent[o.peer] = s.world->messages[{s.rank, o.peer}].size();
  }
  for (const Operation& o : operations) {
    if (o.what == Operation::What::Recv && !take_message(o, lock)) return;
    if (o.what == Operation::What::Collective && !take_collective(o, lock)) return;
  }
  wait_for(s, lock, [&] {
    return std::ranges::all_of(sent, [&](const auto& to) {
      return s.world->taken[{s.rank, to.first}] >= to.second;
    });
  });
}

void launch_group() {
  std::map<std::pair<ncclComm_t, StreamId>, std::vector<Operation>> by_stream;
  for (Operation& o : group) by_stream[{o.comm, o.stream}].push_back(std::move(o));
  group.clear();
  for (auto& [key, operations] : by_stream) {
    const Stream stream(operations[0].state->device, key.second);
    {
      std::lock_guard lock(global_mutex);
      ++counts.groups;
      operations[0].state->polls = 2;
    }
    sim::launch(stream, "nccl", [operations = std::move(operations)] { run(operations); });
  }
}

bool fails(const char* function) {
  std::lock_guard lock(global_mutex);
  if (fail_next != function) return false;
  fail_next.clear();
  return true;
}

ncclResult_t add(const char* function, Operation o) {
  if (fails(function)) return ncclInternalError;
  if (!o.comm || o.count == 0) return ncclInvalidArgument;
  o.state = o.comm->state;
  if (o.op >= ncclNumOps) {
    const auto factor = o.state->factors.find(o.op);
    if (factor == o.state->factors.end()) return ncclInvalidArgument;
    o.factor = factor->second;
  }
  if (o.what == Operation::What::Collective) o.number = o.state->collectives++;
  group.push_back(std::move(o));
  if (depth == 0) launch_group();
  return ncclSuccess;
}

StreamId id_of(cudaStream_t stream) { return reinterpret_cast<StreamId>(stream); }

ncclResult_t add_collective(const char* function, Kind kind, const void* from, void* to,
                            size_t count, ncclDataType_t type, int op, int root, ncclComm_t comm,
                            cudaStream_t stream) {
  Operation o{Operation::What::Collective, nullptr, comm, id_of(stream)};
  o.kind = kind;
  o.from = from;
  o.to = to;
  o.count = count;
  o.type = type;
  o.op = op;
  o.peer = root;
  return add(function, std::move(o));
}

}  // namespace

extern "C" {

[[gnu::visibility("default")]] extern const int taeda_nccl_of_simulated_devices = 1;

NcclCounts taeda_nccl_counts() {
  std::lock_guard lock(global_mutex);
  const int64_t operators = counts.operators;
  const NcclCounts out = counts;
  counts = {0, 0, 0, operators};
  return out;
}

void taeda_nccl_fail_next(const char* function) {
  std::lock_guard lock(global_mutex);
  fail_next = function;
}

void taeda_nccl_lose(int rank) {
  std::lock_guard lock(global_mutex);
  lost_rank = rank;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  if (fails("ncclGetUniqueId")) return ncclInternalError;
  std::lock_guard lock(global_mutex);
  std::memset(id->internal, 0, sizeof id->internal);
  const std::string name = "world " + std::to_string(next_world++);
  name.copy(id->internal, sizeof id->internal);
  worlds[name] = std::make_shared<World>();
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int size, ncclUniqueId id, int rank,
                                    ncclConfig_t* config) {
  if (fails("ncclCommInitRankConfig")) return ncclInternalError;
  if (config->magic != 0xcafebeef || config->blocking != 0) return ncclInvalidArgument;
  std::lock_guard lock(global_mutex);
  const auto world = worlds.find(id.internal);
  if (world == worlds.end() || rank < 0 || rank >= size) return ncclInvalidArgument;
  *comm = new ncclComm;
  State& s = *(*comm)->state;
  s.world = world->second;
  s.rank = rank;
  s.device = Device(kSim, current_device(kSim));
  ++counts.made;
  std::lock_guard world_lock(s.world->mutex);
  s.world->size = size;
  return s.world->joined.insert(rank).second ? ncclInProgress : ncclInvalidUsage;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  State& s = *comm->state;
  std::lock_guard lock(global_mutex);
  std::lock_guard world_lock(s.world->mutex);
  const bool all = s.world->joined.size() == static_cast<size_t>(s.world->size);
  *error = !all || (s.polls > 0 && s.polls-- > 0) ? ncclInProgress : ncclSuccess;
  if (s.rank == lost_rank) *error = ncclRemoteError;
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  State& s = *comm->state;
  {
    std::lock_guard lock(s.world->mutex);
    s.aborted = true;
    s.world->changed.notify_all();
  }
  std::lock_guard lock(global_mutex);
  ++counts.aborted;
  delete comm;
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
  return result == ncclRemoteError ? "remote process exited or there was a network error"
                                   : "internal error";
}
const char* ncclGetLastError(ncclComm_t) { return "asked for by a test"; }

ncclResult_t ncclGroupStart() {
  ++depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (--depth > 0) return ncclSuccess;
  if (fails("ncclGroupEnd")) {
    group.clear();
    return ncclInternalError;
  }
  const bool any = !group.empty();
  launch_group();
  return any ? ncclInProgress : ncclSuccess;
}

ncclResult_t ncclBroadcast(const void* from, void* to, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream) {
  return add_collective("ncclBroadcast", Kind::Broadcast, from, to, count, type, ncclSum, root,
                        comm, stream);
}
ncclResult_t ncclAllReduce(const void* from, void* to, size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return add_collective("ncclAllReduce", Kind::AllReduce, from, to, count, type, op, 0, comm,
                        stream);
}
ncclResult_t ncclReduce(const void* from, void* to, size_t count, ncclDataType_t type,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream) {
  return add_collective("ncclReduce", Kind::Reduce, from, to, count, type, op, root, comm, stream);
}
ncclResult_t ncclAllGather(const void* from, void* to, size_t count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream) {
  return add_collective("ncclAllGather", Kind::AllGather, from, to, count, type, ncclSum, 0, comm,
                        stream);
}
ncclResult_t ncclReduceScatter(const void* from, void* to, size_t count, ncclDataType_t type,
                               ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return add_collective("ncclReduceScatter", Kind::ReduceScatter, from, to, count, type, op, 0,
                        comm, stream);
}

ncclResult_t ncclSend(const void* from, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  Operation o{Operation::What::Send, nullptr, comm, id_of(stream)};
  o.from = from;
  o.count = count;
  o.type = type;
  o.peer = peer;
  return add("ncclSend", std::move(o));
}
ncclResult_t ncclRecv(void* to, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  Operation o{Operation::What::Recv, nullptr, comm, id_of(stream)};
  o.to = to;
  o.count = count;
  o.type = type;
  o.peer = peer;
  return add("ncclRecv", std::move(o));
}

ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t* op, void* scalar, ncclDataType_t type,
                                      ncclScalarResidence_t where, ncclComm_t comm) {
  if (where != ncclScalarHostImmediate) return ncclInvalidArgument;
  with_type(type, [&](auto x) {
    std::memcpy(&x, scalar, sizeof x);
    *op = static_cast<ncclRedOp_t>(comm->state->next_op++);
    comm->state->factors[*op] = static_cast<double>(static_cast<float>(x));
  });
  std::lock_guard lock(global_mutex);
  ++counts.operators;
  return ncclSuccess;
}
ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm) {
  if (comm->state->factors.erase(op) == 0) return ncclInvalidArgument;
  std::lock_guard lock(global_mutex);
  --counts.operators;
  return ncclSuccess;
}

}  // extern "C"
