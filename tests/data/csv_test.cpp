#include "taeda/data/csv.h"

#include <gmock/gmock.h>

#include <fstream>

#include "taeda/data/loader.h"
#include "tests/error_of.h"
#include "tests/io/temporary_folder.h"
#include "tests/values.h"

namespace taeda::data {
namespace {

using datasets::CSVDataset;
using testing::ElementsAre;
using testing::HasSubstr;

class Csv : public testing::Test {
 protected:
  const std::string& write(const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  TemporaryFolder folder;
  std::string path = folder / "t.csv";
};

TEST_F(Csv, ReadsFieldsQuotesAndLineEnds) {
  const CsvTable t =
      read_csv(write("\xef\xbb\xbf"
                     "a,b\r\n1,\"x, \"\"y\"\"\nz\"\r\n\r\n,last"));
  EXPECT_THAT(t.names, ElementsAre("a", "b"));
  ASSERT_EQ(t.rows.size(), 2u);
  EXPECT_THAT(t.rows[0], ElementsAre("1", "x, \"y\"\nz"));
  EXPECT_THAT(t.rows[1], ElementsAre("", "last"));
  EXPECT_THAT(read_csv(write("1;2\n3;4\n"), ';', false).names, ElementsAre("0", "1"));
  EXPECT_TRUE(read_csv(write("")).rows.empty());
}

TEST_F(Csv, NamesTheLineOfAMistake) {
  EXPECT_EQ(error_of([&] { read_csv(write("a,b\n\"1\n\",2\n\n3\n")); }),
            path + ":5: expected 2 fields, got 1");
  EXPECT_EQ(error_of([&] { read_csv(write("a,b\n1,\"2\n")); }), path + ":2: a quote has no end");
  EXPECT_EQ(error_of([&] { read_csv(folder / "none"); }),
            "cannot read " + folder / "none" + ": No such file or directory");
}

TEST_F(Csv, DatasetOfNumbers) {
  CSVDataset set(write("x,y,label\n1,2.5,0\n-3e1, +4 ,1\n"));
  EXPECT_EQ(set.size(), 2u);
  EXPECT_THAT(set.feature_names(), ElementsAre("x", "y"));
  EXPECT_THAT(values<float>(set.features()), ElementsAre(1, 2.5, -30, 4));
  EXPECT_THAT(values<int64_t>(set.targets()), ElementsAre(0, 1));
  EXPECT_TRUE(set.classes().empty());
  EXPECT_THAT(values<float>(set.get(1).data), ElementsAre(-30, 4));
  DataLoader loader(set, {.batch_size = 2});
  EXPECT_THAT(loader.begin()->data.sizes().vec(), ElementsAre(2, 2));
}

TEST_F(Csv, TargetsOfOtherKinds) {
  CSVDataset price(write("price,x\n1.5,1\n2,2\n"), {.target = "price"});
  EXPECT_THAT(values<float>(price.targets()), ElementsAre(1.5, 2));
  CSVDataset kind(write("1,rose\n2,lily\n3,rose\n"), {.header = false});
  EXPECT_THAT(kind.classes(), ElementsAre("lily", "rose"));
  EXPECT_THAT(values<int64_t>(kind.targets()), ElementsAre(1, 0, 1));
  EXPECT_THAT(values<float>(CSVDataset(path, {.target = 1, .header = false}).features()),
              ElementsAre(1, 2, 3));
}

TEST_F(Csv, DatasetSaysWhatIsWrong) {
  EXPECT_EQ(
      error_of([&] { CSVDataset(write("x,y\n1,2\noops,3\n")); }),
      path +
          ":3: row 2, column 'x' is no number: 'oops'; name the column in CsvOptions::categories "
          "if it holds words");
  EXPECT_EQ(error_of([&] { CSVDataset(write("x,y\n\ninf,3\n")); }),
            path + ":3: row 1, column 'x' is no finite number of 32 bits: 'inf'");
  EXPECT_EQ(error_of([&] { CSVDataset(write("x,y\n1,2\n"), {.target = "z"}); }),
            path + " has no column 'z'; there are: x, y");
  EXPECT_EQ(error_of([&] { CSVDataset(path, {.target = 2}); }),
            path + " has 2 columns, but the target is column 2");
  EXPECT_EQ(error_of([&] { CSVDataset(write("x,y\n")); }), path + " holds no rows");
}

TEST_F(Csv, MissingValuesAndWordsFollowTheOptions) {
  const char* text = "x,city,y\n1,Ulm,1\nNaN,Bonn,2\n3,,3\n5,Ulm,NA\n";
  datasets::CsvOptions options{.categories = {"city"}};
  EXPECT_EQ(error_of([&] { CSVDataset(write(text), options); }),
            path +
                ":3: row 2, column 'x' holds no value: 'NaN'; CsvOptions::missing leaves its "
                "row out, or takes the column's mean");
  options.missing = MissingValues::kDrop;
  CSVDataset dropped(path, options);
  EXPECT_THAT(dropped.feature_names(), ElementsAre("x", "city=Bonn", "city=Ulm"));
  EXPECT_THAT(values<float>(dropped.features()), ElementsAre(1, 0, 1));
  EXPECT_THAT(values<int64_t>(dropped.targets()), ElementsAre(1));
  options.missing = MissingValues::kMean;
  EXPECT_THAT(
      error_of([&] { CSVDataset(path, options); }),
      HasSubstr("t.csv:5: row 4, column 'y' holds no value: 'NA', and a target has no mean"));
  CSVDataset filled(write("x,city,y\n1,Ulm,a\nNaN,Bonn,b\n3,,NA\n"), options);
  EXPECT_THAT(values<float>(filled.features()), ElementsAre(1, 0, 1, 2, 1, 0, 3, 0, 0));
  EXPECT_THAT(filled.classes(), ElementsAre("NA", "a", "b")) << "a word, where there are others";
  EXPECT_EQ(error_of([&] { CSVDataset(path, {.categories = {"y"}}); }),
            path +
                ": 'y' is the target, whose words are classes in any case; leave it out of the "
                "categories");
}

}  // namespace
}  // namespace taeda::data
