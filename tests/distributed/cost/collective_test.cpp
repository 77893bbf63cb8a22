// Costs of collectives against sums done by hand and against a ring that is played step by step.
#include "taeda/distributed/cost/collective.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace taeda {
namespace {

using namespace distributed::cost;

/// Hops of 2 s within nodes of four and 10 s between them; a byte takes a second within, and half a
/// second on each of two adapters.
const Network kSlow{"slow", {2, 1}, {10, 2}, 4, 2, 0};

/// When the last device has everything, if each of 2 (P - 1) rounds sends what came in the round
/// before to the next device.
double played_ring(double bytes, int64_t devices, const Network& n) {
  std::vector<double> clock(static_cast<size_t>(devices), 0);
  for (int64_t round = 0; round < 2 * (devices - 1); ++round) {
    std::vector<double> next(clock.size());
    for (int64_t d = 0; d < devices; ++d) {
      const auto from = static_cast<size_t>(d), to = static_cast<size_t>((d + 1) % devices);
      next[to] =
          clock[from] + send_seconds(bytes / static_cast<double>(devices), d, (d + 1) % devices, n);
    }
    for (size_t d = 0; d < clock.size(); ++d) clock[d] = std::max(clock[d], next[d]);
  }
  return *std::max_element(clock.begin(), clock.end());
}

TEST(PlanCollective, ARingTakesWhatItsStepsTake) {
  for (const int64_t devices : {2, 3, 4})
    EXPECT_NEAR(ring_all_reduce(1000, devices, kSlow).seconds, played_ring(1000, devices, kSlow),
                1e-9)
        << devices;
  EXPECT_DOUBLE_EQ(ring_all_reduce(1000, 4, kSlow).seconds, 6 * (2 + 250));
  EXPECT_DOUBLE_EQ(ring_all_reduce(1000, 4, kSlow).bytes, 1500);
}

TEST(PlanCollective, ARingOverNodesPaysForItsHopsAndTheSlowestOfThem) {
  // 16 devices on four nodes: of 16 hops four are remote; a node's adapters carry 4 bytes a second.
  EXPECT_DOUBLE_EQ(ring_all_reduce(1600, 16, kSlow).seconds, 30. / 16 * (4 * 10 + 12 * 2 + 1600));
  Network narrow = kSlow;
  narrow.adapters = 1;
  narrow.remote.bandwidth = 0.5;
  EXPECT_DOUBLE_EQ(ring_all_reduce(1600, 16, narrow).seconds, 30. / 16 * (64 + 3200));
}

TEST(PlanCollective, ATreeIsAsDeepAsItsNodesNeed) {
  Network fast = kSlow;
  fast.local.bandwidth = fast.remote.bandwidth = 1e30;
  EXPECT_NEAR(tree_all_reduce(1, 4, fast).seconds, 2 * 3 * 2, 1e-6);
  EXPECT_NEAR(tree_all_reduce(1, 16, fast).seconds, 2 * (3 * 2 + 2 * 10), 1e-6);
  EXPECT_NEAR(tree_all_reduce(1, 20, fast).seconds, 2 * (3 * 2 + 3 * 10), 1e-6);
}

TEST(PlanCollective, AHierarchyIsTheSumOfItsLevels) {
  // Within nodes 6 (2 + 400); between two nodes 400 bytes over half of two adapters.
  EXPECT_DOUBLE_EQ(hierarchical_all_reduce(1600, 8, kSlow).seconds, 6 * (2 + 400) + 2 * (10 + 200));
  EXPECT_DOUBLE_EQ(hierarchical_all_reduce(1600, 8, kSlow).bytes, 2 * 1600 * 7. / 8);
}

TEST(PlanCollective, TheLeastIsTaken) {
  const Network ib = network("ib400", sim::cost_model("h100"));
  for (const int64_t devices : {2, 8, 16, 64, 1024})
    for (const double bytes : {1e3, 1e6, 25e6, 1e9}) {
      const double least = std::min({ring_all_reduce(bytes, devices, ib).seconds,
                                     tree_all_reduce(bytes, devices, ib).seconds,
                                     hierarchical_all_reduce(bytes, devices, ib).seconds});
      EXPECT_EQ(all_reduce(bytes, devices, ib).seconds, least);
    }
  EXPECT_STREQ(all_reduce(1e3, 1024, ib).algorithm, "hierarchical");
  EXPECT_STREQ(all_reduce(1e9, 8, ib).algorithm, "ring");
  EXPECT_STREQ(all_reduce(1e9, 1024, ib).algorithm, "tree");
  EXPECT_EQ(all_reduce(1e9, 1, ib).seconds, 0);
  EXPECT_EQ(all_reduce(1e9, 1, ib).bytes, 0);
}

/// What NCCL's tests call the bus bandwidth.
double bus_bandwidth(double bytes, int64_t devices, const Network& n) {
  return 2 * static_cast<double>(devices - 1) / static_cast<double>(devices) * bytes /
         all_reduce(bytes, devices, n).seconds;
}

TEST(PlanCollective, LargeMessagesReachTheBandwidthOfTheLinks) {
  const Network ib = network("ib400", sim::cost_model("h100"));
  EXPECT_NEAR(bus_bandwidth(8e9, 8, ib), 450e9 * 0.82, 5e9);
  EXPECT_LT(bus_bandwidth(8e9, 64, ib), 8 * 50e9);
  EXPECT_GT(bus_bandwidth(8e9, 64, ib), 0.7 * 8 * 50e9 * 0.95);
  EXPECT_NEAR(bus_bandwidth(8e9, 64, network("eth100", sim::cost_model("h100"))), 10e9, 1e9);
}

TEST(PlanCollective, MessagesWithinANodeStayThere) {
  EXPECT_DOUBLE_EQ(send_seconds(100, 0, 3, kSlow), 2 + 100);
  EXPECT_DOUBLE_EQ(send_seconds(100, 3, 4, kSlow), 10 + 100);  // half of two adapters of 2
  EXPECT_EQ(send_seconds(100, 3, 3, kSlow), 0);
  EXPECT_EQ(broadcast(0, 8, kSlow).seconds, 0);
  EXPECT_GT(broadcast(100, 8, kSlow).seconds, 100);
  EXPECT_LT(broadcast(100, 8, kSlow).seconds, all_reduce(100, 8, kSlow).seconds);
}

}  // namespace
}  // namespace taeda
