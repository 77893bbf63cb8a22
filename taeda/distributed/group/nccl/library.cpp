#include "taeda/distributed/group/nccl/library.h"

#include <dlfcn.h>

#include <memory>
#include <mutex>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::distributed::nccl {

namespace {
constexpr const char* kFile = "libnccl.so.2";
}  // namespace

bool Library::load(std::string* reason) {
  opened = SharedLibrary{kFile};
  if (!opened) {
    const char* text = dlerror();
    *reason = text ? text : "it was not found";
    return false;
  }
  const auto get = [&](auto& function, const char* name) {
    if (!opened.load(function, name) && reason->empty())
      *reason = std::string(kFile) + " has no " + name + ": it is too old";
  };
  get(get_unique_id, "ncclGetUniqueId");
  get(init_rank, "ncclCommInitRankConfig");
  get(abort, "ncclCommAbort");
  get(async_error, "ncclCommGetAsyncError");
  get(error_string, "ncclGetErrorString");
  get(last_error, "ncclGetLastError");
  get(group_start, "ncclGroupStart");
  get(group_end, "ncclGroupEnd");
  get(broadcast, "ncclBroadcast");
  get(all_reduce, "ncclAllReduce");
  get(reduce, "ncclReduce");
  get(all_gather, "ncclAllGather");
  get(reduce_scatter, "ncclReduceScatter");
  get(send, "ncclSend");
  get(recv, "ncclRecv");
  get(create_premul_sum, "ncclRedOpCreatePreMulSum");
  get(destroy_op, "ncclRedOpDestroy");
  // NCCL cannot reach simulated devices. A library of the same functions that can says so.
  simulated_ = opened.symbol("taeda_nccl_of_simulated_devices") != nullptr;
  return reason->empty();
}

const Library& library() {
  static std::mutex mutex;
  static const Library* loaded = nullptr;  // never unloaded
  std::lock_guard lock(mutex);
  if (loaded) return *loaded;
  auto found = std::make_unique<Library>();
  std::string reason;
  TAEDA_CHECK_AS(
      DistributedError, found->load(&reason), "the backend 'nccl' needs NCCL's library ", kFile,
      ": ", reason,
      ". Install the package libnccl2 of NVIDIA's repository (apt-get install libnccl2), "
      "or nvidia-nccl-cu13 from PyPI, and name the folder with the library in "
      "LD_LIBRARY_PATH where the system does not find it");
  loaded = found.release();
  return *loaded;
}

}  // namespace taeda::inline v0_2::distributed::nccl
