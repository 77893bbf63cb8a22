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
  EXPECT_EQ(error_of([&] { CSVDataset(write("x,y\n1,2\noops,3\n")); }),
            path + ": row 2, column 'x' is no number: 'oops'");
  EXPECT_EQ(error_of([&] { CSVDataset(write("x,y\n1,2\n"), {.target = "z"}); }),
            path + " has no column 'z'; there are: x, y");
  EXPECT_EQ(error_of([&] { CSVDataset(path, {.target = 2}); }),
            path + " has 2 columns, but the target is column 2");
  EXPECT_EQ(error_of([&] { CSVDataset(write("x,y\n")); }), path + " holds no rows");
}

}  // namespace
}  // namespace taeda::data
