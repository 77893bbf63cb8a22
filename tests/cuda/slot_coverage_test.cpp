// Which of the CPU's kernels CUDA lacks. The list may only shrink.
#include <gmock/gmock.h>

#include <set>
#include <string>

#include "taeda/device/registry.h"
#include "taeda/kernels/all.h"

namespace taeda {
namespace {

const std::multiset<std::string> kMissing = {
#include "tests/cuda/missing_slots.inc"
};

TEST(CudaSlots, OnlyThoseOnTheListAreMissing) {
  std::string reason;
  find_backend(kCUDA, &reason);  // loads the plug-in, which fills its slots without a driver, too
  std::multiset<std::string> missing;
  for_each_slot([&]<auto * slot>() {
    if (slot->get(kCPU) && !slot->get(kCUDA)) missing.insert(slot->name());
  });
  EXPECT_EQ(missing, kMissing) << reason;
}

}  // namespace
}  // namespace taeda
