#include "taeda/log/record_file.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <future>

#include "taeda/base/error.h"
#include "taeda/log/event_queue.h"
#include "taeda/log/histogram.h"
#include "tests/error_of.h"
#include "tests/io/temporary_folder.h"
#include "tests/kept_warnings.h"

namespace taeda::logging {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Crc32c, KnownValues) {
  // RFC 3720, B.4
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(""), 0u);
}

TEST(RecordFile, FramesRecordsAndGoesOnBehindThem) {
  TemporaryFolder folder;
  const std::string path = folder / "f";
  {
    RecordFile file(path);
    file.append("hello");
    file.append("");
    EXPECT_EQ(file.pending(), 2u);
    EXPECT_EQ(std::filesystem::file_size(path), 0u);
    file.write_out();
  }
  {
    RecordFile file(path);
    file.append(std::string(1000, 'x'));
    file.write_out();
  }
  EXPECT_THAT(read_records(path), ElementsAre("hello", "", std::string(1000, 'x')));
  EXPECT_EQ(std::filesystem::file_size(path), 1005u + 3 * 16);
}

TEST(RecordFile, ReadingFindsDamage) {
  TemporaryFolder folder;
  const std::string path = folder / "f";
  RecordFile file(path);
  file.append("first");
  file.append("second");
  file.write_out();
  const auto change = [&](int at) {
    std::fstream f(path, std::ios::in | std::ios::out | std::ios::binary);
    f.seekp(at);
    f.put('!');
  };
  change(21 + 14);
  EXPECT_THAT(error_of([&] { read_records(path); }),
              HasSubstr("record 1 at byte 21 is damaged: its content"));
  change(3);
  EXPECT_THAT(error_of([&] { read_records(path); }),
              HasSubstr("record 0 at byte 0 is damaged: its length"));
  std::filesystem::resize_file(path, 10);
  EXPECT_THAT(error_of([&] { read_records(path); }), HasSubstr("record 0 at byte 0 is cut off"));
  EXPECT_THAT(error_of([&] { read_records(folder / "none"); }),
              HasSubstr("No such file or directory"));
}

TEST(RecordFile, AFullDiskIsAnErrorThatCountsWhatIsLost) {
  RecordFile file("/dev/full");
  file.append("one");
  file.append("two");
  EXPECT_EQ(error_of([&] { file.write_out(); }),
            "cannot write /dev/full: No space left on device (2 records lost)");
  EXPECT_EQ(error_of([&] { file.write_out(); }), "no error") << "nothing is left to write";
  EXPECT_THAT(error_of([] { RecordFile("/dev/null/f"); }), HasSubstr("Not a directory"));
}

TEST(EventQueue, WritesInOrderOnAThread) {
  TemporaryFolder folder;
  EventQueue queue(folder / "f", 2, 1000);
  for (int i = 0; i < 20; ++i) queue.add([i] { return std::to_string(i); });
  queue.flush();
  EXPECT_EQ(read_records(queue.path()).size(), 20u);
  queue.add([] { return "last"; });
  queue.close();
  EXPECT_EQ(read_records(queue.path()).back(), "last");
  EXPECT_THAT(error_of([&] { queue.add([] { return ""; }); }), HasSubstr("it is closed"));
  EXPECT_EQ(error_of([&] { queue.flush(); }), "no error");
}

TEST(EventQueue, WritesWithoutBeingAskedWhenManyWait) {
  TemporaryFolder folder;
  EventQueue queue(folder / "f", 2, 1000);
  std::promise<void> third_made;
  queue.add([] { return "1"; });
  queue.add([] { return "2"; });
  queue.add([&] {
    third_made.set_value();
    return "3";
  });
  // The third one is made after the first two were written, because more than two never wait.
  third_made.get_future().wait();
  EXPECT_GE(read_records(queue.path()).size(), 2u);
}

TEST(EventQueue, HoldsUpTheOneWhoAddsWhenItIsFull) {
  TemporaryFolder folder;
  EventQueue queue(folder / "f", 1, 1000);
  std::promise<void> started, go_on;
  queue.add([&] {
    started.set_value();
    go_on.get_future().wait();
    return "slow";
  });
  started.get_future().wait();
  queue.add([] { return "waiting"; });
  std::atomic<bool> added{false};
  auto third = std::async(std::launch::async, [&] {
    queue.add([] { return "third"; });
    added = true;
  });
  EXPECT_FALSE(added);
  go_on.set_value();
  third.get();
  queue.close();
  EXPECT_THAT(read_records(queue.path()), ElementsAre("slow", "waiting", "third"));
}

TEST(EventQueue, AFailureIsThrownOnceByFlush) {
  EventQueue queue("/dev/full", 10, 1000);
  queue.add([] { return "lost"; });
  EXPECT_EQ(error_of([&] { queue.flush(); }),
            "cannot write /dev/full: No space left on device (1 record lost)");
  EXPECT_EQ(error_of([&] { queue.flush(); }), "no error");
  queue.add([]() -> std::string { throw Error("cannot encode"); });
  EXPECT_EQ(error_of([&] { queue.flush(); }), "cannot encode");
  queue.add([]() -> std::string { throw Error("first"); });
  queue.add([]() -> std::string { throw Error("second"); });
  EXPECT_EQ(error_of([&] { queue.close(); }), "first; 1 more failures after it");
}

TEST(EventQueue, AFailureThatNobodyAskedForIsAWarning) {
  KeptWarnings kept;
  {
    EventQueue queue("/dev/full", 10, 1000);
    queue.add([] { return "lost"; });
  }
  EXPECT_THAT(
      kept.take(),
      ElementsAre(HasSubstr("RuntimeWarning: cannot write /dev/full: No space left on device")));
}

TEST(EventQueue, ChecksItsSettings) {
  EXPECT_EQ(error_of([] { EventQueue("/dev/null", 0, 1); }), "max_queue must be positive, got 0");
  EXPECT_EQ(error_of([] { EventQueue("/dev/null", 1, 0); }), "flush_secs must be positive, got 0");
}

TEST(Histogram, CountsBetweenTensorFlowsLimits) {
  // numpy.histogram with the limits 1e-12 * 1.1^k, then trimmed as torch.utils.tensorboard does.
  const HistogramData h = make_histogram(std::vector<double>{0, 1, 2, -1, 1.5, 1, std::nan("")});
  EXPECT_EQ(h.num, 6);
  EXPECT_EQ(h.min, -1);
  EXPECT_EQ(h.max, 2);
  EXPECT_EQ(h.sum, 4.5);
  EXPECT_EQ(h.sum_squares, 9.25);
  ASSERT_EQ(h.limits.size(), h.counts.size());
  EXPECT_EQ(h.counts.front(), 0) << "an empty bucket gives the first one its left end";
  EXPECT_LE(h.limits.front(), -1);
  EXPECT_GT(h.limits[1], -1);
  EXPECT_GT(h.limits.back(), 2);
  EXPECT_LE(h.limits[h.limits.size() - 2], 2);
  const auto count_at = [&](double v) {
    for (size_t i = 1; i < h.limits.size(); ++i)
      if (h.limits[i - 1] <= v && v < h.limits[i]) return h.counts[i];
    return -1.;
  };
  EXPECT_EQ(count_at(0), 1);
  EXPECT_EQ(count_at(1), 2);
  EXPECT_EQ(count_at(-1), 1);
  EXPECT_EQ(count_at(1.5), 1);
  const auto positive = std::upper_bound(h.limits.begin(), h.limits.end(), 0.);
  EXPECT_EQ(*positive, 1e-12);
  EXPECT_DOUBLE_EQ(positive[1], 1.1e-12);
}

TEST(Histogram, LimitsOfOnesOwn) {
  HistogramData h =
      make_histogram(std::vector<double>{-5, 0, .5, 1, 2.5, 3, 9}, std::vector<double>{0, 1, 2, 3});
  EXPECT_THAT(h.limits, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(h.counts, ElementsAre(0, 3, 1, 3)) << "what lies outside counts in the last buckets";
  h = make_histogram(std::vector<double>{.5, 1.5, 2.5, 3.5}, std::vector<double>{0, 1, 2, 3, 4}, 2);
  EXPECT_THAT(h.limits, ElementsAre(0, 2, 4));
  EXPECT_THAT(h.counts, ElementsAre(0, 2, 2));
  h = make_histogram(std::vector<double>{std::nan("")}, std::vector<double>{0, 1});
  EXPECT_EQ(h.num, 0);
  EXPECT_EQ(h.limits.size(), h.counts.size());
}

TEST(Histogram, RefusesOtherLimits) {
  EXPECT_THAT(error_of([] { HistogramBins("auto"); }), HasSubstr("unknown bins 'auto'"));
  EXPECT_THAT(error_of([] { HistogramBins(std::vector<double>{1}); }), HasSubstr("at least two"));
  EXPECT_THAT(error_of([] {
                HistogramBins(std::vector<double>{1, 1});
              }),
              HasSubstr("rising order"));
}

}  // namespace
}  // namespace taeda::logging
