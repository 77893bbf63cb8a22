// The device under test: the type that TAEDA_TEST_DEVICE names ("cuda"), or else simulated devices.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "taeda/device/generator.h"
#include "taeda/device/graph.h"
#include "taeda/device/registry.h"
#include "taeda/tensor/tensor.h"
#include "tests/error_of.h"

namespace taeda {

inline Device device_under_test(int index = 0) {
  const char* name = std::getenv("TAEDA_TEST_DEVICE");
  return Device(name && *name ? Device(name).type() : kSim, index);
}

/// Skips where there are not `kDevices` devices.
template <int kDevices = 1>
class OnDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    const int found = device_count(device_.type());
    if (found == 0 && std::getenv("TAEDA_TEST_DEVICE"))
      GTEST_FAIL() << "TAEDA_TEST_DEVICE asks for a device that is not there";
    if (found < kDevices)
      GTEST_SKIP() << "needs " << kDevices << " " << to_string(device_.type()) << " devices, found "
                   << found;
    manual_seed(1);
  }
  const Device device_ = device_under_test();
};

inline std::vector<double> values(const Tensor& t) {
  const Tensor host = t.detach().cpu().to(kDouble).contiguous();
  return {host.data_ptr<double>(), host.data_ptr<double>() + host.numel()};
}

/// Every element equal up to `tolerance` of the largest one, and of 1.
inline void expect_close(const Tensor& got, const Tensor& want, double tolerance) {
  ASSERT_EQ(got.sizes(), want.sizes());
  const std::vector<double> a = values(got), b = values(want);
  double scale = 1;
  for (double x : b) scale = std::max(scale, std::abs(x));
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], tolerance * scale) << "element " << i;
}

}  // namespace taeda
