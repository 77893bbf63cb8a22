// How a Sequential is divided into stages.
#include "taeda/parallel/pipe/balance.h"

#include <cmath>
#include <numeric>

#include "common.h"
#include "taeda/nn/modules/activation.h"
#include "taeda/parallel/pipe/pipe.h"

namespace taeda::nn {
namespace {

using ::testing::ElementsAre;

TEST(Balance, IsTheBestThereIs) {
  EXPECT_THAT(balance_costs({1, 2, 3, 4, 5, 6}, 2), ElementsAre(4, 2));
  EXPECT_THAT(balance_costs({5, 1, 1, 1, 1, 1}, 3), ElementsAre(1, 1, 4));
  const std::vector<double> costs{3, 1, 4, 1, 5, 9, 2, 6};
  const auto largest = [&](const std::vector<int64_t>& lengths) {
    double out = 0;
    auto at = costs.begin();
    for (const int64_t n : lengths) {
      out = std::max(out, std::accumulate(at, at + n, 0.0));
      at += n;
    }
    return out;
  };
  double best = INFINITY;
  for (int64_t i = 1; i < 7; ++i)
    for (int64_t k = i + 1; k < 8; ++k) best = std::min(best, largest({i, k - i, 8 - k}));
  EXPECT_EQ(largest(balance_costs(costs, 3)), best);
  EXPECT_EQ(error_of([] { balance_costs({1}, 2); }),
            "sequence is shorter than intended partitions (1 < 2)");
  EXPECT_EQ(error_of([] { balance_costs({1}, 0); }),
            "partitions must be a positive integer (0 < 1)");
}

TEST(Balance, MovesChildrenToDevices) {
  const Sequential layers{Tanh(), Linear(4, 4), ReLU(), Linear(4, 4), ReLU(), Linear(4, 16)};
  EXPECT_THAT(balance_by_parameters(2, layers), ElementsAre(5, 1));
  EXPECT_THAT(balance_by_parameters(3, layers), ElementsAre(3, 2, 1));
  EXPECT_EQ(error_of([&] { balance_by_parameters(4, layers); }),
            "sequence is shorter than intended partitions (3 < 4)");
  manual_seed(1);
  const Tensor before = layers->parameters()[0].clone();
  const auto state = default_generator(kCPU).get_state();
  const std::vector<int64_t> timed = balance_by_time(2, layers, taeda::ones({8, 4}), sim_device(3));
  EXPECT_EQ(std::accumulate(timed.begin(), timed.end(), int64_t{0}), 6);
  EXPECT_EQ(default_generator(kCPU).get_state(), state);
  EXPECT_EQ(distance(layers->parameters()[0], before), 0);
  EXPECT_FALSE(layers->parameters()[0].grad().defined());
  EXPECT_TRUE(layers->parameters()[0].is_cpu());
  EXPECT_EQ(nn::Pipe(partition(layers, sim_devices(3), {3, 2, 1}))->devices(), sim_devices(3));
  EXPECT_EQ(error_of([&] { partition(layers, sim_devices(2), {3}); }),
            "partition: got 1 numbers of modules for 2 devices");
  EXPECT_EQ(error_of([&] {
              partition(layers, sim_devices(2), {3, 2});
            }),
            "module and sum of balance have different length (module: 6, sum of balance: 5)");
  EXPECT_EQ(error_of([&] {
              partition(layers, sim_devices(2), {6, 0});
            }),
            "all balance numbers must be positive integer (got 0)");
}

}  // namespace
}  // namespace taeda::nn
