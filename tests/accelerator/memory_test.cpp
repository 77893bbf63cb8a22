// Memory, streams, copies, data loading and DataParallel on the device under test.
#include <gmock/gmock.h>

#include "common.h"
#include "taeda/data/loader.h"
#include "taeda/data/tensor_dataset.h"
#include "taeda/device/caching_allocator.h"
#include "taeda/nn/nn.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/parallel/data_parallel.h"

namespace taeda {
namespace {

using ::testing::HasSubstr;

class Memory : public OnDevice<> {
 protected:
  MemoryStats stats() { return allocator::memory_stats(device_); }
  TensorOptions here() { return TensorOptions(kFloat).device(device_); }
};

TEST_F(Memory, FreedBlocksAreReusedAndGivenBack) {
  const int64_t before = stats().allocated;
  Tensor x = empty({1 << 20}, here());
  EXPECT_GE(stats().allocated - before, 4 << 20);
  const void* address = x.data_ptr();
  x.reset();
  EXPECT_EQ(stats().allocated, before);
  x = empty({1 << 20}, here());
  EXPECT_EQ(x.data_ptr(), address);
  x.reset();
  const int64_t reserved = stats().reserved;
  allocator::empty_cache(device_);
  EXPECT_LT(stats().reserved, reserved);
}

TEST_F(Memory, OutOfMemoryIsAnErrorThatCanBeSurvived) {
  const int64_t total = backend_of(device_.type()).properties(0).total_memory;
  const Tensor kept = ones({1000}, here());
  EXPECT_THAT(error_of([&] { empty({2 * total}, TensorOptions(kByte).device(device_)); }),
              HasSubstr("out of memory. Tried to allocate"));
  EXPECT_EQ(kept.sum().item<double>(), 1000);
}

TEST_F(Memory, AFractionLimitsTheProcess) {
  allocator::empty_cache(device_);
  size_t free = 0, total = 0;
  backend_of(device_.type()).memory_info(device_.index(), &free, &total);
  const auto request = static_cast<int64_t>(total / 8);
  allocator::set_memory_fraction(device_, 0.05);
  EXPECT_EQ(allocator::memory_fraction(device_), 0.05);
  const std::string text =
      error_of([&] { empty({request}, TensorOptions(kByte).device(device_)); });
  allocator::set_memory_fraction(device_, 1);
  EXPECT_THAT(text, HasSubstr("This process may take 0.05 of the device's memory."));
  EXPECT_THAT(error_of([&] { allocator::set_memory_fraction(device_, 1.5); }),
              HasSubstr("Invalid fraction value: 1.5. Allowed range: 0~1"));
}

TEST_F(Memory, BlocksWaitForTheStreamsThatUseThem) {
  const Stream side = new_stream(device_, -1);
  Tensor x = ones({1 << 16}, here()), sum;
  side.wait_stream(default_stream(device_));
  {
    const StreamGuard guard(side);
    Tensor y = x;
    for (int i = 0; i < 50; ++i) y = y + 1;
    sum = y.sum();
  }
  x.record_stream(side.id());
  x.reset();
  const Tensor other = full({1 << 16}, -5.0, here());
  side.synchronize();
  EXPECT_EQ(sum.item<double>(), 51.0 * (1 << 16));
  EXPECT_EQ(other.sum().item<double>(), -5.0 * (1 << 16));
}

TEST_F(Memory, EventsOrderAndMeasure) {
  const Stream stream = new_stream(device_);
  Event begin(true), end(true);
  begin.record(stream);
  {
    const StreamGuard guard(stream);
    ones({1000}, here()).sum();
  }
  end.record(stream);
  end.synchronize();
  EXPECT_TRUE(end.query());
  EXPECT_GE(begin.elapsed_time(end), 0);
}

TEST_F(Memory, Properties) {
  const DeviceProperties p = backend_of(device_.type()).properties(0);
  EXPECT_FALSE(p.name.empty());
  EXPECT_GT(p.total_memory, 0);
  EXPECT_GT(p.multi_processor_count, 0);
  if (p.major > 0) {  // no simulated one
    EXPECT_EQ(p.warp_size, 32);
    EXPECT_GT(p.L2_cache_size, 0);
    EXPECT_THAT(p.uuid, HasSubstr("GPU-"));
  }
}

/// With TAEDA_NO_MEMORY_CACHING=1, which tools/gpu_check sets for checkers of memory.
class Uncached : public OnDevice<> {
 protected:
  void SetUp() override {
    OnDevice<>::SetUp();
    if (detail::caches_memory(device_.type())) GTEST_SKIP() << "freed memory is cached";
  }
};

TEST_F(Uncached, EveryTensorHasMemoryOfItsOwn) {
  const int64_t before = allocator::memory_stats(device_).reserved;
  Tensor x = taeda::zeros({250}, TensorOptions(kFloat).device(device_));
  EXPECT_EQ(allocator::memory_stats(device_).reserved, before + 1000);
  EXPECT_EQ(x.add(1).sum().item<double>(), 250);
  EXPECT_EQ(allocator::memory_stats(device_).reserved, before + 1000);
  x.reset();
  EXPECT_EQ(allocator::memory_stats(device_).reserved, before);
}

TEST_F(Uncached, GraphsKeepWhatTheyReplay) {
  const Tensor x = taeda::ones({250}, TensorOptions(kFloat).device(device_));
  Tensor y;
  DeviceGraph graph(device_.type());
  {
    GraphCapture capture(graph);
    y = (x * 2 + 1).sum();
  }
  x.fill_(2);
  graph.replay();
  EXPECT_EQ(y.item<double>(), 1250);
}

class Data : public OnDevice<> {};

TEST_F(Data, LoaderBatchesArriveWhole) {
  const Tensor x = randn({50, 3}), y = taeda::arange(50, kLong);
  data::DataLoader loader(data::datasets::TensorDataset(x, y),
                          {.batch_size = 8, .num_workers = 2, .pin_memory = device_.is_cuda()});
  int64_t seen = 0;
  Tensor total = taeda::zeros({3}).to(device_);
  for (auto& [inputs, labels] : loader) {
    const Tensor on_device = inputs.to(device_, true);
    total = total + on_device.sum(0);
    seen += labels.size(0);
  }
  EXPECT_EQ(seen, 50);
  expect_close(total, x.sum(0), 1e-5);
}

TEST_F(Data, CopiesInEveryDirectionAndLayout) {
  const Tensor x = randn({6, 10}).to(device_), back = x.t().cpu();
  expect_close(back, x.cpu().t(), 0);
  const Tensor part = taeda::zeros({6, 10}).to(device_);
  part.slice(1, 0, 10, 2).copy_(back.t().slice(1, 1, 10, 2));
  expect_close(part.slice(1, 0, 10, 2), x.slice(1, 1, 10, 2), 0);
}

class Parallel : public OnDevice<2> {};

TEST_F(Parallel, GradientsEqualThoseOfOneDevice) {
  std::vector<Device> devices;
  for (int i = 0; i < device_count(device_.type()); ++i) devices.emplace_back(device_.type(), i);
  const Tensor x = randn({24, 6});
  const auto gradients = [&](bool parallel) {
    manual_seed(9);
    nn::Sequential net{nn::Linear(6, 16), nn::Tanh(), nn::Linear(16, 3)};
    net->to(device_);
    const Tensor in = x.to(device_);
    const Tensor y = parallel ? nn::DataParallel(net, devices)(in) : net->forward(in);
    EXPECT_EQ(y.device(), device_);
    y.pow(2).mean().backward();
    std::vector<Tensor> out;
    for (const Tensor& p : net->parameters()) out.push_back(p.grad());
    return out;
  };
  const std::vector<Tensor> want = gradients(false), got = gradients(true);
  for (size_t i = 0; i < got.size(); ++i) expect_close(got[i], want[i], 1e-5);
}

TEST_F(Parallel, PeerCopies) {
  const Tensor x = randn({1000}).to(device_), y = x.to(device_under_test(1));
  EXPECT_EQ(y.device(), device_under_test(1));
  expect_close(y + 1, x.cpu() + 1, 0);
}

}  // namespace
}  // namespace taeda
