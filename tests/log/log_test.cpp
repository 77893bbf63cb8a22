#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include "taeda/base/error.h"
#include "taeda/log/json_lines.h"
#include "taeda/log/progress.h"
#include "taeda/log/table.h"
#include "taeda/log/terminal.h"
#include "tests/error_of.h"
#include "tests/io/temporary_folder.h"
#include "tests/variable.h"

namespace taeda::logging {
namespace {

using testing::HasSubstr;

TEST(Terminal, WidthOfText) {
  EXPECT_EQ(display_width("abc"), 3u);
  EXPECT_EQ(display_width("Größe"), 5u);
  EXPECT_EQ(display_width("日本"), 4u);
  EXPECT_EQ(display_width("e\xcc\x81"), 1u) << "a combining accent takes no column";
  EXPECT_EQ(display_width("█▏"), 2u);
  EXPECT_EQ(display_width("\xff\xfe"), 2u) << "bytes that are no UTF-8 count one each";
  EXPECT_EQ(clip("日本語", 5), "日本");
  EXPECT_EQ(clip("abc", 9), "abc");
}

TEST(Terminal, NumbersAndDurations) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(1234567), "1,234,567");
  EXPECT_EQ(with_commas(-1000), "-1,000");
  EXPECT_EQ(format_duration(4.32), "4.3 s");
  EXPECT_EQ(format_duration(125), "2 min 05 s");
  EXPECT_EQ(format_duration(3840), "1 h 04 min");
  EXPECT_EQ(format_duration(100 * 3600), "4 d 04 h");
  EXPECT_EQ(format_duration(std::nan("")), "?");
}

/// What is written to a stream.
class Capture {
 public:
  Capture() : file_(::open_memstream(&text_, &size_)) {}
  ~Capture() {
    std::fclose(file_);
    std::free(text_);
  }
  std::FILE* stream() const { return file_; }
  std::string text() {
    std::fflush(file_);
    return {text_, size_};
  }

 private:
  char* text_ = nullptr;
  size_t size_ = 0;
  std::FILE* file_;
};

TEST(ProgressBar, RedrawsInPlaceOnATerminal) {
  Capture out;
  double time = 0;
  ProgressBar bar(
      "epoch 1/2", 1000, "images",
      {.stream = out.stream(), .in_place = 1, .width = 100, .unicode = true, .clock = [&] {
         return time;
       }});
  int notes = 0;
  const auto note = [&] { return ++notes, std::string("loss 0.5"); };
  bar.advance(100, note);
  EXPECT_EQ(out.text(), "") << "not yet time";
  EXPECT_EQ(notes, 0);
  time = 0.5;
  bar.advance(150, note);
  EXPECT_EQ(notes, 1);
  const std::string text = out.text();
  EXPECT_THAT(text, testing::StartsWith("\repoch 1/2   25% |"));
  EXPECT_THAT(text, HasSubstr("| 250/1,000  500 images/s  loss 0.5  ETA 1.5 s\x1b[K"));
  EXPECT_LE(display_width(text.substr(1, text.find('\x1b') - 1)), 99u);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  bar.finish();
  EXPECT_THAT(out.text(), testing::EndsWith("\r\x1b[K"));
}

TEST(ProgressBar, IsAsciiWhereUnicodeIsNotShown) {
  Capture out;
  double time = 0;
  ProgressBar bar(
      "a", 4, "images",
      {.stream = out.stream(), .in_place = 1, .width = 60, .unicode = false, .clock = [&] {
         return time;
       }});
  time = 1;
  bar.advance(2);
  EXPECT_THAT(out.text(), testing::ContainsRegex("50% .#+ +. 2/4"));
  EXPECT_EQ(out.text().find('\xe2'), std::string::npos);
}

TEST(Terminal, LocaleAndColumns) {
  using Value = std::optional<std::string>;
  const auto with = [](const Value& all, const Value& type, const Value& lang) {
    const Variable a("LC_ALL", all), b("LC_CTYPE", type), c("LANG", lang);
    return shows_utf8();
  };
  EXPECT_TRUE(with({}, {}, "en_US.UTF-8"));
  EXPECT_TRUE(with("", "C.utf8", "C"));
  EXPECT_FALSE(with("C", "C.UTF-8", "C.UTF-8")) << "LC_ALL comes first";
  EXPECT_FALSE(with({}, {}, {}));
  EXPECT_FALSE(with({}, {}, "de_DE.ISO-8859-1"));
  Capture out;
  const Variable columns("COLUMNS", "132");
  EXPECT_EQ(terminal_width(out.stream()), 132u);
  const Variable wrong("COLUMNS", "wide");
  EXPECT_EQ(terminal_width(out.stream()), 80u);
}

TEST(ProgressBar, FitsNarrowTerminals) {
  for (size_t width : {1, 10, 40, 60}) {
    Capture out;
    double time = 0;
    ProgressBar bar(
        "a", 10, "images",
        {.stream = out.stream(), .in_place = 1, .width = width, .clock = [&] { return time; }});
    time = 1;
    bar.advance(5);
    const std::string text = out.text();
    EXPECT_LT(display_width(text.substr(1, text.find('\x1b') - 1)), width);
  }
}

TEST(ProgressBar, PlainLinesNowAndThen) {
  Capture out;
  double time = 0;
  {
    ProgressBar bar("test", 4, "images",
                    {.stream = out.stream(), .in_place = 0, .clock = [&] { return time; }});
    for (int i = 0; i < 4; ++i) {
      time += 3;
      bar.advance(1, [] { return "loss 1"; });
    }
    bar.finish();
    EXPECT_DOUBLE_EQ(bar.rate(), 4. / 12);
  }
  EXPECT_EQ(out.text(),
            "test   50%  2/4  0 images/s  loss 1  ETA 6.0 s\n"
            "test  100%  4/4  0 images/s  loss 1\n");
  Capture quick;
  ProgressBar bar("a", 2, "images",
                  {.stream = quick.stream(), .in_place = 0, .clock = [] { return 0.; }});
  bar.advance(2);
  bar.finish();
  EXPECT_EQ(quick.text(), "") << "nothing is said about what takes no time";
}

constexpr TextStyle kWide{.columns = 80, .unicode = true};

TEST(Table, BoxesAndAlignment) {
  Table table({"epoch", "名"});
  table.row({"1", "x"}).row({"10", "Größe"});
  EXPECT_EQ(table.str(kWide),
            "┌───────┬───────┐\n"
            "│ epoch │ 名    │\n"
            "├───────┼───────┤\n"
            "│     1 │ x     │\n"
            "│    10 │ Größe │\n"
            "└───────┴───────┘\n");
  EXPECT_EQ(Table({"a"}).row({"3.5%"}).str({80, false}),
            "+------+\n"
            "|    a |\n"
            "+------+\n"
            "| 3.5% |\n"
            "+------+\n");
  EXPECT_EQ(fixed(1.005, 1), "1.0");
  EXPECT_EQ(percent(0.9123), "91.23%");
}

TEST(Table, RefusesRowsOfAnotherLength) {
  Table table({"epoch", "loss"});
  EXPECT_THAT(error_of([&] { table.row({"1"}); }),
              HasSubstr("a table of 2 columns was given a row of 1"));
  EXPECT_THROW(TableLayout({"a"}, {{"1", "2"}}, kWide), ValueError);
  EXPECT_THROW(TableLayout({"a"}, {}, kWide).row({}), ValueError);
}

/// The grid of runs that a hyper-parameter search prints.
Table grid() {
  Table table({"run", "epoch", "loss", "accuracy", "epoch duration", "run duration", "lr",
               "batch_size", "shuffle", "device"});
  return table.row(
      {"1", "1", "0.985261", "0.625850", "12.345", "12.500", "0.01", "1000", "true", "cuda"});
}

size_t widest_line(const std::string& text) {
  size_t widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, display_width(line));
  return widest;
}

TEST(Table, FitsItsColumns) {
  EXPECT_THAT(grid().str({200, false}), HasSubstr("| epoch duration | run duration |"));
  EXPECT_EQ(grid().str({80, false}),
            "run epoch     loss accuracy       epoch         run   lr   batch_ shuffle device\n"
            "                               duration    duration          size\n"
            "--- ----- -------- -------- ----------- ----------- ---- -------- ------- ------\n"
            "  1     1 0.985261 0.625850      12.345      12.500 0.01     1000 true    cuda\n");
  for (size_t columns : {10, 20, 40, 60, 80, 100, 120, 200})
    for (bool unicode : {false, true})
      EXPECT_LE(widest_line(grid().str({columns, unicode})), columns)
          << grid().str({columns, unicode});
}

TEST(Table, EveryCellIsThereHoweverNarrow) {
  for (size_t columns : {24, 30, 40, 80, 200}) {
    const std::string text = grid().str({columns, true});
    for (const char* cell : {"0.985261", "0.625850", "12.345", "12.500", "0.01", "1000", "cuda"})
      EXPECT_THAT(text, HasSubstr(cell));
  }
  EXPECT_THAT(grid().str({40, false}), HasSubstr("epoch duration  12.345\n"));
}

TEST(Table, TextsWrapAtWordsAndNumbersDoNot) {
  Table table({"what went wrong", "times"});
  table.row({"the quick brown fox jumps over the lazy dog", "1234567"});
  EXPECT_EQ(table.str({32, false}),
            "+--------------------+---------+\n"
            "| what went wrong    |   times |\n"
            "+--------------------+---------+\n"
            "| the quick brown    | 1234567 |\n"
            "| fox jumps over the |         |\n"
            "| lazy dog           |         |\n"
            "+--------------------+---------+\n");
}

TEST(Table, GrowsLineByLine) {
  const TableLayout layout({"epoch", "time"}, {{"10", "9 min 59 s"}}, kWide);
  EXPECT_EQ(layout.row({"1", "4.3 s"}), "│     1 │      4.3 s │\n");
  EXPECT_EQ(layout.row({"1", "100 h 59 min"}), "│     1 │ 100 h 59 min │\n");
}

TEST(JsonObject, WritesWhatJsonCanSay) {
  JsonObject o;
  o.set("text", "a\"b\\c\n\t\x01ü")
      .set("flag", true)
      .set("n", 3)
      .set("x", 0.1)
      .set("bad", std::nan(""));
  o.set("list", std::vector<double>{1, 0.5}).set("inner", JsonObject().set("k", int64_t{1} << 40));
  o.set("rows", std::vector<JsonObject>{JsonObject().set("a", 1), JsonObject()});
  EXPECT_EQ(o.str(),
            R"({"text": "a\"b\\c\n\t\u0001ü", "flag": true, "n": 3, "x": 0.1, "bad": null, )"
            R"("list": [1, 0.5], )"
            R"("inner": {"k": 1099511627776}, "rows": [{"a": 1}, {}]})");
  EXPECT_EQ(JsonObject().set("a", 1).set("b", 2).pretty(), "{\n  \"a\": 1,\n  \"b\": 2\n}\n");
}

TEST(JsonLinesWriter, AppendsLines) {
  const TemporaryFolder folder;
  for (int i = 0; i < 2; ++i) JsonLinesWriter(folder / "log").write(JsonObject().set("i", i));
  std::ifstream in(folder / "log");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(text, "{\"i\": 0}\n{\"i\": 1}\n");
  EXPECT_THROW(JsonLinesWriter(folder / "none/log"), Error);
}

}  // namespace
}  // namespace taeda::logging
