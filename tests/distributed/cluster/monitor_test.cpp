#include "taeda/distributed/cluster/monitor.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "taeda/distributed/cluster/launch.h"
#include "taeda/distributed/cluster/progress.h"
#include "taeda/distributed/group/collectives.h"
#include "tests/distributed/process.h"
#include "tests/distributed/stores.h"

namespace taeda::distributed::cluster {
namespace {

using testing::Contains;
using testing::ContainsRegex;
using testing::HasSubstr;

Report at(int64_t rank, int64_t step, int64_t second, int64_t waited_ms = 0) {
  return {.rank = rank,
          .step = step,
          .images = step * 100,
          .host_bytes = 300 << 20,
          .waited_us = waited_ms * 1000,
          .time_us = second * 1'000'000};
}

TEST(Paces, AreMeansOverTheLastReports) {
  Paces paces;
  EXPECT_TRUE(paces.empty());
  paces.add(at(1, 10, 100).line() + at(0, 9, 50).line() + at(1, 30, 104, 1000).line() +
            "not a report\n" + at(0, 29, 54).line());
  EXPECT_THAT(paces.table(), ContainsRegex("0 .+ 29 .+ 500 .+ 300 MiB .+ 0.0%"));
  EXPECT_THAT(paces.table(), ContainsRegex("1 .+ 30 .+ 500 .+ 300 MiB .+ 25.0%"));
  EXPECT_EQ(paces.summary(), "step 29, 1,000 images/s, memory up to 300 MiB, waiting up to 25.0%");
}

TEST(Paces, BeginAgainWithTheProgram) {
  Paces paces;
  paces.add(at(0, 1000, 10).line() + at(0, 2000, 12).line() + at(0, 1, 13).line());
  EXPECT_THAT(paces.summary(), HasSubstr("step 1, 0 images/s"));
  paces.add(at(0, 3, 15).line());
  EXPECT_THAT(paces.summary(), HasSubstr("step 3, 100 images/s"));
}

TEST(Paces, TravelBetweenMachines) {
  Paces here, there;
  there.add(at(5, 10, 100).line() + at(5, 20, 101).line());
  here.add_lines(there.lines());
  EXPECT_EQ(here.summary(), there.summary());
  EXPECT_THAT(here.summary(), HasSubstr("step 20, 1,000 images/s"));
}

TEST(Paces, OfNumbersThatCannotBeAreLeftOut) {
  Paces paces;
  paces.add_lines("0 1 2.9e127 0.1 1 1\n0 1 -3 0.1 1 1\n0 -1 3 0.1 1 1\n");
  paces.add("0 1 9223372036854775807 1 1 1 1\n0 1 1 1 1 1 -9223372036854775808\n");
  EXPECT_TRUE(paces.empty());
  paces.add("0 1 0 1 1 0 0\n0 2 1000000000000000000 1 1 0 1\n");
  EXPECT_THAT(paces.table(), HasSubstr("1,000,000,000,000,000 "));
  EXPECT_THAT(paces.summary(), HasSubstr("1,000,000,000,000,000 images/s"));
}

TEST(Monitor, SaysItInALineWhereThereIsNoTerminal) {
  std::vector<std::string> lines;
  Monitor monitor(false, [&lines](bool, std::string_view line) { lines.emplace_back(line); });
  Paces paces;
  monitor.update(paces);  // nobody has reported
  paces.add(at(0, 1, 1).line());
  monitor.update(paces);
  monitor.update(paces);  // too soon
  monitor.show(false, "a rank's line");
  EXPECT_THAT(lines, testing::ElementsAre(HasSubstr("taeda: step 1, 0 images/s"), "a rank's line"));
}

TEST(Monitor, DrawsATableBelowOnATerminal) {
  std::vector<std::string> lines;
  Monitor monitor(true, [&lines](bool, std::string_view line) { lines.emplace_back(line); });
  Paces paces;
  paces.add(at(0, 1, 1).line() + at(1, 1, 1).line());
  testing::internal::CaptureStdout();
  monitor.update(paces);
  EXPECT_EQ(lines.size(), 6u);  // a box around a header and two rows
  monitor.show(false, "a rank's line");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "\x1b[6A\x1b[J");
}

const Role reporting("reporting", [] {
  init_process_group("gloo");
  for (int step = 1; step <= 3; ++step) {
    barrier();
    report_progress(step, step * 32);
  }
  barrier();
  destroy_process_group();
  return 0;
});

TEST(Monitor, IsToldByTheRanks) {
  if (const std::string why = missing_grpc(); !why.empty()) GTEST_SKIP() << why;
  std::vector<std::string> lines;
  LaunchOptions options;
  options.command = {"/proc/self/exe"};
  options.environment["TAEDA_TEST_ROLE"] = "reporting";
  options.agents.processes = 2;
  options.agents.job = "monitor";
  options.monitor = true;
  options.show = [&lines](bool, std::string_view line) { lines.emplace_back(line); };
  EXPECT_EQ(launch(options), 0);
  EXPECT_THAT(lines, Contains(testing::MatchesRegex(
                         "taeda: step [1-3], .* images/s, memory up to [0-9,]+ MiB, waiting up to "
                         "[0-9.]+%")));
}

TEST(ReportProgress, DoesNothingWhereNobodyListens) { report_progress(1, 1); }

}  // namespace
}  // namespace taeda::distributed::cluster
