// Four simulated devices for all tests of this program.
#include <gtest/gtest.h>

#include "taeda/device/sim.h"

namespace taeda {
namespace {

struct FourDevices : ::testing::Environment {
  void SetUp() override { sim::configure(4); }
};
[[maybe_unused]] const auto* const environment =
    ::testing::AddGlobalTestEnvironment(new FourDevices);

}  // namespace
}  // namespace taeda
