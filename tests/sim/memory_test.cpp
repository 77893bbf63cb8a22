// Memory of simulated devices: its limit, its faults, its errors.
#include <gmock/gmock.h>

#include <csignal>
#include <cstring>
#include <thread>

#include "taeda/base/error.h"
#include "taeda/device/accelerator.h"
#include "taeda/device/cuda.h"
#include "taeda/device/sim.h"
#include "taeda/device/storage.h"
#include "taeda/device/transfer.h"
#include "taeda/sim/backend.h"
#include "tests/error_of.h"

namespace taeda {
namespace {

using testing::HasSubstr;

constexpr size_t kMiB = size_t{1} << 20;

/// Four devices of 64 MiB for a test, then the default again.
class SimMemory : public testing::Test {
 protected:
  SimMemory() { sim::configure(4, {64 * kMiB}); }
  ~SimMemory() override { sim::configure(2); }
};

TEST_F(SimMemory, ConfigureSetsNumberAndSize) {
  EXPECT_TRUE(sim::is_available());
  EXPECT_EQ(sim::device_count(), 4);
  EXPECT_EQ(sim::mem_get_info(3).total, 64 * kMiB);
  EXPECT_EQ(sim::get_device_properties(2).total_memory, static_cast<int64_t>(64 * kMiB));
  EXPECT_EQ(sim::get_device_name(0), "Taeda simulated accelerator");
  sim::set_device(3);
  EXPECT_EQ(sim::current_device(), 3);
  sim::set_device(0);
  try {
    sim::set_device(4);
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(),
                 "invalid device ordinal: sim:4 was asked for, but there are 4 sim devices");
  }
  EXPECT_THROW(sim::configure(-1), ValueError);
  EXPECT_THROW(sim::configure(65), ValueError);
}

TEST_F(SimMemory, ADeviceNamesItselfAsWellAsItsIndex) {
  const Storage s = Storage::allocate(Device("sim:2"), 100);
  EXPECT_EQ(sim::get_device_name(Device("sim:1")), sim::get_device_name(1));
  EXPECT_EQ(sim::get_device_properties("sim:1").total_memory, static_cast<int64_t>(64 * kMiB));
  EXPECT_EQ(sim::get_device_capability(Device("sim:3")), sim::get_device_capability(3));
  EXPECT_EQ(sim::mem_get_info("sim:3").total, 64 * kMiB);
  EXPECT_EQ(sim::memory_allocated("sim:2"), sim::memory_allocated(2));
  EXPECT_GT(sim::memory_allocated("sim:2"), 0);
  EXPECT_EQ(sim::memory_allocated("sim:1"), 0);
  EXPECT_EQ(sim::max_memory_allocated("sim:2"), sim::max_memory_allocated(2));
  EXPECT_GT(sim::memory_reserved("sim:2"), 0);
  EXPECT_EQ(sim::max_memory_reserved("sim:2"), sim::memory_stats("sim:2").peak_reserved);
  EXPECT_EQ(sim::memory_summary("sim:2"), sim::memory_summary(2));
  sim::reset_peak_memory_stats("sim:2");
  EXPECT_EQ(sim::max_memory_allocated("sim:2"), sim::memory_allocated("sim:2"));
  EXPECT_EQ(sim::get_per_process_memory_fraction("sim:2"), sim::get_per_process_memory_fraction(2));
  EXPECT_EQ(sim::can_device_access_peer("sim:1", "sim:2"), sim::can_device_access_peer(1, 2));
  EXPECT_EQ(sim::current_stream("sim:2"), sim::current_stream(2));
  EXPECT_EQ(sim::default_stream("sim:2"), sim::default_stream(2));
  sim::synchronize("sim:2");
  sim::set_device("sim:2");
  EXPECT_EQ(sim::current_device(), 2);
  EXPECT_GT(sim::memory_allocated("sim"), 0) << "without an index the current device";
  sim::set_device(0);
}

TEST_F(SimMemory, ADeviceOfAnotherTypeIsRefused) {
  try {
    sim::memory_allocated("cpu");
    FAIL();
  } catch (const ValueError& e) {
    EXPECT_STREQ(e.what(), "Expected a sim device, but got: cpu");
  }
}

TEST_F(SimMemory, ConfigureRefusesWhileMemoryIsInUse) {
  Storage s = Storage::allocate(Device("sim:2"), 100);
  EXPECT_THROW(sim::configure(2), Error);
  s = Storage();
  EXPECT_NO_THROW(sim::configure(4, {64 * kMiB}));
}

TEST_F(SimMemory, NoDevicesIsAReason) {
  sim::configure(0);
  EXPECT_FALSE(sim::is_available());
  EXPECT_EQ(sim::device_count(), 0);
  EXPECT_THAT(sim::unavailable_reason(), HasSubstr("there are no simulated devices"));
  try {
    resolve(Device("sim:0"));
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("no sim device is available: there are no simulated devices"));
  }
}

TEST_F(SimMemory, TheLimitIsReal) {
  const Device d("sim:1");
  Storage a = Storage::allocate(d, 30 * kMiB), b = Storage::allocate(d, 30 * kMiB);
  EXPECT_EQ(sim::memory_allocated(1), static_cast<int64_t>(60 * kMiB));
  EXPECT_EQ(sim::mem_get_info(1).free, 4 * kMiB);
  try {
    Storage::allocate(d, 10 * kMiB);
    FAIL();
  } catch (const OutOfMemoryError& e) {
    EXPECT_THAT(
        e.what(),
        HasSubstr(
            "SIM out of memory. Tried to allocate 10.00 MiB (sim:1; 64.00 MiB total capacity; "
            "60.00 MiB already allocated; 4.00 MiB free; 60.00 MiB reserved in total"));
  }
  EXPECT_NO_THROW(Storage::allocate(Device("sim:0"), 10 * kMiB));  // the others have their own
  a = Storage();
  EXPECT_NO_THROW(a = Storage::allocate(d, 32 * kMiB));
  EXPECT_EQ(sim::max_memory_allocated(1), static_cast<int64_t>(62 * kMiB));
  sim::reset_peak_memory_stats(1);
  EXPECT_EQ(sim::max_memory_reserved(1), sim::memory_reserved(1));
  EXPECT_THAT(sim::memory_summary(1), HasSubstr("sim:1"));
}

TEST_F(SimMemory, TheNthAllocationCanBeMadeToFail) {
  const Device d("sim:0");
  sim::fail_allocation(d, 3);
  EXPECT_NO_THROW(Storage::allocate(d, 100));
  EXPECT_NO_THROW(Storage::allocate(d, 100));
  EXPECT_THROW(Storage::allocate(d, 100), OutOfMemoryError);
  EXPECT_NO_THROW(Storage::allocate(d, 100));
  EXPECT_THROW(sim::fail_allocation(d, 0), ValueError);
  EXPECT_THROW(sim::fail_allocation(Device(kCPU), 1), Error);
}

TEST_F(SimMemory, ReturnedMemoryIsNotReusedByWorkStillQueued) {
  const Device d("sim:0");
  const Stream s = new_stream(d);
  Storage a = Storage::allocate(d, kMiB);
  bool ran = false;
  sim::Gate gate;
  sim::delay_stream(s, gate);
  char* view = sim::host_view(d, static_cast<char*>(a->data()));
  sim::launch(s, "late write", [&ran, view] { std::memset(view, 1, kMiB), ran = true; });
  a = Storage();
  std::thread opener([&] { gate.open(); });
  sim::empty_cache();  // waits for the stream, as the memory goes back to the device
  EXPECT_TRUE(ran);
  opener.join();
  EXPECT_EQ(sim::memory_reserved(0), 0);
}

TEST_F(SimMemory, MemoryOfOneDeviceIsNotTheOthers) {
  Storage a = Storage::allocate(Device("sim:0"), 4096),
          b = Storage::allocate(Device("sim:1"), 4096);
  EXPECT_NE(a->data(), b->data());
  int one = 1, two = 2, got = 0;
  transfer(a->data(), Device("sim:0"), &one, kCPU, sizeof one);
  transfer(b->data(), Device("sim:1"), &two, kCPU, sizeof two);
  transfer(&got, kCPU, a->data(), Device("sim:0"), sizeof got);
  EXPECT_EQ(got, 1);
}

TEST(SimMemoryRange, HolesAreJoined) {
  sim::Memory m(Device("sim:9"), kMiB);
  void* a = m.allocate(256 << 10);
  void* b = m.allocate(256 << 10);
  void* c = m.allocate(512 << 10);
  EXPECT_EQ(m.allocate(1), nullptr);
  EXPECT_TRUE(m.contains(b));
  static_cast<char*>(b)[m.alias_delta()] = 5;
  m.deallocate(a, 256 << 10);
  m.deallocate(c, 512 << 10);
  m.deallocate(b, 256 << 10);
  EXPECT_EQ(m.used(), 0u);
  char* whole = static_cast<char*>(m.allocate(kMiB));
  EXPECT_EQ(whole, a);
  EXPECT_EQ(whole[m.alias_delta() + (256 << 10)], 0);  // the pages went back
}

TEST(SimMemoryText, SizesHaveUnits) {
  EXPECT_EQ(sim::parse_bytes("4096"), 4096u);
  EXPECT_EQ(sim::parse_bytes("512M"), 512 * kMiB);
  EXPECT_EQ(sim::parse_bytes("1.5G"), 1536 * kMiB);
  EXPECT_THROW(sim::parse_bytes("lots"), ValueError);
  EXPECT_THROW(sim::parse_bytes("5X"), ValueError);
  EXPECT_THROW(sim::parse_bytes("-1"), ValueError);
}

TEST(SimFaultDeathTest, FollowingADeviceAddressOnTheHostNamesTheDevice) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        const Storage s = Storage::allocate(Device("sim:1"), 4096);
        *static_cast<volatile int*>(s->data()) = 1;
      },
      "the host followed an address in the memory of sim:1");
}

TEST(SimFaultDeathTest, OtherFaultsGoTheirOldWay) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        const Storage s = Storage::allocate(Device("sim:0"), 4096);
        raise(SIGSEGV);
      },
      testing::Not(HasSubstr("the host followed")));
}

// The environment is read once per process: each of these runs its statement in a process of its
// own.

#define EXPECT_IN_CHILD(setup, condition)           \
  do {                                              \
    GTEST_FLAG_SET(death_test_style, "threadsafe"); \
    EXPECT_EXIT(                                    \
        {                                           \
          setup;                                    \
          std::exit((condition) ? 0 : 1);           \
        },                                          \
        testing::ExitedWithCode(0), "");            \
  } while (false)

TEST(SimEnvironmentDeathTest, NumberAndMemory) {
  EXPECT_IN_CHILD(setenv("TAEDA_SIM_DEVICES", "3", 1);
                  setenv("TAEDA_SIM_MEMORY", "8M", 1),
                  sim::device_count() == 3 && sim::mem_get_info(0).total == 8 * kMiB);
}

// A program that was told of devices must not go on without them.
TEST(SimEnvironmentDeathTest, WhatIsNotUnderstoodIsRefused) {
  const auto refused = [](auto ask, const std::string& text) {
    for (int again = 0; again < 2; ++again)
      if (error_of(ask).find(text) != 0) return false;
    return true;
  };
  EXPECT_IN_CHILD(
      setenv("TAEDA_SIM_DEVICES", "many", 1),
      refused([] { return sim::is_available(); },
              "TAEDA_SIM_DEVICES: expected a number of devices from 0 to 64, got 'many'"));
  EXPECT_IN_CHILD(setenv("TAEDA_SIM_MEMORY", "much", 1),
                  refused([] { return accelerator::devices(); }, "TAEDA_SIM_MEMORY"));
  EXPECT_IN_CHILD(setenv("TAEDA_SIM_AS_CUDA", "-1", 1),
                  refused([] { return cuda::is_available(); }, "TAEDA_SIM_AS_CUDA: expected"));
}

TEST(SimEnvironmentDeathTest, AsCuda) {
  const auto works = [] {
    if (!cuda::is_available() || cuda::device_count() != 4) return false;
    const Storage s = Storage::allocate(Device("cuda:3"), 1 << 20);
    int in = 77, out = 0;
    transfer(s->data(), Device("cuda:3"), &in, kCPU, sizeof in);
    transfer(&out, kCPU, s->data(), Device("cuda:3"), sizeof out);
    cuda::set_device(3);
    return out == 77 && cuda::memory_allocated() == 1 << 20 &&
           cuda::current_stream().device() == Device("cuda:3");
  };
  EXPECT_IN_CHILD(setenv("TAEDA_SIM_AS_CUDA", "4", 1), works());
  // They are not listed under a second name, unless that was asked for.
  EXPECT_IN_CHILD(setenv("TAEDA_SIM_AS_CUDA", "4", 1), accelerator::devices().size() == 4);
  EXPECT_IN_CHILD(setenv("TAEDA_SIM_AS_CUDA", "4", 1);
                  setenv("TAEDA_SIM_DEVICES", "1", 1), accelerator::devices().size() == 5);
}

TEST(SimEnvironmentDeathTest, CudaVisibleDevices) {
  const auto visible = [](const char* list) {
    setenv("TAEDA_SIM_AS_CUDA", "4", 1);
    setenv("CUDA_VISIBLE_DEVICES", list, 1);
    return cuda::device_count();
  };
  EXPECT_IN_CHILD(, visible("2,0") == 2);
  EXPECT_IN_CHILD(, visible("3,-1,0") == 1);  // up to the first that is none
  EXPECT_IN_CHILD(, visible("0,1,0,2") == 2);
  EXPECT_IN_CHILD(, visible("0,4,1") == 1);
  EXPECT_IN_CHILD(, visible("") == 0 && !cuda::is_available());
}

TEST(SimEnvironmentDeathTest, LaunchBlockingReportsAtOnce) {
  const auto works = [] {
    try {
      sim::launch(default_stream(Device("sim:0")), "broken", [] { throw IndexError("here"); });
    } catch (const IndexError& e) {
      return std::string(e.what()) == "here\n(raised by kernel 'broken' on sim:0)";
    }
    return false;
  };
  EXPECT_IN_CHILD(setenv("TAEDA_LAUNCH_BLOCKING", "1", 1), works());
}

TEST(SimEnvironmentDeathTest, ExitWithWorkHeldBackDoesNotHang) {
  EXPECT_IN_CHILD(
      {
        static auto* gate = new sim::Gate;  // never opened
        const Stream s = new_stream(Device("sim:0"));
        sim::delay_stream(s, *gate);
        sim::launch(s, "never", [] { std::abort(); });
      },
      true);
}

TEST(Cuda, WithoutPlugInTheReasonIsGiven) {
  if (cuda::is_available()) GTEST_SKIP() << "there is a CUDA device";
  EXPECT_EQ(cuda::device_count(), 0);
  EXPECT_FALSE(cuda::unavailable_reason().empty());
  try {
    resolve(Device("cuda:0"));
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("no cuda device is available: "));
  }
}

}  // namespace
}  // namespace taeda
