// Tables as people have them: cells without a value, words, labels of any numbers.
#include <nlohmann/json.hpp>

#include "taeda/ops/create/create.h"
#include "taeda/vision/image_io.h"
#include "tests/tool/common.h"

namespace taeda {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

class Tables : public testing::Test {
 protected:
  /// A table of `rows` rows below a header, `row(i)` each.
  void write(const std::string& header, int rows,
             const std::function<std::string(int)>& row) const {
    std::string text = header + "\n";
    for (int i = 0; i < rows; ++i) text += row(i) + "\n";
    write_bytes(table, text);
  }
  std::string train(const std::string& more = "") const {
    return "train csv --device cpu --workers 0 --epochs 2 --force --data " + table + " --out " +
           run + " " + more;
  }
  Outcome trained(const std::string& more = "") const {
    const Outcome o = taeda_tool(train(more));
    EXPECT_EQ(o.code, 0) << o.err;
    return o;
  }
  Json predicted(const std::string& rows) const {
    write_bytes(fresh, rows);
    const Outcome o = taeda_tool("predict --json " + run + " " + fresh);
    EXPECT_EQ(o.code, 0) << o.err;
    return Json::parse(o.out)["predictions"];
  }

  TemporaryFolder folder;
  std::string table = folder / "t.csv", run = folder / "run", fresh = folder / "new.csv";
};

TEST_F(Tables, ACellWithoutAValueIsNamed) {
  const auto rows = [](const std::string& cell) {
    return [cell](int i) { return std::to_string(i) + "," + (i == 30 ? cell : "2") + ",0.5"; };
  };
  for (const char* cell : {"nan", "", "NA", " ? "}) {
    write("a,b,y", 40, rows(cell));
    expect_bad_input(train(), "t.csv:32: row 31, column 'b' holds no value: '" + std::string(cell) +
                                  "'; --missing drop leaves such rows out, "
                                  "--missing mean takes the column's mean");
  }
  write("a,b,y", 40, rows("inf"));
  expect_bad_input(train(), "row 31, column 'b' is no finite number of 32 bits: 'inf'");
  write("a,b,y", 40, rows("Ulm"));
  expect_bad_input(train(), "row 31, column 'b' is no number: 'Ulm'; --categories takes");
  write("a,y", 40, [](int i) { return "1," + std::string(i == 7 ? "nan" : "2.5"); });
  expect_bad_input(train("--missing mean"),
                   "row 8, column 'y' holds no value: 'nan', and it is the "
                   "column to tell; --missing drop leaves such rows out");
  expect_bad_input(train("--missing keep"), "--missing must be error, drop or mean, got keep");
  EXPECT_FALSE(std::filesystem::exists(run));
}

TEST_F(Tables, RowsAreLeftOutOrFilledIn) {
  write("a,b,y", 50, [](int i) {
    return (i % 5 ? std::to_string(i) : "") + ",1," +
           (i == 1 ? "nan" : std::to_string(2 * i) + ".5");
  });
  EXPECT_THAT(trained("--missing drop").out, HasSubstr("32 training and 7 test rows"));
  write_bytes(fresh, "a,b\n1,1\n,1\n");
  expect_bad_input("predict " + run + " " + fresh,
                   "new.csv:3: row 2, column 'a' holds no value: ''");
  EXPECT_THAT(taeda_tool("eval " + run + " --data " + table).out, HasSubstr("39 rows"));
  write("a,b,y", 50, [](int i) {
    return (i % 5 ? std::to_string(i) : "") + ",1," + std::to_string(2 * i) + ".5";
  });
  EXPECT_THAT(trained("--missing mean").out, HasSubstr("40 training and 10 test rows"));
  const Json told = predicted("a,b\n,1\nNaN,1\n3,1\n");
  EXPECT_EQ(told[0]["value"].get<double>(), told[1]["value"].get<double>());
  EXPECT_TRUE(std::isfinite(told[2]["value"].get<double>()));
  write("a,b,y", 50, [](int i) { return ",1," + std::to_string(i) + ".5"; });
  expect_bad_input(train("--missing mean"), "column 'a' holds no value in the rows to train on");
  expect_bad_input(train("--missing drop"), "every row lacks a value");
}

TEST_F(Tables, WordsAreCategories) {
  const char* cities[] = {"Ulm", "Bonn", "Berlin"};
  write("city,zip,y", 90, [&](int i) {
    return std::string(cities[i % 3]) + "," + std::to_string(i % 2) + "," + std::to_string(i % 3) +
           ".25";
  });
  EXPECT_THAT(trained("--categories city,zip --epochs 60 --lr 0.05").out,
              HasSubstr("rows of 2 columns, regression"));
  const Json told = predicted("zip,city\n0,Ulm\n1,Berlin\n");
  EXPECT_NEAR(told[0]["value"].get<double>(), 0.25, 0.2);
  EXPECT_NEAR(told[1]["value"].get<double>(), 2.25, 0.2);
  write_bytes(fresh, "city,zip\nBerln,0\n");
  expect_bad_input("predict " + run + " " + fresh,
                   "new.csv:2: row 1, column 'city' holds 'Berln', which is none of the column's "
                   "words; the nearest is 'Berlin'");
  write("a,b,a,y", 30, [](int i) { return "1,2," + std::to_string(i) + ",0.5"; });
  expect_bad_input(train(""), table + " has two columns named 'a'");
  write("a,y,y", 30, [](int i) { return "1," + std::to_string(i) + ",0.5"; });
  expect_bad_input(train(""), table + " has two columns named 'y'");
  write("city,zip,y", 30, [](int) { return "Ulm,1,0.5"; });
  expect_bad_input(train("--categories town"), "--categories: " + table + " has no column 'town'");
  expect_bad_input(train("--categories y"), "'y' is the column to tell");
}

TEST_F(Tables, ClassesAreTheDistinctValuesOfTheTarget) {
  const auto labels = [&](const std::vector<int>& values) {
    write("a,y", 60, [&](int i) {
      return std::to_string(i % values.size()) + "," + std::to_string(values[i % values.size()]);
    });
  };
  labels({1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_THAT(trained().out, HasSubstr("8 classes"));
  labels({200, 100});
  EXPECT_THAT(trained("--epochs 40 --lr 0.05").out, HasSubstr("2 classes"));
  EXPECT_EQ(predicted("a\n0\n")[0]["class"].get<std::string>(), "200");
  labels({-1, 1});
  EXPECT_THAT(trained().out, HasSubstr("2 classes"));
  write_bytes(fresh, "a,y\n0,-1.0\n1,+1\n");
  EXPECT_EQ(taeda_tool("eval " + run + " --data " + fresh).code, 0);
  write_bytes(fresh, "a,y\n0,3\n");
  expect_bad_input("eval " + run + " --data " + fresh,
                   "row 1, column 'y' is no class of the network: '3'");
}

TEST_F(Tables, HintsWhereClassesWereHardlyMeant) {
  write("a,y", 60, [](int i) { return std::to_string(i) + "," + std::to_string(100 + 7 * i); });
  EXPECT_THAT(trained().err, HasSubstr("column 'y' makes 60 classes of 60 rows; if it is a number "
                                       "to tell, give --regression"));
  EXPECT_EQ(trained("--regression").err, "");
  write("a,y", 60,
        [](int i) { return std::to_string(i) + "," + (i == 4 ? "x2" : std::to_string(i) + ".5"); });
  EXPECT_THAT(trained().err, HasSubstr("they are words because " + table +
                                       ":6: row 5, column 'y' is no number: 'x2'"));
  expect_bad_input(train("--regression"), "row 5, column 'y' is no number: 'x2'");
  write("a,y", 1200, [](int i) { return std::to_string(i) + "," + std::to_string(i); });
  expect_bad_input(train(),
                   "'y' is 1200 different whole numbers, from 0 to 1199, too many for "
                   "classes; give --regression");
}

TEST_F(Tables, AFileOfAnotherKindNamesTheTask) {
  write("a,y", 40, [](int i) { return std::to_string(i) + "," + std::to_string(i) + ".5"; });
  trained();
  vision::write_png(zeros({3, 8, 8}, kByte), folder / "p.png");
  expect_bad_input("predict " + run + " " + (folder / "p.png"),
                   "p.png is no table, which " + run +
                       "/best.safetensors takes: it is of the task csv, with the columns a");
  expect_bad_input("predict " + run + " " + folder.path(), "is no table, which ");
}

}  // namespace
}  // namespace taeda
