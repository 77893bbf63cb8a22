// Operations on simulated devices: the CPU's kernels, queued.
#include <gmock/gmock.h>

#include <cstring>
#include <functional>

#include "taeda/base/error.h"
#include "taeda/device/sim.h"
#include "taeda/kernels/all.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/nn/conv.h"
#include "taeda/ops/nn/dropout.h"
#include "taeda/ops/nn/softmax.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/join.h"
#include "tests/sim/devices.h"

namespace taeda {
namespace {

using testing::HasSubstr;

using sim_tests::kDevice, sim_tests::kPeer;

/// Numbers that differ from element to element.
Tensor numbers(IntArrayRef sizes) {
  const Generator g(kCPU, 17);
  Tensor out = empty(sizes);
  g.fill_uniform(out.data_ptr<float>(), out.numel(), -1, 1);
  return out;
}

void expect_same_bytes(const Tensor& a, const Tensor& b) {
  const Tensor x = a.cpu().contiguous(), y = b.cpu().contiguous();
  ASSERT_EQ(x.sizes(), y.sizes());
  ASSERT_EQ(x.dtype(), y.dtype());
  EXPECT_EQ(std::memcmp(x.data_ptr(), y.data_ptr(), static_cast<size_t>(x.nbytes())), 0);
}

TEST(SimKernels, EveryKernelOfTheCpuIsThere) {
  ASSERT_NE(find_backend(kSim), nullptr);
  for_each_slot([]<auto * slot>() {
    EXPECT_EQ(slot->get(kSim) != nullptr, slot->get(kCPU) != nullptr) << slot->name();
  });
}

TEST(SimKernels, GiveTheCpusBytes) {
  const Tensor a = numbers({33, 65}), b = numbers({65, 17}), c = numbers({17});
  const auto chain = [](const Tensor& x, const Tensor& y, const Tensor& z) {
    const Tensor t = softmax(matmul(x, y) * 2 + z, 1);
    return cat({t.transpose(0, 1), t.slice(0, 0, 17)}, 1).sum(0);
  };
  const Tensor on_device = chain(a.to(kDevice), b.to(kDevice), c.to(kDevice));
  EXPECT_EQ(on_device.device(), kDevice);
  expect_same_bytes(on_device, chain(a, b, c));
}

TEST(SimKernels, GradientsToo) {
  const auto gradients = [](Device d) {
    const Tensor w = numbers({8, 8}).to(d).requires_grad_();
    const Tensor x = numbers({5, 8}).to(d);
    softmax(matmul(x, w).tanh(), 1).pow(2).sum().backward();
    return w.grad();
  };
  expect_same_bytes(gradients(kDevice), gradients(kCPU));
}

TEST(SimKernels, TakeHostNumbersWhenTheyAreQueued) {
  const Tensor x = numbers({4}).to(kDevice);
  Tensor factor = tensor(3.0f);
  sim::Gate gate;
  sim::delay_stream(default_stream(kDevice), gate);
  const Tensor y = x * factor;
  factor.fill_(100);
  gate.open();
  expect_same_bytes(y, numbers({4}) * 3);
}

TEST(SimKernels, MemoryFreedWhileWorkIsQueuedIsReusedInOrder) {
  const Tensor x = numbers({1000}).to(kDevice);
  sim::Gate gate;
  sim::delay_stream(default_stream(kDevice), gate);
  Tensor sum = zeros({1000}, TensorOptions(kDevice));
  for (int i = 0; i < 50; ++i) sum = sum + x * i;  // every temporary dies before its kernel runs
  gate.open();
  Tensor expected = zeros({1000});
  for (int i = 0; i < 50; ++i) expected = expected + numbers({1000}) * i;
  expect_same_bytes(sum, expected);
}

TEST(SimKernels, AMissingEventShowsInTheResult) {
  const Stream producer = new_stream(kDevice), consumer = new_stream(kDevice);
  for (const bool synchronised : {false, true}) {
    Tensor data = zeros({64}, TensorOptions(kDevice)), result;
    synchronize(kDevice);
    sim::Gate slow;
    {
      StreamGuard on(producer);
      sim::delay_stream(producer, slow);
      data.fill_(1);
    }
    if (synchronised) consumer.wait_stream(producer);
    {
      StreamGuard on(consumer);
      result = data * 2;
      if (!synchronised) consumer.synchronize();
    }
    slow.open();
    synchronize(kDevice);
    EXPECT_EQ(result.sum().item<float>(), synchronised ? 128.0f : 0.0f);
  }
}

TEST(SimKernels, ABadIndexIsReportedLaterWithTheKernelsName) {
  const Tensor table = numbers({4, 2}).to(kDevice);
  const Tensor index = tensor({1, 9}).to(kDevice);
  const Tensor rows = index_select(table, 0, index);
  try {
    rows.cpu();
    FAIL() << "the error was lost";
  } catch (const IndexError& e) {
    EXPECT_THAT(e.what(), HasSubstr("(raised by kernel '"));
    EXPECT_THAT(e.what(), HasSubstr("on sim:0; kernels run asynchronously"));
  }
  expect_same_bytes(table + 1, numbers({4, 2}) + 1);  // the device goes on
}

TEST(SimKernels, CopiesBetweenDevicesConvertAndKeepOrder) {
  const Tensor x = numbers({6, 4});
  const Tensor there = x.to(kDevice).transpose(0, 1).to(kPeer, kDouble);
  EXPECT_EQ(there.device(), kPeer);
  expect_same_bytes(there, x.transpose(0, 1).to(kDouble));
  try {
    there + x.to(kDevice);
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(),
                HasSubstr("Expected all tensors to be on the same device, but found at least two "
                          "devices, sim:1 and sim:0!"));
  }
}

TEST(SimKernels, RandomNumbersDependOnTheSeedAlone) {
  const auto draw = [](Device d) {
    manual_seed(5);
    const Tensor a = rand({1000}, TensorOptions(d)), b = randn({1001}, TensorOptions(d));
    return cat({a, b, dropout(a, 0.3, true)}, 0);
  };
  const Tensor first = draw(kDevice);
  expect_same_bytes(first, draw(kPeer));
  expect_same_bytes(first, draw(kDevice));
  EXPECT_NE(rand({1}, TensorOptions(kDevice)).item<float>(),
            rand({1}, TensorOptions(kDevice)).item<float>());
  manual_seed(kDefaultSeed);
}

TEST(SimKernels, PinnedTensorsCopyWithoutWaiting) {
  const Tensor pinned = numbers({256}).pin_memory();
  EXPECT_TRUE(pinned.is_pinned());
  sim::Gate gate;
  sim::delay_stream(default_stream(kDevice), gate);
  const Tensor there = pinned.to(kDevice, /*non_blocking=*/true);
  EXPECT_FALSE(default_stream(kDevice).query());
  gate.open();
  expect_same_bytes(there, pinned);
}

TEST(SimKernels, RunningOutOfMemoryLeavesTheDeviceUsable) {
  const int64_t elements = static_cast<int64_t>(sim::mem_get_info(0).total);  // four times too many
  EXPECT_THROW(empty({elements}, TensorOptions(kDevice)), OutOfMemoryError);
  sim::fail_allocation(kDevice, 2);
  const Tensor x = numbers({300}).to(kDevice);
  EXPECT_THROW(x + 1, OutOfMemoryError);
  expect_same_bytes(x + 1, numbers({300}) + 1);
}

TEST(SimKernelsDeathTest, AnUnchangedCudaProgramRunsOnSimulatedDevices) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto program = [] {
    const Tensor w = ones({4, 4}, TensorOptions(Device("cuda:1"))).requires_grad_();
    matmul(w, w).sum().backward();
    return w.grad().device() == Device("cuda:1") && w.grad().cpu().sum().item<float>() == 128.0f;
  };
  EXPECT_EXIT(
      {
        setenv("TAEDA_SIM_AS_CUDA", "2", 1);
        std::exit(program() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(SimKernelsDeathTest, AProgramMayEndWhileDevicesWork) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto program = [] {
    sim::configure(2);
    // Shapes and kinds of work that the libraries below have not met.
    for (int64_t size = 8; size < 24; ++size)
      for (const Device device : {kDevice, kPeer}) {
        const Tensor x = ones({1, 2, size, 9}, TensorOptions(device).requires_grad(true));
        const Tensor w = ones({3, 2, 3, 3}, TensorOptions(device).requires_grad(true));
        const Tensor y = conv2d(x.contiguous(MemoryFormat::ChannelsLast), w);
        matmul(y, ones({7, 7}, TensorOptions(device))).sum().backward();
      }
    std::exit(0);
  };
  for (int i = 0; i < 3; ++i) EXPECT_EXIT(program(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace taeda
