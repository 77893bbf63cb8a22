// How much freed host memory is kept, for how long, and what becomes of it. Time and limits are
// given by hand.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "taeda/base/device_types.h"
#include "taeda/base/error.h"
#include "taeda/device/allocator.h"
#include "taeda/device/caching_allocator.h"
#include "taeda/device/idle_memory.h"
#include "taeda/device/memory_limit.h"
#include "taeda/device/registry.h"
#include "tests/device/fake_backend.h"
#include "tests/error_of.h"

namespace taeda {
namespace {

using detail::CachingAllocator;
using detail::HighWater;
using detail::HostMemory;
using testing::HasSubstr;

constexpr size_t kOneMiB = size_t{1} << 20, kOneGiB = size_t{1} << 30;

// ---- the mark ----

HighWater::Time after(double periods) {
  return HighWater::Time(std::chrono::hours(1)) +
         std::chrono::duration_cast<HighWater::Time::duration>(periods * HighWater::kPeriod);
}

TEST(HighWater, IsThePeakOfStepsThatRepeat) {
  HighWater h;
  h.advance(after(0), 0);
  for (int step = 0; step < 40; ++step) {
    h.note(1000);
    h.note(10);
    EXPECT_EQ(h.advance(after(0.4 * step), 10),
              step > 0 && int(0.4 * step) > int(0.4 * (step - 1)));
    EXPECT_EQ(h.mark(), 1000u);
  }
}

TEST(HighWater, HalvesWithEveryPeriodThatPassesWithoutIt) {
  HighWater h;
  h.advance(after(0), 0);
  h.note(1000);
  EXPECT_EQ(h.advance(after(0.99), 100), 0);
  EXPECT_EQ(h.advance(after(1), 100), 1);
  EXPECT_EQ(h.mark(), 1000u);  // the period in which it was reached
  EXPECT_EQ(h.advance(after(2), 100), 1);
  EXPECT_EQ(h.mark(), 500u);
  EXPECT_EQ(h.advance(after(4), 100), 2);  // nobody asked for two periods
  EXPECT_EQ(h.mark(), 125u);
  EXPECT_GT(h.advance(after(1e6), 100), 2);
  EXPECT_EQ(h.mark(), 100u);  // never below what is in use
}

// ---- the limit ----

TEST(HostCacheLimit, IsAQuarterOfTheSmallerSharedByTheProcessesOfAJob) {
  EXPECT_EQ(host_cache_limit(HostMemory{.machine = 16 * kOneGiB}), 4 * kOneGiB);
  EXPECT_EQ(host_cache_limit(HostMemory{.machine = 16 * kOneGiB, .group = 2 * kOneGiB}),
            kOneGiB / 2);
  EXPECT_EQ(host_cache_limit(HostMemory{.machine = 16 * kOneGiB, .group = 64 * kOneGiB}),
            4 * kOneGiB);
  const auto shared = [](const char* processes) {
    return host_cache_limit(HostMemory{.machine = 16 * kOneGiB, .local_world_size = processes});
  };
  EXPECT_EQ(shared("8"), kOneGiB / 2);
  EXPECT_EQ(shared("0"), 4 * kOneGiB);
  EXPECT_EQ(shared("many"), 4 * kOneGiB);
}

TEST(HostCacheLimit, IsWhatTheVariableSays) {
  const auto with = [](const char* text) {
    return host_cache_limit(
        HostMemory{.machine = kOneGiB, .cache_bytes = text, .local_world_size = "4"});
  };
  EXPECT_EQ(with("0"), 0u);
  EXPECT_EQ(with("123456789"), 123456789u);
  EXPECT_EQ(with(""), kOneGiB / 16);
  EXPECT_EQ(error_of([&] { with("2G"); }),
            "TAEDA_CPU_CACHE_BYTES: expected a number of bytes, got '2G'");
  EXPECT_THAT(error_of([&] { with("-1"); }), HasSubstr("got '-1'"));
}

/// A made-up root folder with the files of control groups.
class ControlGroups : public testing::Test {
 protected:
  ControlGroups() {
    char name[] = "/tmp/taeda_groups_XXXXXX";
    root = mkdtemp(name);
  }
  ~ControlGroups() override { std::filesystem::remove_all(root); }
  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }
  std::optional<size_t> limit() const { return detail::cgroup_memory_limit(root); }

  std::string root;
  const std::string second = "36 25 0:30 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw";
};

TEST_F(ControlGroups, ThereAreNone) { EXPECT_EQ(limit(), std::nullopt); }

TEST_F(ControlGroups, OfTheSecondVersionTheSmallestAboveUsCounts) {
  write("/proc/self/mountinfo", "22 1 8:1 / / rw - ext4 /dev/sda rw\n" + second);
  write("/proc/self/cgroup", "0::/user.slice/job/step");
  write("/sys/fs/cgroup/user.slice/job/step/memory.max", "max");
  EXPECT_EQ(limit(), std::nullopt);
  write("/sys/fs/cgroup/user.slice/job/step/memory.max", "5000");
  EXPECT_EQ(limit(), 5000u);
  write("/sys/fs/cgroup/user.slice/job/memory.max", "3000");
  write("/sys/fs/cgroup/user.slice/memory.max", "4000");
  EXPECT_EQ(limit(), 3000u);
  write("/sys/fs/cgroup/user.slice/memory.high", "2000");
  EXPECT_EQ(limit(), 2000u);
  write("/sys/fs/cgroup/user.slice/other/memory.max", "10");  // not around us
  EXPECT_EQ(limit(), 2000u);
}

TEST_F(ControlGroups, OfTheFirstVersionTheOneOfMemory) {
  write("/proc/self/mountinfo",
        "30 25 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
        "31 25 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory");
  write("/proc/self/cgroup", "5:cpu,cpuacct:/elsewhere\n4:memory:/a/b\n1:name=systemd:/x");
  write("/sys/fs/cgroup/cpu/elsewhere/memory.limit_in_bytes", "1");
  write("/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712");
  write("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "7000");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
  EXPECT_EQ(limit(), 7000u);
}

TEST_F(ControlGroups, AContainerSeesItsOwnGroupAtTheMount) {
  write("/sys/fs/cgroup/memory.max", "6000");
  write("/proc/self/mountinfo", second);
  write("/proc/self/cgroup", "0::/");  // a namespace of its own
  EXPECT_EQ(limit(), 6000u);
  write("/proc/self/mountinfo", "36 25 0:30 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup2 rw");
  write("/proc/self/cgroup", "0::/docker/abc");
  EXPECT_EQ(limit(), 6000u);
  write("/proc/self/cgroup", "0::/docker/abc/inner");
  write("/sys/fs/cgroup/inner/memory.max", "500");
  EXPECT_EQ(limit(), 500u);
  write("/proc/self/cgroup", "0::/../out/of/sight");
  EXPECT_EQ(limit(), 6000u);
}

// ---- what is kept ----

HighWater::Time fake_now;

class HostCache : public testing::Test {
 protected:
  HostCache() {
    device.capacity = 4 * kOneGiB;
    fake_now = after(0);
    a.set_clock([] { return fake_now; });
    a.trim(fake_now);
  }
  ~HostCache() override { a.empty_cache(); }
  void* take(size_t bytes) { return a.allocate(bytes, 0, nullptr); }
  void step(size_t large = 40 * kOneMiB) {
    void* p = take(large);
    void* q = take(3 * kOneMiB);
    void* r = take(1000);
    for (void* x : {p, q, r}) a.deallocate(x);
  }

  FakeBackend device{kCPU};
  CachingAllocator a{device, 0, 2 * kOneGiB};
};

TEST_F(HostCache, StepsThatRepeatAskTheSystemForNothing) {
  step();
  const int before = device.raw_allocations;
  const size_t used = device.used;
  for (int i = 1; i < 50; ++i) {
    fake_now = after(0.3 * i);
    step();
    a.trim(fake_now);
  }
  EXPECT_EQ(device.raw_allocations, before);
  EXPECT_EQ(device.used, used);
  EXPECT_EQ(device.discarded, 0u);
}

TEST_F(HostCache, AnIdleProgramGivesEverythingBack) {
  void* weights = take(3 * kOneMiB);
  for (int i = 0; i < 8; ++i) step(40 * kOneMiB);
  step(600 * kOneMiB);
  EXPECT_GT(device.used, 640 * kOneMiB);
  EXPECT_TRUE(a.trim(after(0.9)));
  EXPECT_GT(device.used, 640 * kOneMiB);
  EXPECT_TRUE(a.trim(after(1)));  // the period of the step ends: nothing happens yet
  EXPECT_GT(device.used, 640 * kOneMiB);
  bool more = true;
  for (int i = 2; i < 20 && more; ++i) more = a.trim(after(i));
  EXPECT_FALSE(more);
  EXPECT_LT(device.used, 64 * kOneMiB);
  for (int i = 20; i < 30; ++i) a.trim(after(i));
  // What is left is the segment with the weights, and its pages around them are dropped.
  EXPECT_EQ(device.used, 20 * kOneMiB);
  EXPECT_EQ(device.discarded, 17 * kOneMiB);
  a.deallocate(weights);
}

TEST_F(HostCache, WhatRecentStepsUsedStaysAndTheOldestGoes) {
  step(200 * kOneMiB);
  step(50 * kOneMiB);
  for (int i = 1; i < 10; ++i) {
    fake_now = after(i);
    step(50 * kOneMiB);
    a.trim(fake_now);
  }
  EXPECT_EQ(device.used, (50 + 20 + 2) * kOneMiB);
  const int before = device.raw_allocations;
  step(50 * kOneMiB);
  EXPECT_EQ(device.raw_allocations, before);
}

TEST_F(HostCache, CallsLookAtTheClockFromTimeToTime) {
  step(200 * kOneMiB);
  for (int i = 1; i < 20; ++i) {
    fake_now = after(i);
    for (int k = 0; k < 256; ++k) a.deallocate(take(5000));
  }
  EXPECT_EQ(device.used, 2 * kOneMiB);
}

TEST_F(HostCache, PagesThatWereDroppedServeAgain) {
  void* wall = take(3 * kOneMiB);
  void* q = take(5 * kOneMiB);
  void* inner_wall = take(3 * kOneMiB);
  a.deallocate(q);
  for (int i = 1; i < 20; ++i) a.trim(after(i));
  EXPECT_EQ(device.discarded, (5 + 9) * kOneMiB);  // between the walls, and behind them
  const size_t used = device.used;
  EXPECT_EQ(take(5 * kOneMiB), q);
  a.deallocate(q);
  for (int i = 20; i < 40; ++i) a.trim(after(i));
  EXPECT_EQ(device.discarded, (5 + 9 + 5) * kOneMiB);
  for (void* p : {wall, inner_wall}) a.deallocate(p);  // joins blocks with memory and without
  EXPECT_EQ(device.used, used);
  a.empty_cache();
  EXPECT_EQ(device.used, 0u);
}

TEST_F(HostCache, ALargeBlockIsNotSplitBelowHalf) {
  a.deallocate(take(100 * kOneMiB));
  void* p = take(40 * kOneMiB);
  EXPECT_EQ(device.used, 140 * kOneMiB);
  void* q = take(60 * kOneMiB);  // more than half of the cached one
  EXPECT_EQ(device.used, 140 * kOneMiB);
  void* r = take(5 * kOneMiB);  // nor is what is left of it
  EXPECT_EQ(device.used, 160 * kOneMiB);
  for (void* x : {p, q, r}) a.deallocate(x);
}

TEST_F(HostCache, AFullMachineSplitsLargeBlocksAfterAll) {
  void* p = take(100 * kOneMiB);
  void* q = nullptr;
  a.deallocate(p);
  p = take(60 * kOneMiB);
  device.capacity = device.used;
  q = take(15 * kOneMiB);
  EXPECT_EQ(device.used, 100 * kOneMiB);
  for (void* x : {p, q}) a.deallocate(x);
}

TEST_F(HostCache, SomebodyIsAskedToComeBackOnlyForMuch) {
  static int asked;
  asked = 0;
  a.set_keeper([](CachingAllocator&) { return ++asked > 0; });
  a.deallocate(take(60 * kOneMiB));
  EXPECT_EQ(asked, 0);
  a.deallocate(take(200 * kOneMiB));
  a.deallocate(take(300 * kOneMiB));
  EXPECT_EQ(asked, 1);
  keep_trimming(a, [] { fake_now += HighWater::kPeriod; });  // returns: it gives everything back
  EXPECT_LT(device.used, 64 * kOneMiB);
  a.deallocate(take(200 * kOneMiB));
  EXPECT_EQ(asked, 2);
  a.before_fork();
  a.after_fork(/*in_child=*/true);  // where no thread of the parent lives on
  a.deallocate(take(200 * kOneMiB));
  EXPECT_EQ(asked, 3);
}

TEST(HostCacheOff, BlocksAreMallocs) {
  FakeBackend device(kCPU);
  CachingAllocator a(device, 0, 0, /*caching=*/false);
  void* p = a.allocate(5000, 0, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % 64, 0u);
  std::memset(p, 1, 5000);
  EXPECT_EQ(a.stats().allocated, 5000);
  a.deallocate(p);
  EXPECT_EQ(a.stats().reserved, 0);
  EXPECT_EQ(device.raw_allocations, 0);
}

TEST(HostCacheOff, IsAskedForByTheEnvironment) {
  const auto check = [](const char* text) {
    setenv("TAEDA_CPU_CACHE_BYTES", text, 1);
    try {
      void* p = allocator::allocate(kCPU, 9 * kOneMiB);
      std::memset(p, 1, 9 * kOneMiB);
      allocator::deallocate(kCPU, p);
      std::fprintf(stderr, "%lld bytes are kept",
                   static_cast<long long>(allocator::memory_stats(kCPU).reserved));
    } catch (const Error& e) {
      std::fprintf(stderr, "%s", e.what());
    }
    std::exit(0);
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(check("0"), testing::ExitedWithCode(0), "^0 bytes are kept");
  EXPECT_EXIT(check("30000000"), testing::ExitedWithCode(0), "^20971520 bytes are kept");
  EXPECT_EXIT(check("lots"), testing::ExitedWithCode(0), "expected a number of bytes, got 'lots'");
}

TEST(HostCacheFork, AChildAllocates) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer ends children that start threads";
#endif
  allocator::deallocate(kCPU, allocator::allocate(kCPU, 200 * kOneMiB));  // starts the thread
  const pid_t child = fork();
  if (child == 0) {
    void* p = allocator::allocate(kCPU, 300 * kOneMiB);
    std::memset(p, 1, 4096);
    allocator::deallocate(kCPU, p);
    _exit(7);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
  allocator::empty_cache(kCPU);
}

// ---- events ----

TEST(PendingEvents, AStreamIsAskedNoFurtherThanItsFirstUnfinishedEvent) {
  FakeBackend device;
  CachingAllocator a(device, 0, 2 * kOneGiB);
  std::vector<void*> blocks;
  for (int i = 0; i < 50; ++i) blocks.push_back(a.allocate(512, 0, nullptr));
  for (void* p : blocks) {
    a.record_stream(p, 1);
    a.record_stream(p, 2);
    a.deallocate(p);
  }
  device.queries = 0;
  void* p = a.allocate(512, 0, nullptr);
  EXPECT_EQ(device.queries, 2);
  device.finish(2);  // all of one stream; the other has not begun
  device.queries = 0;
  void* q = a.allocate(512, 0, nullptr);
  EXPECT_EQ(device.queries, 50 + 1);
  device.queries = 0;
  void* r = a.allocate(512, 0, nullptr);
  EXPECT_EQ(device.queries, 1);
  device.finish(1);
  a.deallocate(a.allocate(512, 0, nullptr));
  EXPECT_TRUE(device.events.empty());
  for (void* x : {p, q, r}) a.deallocate(x);
  a.empty_cache();
  EXPECT_EQ(device.used, 0u);
}

TEST(PendingEvents, OfPinnedMemoryAreAskedForInTheSameWay) {
  static DeviceType type = register_device_type({.name = "pins"});
  static auto* pins = new FakeBackend(type);  // registered for good
  set_backend(type, pins);
  std::vector<void*> blocks;
  for (int i = 0; i < 20; ++i) blocks.push_back(allocator::allocate_pinned(type, 600));
  for (void* p : blocks) {
    EXPECT_TRUE(allocator::record_pinned_use(p, Device(type, 0), 1));
    EXPECT_TRUE(allocator::record_pinned_use(p, Device(type, 0), 2));
    allocator::deallocate_pinned(type, p);
  }
  pins->finish(2);
  pins->queries = 0;
  allocator::deallocate_pinned(type, allocator::allocate_pinned(type, 600));
  EXPECT_EQ(pins->queries, 1 + 20);
  pins->queries = 0;
  allocator::deallocate_pinned(type, allocator::allocate_pinned(type, 600));
  EXPECT_EQ(pins->queries, 1);
  pins->finish(1);
  allocator::deallocate_pinned(type, allocator::allocate_pinned(type, 600));
  EXPECT_TRUE(pins->events.empty());
}

}  // namespace
}  // namespace taeda
