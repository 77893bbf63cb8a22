// Strangers who begin streams and reset them: a store keeps little of it.

#if defined(TAEDA_HAS_GRPC) && !defined(__SANITIZE_THREAD__)  // missing_grpc() in stores.h

#include "tests/distributed/security/rapid_reset.h"

#include <gmock/gmock.h>

#include "taeda/distributed/store/tcp_store.h"
#include "tests/distributed/stores.h"

namespace taeda::distributed {
namespace {

constexpr const char* kStorePath = "/taeda_store.StoreService/Join";

TEST(RapidReset, AStoreEndsTheConnectionAndServesItsMembers) {
  const Security security = {.secret = kTestSecret};
  TCPStore server("localhost",
                  {.port = 0, .is_master = true, .job = "tests", .security = security});
  const TCPStoreOptions client = {.port = server.port(), .job = "tests", .security = security};
  TCPStore member("localhost", client);
  EXPECT_LT(streams_of_one_connection(server.port(), kStorePath, kManyStreams), kManyStreams);
  EXPECT_LT(growth_under_attack(server.port(), kStorePath), kMostGrowth);
  EXPECT_EQ(member.add("n", 1), 1);
  EXPECT_EQ(TCPStore("localhost", client).add("n", 1), 2) << "who comes later is let in";
}

}  // namespace
}  // namespace taeda::distributed

#endif
