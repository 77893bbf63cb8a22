// How a process takes part in RPC.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "taeda/base/device.h"
#include "taeda/distributed/security.h"
#include "taeda/distributed/store/store.h"

namespace taeda::inline v0_2::distributed::rpc {

/// Seconds. A call whose own timeout is kUnsetRpcTimeout takes that of the options; 0 is no limit.
inline constexpr double kDefaultRpcTimeout = 60, kUnsetRpcTimeout = -1;
inline constexpr size_t kDefaultNumWorkerThreads = 16;

struct DeviceOrder {
  bool operator()(const Device& a, const Device& b) const {
    return std::pair(a.type(), a.index()) < std::pair(b.type(), b.index());
  }
};
/// Which device of a worker tensors of a device of this process arrive on.
using DeviceMap = std::map<Device, Device, DeviceOrder>;

/// As torch.distributed.rpc's; times in seconds, 0 for none.
struct RpcBackendOptions {
  size_t num_worker_threads = kDefaultNumWorkerThreads;  ///< functions that run at the same time
  double rpc_timeout = kDefaultRpcTimeout;
  std::string init_method = {};  ///< as for init_process_group(); "env://" by default
  StorePtr store = {};           ///< instead of `init_method`; wants rank and world size
  /// For tensors of accelerators, by the name of the worker they go to. Answers of that worker come
  /// back the same way.
  std::map<std::string, DeviceMap> device_maps = {};
  /// Where to listen if not on loopback; else TAEDA_DISTRIBUTED_INTERFACE.
  std::string interface_name = {};
  /// Without a value, job_name() in job.h and Security::from_environment().
  std::optional<std::string> job = {};
  std::optional<Security> security = {};

  /// Adds to what is mapped for a worker. Throws ValueError for a device that is mapped already, or
  /// if two would be mapped to the same one.
  void set_device_map(const std::string& to, const DeviceMap& device_map);
};

}  // namespace taeda::inline v0_2::distributed::rpc
