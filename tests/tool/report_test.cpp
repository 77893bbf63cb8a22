// `taeda report`: what its page holds. report_page.py reads it as a browser would.
#include "taeda/vision/image_io.h"
#include "tests/tool/common.h"

namespace taeda {
namespace {

using testing::HasSubstr;

/// Reads a page; its answer is a line for each thing that is wrong.
Outcome page_check(const std::string& arguments) {
  const TemporaryFolder folder;
  const std::string command = std::string(TAEDA_PYTHON) + " -B " + TAEDA_PAGE_CHECK + " " +
                              arguments + " >" + (folder / "out") + " 2>&1 </dev/null";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents(folder / "out"), ""};
}

class Report : public Train {
 protected:
  void train(const std::string& name, const std::string& more) {
    const Outcome o = taeda_tool(arguments("--device cpu " + more, folder / name));
    ASSERT_EQ(o.code, 0) << o.err;
  }
  Outcome report(const std::string& arguments) { return taeda_tool("report " + arguments); }
  std::string page = folder / "page.html";
};

TEST_F(Report, OneRunIsAPageThatNeedsNothingElse) {
  train("first", "--lr 1e-4");  // learns too little to be right everywhere
  const Outcome o = report((folder / "first") + " --out " + page);
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("page.html: 1 run, "));
  const std::string wanted = vision::has_png() ? " --mistakes" : "";
  const Outcome checked =
      page_check(page + " --runs 1 --classes 10" + wanted +
                 " --charts 'loss|accuracy|loss of the steps|learning rate|gradient norm|memory'");
  EXPECT_EQ(checked.code, 0) << checked.out;
  const std::string text = contents(page);
  EXPECT_LT(text.size(), 100000u);
  EXPECT_THAT(text, HasSubstr("Fashion-MNIST: 400 training and 100 test images; cnn"));
  EXPECT_THAT(text, HasSubstr("taeda train --config "));
}

TEST_F(Report, SeveralRunsAreToldApartByWhatDiffers) {
  train("first", "");
  train("second", "--lr 0.01 --max-norm 0.5");
  const Outcome o = report((folder / "first") + " " + (folder / "second") + " --out " + page);
  ASSERT_EQ(o.code, 0) << o.err;
  const Outcome checked =
      page_check(page +
                 " --runs 2 --classes 10 --legend 'first: lr 0.003' --legend 'second: lr "
                 "0.01, max-norm 0.5' --differs lr --differs max-norm");
  EXPECT_EQ(checked.code, 0) << checked.out;
  const Outcome plot = taeda_tool("plot " + (folder / "first") + " " + (folder / "second"));
  EXPECT_THAT(plot.out, HasSubstr("second: lr 0.01, max-norm 0.5"));
}

TEST_F(Report, ALayoutForPhonesAndForTheDark) {
  train("first", "");
  ASSERT_EQ(report((folder / "first") + " --out " + page).code, 0);
  const Outcome seen = page_check(page + " --seen");
  if (seen.code == 77) GTEST_SKIP() << seen.out;
  EXPECT_EQ(seen.code, 0) << seen.out;
}

TEST_F(Report, UnfinishedRunsAndTablesHaveWhatThereIs) {
  EXPECT_EQ(taeda_tool(arguments("--device cpu --stop-after 25", folder / "stopped")).code, 130);
  ASSERT_EQ(report((folder / "stopped") + " --out " + page).code, 0);
  const Outcome checked = page_check(page + " --runs 1 --charts 'loss|learning rate|memory'");
  EXPECT_EQ(checked.code, 0) << checked.out;
  EXPECT_THAT(contents(page), Not(HasSubstr("Confusion matrix")));

  std::string table = "x,kind\n";
  for (int i = 0; i < 200; ++i)
    table += std::to_string(i % 7) + (i % 3 == 0 ? ",<odd> & \"so\"\n" : ",plain\n");
  std::ofstream(folder / "t.csv") << table;
  ASSERT_EQ(taeda_tool("train csv --target kind --epochs 1 --data " + (folder / "t.csv") +
                       " --out " + (folder / "table"))
                .code,
            0);
  ASSERT_EQ(report((folder / "table") + " --out " + page).code, 0);
  const Outcome again = page_check(page + " --runs 1 --classes 2");
  EXPECT_EQ(again.code, 0) << again.out;
  EXPECT_THAT(contents(page), HasSubstr("&lt;odd&gt; &amp; "));
  train("first", "--epochs 1");
  ASSERT_EQ(report((folder / "first") + " " + (folder / "table") + " --out " + page).code, 0);
  EXPECT_THAT(contents(page),
              testing::ContainsRegex("<h1>Fashion-MNIST: [^<]*t.csv: [^<]*; 2 runs"));
}

TEST_F(Report, BadInputIsNamed) {
  expect_bad_input("report " + (folder / "nowhere"), "there is no folder");
  expect_bad_input("report " + data, "holds no run");
  train("first", "--epochs 1");
  expect_bad_input("report " + (folder / "first") + " --out page.pdf",
                   "cannot write page.pdf: give it the ending .html");
  expect_bad_input("report " + (folder / "first") + " --out /nowhere/page.html",
                   "/nowhere/page.html");
}

/// A run that was killed has written lines of steps that its checkpoint does not know.
TEST_F(Report, StepsGoOnWhereTheCheckpointIs) {
  EXPECT_EQ(taeda_tool(arguments("--device cpu --stop-after 25", out)).code, 130);
  std::ofstream(out + "/steps.csv", std::ios::app) << "26,2,1,9,9,9,1,0,0\n27,2,1,9";
  EXPECT_EQ(taeda_tool(arguments("--device cpu --resume auto", out)).code, 0);
  std::istringstream lines(contents(out + "/steps.csv"));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "step,epoch,seconds,loss,gradient_norm,lr,scale,skipped,memory");
  int step = 0;
  while (std::getline(lines, line)) {
    EXPECT_EQ(std::stoi(line), ++step);
    EXPECT_THAT(line, Not(HasSubstr(",9,9,9,")));
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), 8) << line;
  }
  EXPECT_EQ(step, 40);
}

}  // namespace
}  // namespace taeda
