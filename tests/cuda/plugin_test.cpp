// The plug-in loads on machines without a driver, and says why it has no devices.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "taeda/base/error.h"
#include "taeda/device/cuda.h"

namespace taeda {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// The memory map before main: what was loaded together with the library.
const std::string map_at_start = [] {
  std::ifstream maps("/proc/self/maps");
  return std::string(std::istreambuf_iterator<char>(maps), {});
}();

TEST(CudaPlugin, IsLoadedAndGivesTheReasonForNoDevices) {
  const std::string reason = cuda::unavailable_reason();
  if (cuda::is_available()) {
    EXPECT_EQ(reason, "");
    return;
  }
  // What the loader says when there is no plug-in, or when it does not load.
  EXPECT_THAT(reason, Not(HasSubstr("plug-in")));
  EXPECT_FALSE(reason.empty());
  EXPECT_EQ(cuda::device_count(), 0);
  try {
    backend_of(kCUDA);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.message(), "no cuda device is available: " + reason);
  }
}

TEST(CudaPlugin, NamesTheMissingDriver) {
  if (cuda::is_available()) GTEST_SKIP() << "there is a device";
  if (void* driver = dlopen("libcuda.so.1", RTLD_LAZY)) {
    dlclose(driver);
    GTEST_SKIP() << "there is a driver";
  }
  EXPECT_THAT(cuda::unavailable_reason(),
              HasSubstr("Found no NVIDIA driver on your system. Please check"));
}

TEST(CudaPlugin, NoCudaLibraryIsLoadedWithTaeda) {
  ASSERT_THAT(map_at_start, HasSubstr("libtaeda"));
  for (const char* library : {"libcudart", "libcublas", "libcudnn", "libnccl"})
    EXPECT_THAT(map_at_start, Not(HasSubstr(library)));
}

TEST(CudaPlugin, RefusesDevicesThatDoNotExist) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::unavailable_reason();
  try {
    cuda::set_device(127);
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("invalid device ordinal"));
  }
}

}  // namespace
}  // namespace taeda
