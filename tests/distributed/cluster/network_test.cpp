#include "taeda/distributed/network.h"

#include <gmock/gmock.h>

#include "tests/error_of.h"

namespace taeda::distributed {
namespace {

using testing::HasSubstr;

TEST(Network, KnowsFromWhereItReachesAHost) {
  EXPECT_EQ(address_towards("127.0.0.1"), "127.0.0.1");
  EXPECT_EQ(address_towards("localhost"), "127.0.0.1");
  EXPECT_THAT(error_of([] { address_towards("no such host"); }),
              HasSubstr("the host name 'no such host' has no address"));
}

TEST(Network, SaysWhyItCannotConnect) {
  // Nobody listens at port 1 of this machine.
  EXPECT_EQ(connect_objection("127.0.0.1", 1, std::chrono::seconds(5)), "Connection refused");
  EXPECT_NE(connect_objection("no such host", 1, std::chrono::seconds(5)), "");
}

}  // namespace
}  // namespace taeda::distributed
