#include "taeda/distributed/cluster/output.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <string>

#include "taeda/distributed/cluster/descriptor.h"
#include "tests/io/temporary_folder.h"

namespace taeda::distributed::cluster {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

/// Reads a pipe until what was shown has been written and read.
std::string all_of(const Pipe& pipe, const Output& output) {
  std::string out;
  while (!output.settled(milliseconds(1))) read_available(pipe.read.get(), out);
  read_available(pipe.read.get(), out);
  return out;
}

TEST(Output, ShowsLinesInTheirOrder) {
  const Pipe pipe;
  Output output(pipe.write.get(), pipe.write.get());
  std::string expected;
  for (int i = 0; i < 1000; ++i) {
    output.line(i % 3 == 0, std::to_string(i));
    expected += std::to_string(i) + "\n";
  }
  EXPECT_EQ(all_of(pipe, output), expected);
  EXPECT_EQ(output.loss(), "");
}

TEST(Output, WhoIsSlowGetsAll) {
  const Pipe pipe;
  Output output(pipe.write.get(), pipe.write.get(), /*patience=*/std::chrono::hours(1));
  const std::string line(1023, 'x');
  size_t lines = 0;
  while (!output.full()) {
    output.line(false, line);
    ASSERT_LT(++lines, 100'000u);
  }
  output.line(false, line);  // nobody is made to wait
  EXPECT_EQ(all_of(pipe, output).size(), 1024 * (lines + 1));
}

TEST(Output, WhoStandsStillHearsWhatIsLeftOut) {
  const Pipe pipe;
  Output output(pipe.write.get(), pipe.write.get(), /*patience=*/milliseconds(0));
  const std::string line(1023, 'x');
  for (int i = 0; i < 20'000; ++i) output.line(false, line);
  EXPECT_FALSE(output.full()) << "nobody waits for such a reader";
  const std::string shown = all_of(pipe, output);
  const size_t at = shown.find("taeda: ");
  ASSERT_NE(at, std::string::npos);
  EXPECT_LT(shown.size(), Output::kMostWaiting + (1 << 20));
  EXPECT_THAT(shown.substr(at), HasSubstr(" lines are left out here: nobody has read them\n"));
  const size_t left_out = std::stoul(shown.substr(at + 7));
  EXPECT_EQ(shown.size() - (shown.find('\n', at) - at + 1), 1024 * (20'000 - left_out));
}

TEST(Output, OneFileDoesNotWaitForTheOther) {
  const Pipe still, read;
  Output output(still.write.get(), read.write.get());
  for (int i = 0; i < 1000; ++i) output.line(false, std::string(1023, 'x'));
  output.line(true, "an error");
  std::string shown;
  for (int i = 0; i < 10'000 && shown.empty(); ++i) {
    read_available(read.read.get(), shown);
    ::usleep(1000);
  }
  EXPECT_EQ(shown, "an error\n");
  EXPECT_EQ(all_of(still, output).size(), 1024 * 1000u);  // before the pipe is closed
}

TEST(Output, WhatCannotBeWrittenIsAFailure) {
  const Descriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  const Pipe pipe;
  Output output(full.get(), pipe.write.get());
  output.line(false, "one");
  output.line(false, "two");
  EXPECT_EQ(output.deliver(0, false), 1);
  EXPECT_EQ(all_of(pipe, output),
            "taeda: the standard output cannot be written (No space left on "
            "device): 2 lines are lost\n");
  EXPECT_EQ(output.deliver(7, false), 7);
}

}  // namespace
}  // namespace taeda::distributed::cluster
