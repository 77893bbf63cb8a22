// `taeda train`: runs that are stopped and go on, and every task.
#include <sched.h>

#include <cmath>

#include "taeda/io/safetensors.h"
#include "taeda/log/record_file.h"
#include "taeda/log/summary_writer.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/vision/image_io.h"
#include "tests/tool/common.h"
#include "tests/variable.h"

namespace taeda {
namespace {

using testing::HasSubstr;
using testing::Not;

class Resume : public Train {};

TEST_F(Resume, EqualsAnUnbrokenRun) {
  const std::string options = "--device cpu --threads 1 --epochs 3 --workers 1";
  ASSERT_EQ(taeda_tool(arguments(options, folder / "whole")).code, 0);
  // 20 steps an epoch: inside the first, at the end of one, then in the last one. Twice with
  // the command that the tool itself said.
  for (const char* stop : {"7", "20", "53"}) {
    const std::string part = folder / stop;
    const Outcome o = taeda_tool(arguments(options + " --stop-after " + std::string(stop), part));
    EXPECT_EQ(o.code, 130);
    EXPECT_THAT(o.err, HasSubstr("interrupted in epoch "));
    EXPECT_THAT(o.err, HasSubstr("after step " + std::string(stop) + "; to go on: "));
    EXPECT_FALSE(std::filesystem::exists(part + "/result.json"));
    std::string command = o.err.substr(o.err.find("to go on: ") + 10);
    command.pop_back();
    EXPECT_THAT(command, Not(HasSubstr("--stop-after")));
    EXPECT_EQ(std::system((command + " >/dev/null 2>&1").c_str()), 0) << command;
    expect_equal_runs(part, folder / "whole");
  }
}

TEST_F(Resume, OnADeviceInMixedPrecisionOverTwoReplicas) {
  const std::string options =
      "--device sim --data-parallel --amp --epochs 2 --workers 0 --model lenet";
  ASSERT_EQ(taeda_tool(arguments(options, folder / "whole")).code, 0);
  const std::string part = folder / "part";
  EXPECT_EQ(taeda_tool(arguments(options + " --stop-after 9", part)).code, 130);
  EXPECT_EQ(taeda_tool(arguments(options + " --stop-after 13 --resume auto", part)).code, 130);
  const Outcome o = taeda_tool(arguments(options + " --resume " + part, part));
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.err, HasSubstr("epoch 2, step 22"));
  EXPECT_THAT(o.out, HasSubstr("│     1 │"));
  expect_equal_runs(part, folder / "whole");
}

TEST_F(Resume, AfterASignal) {
  for (int number : {SIGINT, SIGTERM}) {
    const std::string part = folder / std::to_string(number);
    Outcome o;
    ASSERT_NO_FATAL_FAILURE(signal_taeda_tool(
        arguments("--device cpu --epochs 1000 --threads 1", part), "│     2 │", number, &o));
    EXPECT_EQ(o.code, 130);
    // Wherever it was stopped, going on leads to where a run leads that stops there by itself.
    const auto checkpoint = io::SafeTensors::open(part + "/checkpoint.safetensors");
    const int64_t steps = std::stoll(checkpoint.metadata().at("steps"));
    EXPECT_THAT(o.err, HasSubstr("after step " + std::to_string(steps)));
    const std::string same = folder / "same";
    const std::string options = "--device cpu --epochs 1000 --threads 1 --stop-after ";
    EXPECT_EQ(taeda_tool(arguments(options + "3 --resume auto", part)).code, 130);
    EXPECT_EQ(taeda_tool(arguments(options + std::to_string(steps + 3) + " --force", same)).code,
              130);
    EXPECT_TRUE(without_times_in_checkpoint(part) == without_times_in_checkpoint(same));
  }
}

TEST_F(Resume, RefusesOtherRunsAndKeepsTheLastGoodCheckpoint) {
  const std::string options = "--device cpu --threads 1 --workers 0 ";
  const std::string path = out + "/checkpoint.safetensors";
  expect_usage_error("--resume " + (folder / "nothing"), "there is no checkpoint");
  EXPECT_EQ(taeda_tool(arguments(options + "--stop-after 5 --resume auto", out)).code, 130)
      << "auto starts where there is nothing to go on from";
  const std::string good = contents(path);
  expect_bad_input(arguments("--device cpu --resume auto --lr 0.5", out),
                   "is of a run with --lr 0.003, not 0.5");
  expect_bad_input(arguments("--device cpu --resume auto --model mlp", out),
                   "is of a run with --model cnn, not mlp");
  // A full disk: files may not grow beyond a few blocks.
  const std::string limited = "sh -c 'trap \"\" XFSZ; ulimit -f 8; exec " TAEDA_TOOL " " +
                              arguments(options + "--resume auto", out) + "' >/dev/null 2>" +
                              (folder / "err");
  EXPECT_EQ(WEXITSTATUS(std::system(limited.c_str())), 1);
  EXPECT_THAT(contents(folder / "err"),
              HasSubstr("cannot write " + out + "/best.safetensors: File too large"));
  EXPECT_TRUE(contents(path) == good) << "the last good one stays";
  write_bytes(path, good.substr(0, good.size() / 2));
  expect_bad_input(arguments("--device cpu --resume auto", out), "is no valid safetensors file");
}

TEST_F(Resume, ThreadsThatWaitSleepWhereThereAreMoreThanCores) {
  const Variable unset("OMP_WAIT_POLICY", std::nullopt);
  cpu_set_t all, one;
  ASSERT_EQ(::sched_getaffinity(0, sizeof all, &all), 0);
  CPU_ZERO(&one);
  for (int c = 0; CPU_COUNT(&one) == 0; ++c)
    if (CPU_ISSET(c, &all)) CPU_SET(c, &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  std::string environment;
  Outcome o;
  watch_taeda_tool(
      arguments("--device cpu --epochs 1000 --threads 2", out), "│     1 │",
      [&](pid_t process) {
        environment = contents("/proc/" + std::to_string(process) + "/environ");
        ::kill(process, SIGINT);
      },
      &o);
  EXPECT_EQ(::sched_setaffinity(0, sizeof all, &all), 0);
  EXPECT_EQ(o.code, 130);
  EXPECT_THAT(environment, HasSubstr("OMP_WAIT_POLICY=passive"));
}

std::string wave_table(int rows, bool words) {
  std::string out = "a,b,c,y\n";
  for (int i = 0; i < rows; ++i) {
    const double a = std::sin(i * 1.7), b = std::cos(i * 0.9), c = std::sin(i * 0.3 + 1);
    const double y = 3 * a - 2 * b + 50;
    out += std::to_string(a) + "," + std::to_string(b) + "," + std::to_string(c) + ",";
    out += words ? (y > 50 ? "high" : "low") : std::to_string(y);
    out += "\n";
  }
  return out;
}

TEST(TrainTasks, Tables) {
  const TemporaryFolder folder;
  const std::string table = folder / "t.csv", out = folder / "out";
  const std::string common = " --device cpu --workers 0 --force --out " + out + " --data " + table;
  write_bytes(table, wave_table(300, true));
  Outcome o = taeda_tool("train csv --target y" + common);
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("240 training and 60 test rows of 3 columns, 2 classes"));
  EXPECT_THAT(o.out, HasSubstr("high"));
  EXPECT_GT(number_in(out, "test_accuracy"), 0.8);

  write_bytes(table, wave_table(300, false));
  o = taeda_tool("train csv --epochs 30" + common);
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("regression"));
  EXPECT_THAT(o.out, HasSubstr("root mean square error"));
  EXPECT_LT(number_in(out, "test_rmse"), 0.5 * number_in(out, "target_stddev"));

  expect_bad_input("train csv --target z" + common, "has no column 'z'");
  expect_bad_input("train csv --model gpt" + common, "--model must be mlp, got gpt");
  expect_bad_input("train csv --delimiter ::" + common, "--delimiter must be one character");
  expect_bad_input("train csv", "--data is required");
  expect_bad_input("train csv --data " + (folder / "none.csv"), "none.csv");
}

TEST(TrainTasks, GradientsThatAreNotFiniteAreNamed) {
  const TemporaryFolder folder;
  std::string table = "x,y\n";
  for (int i = 0; i < 400; ++i)
    table += std::to_string(i) + "," + std::to_string(3 * i + 0.5) + "\n";
  std::ofstream(folder / "t.csv") << table;
  const std::string call = "train csv --data " + (folder / "t.csv") +
                           " --device cpu --epochs 3 --optimizer sgd --schedule constant --lr 1e5";
  const Outcome wild = taeda_tool(call + " --out " + (folder / "wild"));
  EXPECT_EQ(wild.code, 1);
  EXPECT_THAT(wild.err, HasSubstr("steps skipped, the first because "));
  EXPECT_THAT(wild.err, HasSubstr("no step of epoch 2 could be taken: "));
  EXPECT_THAT(wild.err, HasSubstr("is not finite; try a lower --lr, or --max-norm 1"));
  const Outcome tame = taeda_tool(call + " --max-norm 1e-6 --out " + (folder / "tame"));
  EXPECT_EQ(tame.code, 0) << tame.err;
  EXPECT_EQ(tame.err.find("skipped"), std::string::npos);
  expect_bad_input(call + " --max-norm 0", "--max-norm must be positive, got 0");
}

TEST(TrainTasks, Text) {
  const TemporaryFolder folder;
  const std::string text = folder / "t.txt", out = folder / "out";
  std::string poem;
  for (int i = 0; i < 120; ++i) poem += "the quick brown fox jumps over the lazy dog; ";
  write_bytes(text, poem);
  for (const char* model : {"gpt", "lstm"}) {
    const Outcome o = taeda_tool(
        "train text --device cpu --width 32 --layers 1 --context 32 "
        "--batch-size 8 --lr 1e-2 --epochs 12 --workers 0 --force --model " +
        std::string(model) + " --out " + out + " --data " + text);
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_THAT(o.out, HasSubstr("characters, 28 different ones"));
    EXPECT_GT(number_in(out, "test_accuracy"), 0.7) << model;
    EXPECT_THAT(contents(out + "/result.json"), HasSubstr("\"sample\": "));
  }
  expect_bad_input("train text --model resnet18 --data " + text,
                   "--model must be one of gpt, lstm, got resnet18");
  const std::string other = folder / "other.txt";
  write_bytes(other, poem + "?");
  expect_bad_input("train text --data " + text + " --test " + other,
                   "is one that the training text does not have");
  expect_bad_input("train text --context 600 --data " + text, "too few for pieces of 600");
  expect_bad_input("train text --data " + (folder / "none"), "none");
}

TEST(TrainTasks, FoldersOfPictures) {
  if (!vision::has_png()) GTEST_SKIP() << "built without libpng";
  const TemporaryFolder folder;
  for (const auto& [name, value] : {std::pair("bright", 220), std::pair("dark", 40)}) {
    std::filesystem::create_directories(folder / ("photos/" + std::string(name)));
    for (int i = 0; i < 12; ++i)
      vision::write_png(
          full({3, 20 + i, 24}, value + i, kByte),
          folder / ("photos/" + std::string(name) + "/" + std::to_string(i) + ".png"));
  }
  const std::string out = folder / "out";
  const Outcome o = taeda_tool(
      "train folder --device cpu --image-size 16 --model cnn --epochs 6 --batch-size 4 --workers 1"
      " --tensorboard --data " +
      (folder / "photos") + " --out " + out);
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("22 training and 2 test images of 2 classes"));
  EXPECT_EQ(number_in(out, "test_accuracy"), 1);
  EXPECT_TRUE(std::filesystem::exists(out + "/predictions.png"));
  EXPECT_TRUE(std::filesystem::exists(out + "/tensorboard"));
  const std::string data = "--data " + (folder / "photos");
  expect_bad_input("train folder --model lenet " + data, "takes pictures of 28 x 28 or 32 x 32");
  expect_bad_input("train folder --image-size 4 " + data, "--image-size must be from 8 to 1024");
  expect_bad_input("train folder --model alexnet " + data, "--model must be one of cnn, lenet");
  expect_bad_input("train folder --data " + (folder / "nowhere"), "there is no folder");
}

TEST(TrainTasks, DataSetsThatAreNotThereSayWhereToGetThem) {
  const TemporaryFolder folder;
  const std::string data = " --device cpu --data " + folder.path();
  expect_bad_input("train mnist" + data, "get them from ossci-datasets.s3.amazonaws.com/mnist");
  expect_bad_input("train cifar10" + data, "cifar-10-binary.tar.gz");
  expect_bad_input("train fashion-mnist" + data, "dataset-fashion-mnist");
}

TEST(TrainTasks, SmallestCifarThroughTheZoo) {
  const TemporaryFolder folder;
  for (const char* name : {"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4",
                           "data_batch_5", "test_batch"}) {
    std::string bytes;
    for (int i = 0; i < 2; ++i) (bytes += static_cast<char>(i)).append(3072, 9);
    write_bytes(folder / (std::string(name) + ".bin"), bytes);
  }
  for (const char* model : {"resnet18", "vgg", "mobilenet_v2", "lenet", "mlp"}) {
    const Outcome o = taeda_tool(
        "train cifar10 --device cpu --epochs 1 --workers 0 --batch-size 10"
        " --data " +
        folder.path() + " --force --model " + model + " --out " + (folder / "out"));
    EXPECT_EQ(o.code, 0) << o.err;
  }
}

TEST(TrainTasks, DataParallelNeedsAccelerators) {
  expect_bad_input("train fashion-mnist --device cpu --data-parallel",
                   "--data-parallel needs accelerators");
}

}  // namespace
}  // namespace taeda
