// Two runs of `taeda train` that would share a folder.
#include <thread>

#include "tests/tool/common.h"

namespace taeda {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class SharedFolder : public Train {
 protected:
  std::string endless(const std::string& more = "") {
    return arguments("--device cpu --model mlp --threads 1 --workers 0 --epochs 100000 " + more,
                     out);
  }
  static constexpr const char* kUnderWay = "│     1 │";
};

TEST_F(SharedFolder, OfARunUnderWayIsRefusedByItsName) {
  for (const char* more : {"--resume auto", "--force"}) {
    Outcome first, second;
    pid_t id = 0;
    watch_taeda_tool(
        endless(more), kUnderWay,
        [&](pid_t process) {
          id = process;
          second = taeda_tool(endless("--stop-after 1 " + std::string(more)));
          ::kill(process, SIGTERM);
        },
        &first);
    EXPECT_EQ(first.code, 130) << first.err;
    EXPECT_EQ(second.code, 2);
    EXPECT_THAT(second.err, AllOf(HasSubstr("taeda: process " + std::to_string(id) + " on "),
                                  HasSubstr(" since 2"), HasSubstr(" trains in " + out)));
    EXPECT_FALSE(std::filesystem::exists(out + "/run.lock"));
  }
}

TEST_F(SharedFolder, OfARunThatWasKilledIsFree) {
  Outcome first;
  signal_taeda_tool(endless(), "│     2 │", SIGKILL, &first);  // the first epoch is saved
  EXPECT_EQ(first.code, 128 + SIGKILL);
  const Outcome second = taeda_tool(endless("--stop-after 1 --resume auto"));
  EXPECT_EQ(second.code, 130) << second.err;
  EXPECT_THAT(second.err, HasSubstr("going on from "));
}

TEST_F(SharedFolder, ThatNobodyNamedIsAnotherOneForEachRun) {
  const auto run = [&](const std::string& more) {
    return "train fashion-mnist --data " + data +
           " --device cpu --model mlp --threads 1 --workers 0 " + more;
  };
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  Outcome first, second;
  watch_taeda_tool(
      run("--epochs 100000"), kUnderWay,
      [&](pid_t process) {
        std::filesystem::remove("out/run.toml");  // a run that has only begun
        std::filesystem::remove("out/checkpoint.safetensors");
        std::filesystem::remove("out/best.safetensors");
        second = taeda_tool(run("--epochs 1"));
        ::kill(process, SIGKILL);
      },
      &first);
  std::filesystem::current_path(before);
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_THAT(second.out, HasSubstr("checkpoint  out-2/checkpoint.safetensors"));
}

TEST_F(SharedFolder, ThatNothingWasPutIntoIsTakenAway) {
  expect_bad_input(endless("--pretrained " + (folder / "none.pt")), "none.pt");
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
}

}  // namespace
}  // namespace taeda
