// Networks by name and by their figures.
#include "taeda/distributed/cost/network.h"

#include <gmock/gmock.h>

#include "taeda/base/error.h"

namespace taeda {
namespace {

using distributed::cost::network, distributed::cost::Network;
using testing::HasSubstr;

const sim::CostModel kH100 = sim::cost_model("h100"), kT4 = sim::cost_model("t4");

TEST(PlanNetwork, NamesGiveLinksOfTheDeviceAndOfTheAdapter) {
  const Network ib = network("ib400", kH100);
  EXPECT_DOUBLE_EQ(ib.local.bandwidth, 450e9 * 0.82);
  EXPECT_DOUBLE_EQ(ib.remote.bandwidth, 50e9 * 0.95);
  EXPECT_EQ(ib.devices_per_node, 8);
  EXPECT_DOUBLE_EQ(ib.node_bandwidth(), 8 * 50e9 * 0.95);
  EXPECT_DOUBLE_EQ(ib.share_of_remote(8).bandwidth, 50e9 * 0.95);
  const Network eth = network("eth100", kH100);
  EXPECT_DOUBLE_EQ(eth.node_bandwidth(), 12.5e9 * 0.8);
  EXPECT_DOUBLE_EQ(eth.share_of_remote(8).bandwidth, 12.5e9 * 0.8 / 8);
  EXPECT_GT(eth.remote.latency, ib.remote.latency);
}

TEST(PlanNetwork, DevicesWithoutNvlinkUsePcie) {
  EXPECT_DOUBLE_EQ(network("ib100", kT4).local.bandwidth, 16e9 * 0.8);
  EXPECT_DOUBLE_EQ(network("pcie", kH100).local.bandwidth, 64e9 * 0.8);
  EXPECT_THROW(network("nvlink", kT4), ValueError);
}

TEST(PlanNetwork, SettingsFollowANameOrStandAlone) {
  const Network one = network("ib100,adapters=1,node=4", kH100);
  EXPECT_EQ(one.adapters, 1);
  EXPECT_EQ(one.devices_per_node, 4);
  EXPECT_DOUBLE_EQ(one.remote.bandwidth, 12.5e9 * 0.95);
  const Network own = network("latency=5us,bandwidth=10Gbit/s", kH100);
  EXPECT_DOUBLE_EQ(own.remote.latency, 5e-6);
  EXPECT_DOUBLE_EQ(own.remote.bandwidth, 1.25e9);
  EXPECT_DOUBLE_EQ(own.remote.seconds(1.25e9), 1 + 5e-6);
}

TEST(PlanNetwork, ErrorsSayWhatThereIs) {
  const auto message = [](const std::string& text) -> std::string {
    try {
      network(text, kH100);
    } catch (const ValueError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_THAT(message("ib4000"), AllOf(HasSubstr("nvlink, pcie, ib100"), HasSubstr("'ib4000'")));
  EXPECT_THAT(message(""), HasSubstr("or a latency and a bandwidth, got ''"));
  EXPECT_THAT(message("latency=5us"), HasSubstr("or a latency and a bandwidth"));
  EXPECT_THAT(message("latency=5,bandwidth=1GB/s"),
              HasSubstr("latency must be a positive number with one of us, ms, ns, s behind it"));
  EXPECT_THAT(message("ib400,bandwidth=-1GB/s"), HasSubstr("got '-1GB/s'"));
  EXPECT_THAT(message("ib400,adapters=0"), HasSubstr("adapters must be a positive number"));
  EXPECT_THAT(message("ib400,colour=red"), HasSubstr("got 'colour=red'"));
  EXPECT_THAT(message("ib400,eth100"), HasSubstr("got 'eth100'"));
}

}  // namespace
}  // namespace taeda
