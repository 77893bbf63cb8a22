// Training asks the system for memory while it warms up, and never again.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "taeda/device/allocator.h"
#include "taeda/nn/modules/activation.h"
#include "taeda/nn/containers/sequential.h"
#include "taeda/nn/modules/conv.h"
#include "taeda/nn/modules/linear.h"
#include "taeda/nn/modules/pooling.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/nn/loss.h"
#include "taeda/ops/random/random.h"
#include "taeda/optim/adam.h"

namespace taeda::nn {
namespace {

int64_t page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

TEST(SteadyMemory, StepsAfterTheFirstCauseNoPageFaults) {
  manual_seed(1);
  Sequential net(Conv2d(1, 6, 5), ReLU(), MaxPool2d(2), Conv2d(6, 12, 5), ReLU(), MaxPool2d(2),
                 Flatten(), Linear(192, 60), ReLU(), Linear(60, 10));
  optim::Adam adam(net->parameters(), optim::AdamOptions(1e-3));
  const Tensor images = randn({16, 1, 28, 28}), labels = randint(10, {16}, kLong);
  const auto step = [&] {
    adam.zero_grad();
    cross_entropy(net->forward(images), labels).backward();
    adam.step();
  };
  for (int i = 0; i < 5; ++i) step();
  const MemoryStats before = allocator::memory_stats(kCPU);
  const int64_t faults = page_faults();
  for (int i = 0; i < 20; ++i) step();
  const int64_t more_faults = page_faults() - faults;
  const MemoryStats after = allocator::memory_stats(kCPU);
  EXPECT_EQ(after.segment_allocations, before.segment_allocations);
  EXPECT_EQ(after.reserved, before.reserved);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  // What is left is not the allocator's: the C library's heap, stacks.
  EXPECT_LT(more_faults, 50);
#else
  static_cast<void>(more_faults);
#endif
}

}  // namespace
}  // namespace taeda::nn
