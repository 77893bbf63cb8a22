#include "taeda/distributed/grpc_engine.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include "taeda/base/error.h"
#include "taeda/distributed/engine.h"
#include "taeda/distributed/own_process.h"

namespace taeda::inline v0_2::distributed {

namespace {

/// gRPC ends the process, or waits for ever, where the system refuses it one of the threads that it
/// begins with: a dozen, each with a stack.
void check_address_space(const std::string& needed_by) {
  constexpr size_t kMebibytes = 320;
  rlimit limit;
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  constexpr size_t kBytes = kMebibytes << 20;
  void* const room = ::mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  TAEDA_CHECK_AS(DistributedError, room != MAP_FAILED, needed_by, ": gRPC's threads need ",
                 kMebibytes, " MiB of address space, and the process has less left of the ",
                 limit.rlim_cur >> 20, " MiB that it may have (ulimit -v)");
  ::munmap(room, kBytes);
}

}  // namespace

const void* load_grpc_engine(const std::string& name, const std::string& needed_by) {
  static const OwnProcess first_user;
  first_user.check(needed_by.c_str(), "gRPC, once it was used,");
  check_address_space(needed_by);
  return load_engine(name, needed_by,
                     "the Debian packages libgrpc++-dev, protobuf-compiler-grpc, libprotobuf-dev, "
                     "protobuf-compiler and libssl-dev");
}

const GrpcEngine& grpc_engine(const std::string& needed_by) {
  return *static_cast<const GrpcEngine*>(load_grpc_engine("grpc", needed_by));
}

}  // namespace taeda::inline v0_2::distributed
