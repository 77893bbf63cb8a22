// Workers over gRPC among strangers: with certificates, and with those who begin streams and reset
// them.

#if defined(TAEDA_HAS_GRPC) && !defined(__SANITIZE_THREAD__)  // missing_grpc() in stores.h

#include <gmock/gmock.h>

#include "taeda/rpc/transport.h"
#include "tests/distributed/certificates.h"
#include "tests/distributed/security/rapid_reset.h"
#include "tests/distributed/stores.h"
#include "tests/error_of.h"
#include "tests/rpc/functions.h"
#include "tests/rpc/workers.h"

namespace taeda::distributed::rpc {
namespace {

using testing::HasSubstr;

constexpr const char* kPath = "/taeda_rpc.Worker/Talk";

TEST(RpcTls, WorkersCallThoseWhoseCertificatesTheyBelieve) {
  const TemporaryFolder folder;
  const Security job = certified_process(folder, "job"),
                 stranger = certified_process(folder, "stranger");
  const auto all = [&](int64_t) { return RpcBackendOptions{.security = job}; };
  run_workers(
      Net::Grpc, 2, [](int64_t) { EXPECT_EQ(rpc_sync("worker1", who), "worker1"); }, all);
  const auto two_authorities = [&](int64_t rank) {
    return RpcBackendOptions{.security = rank == 0 ? job : stranger};
  };
  run_workers(
      Net::Grpc, 2,
      [](int64_t rank) {
        EXPECT_THAT(error_of([&] { rpc_sync(1 - rank, who); }),
                    HasSubstr("in function 'who': the connection to worker worker" +
                              std::to_string(1 - rank) + " is gone"));
      },
      two_authorities);
}

TEST(RpcRapidReset, AWorkerEndsTheConnection) {
  const auto worker = open_grpc_transport({.id = 0,
                                           .name = "worker0",
                                           .world_size = 2,
                                           .job = "tests",
                                           .security = {.secret = kTestSecret},
                                           .on_request = [](auto, auto, auto) {}});
  const std::string address = worker->address();
  const int port = std::stoi(address.substr(address.rfind(':') + 1));
  EXPECT_LT(streams_of_one_connection(port, kPath, kManyStreams), kManyStreams);
  EXPECT_LT(growth_under_attack(port, kPath), kMostGrowth);
}

}  // namespace
}  // namespace taeda::distributed::rpc

#endif
