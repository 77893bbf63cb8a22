// NCCL's library, which is loaded when a group first asks for it.
#pragma once

#include <nccl.h>

#include <string>

#include "taeda/base/device.h"
#include "taeda/base/shared_library.h"

namespace taeda::inline v0_2::distributed::nccl {

/// The functions used, of the version that the header is of.
struct Library {
  SharedLibrary opened{};
  decltype(&ncclGetUniqueId) get_unique_id;
  decltype(&ncclCommInitRankConfig) init_rank;
  decltype(&ncclCommAbort) abort;
  decltype(&ncclCommGetAsyncError) async_error;
  decltype(&ncclGetErrorString) error_string;
  decltype(&ncclGetLastError) last_error;
  decltype(&ncclGroupStart) group_start;
  decltype(&ncclGroupEnd) group_end;
  decltype(&ncclBroadcast) broadcast;
  decltype(&ncclAllReduce) all_reduce;
  decltype(&ncclReduce) reduce;
  decltype(&ncclAllGather) all_gather;
  decltype(&ncclReduceScatter) reduce_scatter;
  decltype(&ncclSend) send;
  decltype(&ncclRecv) recv;
  decltype(&ncclRedOpCreatePreMulSum) create_premul_sum;
  decltype(&ncclRedOpDestroy) destroy_op;

  /// The devices whose memory it takes.
  DeviceType device_type() const { return simulated_ ? kSim : kCUDA; }

 private:
  friend const Library& library();
  bool load(std::string* reason);
  bool simulated_ = false;
};

/// The loaded library. Throws DistributedError, with what to install, where there is none.
const Library& library();

}  // namespace taeda::inline v0_2::distributed::nccl
