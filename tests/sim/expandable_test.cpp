// Segments that grow in place, on simulated devices.
#include <gmock/gmock.h>

#include <cstdlib>
#include <cstring>
#include <random>

#include "taeda/base/error.h"
#include "taeda/device/sim.h"
#include "tests/error_of.h"
#include "tests/sim/devices.h"

namespace taeda {
namespace {

using sim_tests::kDevice;
using testing::HasSubstr;
using testing::Not;

constexpr int64_t kMebi = int64_t{1} << 20;

/// A device of 128 MiB. Pages are of 20 MiB, those for requests of at most 1 MiB of 2.
class Expandable : public testing::Test {
 protected:
  Expandable() { configure(128); }
  ~Expandable() override {
    sim::set_allocator_settings("");
    sim::configure(2);
  }
  static void configure(size_t mebibytes) {
    sim::configure(2, {.memory = mebibytes * kMebi});
    sim::set_allocator_settings("expandable_segments:True");
  }
  static char* take(int64_t bytes) {
    return static_cast<char*>(allocator::allocate(kDevice, static_cast<size_t>(bytes)));
  }
  static void free(void* p) { allocator::deallocate(kDevice, p); }
  static MemoryStats stats() { return allocator::memory_stats(kDevice); }
  static int64_t used() {
    const auto info = sim::mem_get_info(0);
    return static_cast<int64_t>(info.total - info.free);
  }
};

TEST_F(Expandable, SegmentsGrowWhereTheyAre) {
  char* a = take(30 * kMebi);
  EXPECT_EQ(stats().reserved, 40 * kMebi);
  char* b = take(30 * kMebi);
  EXPECT_EQ(b, a + 30 * kMebi);
  EXPECT_EQ(stats().reserved, 60 * kMebi);
  char* small = take(1000);
  EXPECT_EQ(stats().reserved, 62 * kMebi);
  EXPECT_EQ(used(), 62 * kMebi);
  EXPECT_EQ(stats().segment.large.current, 1);
  EXPECT_EQ(stats().segment.small.current, 1);
  EXPECT_EQ(stats().reserved_bytes.small.current, 2 * kMebi);
  free(a);
  char* c = take(20 * kMebi);
  EXPECT_EQ(c, a);
  for (char* p : {b, c, small}) free(p);
}

TEST_F(Expandable, WhatSeveralRequestsLeftServesALargerOne) {
  for (const bool expandable : {false, true}) {
    configure(64);
    if (!expandable) sim::set_allocator_settings("expandable_segments:False");
    free(take(40 * kMebi));
    char* kept = take(22 * kMebi);  // of the 40
    char* more = nullptr;
    const std::string error = error_of([&] { more = take(30 * kMebi); });
    if (expandable) {
      EXPECT_EQ(more, kept + 22 * kMebi);
      free(more);
    } else {
      EXPECT_THAT(error, HasSubstr("So much is free, but in pieces: "
                                   "TAEDA_ALLOC_CONF=expandable_segments:True avoids that."));
    }
    free(kept);
  }
}

TEST_F(Expandable, EmptyCacheGivesBackWholePages) {
  char* a = take(20 * kMebi);
  char* b = take(20 * kMebi);
  char* c = take(30 * kMebi);
  EXPECT_EQ(used(), 80 * kMebi);
  std::memset(sim::host_view(kDevice, a), 1, 20 * kMebi);
  std::memset(sim::host_view(kDevice, c), 3, 30 * kMebi);
  free(b);
  sim::empty_cache();
  EXPECT_EQ(used(), 60 * kMebi) << "the last 10 MiB share a page with what is live";
  EXPECT_EQ(stats().reserved, 60 * kMebi);
  EXPECT_EQ(sim::host_view(kDevice, a)[20 * kMebi - 1], 1);
  EXPECT_EQ(sim::host_view(kDevice, c)[0], 3);
  EXPECT_EQ(take(15 * kMebi), b) << "the hole is where fewest pages are missing";
  free(b);
  sim::empty_cache();
  free(a);
  EXPECT_EQ(take(40 * kMebi), a) << "a free neighbour and a hole";
  EXPECT_EQ(stats().reserved, 80 * kMebi);
  free(a);
  free(c);
  sim::empty_cache();
  EXPECT_EQ(used(), 0);
  EXPECT_EQ(stats().reserved, 0);
  EXPECT_EQ(stats().segment.all.current, 0);
  EXPECT_EQ(stats().inactive_splits, 0);
}

TEST_F(Expandable, AFullDeviceTrimsAndThenIsOutOfMemory) {
  char* a = take(90 * kMebi);
  const std::string error = error_of([&] { take(60 * kMebi); });
  EXPECT_THAT(error, HasSubstr("SIM out of memory. Tried to allocate 60.00 MiB"));
  EXPECT_THAT(error, Not(HasSubstr("in pieces")));
  EXPECT_EQ(used(), 100 * kMebi) << "what was mapped for it is given back";
  {
    const StreamGuard guard(new_stream(kDevice));
    free(take(20 * kMebi));
    EXPECT_EQ(used(), 120 * kMebi);
  }
  char* b = take(25 * kMebi);  // needs the other stream's page
  EXPECT_EQ(b, a + 90 * kMebi);
  EXPECT_EQ(stats().retries, 1);
  char* fits = take(kMebi);
  free(fits);
  free(b);
  free(a);
  EXPECT_NO_THROW(free(take(120 * kMebi)));
  sim::empty_cache();
  allocator::set_memory_fraction(kDevice, 0.5);
  EXPECT_THAT(error_of([&] { take(65 * kMebi); }), HasSubstr("This process may take 0.5"));
  EXPECT_NO_THROW(free(take(64 * kMebi)));
  allocator::set_memory_fraction(kDevice, 1);
}

TEST_F(Expandable, SnapshotsShowStretchesWithMemory) {
  char* a = take(20 * kMebi);
  char* b = take(20 * kMebi);
  char* c = take(15 * kMebi);
  free(b);
  sim::empty_cache();
  const std::vector<MemorySegment> segments = allocator::memory_snapshot(kDevice);
  ASSERT_EQ(segments.size(), 2u);
  EXPECT_EQ(segments[0].address, a);
  EXPECT_EQ(segments[0].bytes, 20 * kMebi);
  EXPECT_EQ(segments[1].address, c);
  EXPECT_EQ(segments[1].bytes, 20 * kMebi);
  EXPECT_EQ(segments[1].allocated, 15 * kMebi);
  ASSERT_EQ(segments[1].blocks.size(), 2u);
  EXPECT_TRUE(segments[0].expandable);
  EXPECT_THAT(to_json(segments), HasSubstr("\"is_expandable\": true"));
  EXPECT_EQ(stats().inactive_splits, 1);
  EXPECT_EQ(stats().inactive_split_bytes, 5 * kMebi);
  free(a);
  free(c);
}

TEST_F(Expandable, BlocksKeepWhatIsWrittenToThem) {
  std::mt19937 random(7);
  struct Held {
    char* address;
    int64_t bytes;
    char mark;
  };
  const Stream streams[] = {default_stream(kDevice), new_stream(kDevice)};
  std::vector<Held> held;
  const auto release = [&](size_t i) {
    const Held h = held[i];
    const char* bytes = sim::host_view(kDevice, h.address);
    for (const int64_t at : {int64_t{0}, h.bytes / 2, h.bytes - 1})
      ASSERT_EQ(bytes[at], h.mark) << "a block of " << h.bytes << " bytes";
    free(h.address);
    held.erase(held.begin() + static_cast<std::ptrdiff_t>(i));
  };
  for (int step = 0; step < 600; ++step) {
    const StreamGuard guard(streams[random() % 2]);
    const bool large = random() % 3 == 0;
    const int64_t bytes = 1 + static_cast<int64_t>(random() % (large ? 25 * kMebi : kMebi));
    char* p = nullptr;
    try {
      p = take(bytes);
    } catch (const OutOfMemoryError&) {
      ASSERT_FALSE(held.empty());
      release(random() % held.size());
      continue;
    }
    const char mark = static_cast<char>(step);
    std::memset(sim::host_view(kDevice, p), mark, static_cast<size_t>(bytes));
    held.push_back({p, bytes, mark});
    if (held.size() > 12) release(random() % held.size());
    if (random() % 16 == 0) sim::empty_cache();
    ASSERT_EQ(stats().reserved, used());
    ASSERT_LE(stats().allocated, stats().reserved);
  }
  while (!held.empty()) release(0);
  sim::empty_cache();
  EXPECT_EQ(used(), 0);
}

TEST_F(Expandable, TheSettingCanChangeWhileMemoryIsInUse) {
  char* a = take(5 * kMebi);
  sim::set_allocator_settings("");
  EXPECT_FALSE(allocator::expandable_segments());
  char* b = take(10 * kMebi);
  EXPECT_EQ(b, a + 5 * kMebi) << "what is cached is used";
  char* c = take(10 * kMebi);
  EXPECT_FALSE(allocator::memory_snapshot(kDevice).back().expandable &&
               allocator::memory_snapshot(kDevice).front().expandable);
  for (char* p : {a, b, c}) free(p);
  sim::empty_cache();
  EXPECT_EQ(used(), 0);
}

TEST_F(Expandable, SettingsThatAreNotUnderstood) {
  EXPECT_THAT(error_of([] { sim::set_allocator_settings("max_split_size_mb:32"); }),
              HasSubstr("Unrecognized CachingAllocator option: max_split_size_mb:32"));
  EXPECT_THAT(error_of([] { sim::set_allocator_settings("expandable_segments:yes"); }),
              HasSubstr("Expected a single True/False argument in 'expandable_segments:yes'"));
  EXPECT_TRUE(allocator::expandable_segments()) << "an error changes nothing";
}

TEST(AllocatorSettings, ComeFromTheEnvironment) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto check = [](const char* text, const char* want) {
    setenv("TAEDA_ALLOC_CONF", text, 1);
    const std::string got = error_of([] {
      allocator::deallocate(kDevice, allocator::allocate(kDevice, 100));
      throw Error(allocator::memory_snapshot(kDevice)[0].expandable ? "expandable" : "fixed");
    });
    std::exit(got.find(want) == std::string::npos);
  };
  EXPECT_EXIT(check("expandable_segments:True", "expandable"), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(check("", "fixed"), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(check("nonsense", "TAEDA_ALLOC_CONF: Unrecognized CachingAllocator option: nonsense"),
              testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace taeda
