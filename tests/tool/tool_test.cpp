// The `taeda` command as users meet it: a process with arguments, output and an exit code.
#include <filesystem>
#include <set>

#include "taeda/io/safetensors.h"
#include "taeda/vision/image_io.h"
#include "tests/tool/common.h"

namespace taeda {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Tool, VersionHelpAndLists) {
  const Outcome version = taeda_tool("--version");
  EXPECT_EQ(version.code, 0);
  EXPECT_THAT(version.out, ContainsRegex("^taeda [0-9]+\\.[0-9]+\\.[0-9]+"));
  const Outcome help = taeda_tool("train fashion-mnist --help");
  EXPECT_EQ(help.code, 0);
  for (const char* flag : {"--device", "--epochs", "--batch-size", "--lr", "--workers", "--seed",
                           "--data", "--out", "--threads"})
    EXPECT_THAT(help.out, HasSubstr(flag));
  const Outcome devices = taeda_tool("devices", "TAEDA_SIM_DEVICES=3");
  EXPECT_EQ(devices.code, 0);
  EXPECT_THAT(devices.out, HasSubstr("cpu"));
  EXPECT_THAT(devices.out, HasSubstr("sim:2"));
  const Outcome info = taeda_tool("info");
  EXPECT_EQ(info.code, 0);
  EXPECT_THAT(info.out, HasSubstr("compiler"));
}

TEST(Ops, ListTellAndPrintJson) {
  const Outcome one = taeda_tool("ops linalg.det");
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_THAT(one.out, testing::HasSubstr("linalg::det(const Tensor& A) -> Tensor"));
  EXPECT_THAT(one.out, testing::HasSubstr("method; det_out"));
  for (const char* name : {"floor_", "floor_out", "fix", "view"})
    EXPECT_EQ(taeda_tool(std::string("ops ") + name).code, 0) << name;
  const Outcome json = taeda_tool("ops --json subtract");
  EXPECT_THAT(json.out, testing::HasSubstr("\"second_names\": \"subtract\""));
  EXPECT_THAT(json.out, testing::HasSubstr("\"default\": \"1\""));
  const Outcome unknown = taeda_tool("ops flooor");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err,
              testing::HasSubstr("no operation is called 'flooor'; did you mean floor?"));
}

TEST(Tool, RefusesUnknownCommandsAndFlags) {
  for (const char* arguments : {"fly", "train", "train imagenet", "--nonsense", "devices extra"}) {
    const Outcome o = taeda_tool(arguments);
    EXPECT_EQ(o.code, 2) << arguments;
    EXPECT_THAT(o.err, StartsWith("taeda: ")) << arguments;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
  }
  EXPECT_THAT(taeda_tool("train imagenet").err,
              AllOf(StartsWith("taeda: train: expected one of fashion-mnist, "),
                    HasSubstr(", got 'imagenet' (see --help)")));
  EXPECT_THAT(taeda_tool("fly").err, StartsWith("taeda: expected one of train, "));
}

TEST(Tool, AloneShowsItsHelp) {
  const Outcome o = taeda_tool("");
  EXPECT_EQ(o.code, 0);
  EXPECT_THAT(o.out, AllOf(HasSubstr("train"), HasSubstr("COMMAND --help")));
  EXPECT_EQ(taeda_tool("help").out, o.out);
}

TEST(Tool, NamesTheCommandThatLacksSomething) {
  EXPECT_THAT(taeda_tool("eval").err, StartsWith("taeda: eval: run is required"));
  EXPECT_THAT(taeda_tool("eval --devcie").err,
              StartsWith("taeda: eval does not know --devcie; did you mean --device?"));
}

TEST(Tool, SaysWhatMayHaveBeenMeant) {
  EXPECT_THAT(taeda_tool("trian").err, HasSubstr("got 'trian'; did you mean train? (see --help)"));
  for (const char* arguments : {"train --batchsize 3", "train mnist --batchsize=3"})
    EXPECT_THAT(taeda_tool(arguments).err, HasSubstr("did you mean --batch-size?")) << arguments;
  EXPECT_THAT(taeda_tool("train mnist --nonsense").err, Not(HasSubstr("did you mean")));
}

TEST(Tool, RefusesNumbersOfDevicesThatAreNone) {
  const Outcome o = taeda_tool("devices", "TAEDA_SIM_DEVICES=foo");
  EXPECT_NE(o.code, 0);
  EXPECT_THAT(o.err, AllOf(HasSubstr("TAEDA_SIM_DEVICES: expected"), HasSubstr("got 'foo'")));
}

TEST_F(Train, RefusesFlagsThatMakeNoSense) {
  expect_usage_error("--batch-size 0", "--batch-size must be positive, got 0");
  expect_usage_error("--batch-size -3", "--batch-size must be positive, got -3");
  expect_usage_error("--batch-size many", "--batch-size");
  expect_usage_error("--epochs 0", "--epochs must be positive, got 0");
  expect_usage_error("--lr 0", "--lr must be positive, got 0");
  expect_usage_error("--lr -1e-3", "--lr must be positive, got -0.001");
  expect_usage_error("--lr nan", "--lr must be positive, got nan");
  expect_usage_error("--workers -1", "--workers must be from 0 to 256, got -1");
  expect_usage_error("--threads -1", "--threads must be from 0 to 4096, got -1");
  expect_usage_error("--seed -1", "--seed must be 0 or more, got -1");
  expect_usage_error("--nonsense", "--nonsense");
  expect_usage_error("extra", "extra");
}

TEST_F(Train, RefusesDevicesThatDoNotExist) {
  expect_usage_error(
      "--device gpu",
      "Expected one of cpu, cuda, sim, meta device type at start of device string: gpu");
  expect_usage_error("--device sim:99", "sim:99");
  expect_usage_error("--device meta", "--device meta: its tensors have no values");
  expect_usage_error("--device cpu:128", "Invalid device string: 'cpu:128'");
  expect_usage_error("--device sim:x", "Invalid device string: 'sim:x'");
  expect_usage_error("--device cuda:77", "cuda");
}

TEST_F(Train, RefusesMissingAndDamagedData) {
  const std::string images = data + "/train-images-idx3-ubyte",
                    labels = data + "/t10k-labels-idx1-ubyte.gz";
  const std::string good = contents(images);
  write_bytes(images, good.substr(0, 1000));
  expect_usage_error("", images + " is truncated: expected 313616 bytes, found 1000");
  write_bytes(images, good);
  std::filesystem::resize_file(labels, std::filesystem::file_size(labels) - 20);
  expect_usage_error("", labels + " is truncated");
  std::filesystem::remove(labels);
  expect_usage_error("",
                     "cannot find t10k-labels-idx1-ubyte or t10k-labels-idx1-ubyte.gz in " + data);
  data = folder / "nowhere";
  expect_usage_error(
      "", "cannot find train-images-idx3-ubyte or train-images-idx3-ubyte.gz in " + data);
}

TEST_F(Train, RefusesAFolderThatCannotBeWritten) {
  write_bytes(folder / "file", "x");
  const Outcome o = taeda_tool(arguments("", folder / "file/out"));
  EXPECT_EQ(o.code, 2);
  EXPECT_THAT(o.err, StartsWith("taeda: cannot make the output folder " + (folder / "file/out")));
  const Outcome there = taeda_tool(arguments("", folder / "file"));
  EXPECT_EQ(there.code, 2);
  EXPECT_THAT(there.err, HasSubstr(folder / "file"));
  const Outcome system = taeda_tool(arguments("", "/proc/taeda"));
  EXPECT_EQ(system.code, 2);
  EXPECT_THAT(system.err, HasSubstr("/proc/taeda"));
}

TEST_F(Train, LearnsAndLeavesItsResults) {
  const Outcome o = taeda_tool(arguments("--device cpu --epochs 4 --workers 1 --threads 1", out));
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("400 training and 100 test images"));
  EXPECT_THAT(o.out, HasSubstr("│ epoch │ train loss"));
  EXPECT_THAT(o.out, HasSubstr("Ankle boot"));
  EXPECT_EQ(o.out.find('\r'), std::string::npos) << "no redrawing where there is no terminal";
  std::set<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(out))
    if (entry.path().extension() != ".png") left.insert(entry.path().filename().string());
  EXPECT_THAT(left, testing::ElementsAre("best.safetensors", "checkpoint.safetensors",
                                         "result.json", "run.toml", "steps.csv"));
  EXPECT_EQ(std::filesystem::exists(out + "/predictions.png"), vision::has_png());

  const std::string result = contents(out + "/result.json");
  EXPECT_THAT(result, HasSubstr("\"device\": \"cpu\""));
  EXPECT_THAT(result, HasSubstr("\"seed\": 0"));
  EXPECT_THAT(result, HasSubstr("\"images_per_second\": "));
  std::smatch match;
  ASSERT_TRUE(std::regex_search(result, match, std::regex("\n  \"test_accuracy\": ([0-9.]+)")));
  const double accuracy = std::stod(match[1]);
  EXPECT_GT(accuracy, 0.8) << "ten squares at ten places are easy to tell apart";
  EXPECT_LE(accuracy, 1.0);
  EXPECT_EQ(numbers(out).size(), 4u * 4 + 1);

  const auto checkpoint = io::SafeTensors::open(out + "/checkpoint.safetensors");
  EXPECT_EQ(checkpoint.get("model.conv1.weight").sizes().vec(), (std::vector<int64_t>{6, 1, 5, 5}));
  EXPECT_EQ(checkpoint.get("model.out.bias").numel(), 10);
  EXPECT_EQ(checkpoint.metadata().at("epoch"), "4");
  if (vision::has_png()) {
    EXPECT_EQ(vision::read_png(out + "/predictions.png").size(0), 3);
  }
}

TEST_F(Train, SameSeedSameNumbers) {
  const auto run = [&](const std::string& more, const std::string& name) {
    const Outcome o = taeda_tool(arguments(more, folder / name));
    EXPECT_EQ(o.code, 0) << o.err;
    return numbers(folder / name);
  };
  const auto first = run("--device cpu --workers 0", "a");
  EXPECT_EQ(first.size(), 2u * 4 + 1);
  EXPECT_EQ(run("--device cpu --workers 3", "b"), first) << "workers change nothing";
  EXPECT_EQ(run("--device cpu --workers 2 --threads 1", "c"), first) << "threads change nothing";
  EXPECT_NE(run("--device cpu --seed 1", "d"), first);
  const auto sim = run("--device sim", "e");
  EXPECT_EQ(run("--device sim:1 --workers 0", "f"), sim) << "one simulated device is like another";
}

TEST_F(Train, CtrlCKeepsTheLastCheckpoint) {
  // The line of the first epoch is written after its checkpoint.
  Outcome o;
  ASSERT_NO_FATAL_FAILURE(signal_taeda_tool(
      "train fashion-mnist --data " + data + " --out " + out + " --device cpu --epochs 1000000",
      "│     1 │", SIGINT, &o));
  EXPECT_EQ(o.code, 130);
  EXPECT_GE(io::SafeTensors::open(out + "/checkpoint.safetensors").tensors().size(), 10u);
  EXPECT_FALSE(std::filesystem::exists(out + "/result.json"));
}

/// `./demo` builds the program that trains, and not the one beside it.
TEST(Tool, SaysHowToGetCommandsThatAreNotBuilt) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "bin");
  const std::string alone = folder / "bin/taeda";
  std::filesystem::copy_file(TAEDA_TOOL, alone);
  const std::string command = alone + " report out 2>" + (folder / "err") + " >/dev/null";
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 2);
  EXPECT_THAT(contents(folder / "err"), AllOf(StartsWith("taeda: taeda report is not built here: "),
                                              HasSubstr(" --target taeda_tool")));
}

}  // namespace
}  // namespace taeda
