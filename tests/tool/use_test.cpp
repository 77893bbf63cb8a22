// What can be done with a trained model: eval, predict, generate, runs.
#include <cmath>
#include <nlohmann/json.hpp>

#include "taeda/io/archive.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/vision/image_io.h"
#include "taeda/vision/mnist.h"
#include "tests/tool/common.h"

namespace taeda {
namespace {

using Json = nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// The work is little, and other tests run beside.
constexpr const char* kOneThread = "OMP_NUM_THREADS=1";

/// What a command prints with --json.
Json json_of(const std::string& arguments) {
  const Outcome o = taeda_tool(arguments + " --json", kOneThread);
  EXPECT_EQ(o.code, 0) << arguments << o.err;
  return Json::parse(o.out, nullptr, /*allow_exceptions=*/false);
}

std::string output_of(const std::string& arguments) {
  const Outcome o = taeda_tool(arguments, kOneThread);
  EXPECT_EQ(o.code, 0) << arguments << o.err;
  return o.out;
}

class UsePictures : public Train {
 protected:
  void SetUp() override {
    const Outcome o = taeda_tool(arguments("--device cpu --epochs 4 --workers 0 --threads 1", run));
    ASSERT_EQ(o.code, 0) << o.err;
  }
  std::string run = folder / "run";
};

TEST_F(UsePictures, EvalRepeatsTheTestOfTheRun) {
  const std::string eval = "eval " + run + " --device cpu --threads 1";
  const Json last = json_of(eval + " --last");
  EXPECT_EQ(last["test_loss"],
            Json::parse(contents(run + "/result.json"))["epochs"][3]["test_loss"]);
  EXPECT_DOUBLE_EQ(last["test_accuracy"].get<double>(), number_in(run, "test_accuracy"));
  EXPECT_EQ(last["images"], 100);
  const Json best = json_of(eval);
  EXPECT_DOUBLE_EQ(best["test_loss"].get<double>(), number_in(run, "best_test_loss"));
  EXPECT_THAT(best["checkpoint"].get<std::string>(), testing::EndsWith("best.safetensors"));
  EXPECT_EQ(best["class_accuracy"].size(), 10u);
  const std::string text = output_of(eval + " --workers 0 --batch-size 7");
  EXPECT_THAT(
      text, AllOf(StartsWith("best.safetensors of " + run + ", epoch 4: cnn, fashion-mnist\n"),
                  HasSubstr("Ankle boot"), HasSubstr("\ntest loss "), HasSubstr(", 100 images\n")));
  EXPECT_FALSE(std::filesystem::exists("predictions.png"));
}

TEST_F(UsePictures, EvalTakesOtherDataAndWeightsAlone) {
  const std::string other = folder / "other";
  std::filesystem::create_directory(other);
  write_fashion_files(other, 10, 30);
  // A checkpoint that was taken elsewhere knows its network without its data.
  std::filesystem::copy_file(run + "/best.safetensors", folder / "net.safetensors");
  std::filesystem::remove_all(data);
  const Json result =
      json_of("eval " + (folder / "net.safetensors") + " --device cpu --data " + other);
  EXPECT_EQ(result["images"], 30);
  EXPECT_GT(result["test_accuracy"].get<double>(), 0.8);
  expect_bad_input("eval " + run + " --device cpu", "cannot find");
  expect_bad_input("eval " + run + " --data " + (folder / "none"), "cannot find t10k");
}

TEST_F(UsePictures, PredictShowsPicturesWithTheirClasses) {
  if (!vision::has_png()) GTEST_SKIP() << "built without libpng";
  const vision::datasets::FashionMNIST test(data, /*train=*/false);
  std::filesystem::create_directory(folder / "new");
  for (int64_t i = 0; i < 10; ++i)
    vision::write_png(test.raw_images()[i], folder / ("new/" + std::to_string(i) + ".png"));
  const std::string predict = "predict " + run + " --device cpu ";
  const Json result = json_of(predict + (folder / "new"));
  ASSERT_EQ(result["predictions"].size(), 10u);
  int right = 0;
  for (size_t i = 0; i < 10; ++i) {
    const Json& p = result["predictions"][i];
    EXPECT_EQ(p["input"], folder / ("new/" + std::to_string(i) + ".png"));
    EXPECT_EQ(p["probabilities"].size(), 10u);
    EXPECT_EQ(p["probabilities"][p["class"].get<std::string>()], p["probability"]);
    right += p["class"] == test.classes()[i];
  }
  EXPECT_GE(right, 8);
  // A larger colour picture with an alpha channel, and dark on light.
  const Tensor large = vision::enlarge(test.raw_images()[0], 3).expand({4, -1, -1}).contiguous();
  vision::write_png(large, folder / "large.png");
  vision::write_png(large.bitwise_not(), folder / "negative.png");
  EXPECT_EQ(json_of(predict + (folder / "large.png"))["predictions"][0]["class"],
            result["predictions"][0]["class"]);
  EXPECT_EQ(json_of(predict + "--invert " + (folder / "negative.png"))["predictions"][0]["class"],
            result["predictions"][0]["class"]);
  const std::string table =
      output_of(predict + "--top 2 " + (folder / "large.png") + " --out " + (folder / "shown.png"));
  EXPECT_THAT(table, AllOf(HasSubstr("probability 2"), HasSubstr("%"), HasSubstr("large.png"),
                           HasSubstr(folder / "shown.png")));
  EXPECT_EQ(vision::read_png(folder / "shown.png").size(0), 3);
  output_of(predict + (folder / "new") + " --out " + (folder / "p.csv"));
  EXPECT_THAT(contents(folder / "p.csv"), StartsWith("picture,class,probability\n"));
}

TEST_F(UsePictures, SayWhatTheyCannotUse) {
  std::filesystem::create_directory(folder / "empty");
  const std::string predict = "predict " + run + " --device cpu ";
  expect_bad_input(predict + (folder / "none.png"), "there is no file or folder");
  expect_bad_input(predict + (folder / "empty"), "holds no .png or .jpg files");
  expect_bad_input(predict + run + "/run.toml", "run.toml");
  expect_bad_input(predict + run + " --out a.gif", "give it the ending .png");
  expect_bad_input(predict + run + " --top 0", "--top must be positive, got 0");
  expect_bad_input("predict " + run, "inputs is required");
  expect_bad_input("generate " + run,
                   "is of the task fashion-mnist; taeda generate wants one of text");
  expect_bad_input("eval " + (folder / "empty"), "holds no checkpoint.safetensors");
  expect_bad_input("eval " + (folder / "none"), "there is no run or checkpoint");
  expect_bad_input("eval " + run + "/result.json", "result.json");
  expect_bad_input("eval " + run + " --device cuda:77", "cuda");
}

TEST_F(UsePictures, RefuseDescriptionsThatMakeNoSense) {
  const std::string path = folder / "changed.safetensors";
  const auto refused = [&](const std::string& what, const std::string& with,
                           const std::string& message) {
    io::Archive archive = io::load_archive(run + "/best.safetensors");
    std::string& about = archive.metadata.at("about");
    const size_t at = about.find(what);
    ASSERT_NE(at, std::string::npos) << about;
    about.replace(at, what.size(), with);
    io::save_archive(archive, path);
    expect_bad_input("eval " + path + " --data " + data, message);
  };
  refused("[1,28,28]", "[1,28,100000000]", "pictures' longer side must be from 8 to 1024");
  refused("[1,28,28]", "[2,28,28]", "a shape that there is not");
  refused("[1,28,28]", "[1,28]", "a shape that there is not");
  refused("\"cnn\"", "\"gnn\"", "--model must be one of");
  refused("\"fashion-mnist\"", "\"csv\"", "features");
  refused("\"stddev\":[", "\"stddev\":[1,", "are not those of its channels");
  refused("{", "[", "");
  refused("\"cnn\"", "7", "");
}

std::string table_of(int rows, bool words) {
  std::string out = "a,b,y\n";
  for (int i = 0; i < rows; ++i) {
    const double a = std::sin(i * 1.7), b = std::cos(i * 0.9), y = 3 * a - 2 * b + 50;
    out += std::to_string(a) + "," + std::to_string(b) + "," +
           (words ? std::string(y > 50 ? "high" : "low") : std::to_string(y)) + "\n";
  }
  return out;
}

TEST(UseTables, NumbersAndClasses) {
  const TemporaryFolder folder;
  const std::string table = folder / "t.csv", run = folder / "run", fresh = folder / "new.csv";
  const std::string train =
      "train csv --device cpu --workers 0 --force --epochs 30 --data " + table + " --out " + run;
  write_bytes(table, table_of(300, false));
  output_of(train);
  // Columns in another order, and none to tell.
  write_bytes(fresh, "b,x,a\n0.5,9,1\n-0.5,9,-1\n");
  const Json prices = json_of("predict " + run + " " + fresh)["predictions"];
  ASSERT_EQ(prices.size(), 2u);
  EXPECT_NEAR(prices[0]["value"].get<double>(), 52, 1);
  EXPECT_NEAR(prices[1]["value"].get<double>(), 48, 1);
  EXPECT_EQ(prices[1]["row"], 2);
  output_of("predict " + run + " " + fresh + " --out " + (folder / "p.csv"));
  EXPECT_THAT(contents(folder / "p.csv"), StartsWith("row,prediction\n1,5"));
  EXPECT_DOUBLE_EQ(json_of("eval --last " + run)["test_rmse"].get<double>(),
                   number_in(run, "test_rmse"));
  EXPECT_EQ(json_of("eval " + run + " --data " + table)["rows"], 300);
  expect_bad_input("eval " + run + " --data " + fresh, "has no column 'y'");

  write_bytes(table, table_of(300, true));
  output_of(train + " --target y");
  EXPECT_THAT(json_of("predict " + run + " " + fresh)["predictions"][0]["class"], "high");
  EXPECT_THAT(output_of("eval " + run + " --data " + table), HasSubstr("most often mistaken"));
  write_bytes(fresh, "a,b,y\n1,2,hihg\n");
  expect_bad_input("eval " + run + " --data " + fresh,
                   "row 1, column 'y' is no class of the network: 'hihg'; the nearest is 'high'");
  write_bytes(fresh, "a,c\n1,2\n");
  expect_bad_input("predict " + run + " " + fresh, "has no column 'b'");
  write_bytes(fresh, "a,b\n1,two\n");
  expect_bad_input("predict " + run + " " + fresh, "row 1, column 'b' is no number: 'two'");
  expect_bad_input("predict " + run + " " + fresh + " --out p.png", "a table is written as .csv");
}

TEST(UseText, GoesOnWithAPrompt) {
  const TemporaryFolder folder;
  const std::string text = folder / "t.txt", run = folder / "run";
  std::string poem;
  for (int i = 0; i < 120; ++i) poem += "the quick brown fox jumps over the lazy dog; ";
  write_bytes(text, poem);
  output_of(
      "train text --device cpu --width 32 --layers 1 --context 32 --batch-size 8 --lr 1e-2 "
      "--epochs 12 --workers 0 --data " +
      text + " --out " + run);
  const std::string generate = "generate " + run + " --device cpu --prompt 'the quick brown ' ";
  EXPECT_EQ(output_of(generate + "--temperature 0 --length 16"),
            "the quick brown fox jumps over t\n");
  // Within the context of 32 with a cache of keys and values, behind it without.
  EXPECT_EQ(output_of(generate + "--temperature 0 --length 74"),
            "the quick brown fox jumps over the lazy dog; "
            "the quick brown fox jumps over the lazy dog; \n");
  const std::string one = output_of(generate + "--length 300 --temperature 3 --seed 1");
  EXPECT_EQ(output_of(generate + "--length 300 --temperature 3 --seed 1"), one);
  EXPECT_NE(output_of(generate + "--length 300 --temperature 3 --seed 2"), one);
  EXPECT_EQ(output_of(generate + "--temperature 3 --top-k 1 --length 16"),
            "the quick brown fox jumps over t\n");
  const Json json = json_of("generate " + run + " --length 5");
  EXPECT_EQ(json["text"].get<std::string>().size(), 5u);
  EXPECT_GT(json_of("eval " + run)["test_accuracy"].get<double>(), 0.7);
  EXPECT_GT(json_of("eval " + run + " --data " + text)["characters"].get<int>(), 5000);
  expect_bad_input("generate " + run + " --prompt 'the Q'",
                   "--prompt: byte 4 ('Q') is one that the training text does not have");
  expect_bad_input("generate " + run + " --temperature -1",
                   "--temperature must be 0 or more, got -1");
  expect_bad_input("generate " + run + " --length 0", "--length must be from 1 to 10000000, got 0");
  expect_bad_input("predict " + run + " " + text, "is a language model: taeda generate");
}

TEST_F(UsePictures, RunsListAndCompare) {
  EXPECT_EQ(
      taeda_tool(arguments("--device cpu --workers 0 --lr 0.01 --stop-after 25", folder / "second"))
          .code,
      130);
  std::filesystem::create_directory(folder / "third");
  write_bytes(folder / "third/result.json", "{}");
  const Json list = json_of("runs " + folder.path())["runs"];
  ASSERT_EQ(list.size(), 2u) << "a file that is called result.json makes no run";
  EXPECT_EQ(list[0]["folder"], run);
  EXPECT_EQ(list[0]["state"], "finished");
  EXPECT_DOUBLE_EQ(list[0]["best_test_loss"].get<double>(), number_in(run, "best_test_loss"));
  EXPECT_EQ(list[1]["state"], "unfinished");
  EXPECT_EQ(list[1]["epochs"], 1);
  EXPECT_EQ(list[1]["settings"]["lr"], "0.01");
  EXPECT_THAT(taeda_tool("runs " + folder.path(), "COLUMNS=240").out,  // folders have long names
              AllOf(HasSubstr("best loss"), HasSubstr("fashion-mnist"), HasSubstr("4/4"),
                    HasSubstr("1/2")));
  const std::string compared = output_of("runs " + run + " " + (folder / "second"));
  EXPECT_THAT(compared, AllOf(HasSubstr("lr"), HasSubstr("0.003"), HasSubstr("0.01"),
                              HasSubstr("best test accuracy"), Not(HasSubstr("batch-size"))));
  EXPECT_THAT(output_of("runs " + data), HasSubstr("no runs below "));
  expect_bad_input("runs " + (folder / "none"), "there is no folder");
  expect_bad_input("runs " + run + " " + data, "holds no run");
}

}  // namespace
}  // namespace taeda
