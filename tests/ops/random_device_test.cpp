// Random numbers and indexing on the simulated device.
#include <gtest/gtest.h>

#include "taeda/base/parallel_for.h"
#include "taeda/device/registry.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/nn/dropout.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/sort.h"
#include "tests/error_of.h"
#include "tests/ops/tensor_values.h"

namespace taeda {
namespace {

using namespace testing;

class OnDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    if (device_count(kSim) == 0) GTEST_SKIP() << "no simulated device";
  }
  const TensorOptions sim = TensorOptions().device("sim:0");
};

/// What `draw` gives with one thread and with several.
void expect_same_for_any_threads(const std::function<Tensor()>& draw) {
  const int threads = get_num_threads();
  Tensor results[2];
  for (int i = 0; i < 2; ++i) {
    set_num_threads(i == 0 ? 1 : 4);
    manual_seed(11);
    results[i] = draw().cpu();
  }
  set_num_threads(threads);
  EXPECT_TRUE(results[0].equal(results[1]));
}

TEST_F(OnDevice, NumbersDoNotDependOnThreads) {
  expect_same_for_any_threads([&] { return rand({300001}, sim); });
  expect_same_for_any_threads([&] { return randn({300001}, sim.dtype(kDouble)); });
  expect_same_for_any_threads([&] { return randint(1000, {300001}, sim); });
  expect_same_for_any_threads([&] { return randperm(5000, sim); });
  expect_same_for_any_threads([&] { return dropout(ones({300001}, sim), 0.3); });
}

TEST_F(OnDevice, DistributionsHaveTheirMoments) {
  manual_seed(12);
  const Tensor u = rand({200000}, sim);
  EXPECT_NEAR(u.mean().item<double>(), 0.5, 0.005);
  EXPECT_GE(u.min().item<double>(), 0);
  EXPECT_LT(u.max().item<double>(), 1);
  for (const ScalarType t : {kHalf, kBFloat16}) {  // most numbers are rounded, some up to the end
    EXPECT_LT(rand({200000}, sim.dtype(t)).max().item<double>(), 1);
    const Tensor x = empty({200000}, sim.dtype(t)).uniform_(-3, -2);
    EXPECT_LT(x.max().item<double>(), -2);
    EXPECT_EQ(x.min().item<double>(), -3);
  }
  const Tensor n = randn({200000}, sim);
  EXPECT_NEAR(n.mean().item<double>(), 0, 0.01);
  EXPECT_NEAR(n.std().item<double>(), 1, 0.01);
  EXPECT_NEAR(empty({200000}, sim).exponential_(2).mean().item<double>(), 0.5, 0.01);
  EXPECT_NEAR(empty({200000}, sim).bernoulli_(0.3).mean().item<double>(), 0.3, 0.01);
  const Tensor i = randint(-3, 4, {200000}, sim);
  EXPECT_EQ(i.min().item<int64_t>(), -3);
  EXPECT_EQ(i.max().item<int64_t>(), 3);
  EXPECT_EQ(longs(std::get<0>(randperm(100, sim).sort())), longs(arange(100)));
}

TEST_F(OnDevice, SeedRestartsTheSequence) {
  manual_seed(13);
  const Tensor a = rand({10}, sim), b = rand({10}, sim);
  EXPECT_FALSE(a.cpu().equal(b.cpu()));
  manual_seed(13);
  EXPECT_TRUE(rand({10}, sim).cpu().equal(a.cpu()));
}

TEST_F(OnDevice, IndexErrorsComeWithTheNextWait) {
  const Tensor x = arange(6, sim);
  const Tensor bad = tensor({1, 9}, sim);
  EXPECT_THROW(x.index({bad}).cpu(), IndexError);
  EXPECT_EQ(longs(x.index({tensor({1, 4}, sim)})), (std::vector<int64_t>{1, 4}));
}

TEST_F(OnDevice, DevicesMustMatch) {
  const Tensor x = arange(6, sim);
  EXPECT_EQ(error_of([&] { x.index_select(0, tensor({1})); }),
            "Expected all tensors to be on the same device, but found at least two devices, sim:0 "
            "and cpu! (when checking argument for argument index in method index_select)");
  EXPECT_THROW(x.gather(0, tensor({1})), Error);
  const Tensor at = tensor({1}, sim), here = tensor({1});
  EXPECT_EQ(error_of([&] { x.index_add(0, at, here); }),
            "Expected all tensors to be on the same device, but found at least two devices, sim:0 "
            "and cpu! (when checking argument 2 in method index_add_)");
  EXPECT_THROW(index_copy(x, 0, at, here), Error);
  EXPECT_THROW(x.scatter(0, at, here), Error);
  EXPECT_EQ(error_of([&] { x.masked_fill(arange(6).gt(2), 0); }),
            "expected self and mask to be on the same device, but got mask on cpu and self on "
            "sim:0");
  EXPECT_EQ(error_of([&] { searchsorted(x, here); }),
            "torch.searchsorted(): boundaries and input value tensors should have same device "
            "type, but got boundaries tensor device type sim:0 and input value tensor device type "
            "cpu");
  Generator cpu;
  EXPECT_THROW(x.to(kFloat).uniform_(0, 1, &cpu), Error);
}

}  // namespace
}  // namespace taeda
