// `taeda train --nproc`: several processes that train one model.
#include <dlfcn.h>

#include <chrono>
#include <sstream>
#include <thread>

#include "taeda/distributed/engine.h"
#include "taeda/io/archive.h"
#include "tests/tool/common.h"

namespace taeda {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

std::string engine_that_ranks_lack() {
#if defined(__SANITIZE_THREAD__)
  return "gRPC was built without ThreadSanitizer";
#else
  for (const char* name : {"grpc", "gloo"})
    if (!distributed::has_engine(name)) return std::string("the engine is missing: ") + name;
  return "";
#endif
}

/// The processes that `parent` has started, by rank.
std::vector<pid_t> ranks_of(pid_t parent) {
  std::vector<pid_t> out;
  const std::string id = std::to_string(parent);
  std::istringstream in(contents("/proc/" + id + "/task/" + id + "/children"));
  for (pid_t child = 0; in >> child;) out.push_back(child);
  return out;
}

/// Whether all have ended; waits for that.
bool all_gone(const std::vector<pid_t>& processes) {
  for (int i = 0; i < 500; ++i) {
    if (std::all_of(processes.begin(), processes.end(), [](pid_t p) { return ::kill(p, 0) != 0; }))
      return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

class TrainProcesses : public Train {
 protected:
  void SetUp() override {
    if (const std::string why = engine_that_ranks_lack(); !why.empty()) GTEST_SKIP() << why;
  }
  /// A run of the small network on the CPU in `nproc` processes.
  std::string run(int nproc, const std::string& more, const std::string& out_folder) {
    return arguments("--device cpu --threads 1 --workers 0 --model lenet --nproc " +
                         std::to_string(nproc) + " " + more,
                     out_folder);
  }
  /// A text for a network that drops features at random.
  std::string text_run(const std::string& more, const std::string& out_folder) {
    const std::string file = folder / "t.txt";
    std::string text;
    for (int i = 0; i < 60; ++i) text += "the quick brown fox jumps over the lazy dog; ";
    write_bytes(file, text);
    return "train text --model lstm --width 16 --layers 1 --context 16 --batch-size 9 --epochs 2"
           " --workers 1 --threads 1 --nproc 2 --data " +
           file + " --out " + out_folder + " " + more;
  }
  void expect_close_runs(const std::string& a, const std::string& b) {
    for (const char* name : {"train_loss", "test_loss"})
      EXPECT_NEAR(number_in(a, name), number_in(b, name), 1e-4 * number_in(b, name)) << name;
    EXPECT_NEAR(number_in(a, "test_accuracy"), number_in(b, "test_accuracy"), 0.011);
  }
};

TEST_F(TrainProcesses, GiveTheNumbersOfOne) {
  // 58 pictures are 3 batches of 19 and a last one of 1, of which one rank has nothing. Each step
  // magnifies what sums of another order round differently, so there are few.
  const std::string few = folder / "few";
  std::filesystem::create_directory(few);
  write_fashion_files(few, 58, 20);
  const std::string options = "--epochs 1 --batch-size 19 --data " + few;
  ASSERT_EQ(taeda_tool(run(1, options, folder / "one")).code, 0);
  for (int nproc : {2, 3}) {
    const std::string several = folder / std::to_string(nproc);
    const Outcome o = taeda_tool(run(nproc, options, several));
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(o.err, "") << "one rank reports";
    EXPECT_THAT(o.out, HasSubstr(std::to_string(nproc) + " processes of 1 thread\n"));
    expect_close_runs(several, folder / "one");
    EXPECT_EQ(number_in(several, "nproc"), nproc);
    EXPECT_TRUE(std::filesystem::exists(several + "/predictions.png"));
  }
}

TEST_F(TrainProcesses, NormaliseTheWholeBatch) {
  const std::string few = folder / "few";
  std::filesystem::create_directory(few);
  write_fashion_files(few, 5, 2);
  // The first loss is that of the initial weights, which batches' statistics go into.
  const std::string options =
      "--model resnet18 --epochs 1 --batch-size 5 --stop-after 1 --data " + few;
  for (int nproc : {1, 2})
    ASSERT_EQ(taeda_tool(run(nproc, options, folder / std::to_string(nproc))).code, 130);
  const auto one = io::SafeTensors::open(folder / "1/checkpoint.safetensors");
  const auto two = io::SafeTensors::open(folder / "2/checkpoint.safetensors");
  const auto loss = [](const Tensor& t) { return t.item<double>(); };
  const double expected = loss(one.get("meter.loss"));
  EXPECT_NEAR(loss(two.get("meter.loss")) + loss(two.get("rank1.meter.loss")), expected,
              1e-5 * expected);
}

TEST_F(TrainProcesses, GoOnBitForBit) {
  const std::string whole = folder / "whole", part = folder / "part";
  ASSERT_EQ(taeda_tool(text_run("--device cpu", whole)).code, 0);
  ASSERT_EQ(taeda_tool(text_run("--device cpu --stop-after 7", part)).code, 130);
  const Outcome o = taeda_tool(text_run("--device cpu --stop-after 11 --resume auto", part));
  ASSERT_EQ(o.code, 130);
  EXPECT_THAT(o.err, AllOf(HasSubstr("epoch 1, step 7\n"), HasSubstr("after step 18; to go on: "),
                           HasSubstr(" --nproc 2 ")));
  ASSERT_EQ(taeda_tool(text_run("--device cpu --resume auto", part)).code, 0);
  expect_equal_runs(part, whole);
}

TEST_F(TrainProcesses, HaveADeviceEach) {
  const std::string whole = folder / "whole", part = folder / "part";
  const std::string two = "TAEDA_SIM_DEVICES=2", options = "--device sim --amp ";
  Outcome o = taeda_tool(text_run(options, whole), two);
  ASSERT_EQ(o.code, 0) << o.err;
  ASSERT_EQ(taeda_tool(text_run(options + "--stop-after 7", part), two).code, 130);
  o = taeda_tool(text_run(options + "--resume auto", part), two);
  ASSERT_EQ(o.code, 0) << o.err;
  expect_equal_runs(part, whole);
  // Where features were dropped, random numbers were drawn.
  const auto file = io::SafeTensors::open(whole + "/checkpoint.safetensors");
  const auto state = [&](const std::string& name) {
    const Tensor t = file.get(name);
    return std::string(static_cast<const char*>(t.data_ptr()), static_cast<size_t>(t.nbytes()));
  };
  EXPECT_NE(state("random.sim:0"), state("random.sim:1"));
  EXPECT_NE(state("rank1.random.sim:0"), state("rank1.random.sim:1"));
  EXPECT_NE(state("random.sim:0"), state("rank1.random.sim:1"));
}

TEST_F(TrainProcesses, StopTogether) {
  struct Told {
    const char* who;
    int number;
    bool command, ranks[2];
  };
  for (const Told& told :
       {Told{"command", SIGINT, true, {false, false}}, Told{"rank", SIGTERM, false, {false, true}},
        Told{"group", SIGTERM, true, {true, true}}}) {
    const std::string part = folder / told.who, same = folder / "same";
    std::vector<pid_t> ranks;
    Outcome o;
    ASSERT_NO_FATAL_FAILURE(watch_taeda_tool(
        run(2, "--epochs 1000", part), "│     2 │",
        [&](pid_t command) {
          ranks = ranks_of(command);
          ASSERT_EQ(ranks.size(), 2u);
          if (told.command) ::kill(command, told.number);
          for (size_t i = 0; i < 2; ++i)
            if (told.ranks[i]) ::kill(ranks[i], told.number);
          if (told.command) ::kill(command, told.number);
        },
        &o));
    EXPECT_EQ(o.code, 130) << told.who << o.err;
    EXPECT_TRUE(all_gone(ranks));
    const auto checkpoint = io::SafeTensors::open(part + "/checkpoint.safetensors");
    const int64_t steps = std::stoll(checkpoint.metadata().at("steps"));
    EXPECT_THAT(o.err, HasSubstr("after step " + std::to_string(steps)));
    const std::string options = "--epochs 1000 --stop-after ";
    EXPECT_EQ(taeda_tool(run(2, options + "3 --resume auto", part)).code, 130);
    EXPECT_EQ(taeda_tool(run(2, options + std::to_string(steps + 3) + " --force", same)).code, 130);
    EXPECT_TRUE(without_times_in_checkpoint(part) == without_times_in_checkpoint(same)) << told.who;
  }
}

TEST_F(TrainProcesses, RefuseCheckpointsOfOtherNumbers) {
  const std::string two = folder / "two", one = folder / "one";
  ASSERT_EQ(taeda_tool(run(2, "--stop-after 2", two)).code, 130);
  ASSERT_EQ(taeda_tool(run(1, "--stop-after 2", one)).code, 130);
  expect_bad_input(run(3, "--resume auto", two), "is of a run with --nproc 2, not 3");
  expect_bad_input(run(1, "--resume auto", two), "is of a run with --nproc 2, not 1");
  expect_bad_input(run(2, "--resume auto", one), "is of a run with --nproc 1, not 2");
  // One that was written when there was no --nproc.
  const std::string path = one + "/checkpoint.safetensors";
  io::Archive archive = io::load_archive(path);
  ASSERT_EQ(archive.metadata.erase("run.--nproc"), 1u);
  io::save_archive(archive, path);
  expect_bad_input(run(2, "--resume auto", one), "is of a run with --nproc 1, not 2");
  EXPECT_EQ(taeda_tool(run(1, "--resume auto", one)).code, 0);
}

TEST_F(TrainProcesses, RefuseWhatMakesNoSense) {
  expect_usage_error("--nproc 0", "--nproc must be positive, got 0");
  expect_usage_error("--nproc -1", "--nproc must be positive, got -1");
  expect_usage_error("--nproc 21", "--nproc must be at most --batch-size (20), got 21");
  expect_usage_error("--nproc 2 --data-parallel", "--data-parallel over the devices of one");
  // What only the ranks find out.
  expect_usage_error("--device sim:99 --nproc 2", "sim:99");
  expect_bad_input("train mnist --nproc 2 --device cpu --data " + folder.path(), "get them from");
  const Outcome o = taeda_tool(run(2, "", out), "RANK=0 WORLD_SIZE=3");
  EXPECT_EQ(o.code, 2);
  EXPECT_THAT(o.err, HasSubstr("--nproc 2: this process is one of 3 that were started together"));
}

TEST_F(TrainProcesses, RunUnderALauncher) {
  const std::string spawned = folder / "spawned", launched = folder / "launched";
  ASSERT_EQ(taeda_tool(run(2, "--epochs 1", spawned)).code, 0);
  const Outcome o = taeda_tool("launch --standalone --nproc-per-node 2 " TAEDA_TOOL " " +
                               run(2, "--epochs 1", launched));
  ASSERT_EQ(o.code, 0) << o.err;
  expect_equal_runs(spawned, launched);
}

TEST_F(TrainProcesses, EndWhenOneIsKilled) {
  for (size_t victim : {0u, 1u}) {
    std::vector<pid_t> ranks;
    Outcome o;
    ASSERT_NO_FATAL_FAILURE(watch_taeda_tool(
        run(3, "--epochs 1000 --force", folder / "killed"), "│     1 │",
        [&](pid_t command) {
          ranks = ranks_of(command);
          ASSERT_EQ(ranks.size(), 3u);
          ::kill(ranks[victim], SIGKILL);
        },
        &o));
    EXPECT_EQ(o.code, 1);
    EXPECT_THAT(o.err,
                HasSubstr("taeda: rank " + std::to_string(victim) + " (process " +
                          std::to_string(ranks[victim]) + "): was ended by SIGKILL (Killed)\n"));
    EXPECT_TRUE(all_gone(ranks));
  }
}

TEST_F(TrainProcesses, EndWithTheCommand) {
  std::vector<pid_t> ranks;
  Outcome o;
  ASSERT_NO_FATAL_FAILURE(watch_taeda_tool(
      run(2, "--epochs 1000", folder / "killed"), "│     1 │",
      [&](pid_t command) {
        ranks = ranks_of(command);
        ::kill(command, SIGKILL);
      },
      &o));
  EXPECT_EQ(o.code, 128 + SIGKILL);
  ASSERT_EQ(ranks.size(), 2u);
  EXPECT_TRUE(all_gone(ranks));
}

TEST_F(TrainProcesses, SayWhichOneFailed) {
  ASSERT_EQ(taeda_tool(run(2, "--stop-after 2", out)).code, 130);
  const std::string path = out + "/checkpoint.safetensors", good = contents(path);
  // A full disk: files may not grow beyond a few blocks.
  const std::string limited = "sh -c 'trap \"\" XFSZ; ulimit -f 8; exec " TAEDA_TOOL " " +
                              run(2, "--resume auto --stop-after 1", out) + "' >/dev/null 2>" +
                              (folder / "err");
  EXPECT_EQ(WEXITSTATUS(std::system(limited.c_str())), 1);
  EXPECT_THAT(contents(folder / "err"),
              AllOf(HasSubstr("taeda: rank 0 (process "),
                    HasSubstr("): cannot write " + path + ": File too large")));
  EXPECT_TRUE(contents(path) == good) << "the last good one stays";
}

TEST(TrainWithoutEngines, SaysSoBeforeItReadsAnything) {
  // A library that finds none beside it.
  Dl_info library;
  ASSERT_NE(::dladdr(reinterpret_cast<void*>(&distributed::has_engine), &library), 0);
  const std::filesystem::path path(library.dli_fname);
  if (path.filename().string().find(".so") == std::string::npos)
    GTEST_SKIP() << "the library is part of the program";
  const TemporaryFolder folder;
  std::filesystem::copy_file(path, folder / path.filename().string());
  const Outcome o = taeda_tool("train mnist --nproc 2 --device cpu --data /no/folder",
                               "LD_LIBRARY_PATH=" + folder.path());
  EXPECT_EQ(o.code, 2);
  EXPECT_THAT(o.err, AllOf(StartsWith("taeda: "), HasSubstr("taeda train --nproc"),
                           HasSubstr("apt install libtaeda0.2-distributed")));
  const Outcome info = taeda_tool("info", "LD_LIBRARY_PATH=" + folder.path());
  EXPECT_THAT(info.out, testing::ContainsRegex("GRPC +built, but not to be had here: no plug-in"));
}

}  // namespace
}  // namespace taeda
