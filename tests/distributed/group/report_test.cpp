// What follows from what ranks say they have called.

#include "taeda/distributed/group/report.h"

#include <gmock/gmock.h>

#include <set>

namespace taeda::distributed {
namespace {

using Kind = Fingerprint::Kind;

Report::Line line(Kind kind, uint64_t sequence, uint64_t hash, bool ended, int peer = -1) {
  return {kind, ended, sequence, hash, peer, 0, "call " + std::to_string(hash)};
}

Report collectives(std::vector<uint64_t> hashes, bool left = false) {
  Report out;
  out.left = left;
  for (const uint64_t h : hashes)
    out.lines.push_back(line(Kind::Collective, out.lines.size() + 1, h, true));
  return out;
}

TEST(Reports, ArriveAsTheyWere) {
  Report report = collectives({7, 9}, true);
  report.beat = 12;
  report.lines.push_back({Kind::Recv, false, 3, ~uint64_t{0}, 2, 77, "recv #3 at \"x y\".cpp:1"});
  const Report copy = report_from_text(to_text(report));
  EXPECT_EQ(copy.beat, 12u);
  EXPECT_TRUE(copy.left);
  ASSERT_EQ(copy.lines.size(), 3u);
  EXPECT_EQ(to_text(copy), to_text(report));
  EXPECT_EQ(copy.lines[2].text, "recv #3 at \"x y\".cpp:1");
  EXPECT_TRUE(report_from_text("nonsense\n1 2\n").lines.empty());
}

TEST(Reports, TheEarliestDifferenceIsTheMismatch) {
  const Reports same = {{0, collectives({1, 2, 3})}, {1, collectives({1, 2})}};
  EXPECT_FALSE(find_mismatch(same));
  const Reports other = {
      {0, collectives({1, 2, 3})}, {1, collectives({1, 5, 6})}, {4, collectives({1, 2})}};
  EXPECT_EQ(find_mismatch(other),
            "the ranks called different things: ranks 0 and 4 called call 2; "
            "rank 1 called call 5");
}

TEST(Reports, AMessageAndAReceiveThatHavePartnersDoNotPass) {
  Report sender, receiver;
  sender.lines = {line(Kind::Send, 1, 4, false, 1)};
  receiver.lines = {line(Kind::Recv, 1, 8, false, 0)};
  ASSERT_TRUE(find_passing({{0, sender}, {1, receiver}}));
  EXPECT_EQ(find_passing({{0, sender}, {1, receiver}})->text,
            "a message and its receive differ: rank 0 called call 4; rank 1 called call 8");
  receiver.lines.push_back(line(Kind::Recv, 2, 4, false, 0));  // which the message meets
  EXPECT_FALSE(find_passing({{0, sender}, {1, receiver}}));
  receiver.lines.pop_back();
  receiver.lines[0].ended = true;
  EXPECT_FALSE(find_passing({{0, sender}, {1, receiver}}));
}

TEST(Reports, WhoHasLeftOrIsMissingIsNamedWithWhatItDidLast) {
  Fingerprint what;
  what.op = "all_reduce";
  what.sequence = 3;
  const Reports reports = {
      {0, collectives({1, 2, 3})}, {1, collectives({1, 2}, true)}, {2, collectives({1, 2})}};
  EXPECT_EQ(find_left(reports, what), "rank 1 has left the group; the last it called was call 2");
  EXPECT_EQ(
      describe_missing(reports, {0, 1, 2, 3, 4}, 0, what),
      "rank 1 has not called it, the last it called was call 2; rank 2 has not called it, the "
      "last it called was call 2; nothing was heard from ranks 3 and 4");
  what.sequence = 2;
  EXPECT_FALSE(find_left(reports, what));
}

TEST(Fingerprints, NoTwoPlacesHaveTheSameNumber) {
  Fingerprint what;
  what.op = "barrier";
  std::set<uint64_t> seen;
  for (what.sequence = 1; what.sequence < 2000; ++what.sequence)
    for (what.follows = 0; what.follows < 3; ++what.follows)
      EXPECT_TRUE(seen.insert(what.call_id()).second) << what.to_string();
}

TEST(Reports, WhatCallbacksCallHasItsPlaceBehindTheirOperation) {
  Report ahead = collectives({1, 2}), behind = collectives({1});
  for (Report* report : {&ahead, &behind}) {
    report->lines.push_back(line(Kind::Collective, 1, 5, false));
    report->lines.back().follows = 1;
  }
  EXPECT_FALSE(find_mismatch({{0, ahead}, {1, behind}}));
  EXPECT_EQ(to_text(report_from_text(to_text(ahead))), to_text(ahead));
  behind.lines.back().hash = 6;
  EXPECT_EQ(find_mismatch({{0, ahead}, {1, behind}}),
            "the ranks called different things: rank 0 called call 5; rank 1 called call 5");
  Fingerprint what;
  what.op = "barrier";
  what.sequence = 1;
  what.follows = 2;
  EXPECT_EQ(what.to_string(), "barrier #1.2");
  EXPECT_THAT(describe_missing({{1, behind}}, {0, 1}, 0, what),
              testing::HasSubstr("has not called"));
}

}  // namespace
}  // namespace taeda::distributed
