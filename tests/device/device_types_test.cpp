// Types of devices: their names, their numbers, and indices in range.
#include "taeda/base/device_types.h"

#include <gmock/gmock.h>

#include <sstream>

#include "taeda/base/error.h"
#include "taeda/device/accelerator.h"
#include "taeda/device/generator.h"
#include "taeda/device/plugin.h"
#include "taeda/tensor/autocast_mode.h"
#include "tests/device/fake_backend.h"
#include "tests/error_of.h"

namespace taeda {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

TEST(DeviceIndex, IsCheckedInsteadOfCut) {
  EXPECT_EQ(error_of([] { Device(kCUDA, 256); }), "Device index must be below 128, got 256");
  EXPECT_EQ(error_of([] { Device(kSim, 128); }), "Device index must be below 128, got 128");
  EXPECT_EQ(error_of([] { Device(kSim, -2); }), "Device index must be -1 or non-negative, got -2");
  EXPECT_EQ(error_of([] { Device(kCPU, -7); }), "Device index must be -1 or non-negative, got -7");
  EXPECT_EQ(error_of([] { Device(kCPU, 128); }), "Device index must be below 128, got 128");
  EXPECT_EQ(error_of([] { Device("sim:128"); }), "Invalid device string: 'sim:128'");
  EXPECT_EQ(Device(kCUDA, 127).index(), 127);
  EXPECT_EQ(Device(kCUDA, -1).index(), -1);
  EXPECT_EQ(Device(kCPU, 0).index(), 0);
}

// Programs of several processes write "cpu:<rank>". It is a name of the one CPU.
TEST(DeviceIndex, EveryNumberIsTheCPU) {
  EXPECT_EQ(Device("cpu:64").str(), "cpu:64");
  EXPECT_EQ(resolve(Device(kCPU, 127)), Device(kCPU));
  EXPECT_EQ(&default_generator(Device("cpu:3")), &default_generator(kCPU));
}

TEST(DeviceTypes, AnUnknownNameSaysWhatIsKnownAndWhereWasLooked) {
  EXPECT_THAT(error_of([] { Device("gpu:0"); }),
              AllOf(StartsWith("Expected one of cpu, cuda, sim, meta"),
                    HasSubstr("device type at start of device string: gpu:0 (no plug-in "
                              "libtaeda_gpu.so was found in /")));
  // What could be no name is looked for nowhere.
  for (const char* text : {"../gpu", "GPU", ":0", "9", "g u"})
    EXPECT_THAT(error_of([=] { Device{text}; }),
                EndsWith(" device type at start of device string: " + std::string(text)));
}

/// Registered once for the whole program.
DeviceType fourth() {
  static const DeviceType type = [] {
    const DeviceType t =
        register_device_type({.name = "fourth", .title = "Fourth", .lower_precision = kBFloat16});
    set_backend(t, new FakeBackend(t));
    return t;
  }();
  return type;
}

TEST(DeviceTypes, ARegisteredTypeIsOneLikeTheOthers) {
  const DeviceType type = fourth();
  EXPECT_GT(static_cast<int>(type), static_cast<int>(kSim));
  EXPECT_STREQ(to_string(type), "fourth");
  EXPECT_EQ(Device("fourth"), Device(type));
  EXPECT_EQ(Device("fourth:0"), Device(type, 0));
  EXPECT_EQ(Device(type, 3).repr(), "device(type='fourth', index=3)");
  std::ostringstream out;
  out << Device(type, 3);
  EXPECT_EQ(out.str(), "fourth:3");
  EXPECT_EQ(find_device_type("fourth"), type);
  EXPECT_THAT(device_types(), testing::Contains(type));
  EXPECT_THAT(accelerator::types(), testing::Contains(type));
  EXPECT_THAT(accelerator::devices(), testing::Contains(Device(type, 0)));
  EXPECT_EQ(device_count(type), 1);
  EXPECT_EQ(resolve(Device("fourth")), Device(type, 0));
  EXPECT_EQ(AutocastMode::dtype(type), kBFloat16);
  EXPECT_EQ(AutocastMode::dtype(kCUDA), kHalf);
  EXPECT_EQ(AutocastMode::dtype(kCPU), kBFloat16);
  manual_seed(77);
  EXPECT_EQ(default_generator(Device(type, 0)).current_seed(), 77u);
  EXPECT_THAT(error_of([] { Device("gpu"); }),
              StartsWith("Expected one of cpu, cuda, sim, meta, fourth"));
}

TEST(DeviceTypes, WithoutABackendThereAreNoDevices) {
  const DeviceType type = register_device_type({.name = "bare"});
  EXPECT_EQ(device_count(type), 0);
  EXPECT_EQ(error_of([=] { backend_of(type); }),
            "no bare device is available: no backend was set for this type");
}

TEST(DeviceTypes, RefusesNamesThatAreNoneOrTaken) {
  const auto registering = [](const char* name, ScalarType lower = kHalf) {
    return error_of([=] { register_device_type({.name = name, .lower_precision = lower}); });
  };
  EXPECT_EQ(registering("cuda"), "register_device_type: the name 'cuda' is already taken");
  for (const char* name :
       {"", "Toy", "1toy", "to:y", "../toy", "a_name_of_more_than_32_characters"})
    EXPECT_THAT(registering(name), EndsWith("a letter, got '" + std::string(name) + "'")) << name;
  EXPECT_THAT(registering(nullptr), EndsWith("got ''"));
  EXPECT_THAT(registering("wide", kFloat),
              HasSubstr("expected Half or BFloat16 as the lower precision of 'wide', got Float"));
  EXPECT_EQ(error_of([] { device_type_info(static_cast<DeviceType>(kDeviceTypes - 1)); }),
            detail::concat("no device type has the number ", kDeviceTypes - 1));
}

TEST(DeviceTypes, ThereIsRoomForSoMany) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto fill = [] {
    int i = 0;
    const auto next = [&i] { register_device_type({.name = ("t" + std::to_string(i++)).c_str()}); };
    while (device_types().size() < kDeviceTypes) next();
    std::fprintf(stderr, "%s", error_of(next).c_str());
    std::exit(0);
  };
  EXPECT_EXIT(fill(), testing::ExitedWithCode(0), "there is no room for 't[0-9]' beside cpu, cuda");
}

TEST(DeviceTypes, SimulatedDevicesAreNeverPreferred) {
  fourth();
  const auto preferred = accelerator::preferred_type();
  ASSERT_TRUE(preferred);
  EXPECT_NE(*preferred, kSim);
}

}  // namespace
}  // namespace taeda
