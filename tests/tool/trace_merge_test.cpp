#include "tests/tool/common.h"

namespace taeda {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class TraceMerge : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) {
    std::ofstream(folder / name) << text;
    return folder / name;
  }
  /// An entry of a flight record, in microseconds.
  static std::string entry(int rank, const std::string& op, int sequence, int64_t begin,
                           int64_t end, const std::string& state = "done") {
    return R"({"number":1,"group":"world 0","rank":)" + std::to_string(rank) + R"(,"state":")" +
           state + R"(","started_us":)" + std::to_string(begin) + R"(,"ended_us":)" +
           std::to_string(end) + R"(,"op":")" + op + R"(","sequence":)" + std::to_string(sequence) +
           R"(,"shape":[3],"file":"/src/train.cpp","line":91})";
  }
  static std::string record(const std::vector<std::string>& entries) {
    std::string out = R"({"version":1,"process":1,"entries":[)";
    for (size_t i = 0; i < entries.size(); ++i) out += (i ? "," : "") + entries[i];
    return out + "]}";
  }
  std::string merge(const std::string& files) {
    const Outcome o = taeda_tool("trace merge " + files + " -o " + (folder / "merged.json"));
    EXPECT_EQ(o.code, 0) << o.err;
    return o.out;
  }
  TemporaryFolder folder;
};

TEST_F(TraceMerge, AlignsClocksAndSaysWhoWaitedForWhom) {
  // Rank 1's clock is a second ahead; it comes 3 and 5 ms late, rank 0 once 2 ms.
  const std::string a = file("flight_0.json", record({entry(0, "all_reduce", 1, 1000, 4100),
                                                      entry(0, "all_reduce", 2, 12000, 12100),
                                                      entry(0, "barrier", 3, 20000, 25100)}));
  const std::string b = file("flight_1.json", record({entry(1, "all_reduce", 1, 1004000, 1004100),
                                                      entry(1, "all_reduce", 2, 1010000, 1012100),
                                                      entry(1, "barrier", 3, 1025000, 1025100)}));
  const std::string out = merge(a + " " + b);
  EXPECT_THAT(out, ContainsRegex("1 │ .*flight_1.json │ +3 │ +-1000.000 │ +3"));
  EXPECT_THAT(out,
              ContainsRegex("0 │ rank 1 +│ +8.000 │ +2 │ +5.000 │ barrier #3 at train.cpp:91"));
  EXPECT_THAT(out, ContainsRegex("1 │ rank 0 +│ +2.000 │ +1 │ +2.000 │ all_reduce #2"));
  const std::string merged = contents(folder / "merged.json");
  EXPECT_THAT(merged, AllOf(HasSubstr("rank 0 flight record"), HasSubstr("rank 1 flight record")));
  EXPECT_THAT(taeda_tool("trace " + (folder / "merged.json")).out,
              HasSubstr("6 events over 24.100 ms"));
}

TEST_F(TraceMerge, NamesWhoDidNotCome) {
  const std::string a = file("a.json", record({entry(0, "all_reduce", 1, 1000, 1100),
                                               entry(0, "broadcast", 2, 2000, 9000, "failed")}));
  const std::string b = file("b.json", record({entry(1, "all_reduce", 1, 1000, 1100)}));
  EXPECT_THAT(
      merge(a + " " + b),
      HasSubstr("rank 0 did not finish broadcast #2 at train.cpp:91 of group 'world 0'; rank "
                "1 did not come, its last was all_reduce #1 at train.cpp:91\n"));
}

TEST_F(TraceMerge, TakesProfilersTraces) {
  const auto trace = [](int64_t begin, int64_t end) {
    return R"({"traceEvents": [
      {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "train"}},
      {"ph": "X", "pid": 1, "tid": 1, "name": "relu", "ts": )" +
           std::to_string(begin - 10) +
           R"(, "dur": 5}, {"ph": "X", "pid": 1, "tid": 1, "name": "all_reduce", "ts": )" +
           std::to_string(begin) + R"(, "dur": )" + std::to_string(end - begin) + "}]}";
  };
  const std::string out =
      merge(file("t_0.json", trace(100, 5100)) + " " + file("t_1.json", trace(7000, 7100)));
  EXPECT_THAT(out, ContainsRegex("0 │ rank 1 +│ +4.900 │ +1 │ +4.900 │ all_reduce #1"));
  EXPECT_THAT(contents(folder / "merged.json"),
              AllOf(HasSubstr("rank 0 train"), HasSubstr("rank 1 train")));
}

TEST_F(TraceMerge, RefusesFilesThatDoNotFit) {
  const std::string a = file("a.json", record({entry(0, "all_reduce", 1, 1, 2)}));
  const std::string other = file("b.json", record({entry(1, "all_reduce", 9, 1, 2)}));
  expect_bad_input("trace merge " + a + " " + other, "have no collective in common");
  expect_bad_input("trace merge " + a + " " + a, "is of rank 0, as another file is");
  expect_bad_input("trace merge " + file("c.json", "{}"), "is neither a Chrome trace nor a flight");
  expect_bad_input("trace merge " + file("d.json", "{"), "is no JSON");
  expect_bad_input("trace merge /no/file", "cannot read /no/file");
  expect_bad_input("trace merge " + a + " -o /no/folder/x", "cannot write /no/folder/x");
  expect_bad_input("trace merge", "files is required");
  expect_bad_input("trace", "trace: a file is required");
}

}  // namespace
}  // namespace taeda
