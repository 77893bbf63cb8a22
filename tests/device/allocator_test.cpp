#include "taeda/device/allocator.h"

#include <gmock/gmock.h>

#include <cstring>
#include <random>
#include <thread>

#include "taeda/base/error.h"
#include "taeda/device/caching_allocator.h"
#include "tests/device/fake_backend.h"

namespace taeda {
namespace {

using detail::CachingAllocator;
using testing::HasSubstr;

constexpr size_t kKiB = 1024, kMiB = 1024 * kKiB;
constexpr size_t kNoLimit = ~size_t{0};

class AllocatorTest : public testing::Test {
 protected:
  ~AllocatorTest() override { a.empty_cache(); }
  void* take(size_t bytes, StreamId stream = 0) { return a.allocate(bytes, stream, nullptr); }

  FakeBackend device;
  CachingAllocator a{device, 0, kNoLimit};
};

TEST_F(AllocatorTest, SizesAreRoundedTo512AndAddressesAligned) {
  void* p = take(1);
  void* q = take(513);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % 512, 0u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(q) % 512, 0u);
  EXPECT_EQ(a.stats().allocated, 512 + 1024);
  a.deallocate(p);
  a.deallocate(q);
  EXPECT_EQ(a.stats().allocated, 0);
  EXPECT_EQ(a.stats().peak_allocated, 1536);
  EXPECT_EQ(a.stats().allocations, 2);
}

TEST_F(AllocatorTest, SegmentSizesFollowTheRequest) {
  void* small = take(kMiB);
  EXPECT_EQ(a.stats().reserved, static_cast<int64_t>(2 * kMiB));
  void* medium = take(kMiB + 1);
  EXPECT_EQ(a.stats().reserved, static_cast<int64_t>(22 * kMiB));
  void* large = take(31 * kMiB - 100);
  EXPECT_EQ(a.stats().reserved, static_cast<int64_t>(54 * kMiB));
  EXPECT_EQ(a.stats().segment_allocations, 3);
  for (void* p : {small, medium, large}) a.deallocate(p);
  EXPECT_EQ(a.stats().reserved, static_cast<int64_t>(54 * kMiB));
  a.empty_cache();
  EXPECT_EQ(a.stats().reserved, 0);
  EXPECT_EQ(device.used, 0u);
}

TEST_F(AllocatorTest, BlocksOfASegmentAreSplitAndJoinedAgain) {
  char* p = static_cast<char*>(take(100 * kKiB));
  char* q = static_cast<char*>(take(200 * kKiB));
  char* r = static_cast<char*>(take(300 * kKiB));
  EXPECT_EQ(q, p + 100 * kKiB);
  EXPECT_EQ(r, q + 200 * kKiB);
  EXPECT_EQ(a.stats().largest_free_block, static_cast<int64_t>(2 * kMiB - 600 * kKiB));
  a.deallocate(p);
  a.deallocate(r);
  a.deallocate(q);  // joins both neighbours
  EXPECT_EQ(a.stats().largest_free_block, static_cast<int64_t>(2 * kMiB));
  EXPECT_EQ(take(kMiB), p);
  a.deallocate(p);
}

TEST_F(AllocatorTest, TheSmallestBlockThatFitsIsTaken) {
  void* p = take(96 * kKiB);
  void* wall1 = take(512);
  void* q = take(64 * kKiB);
  void* wall2 = take(512);
  void* r = take(80 * kKiB);
  void* wall3 = take(512);
  a.deallocate(p);
  a.deallocate(q);
  a.deallocate(r);
  EXPECT_EQ(take(64 * kKiB), q);
  EXPECT_EQ(take(70 * kKiB), r);
  EXPECT_EQ(take(90 * kKiB), p);
  for (void* x : {p, q, r, wall1, wall2, wall3}) a.deallocate(x);
}

TEST_F(AllocatorTest, AFreedBlockStaysWithItsStream) {
  void* p = take(kMiB, 1);
  a.deallocate(p);
  void* q = take(kMiB, 2);
  EXPECT_NE(p, q);
  EXPECT_EQ(take(kMiB, 1), p);
  a.deallocate(p);
  a.deallocate(q);
}

TEST_F(AllocatorTest, ABlockThatAnotherStreamUsesWaitsForItsEvents) {
  void* p = take(kMiB, 1);
  a.record_stream(p, 1);  // its own stream: nothing to wait for
  a.record_stream(p, 2);
  a.record_stream(p, 3);
  a.record_stream(p, 2);
  a.deallocate(p);
  EXPECT_EQ(device.events.size(), 2u);
  EXPECT_EQ(a.stats().allocated, 0);
  void* q = take(kMiB, 1);
  EXPECT_NE(q, p);
  device.finish(2);
  void* r = take(2 * kMiB, 1);
  EXPECT_NE(r, p);
  device.finish(3);
  EXPECT_EQ(take(kMiB, 1), p);
  EXPECT_TRUE(device.events.empty());
  for (void* x : {p, q, r}) a.deallocate(x);
}

TEST_F(AllocatorTest, ABlockIsFreedWhenItsUsersCannotBeWaitedForButNotUsedAgain) {
  void* p = take(kMiB, 1);
  a.record_stream(p, 2);
  a.record_stream(p, 3);
  device.failed = true;
  a.deallocate(p);
  device.failed = false;
  EXPECT_EQ(a.stats().allocated, 0);
  a.empty_cache();
  void* q = take(kMiB, 1);
  EXPECT_NE(q, p);
  a.deallocate(q);
  device.deallocate(0, p, 2 * kMiB);  // the segment, which the allocator keeps for good
}

TEST_F(AllocatorTest, EmptyCacheWaitsForTheUsersOfABlock) {
  void* p = take(kMiB, 1);
  a.record_stream(p, 2);
  a.deallocate(p);
  a.empty_cache();
  EXPECT_TRUE(device.events.empty());
  EXPECT_EQ(device.used, 0u);
}

TEST_F(AllocatorTest, RecordStreamRefusesForeignMemory) {
  int x;
  EXPECT_THROW(a.record_stream(&x, 1), Error);
}

TEST_F(AllocatorTest, AFullDeviceGivesUpItsCacheAndTriesOnce) {
  void* p = take(40 * kMiB);
  a.deallocate(p);
  void* q = take(50 * kMiB);  // fits only after the 40 MiB segment went back
  EXPECT_EQ(a.stats().retries, 1);
  EXPECT_EQ(a.stats().reserved, static_cast<int64_t>(50 * kMiB));
  a.deallocate(q);
}

TEST_F(AllocatorTest, OutOfMemorySaysWhatIsUsedAndByWhom) {
  const std::string tag = "encoder.layers.3";
  void* p = a.allocate(30 * kMiB, 0, &tag);
  void* q = take(20 * kMiB);
  void* r = take(5 * kKiB);
  try {
    take(40 * kMiB);
    FAIL() << "the device has only 64 MiB";
  } catch (const OutOfMemoryError& e) {
    EXPECT_STREQ(
        e.what(),
        "SIM out of memory. Tried to allocate 40.00 MiB (sim:0; 64.00 MiB total capacity; "
        "50.00 MiB already allocated; 12.00 MiB free; 52.00 MiB reserved in total; largest free "
        "block 2.00 MiB)\n"
        "Largest live blocks:\n"
        "  30.00 MiB  encoder.layers.3\n"
        "  20.00 MiB\n"
        "  5.00 KiB");
  }
  a.deallocate(p);
  EXPECT_NO_THROW(p = take(40 * kMiB));  // freeing makes room again
  for (void* x : {p, q, r}) a.deallocate(x);
}

TEST_F(AllocatorTest, AnAbsurdRequestIsOutOfMemoryToo) {
  EXPECT_THROW(take(~size_t{0}), OutOfMemoryError);
  EXPECT_THROW(take(size_t{1} << 60), OutOfMemoryError);
}

TEST_F(AllocatorTest, PeaksAreSinceTheLastReset) {
  void* p = take(8 * kMiB);
  a.deallocate(p);
  EXPECT_EQ(a.stats().peak_allocated, static_cast<int64_t>(8 * kMiB));
  a.reset_peak();
  EXPECT_EQ(a.stats().peak_allocated, 0);
  EXPECT_EQ(a.stats().peak_reserved, static_cast<int64_t>(20 * kMiB));
  a.empty_cache();
  a.reset_peak();
  EXPECT_EQ(a.stats().peak_reserved, 0);
}

TEST(Allocator, TheCacheKeepsToItsLimit) {
  FakeBackend device;
  CachingAllocator a(device, 0, 20 * kMiB);
  void* p = a.allocate(16 * kMiB, 0, nullptr);
  void* q = a.allocate(12 * kMiB, 0, nullptr);
  a.deallocate(p);
  EXPECT_EQ(a.stats().reserved, static_cast<int64_t>(28 * kMiB));
  a.deallocate(q);  // 28 MiB cached is too much: the larger segment goes
  EXPECT_EQ(a.stats().reserved, static_cast<int64_t>(12 * kMiB));
  a.empty_cache();
}

TEST(Allocator, WithoutCachingEveryBlockIsTheDevicesOwn) {
  FakeBackend device;
  CachingAllocator a(device, 0, kNoLimit, /*caching=*/false);
  void* p = a.allocate(1000, 0, nullptr);
  void* q = a.allocate(3 * kMiB + 1, 0, nullptr);
  EXPECT_EQ(device.raw_allocations, 2);
  EXPECT_EQ(device.used, 1000 + 3 * kMiB + 1) << "rounded up, a step past the end goes unseen";
  a.record_stream(q, 1);
  a.deallocate(q);  // another stream uses it still
  EXPECT_EQ(device.used, 1000 + 3 * kMiB + 1);
  device.finish(1);
  void* r = a.allocate(3 * kMiB + 1, 0, nullptr);
  EXPECT_EQ(device.raw_allocations, 3) << "the freed block was used again";
  a.deallocate(p);
  a.deallocate(r);
  EXPECT_EQ(device.used, 0u);
  EXPECT_EQ(a.stats().reserved, 0);
}

TEST(Allocator, WhatAGraphAllocatesStaysWithoutCaching) {
  FakeBackend device;
  CachingAllocator a(device, 0, kNoLimit, /*caching=*/false);
  a.begin_pool(1);
  void* p = a.allocate(1000, 0, nullptr);
  a.deallocate(p);  // the device must not be asked for anything during a capture
  EXPECT_EQ(device.used, 1000u);
  a.end_pool();
  a.release_pool(1);
  a.empty_cache();
  EXPECT_EQ(device.used, 0u);
}

TEST(Allocator, CachingIsSwitchedOffForAccelerators) {
  EXPECT_TRUE(detail::caches_memory(kSim));
  ASSERT_EQ(setenv("TAEDA_NO_MEMORY_CACHING", "1", 1), 0);
  EXPECT_FALSE(detail::caches_memory(kSim));
  EXPECT_TRUE(detail::caches_memory(kCPU));
  ASSERT_EQ(unsetenv("TAEDA_NO_MEMORY_CACHING"), 0);
}

TEST(Allocator, RandomTrafficNeverOverlapsAndLeavesNothing) {
  FakeBackend device;
  device.capacity = size_t{1} << 30;
  CachingAllocator a(device, 0, kNoLimit);
  std::mt19937 random(7);
  struct Piece {
    unsigned char* p;
    size_t n;
    unsigned char mark;
  };
  std::vector<Piece> live;
  for (int step = 0; step < 20000; ++step) {
    if (live.size() < 40 || random() % 2) {
      const size_t n = 1 + random() % (random() % 20 ? 20000 : 3000000);
      auto* p =
          static_cast<unsigned char*>(a.allocate(n, static_cast<StreamId>(random() % 3), nullptr));
      const auto mark = static_cast<unsigned char>(random());
      p[0] = p[n - 1] = p[n / 2] = mark;
      live.push_back({p, n, mark});
    } else {
      const size_t i = random() % live.size();
      ASSERT_EQ(live[i].p[0], live[i].mark);
      ASSERT_EQ(live[i].p[live[i].n - 1], live[i].mark);
      ASSERT_EQ(live[i].p[live[i].n / 2], live[i].mark);
      a.deallocate(live[i].p);
      live[i] = live.back();
      live.pop_back();
    }
    if (live.size() > 200) {
      for (const Piece& x : live) a.deallocate(x.p);
      live.clear();
    }
  }
  for (const Piece& x : live) a.deallocate(x.p);
  EXPECT_EQ(a.stats().allocated, 0);
  a.empty_cache();  // only possible if every block was joined to its whole segment
  EXPECT_EQ(a.stats().reserved, 0);
  EXPECT_EQ(device.used, 0u);
}

TEST(HostAllocator, CountsReusesAndGivesBack) {
  allocator::empty_cache(kCPU);
  const MemoryStats before = allocator::memory_stats(kCPU);
  void* p = allocator::allocate(kCPU, 8 * kMiB);
  std::memset(p, 1, 8 * kMiB);
  EXPECT_EQ(allocator::memory_stats(kCPU).allocated,
            before.allocated + static_cast<int64_t>(8 * kMiB));
  allocator::deallocate(kCPU, p);
  void* q = allocator::allocate(kCPU, 8 * kMiB);
  EXPECT_EQ(p, q);
  allocator::deallocate(kCPU, q);
  allocator::empty_cache(kCPU);
  EXPECT_LE(allocator::memory_stats(kCPU).reserved, before.reserved);
}

TEST(HostAllocator, TooMuchIsAnErrorThatNamesTheHost) {
  try {
    allocator::allocate(kCPU, size_t{1} << 47);
    FAIL();
  } catch (const OutOfMemoryError& e) {
    EXPECT_THAT(e.what(), HasSubstr("CPU out of memory. Tried to allocate 128.00 TiB (cpu; "));
  }
}

TEST(HostAllocator, TagsNameLiveBlocks) {
  void* outer;
  void* inner;
  {
    allocator::TagScope a("encoder");
    {
      allocator::TagScope b("encoder.attention");
      inner = allocator::allocate(kCPU, 70 * kMiB);
    }
    outer = allocator::allocate(kCPU, 60 * kMiB);
  }
  void* untagged = allocator::allocate(kCPU, 50 * kMiB);
  const std::vector<BlockInfo> blocks = allocator::live_blocks(kCPU, 3);
  ASSERT_EQ(blocks.size(), 3u);
  EXPECT_EQ(blocks[0].tag, "encoder.attention");
  EXPECT_EQ(blocks[0].address, inner);
  EXPECT_EQ(blocks[1].tag, "encoder");
  EXPECT_EQ(blocks[2].tag, "");
  EXPECT_THAT(allocator::memory_summary(kCPU), HasSubstr("encoder.attention"));
  EXPECT_THAT(allocator::memory_summary(kCPU), HasSubstr("Reserved memory"));
  for (void* p : {outer, inner, untagged}) allocator::deallocate(kCPU, p);
}

TEST(HostAllocator, ThreadsShareIt) {
  const int64_t before = allocator::memory_stats(kCPU).allocated;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      std::mt19937 random(static_cast<unsigned>(t));
      std::vector<void*> mine;
      for (int i = 0; i < 2000; ++i) {
        mine.push_back(allocator::allocate(kCPU, 600 + random() % 50000));
        std::memset(mine.back(), t, 600);
        if (mine.size() > 20) {
          allocator::deallocate(kCPU, mine.front());
          mine.erase(mine.begin());
        }
      }
      for (void* p : mine) allocator::deallocate(kCPU, p);
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(allocator::memory_stats(kCPU).allocated, before);
}

}  // namespace
}  // namespace taeda
