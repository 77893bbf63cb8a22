// What goes wrong under NCCL becomes an error that names it, though streams would wait for ever.
#include <gmock/gmock.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>

#include "taeda/base/error.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/shape/shape.h"
#include "tests/distributed/nccl/devices.h"
#include "tests/distributed/process.h"
#include "tests/error_of.h"

namespace taeda {
namespace {

using distributed::ProcessGroup;
using distributed::ReduceOp;
using std::chrono::milliseconds;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;

// Ranks compare sooner than by default, so that tests take less time.
const int sooner = ::setenv("TAEDA_DISTRIBUTED_CHECK_MS", "100", 0);

class NcclFaults : public SimulatedNcclTest {};

Tensor on_device_of(const ProcessGroup& g, int64_t n = 64) {
  return ones({n}, TensorOptions().device(Device(kSim, g.rank())));
}

/// Waits until the group has failed, and says why, as the program's next call does.
std::string failure_of(ProcessGroup& g) {
  while (g.failure().empty()) std::this_thread::sleep_for(milliseconds(5));
  return error_of([&] { g.barrier({}); });
}

TEST_F(NcclFaults, WhatTheRanksDoNotAgreeAboutIsNamedThoughNothingHangs) {
  const auto errors = run(2, [](ProcessGroup& g) {
    const Tensor x = on_device_of(g);
    g.all_reduce(x, g.rank() == 0 ? ReduceOp::SUM : ReduceOp::MAX, {});
    throw std::runtime_error(failure_of(g));
  });
  EXPECT_THAT(errors, Each(AllOf(HasSubstr("the ranks called different things: "),
                                 HasSubstr("rank 0 called all_reduce #1 float32[64] (SUM) at "
                                           "faults_test.cpp:"),
                                 HasSubstr("rank 1 called all_reduce #1 float32[64] (MAX)"))));
}

TEST_F(NcclFaults, WhatHangsIsNamedAndLetsGoOfTheStream) {
  const auto errors = run(3, [](ProcessGroup& g) {
    const Tensor x = on_device_of(g);
    const auto work = g.rank() == 2 ? g.all_reduce(x, ReduceOp::SUM, {.async = true})
                                    : g.broadcast(x, 0, {.async = true});
    work->wait();
    x.cpu();  // would wait for ever
    while (!work->is_completed()) std::this_thread::yield();
    EXPECT_FALSE(work->is_success());
    throw std::runtime_error(failure_of(g));
  });
  EXPECT_THAT(errors, Each(AllOf(HasSubstr("rank 2 called all_reduce #1 float32[64] (SUM)"),
                                 HasSubstr("called broadcast #1 float32[64], root rank 0"))));
}

TEST_F(NcclFaults, MessagesMeetTheirTags) {
  const auto errors = run(2, [](ProcessGroup& g) {
    const Tensor x = on_device_of(g);
    if (g.rank() == 0)
      g.send(x, 1, 3, {});
    else
      g.recv(x, 0, 4, {});
    throw std::runtime_error(failure_of(g));
  });
  EXPECT_THAT(errors, Each(HasSubstr("ranks that had called different things have met")));
}

TEST_F(NcclFaults, ARankThatIsLateEndsAtTheTimeout) {
  const auto errors = run(2,
                          [](ProcessGroup& g) {
                            const Tensor x = on_device_of(g);
                            g.all_reduce(x, ReduceOp::SUM, {});  // connects
                            if (g.rank() == 1) throw std::runtime_error(failure_of(g));
                            const auto work = g.all_reduce(x, ReduceOp::SUM, {.async = true});
                            work->wait();
                            x.cpu();
                            throw std::runtime_error(failure_of(g));
                          },
                          {milliseconds(1500)});
  EXPECT_THAT(errors, Each(AllOf(HasSubstr("all_reduce #2 float32[64] (SUM)"),
                                 HasSubstr("did not end within the timeout of 1500 ms"),
                                 HasSubstr("rank 1 has not called it"))));
}

/// A store that a process has, until it is gone.
class MortalStore final : public distributed::Store {
 public:
  MortalStore(distributed::StorePtr store, std::shared_ptr<std::atomic<bool>> dead)
      : store_(std::move(store)), dead_(std::move(dead)) {}
  void set(const std::string& key, std::string_view value) override { alive().set(key, value); }
  std::string get(const std::string& key) override { return alive().get(key); }
  int64_t add(const std::string& key, int64_t n) override { return alive().add(key, n); }
  std::string compare_set(const std::string& key, std::string_view expected,
                          std::string_view desired) override {
    return alive().compare_set(key, expected, desired);
  }
  bool delete_key(const std::string& key) override { return alive().delete_key(key); }
  bool check(const std::vector<std::string>& keys) override { return alive().check(keys); }
  void wait(const std::vector<std::string>& keys, std::optional<milliseconds> timeout) override {
    alive().wait(keys, timeout);
  }
  int64_t num_keys() override { return alive().num_keys(); }

 private:
  distributed::Store& alive() {
    TAEDA_CHECK_AS(DistributedError, !*dead_, "gone");
    return *store_;
  }
  distributed::StorePtr store_;
  std::shared_ptr<std::atomic<bool>> dead_;
};

TEST_F(NcclFaults, ARankThatIsGoneIsNoticedByItsSilence) {
  const auto dead = std::make_shared<std::atomic<bool>>(false);
  std::atomic<bool> noticed = false;
  const auto errors = run(
      2,
      [&](ProcessGroup& g) {
        const Tensor x = on_device_of(g);
        g.all_reduce(x, ReduceOp::SUM, {});
        if (g.rank() == 1) {
          x.cpu();
          *dead = true;
          while (!noticed) std::this_thread::sleep_for(milliseconds(5));
          return;
        }
        const auto work = g.all_reduce(x, ReduceOp::SUM, {.async = true});
        const std::string text = error_of([&] {
          work->wait();
          x.cpu();
          throw std::runtime_error(failure_of(g));
        });
        noticed = true;
        throw std::runtime_error(text);
      },
      {std::chrono::seconds(60)},
      [&](distributed::StorePtr store, int rank) -> distributed::StorePtr {
        if (rank == 0) return store;
        return std::make_shared<MortalStore>(std::move(store), dead);
      });
  EXPECT_THAT(errors[0],
              AllOf(HasSubstr("rank 1 is gone, or stands still: it has not answered for"),
                    HasSubstr("rank 0 waits for it in all_reduce #2 float32[64]")));
}

TEST_F(NcclFaults, WhatNcclNoticesIsAsked) {
  const auto errors = run(2, [&](ProcessGroup& g) {
    const Tensor x = on_device_of(g);
    g.all_reduce(x, ReduceOp::SUM, {});
    x.cpu();
    if (g.rank() == 0) {
      const auto work = g.all_reduce(x, ReduceOp::SUM, {.async = true});
      work->wait();
      nccl_->lose(0);
    }
    throw std::runtime_error(failure_of(g));
  });
  nccl_->lose(-1);
  EXPECT_THAT(errors, Each(HasSubstr("nccl: remote process exited or there was a network error: "
                                     "asked for by a test")));
}

TEST_F(NcclFaults, CallsThatNcclRefuses) {
  for (const char* function :
       {"ncclGetUniqueId", "ncclCommInitRankConfig", "ncclAllReduce", "ncclGroupEnd"}) {
    const auto errors = run(1, [&](ProcessGroup& g) {
      nccl_->fail_next(function);
      g.all_reduce(on_device_of(g), ReduceOp::SUM, {});
    });
    EXPECT_THAT(errors[0], HasSubstr("nccl: internal error: asked for by a test")) << function;
  }
}

int without_the_library() {
  const std::string error = error_of(
      [] { ProcessGroup::create("nccl", std::make_shared<distributed::HashStore>(), 0, 1); });
  std::puts(error.c_str());
  return 0;
}
const Role without_role("nccl_without_the_library", without_the_library);

TEST(NcclLibrary, WithoutItTheErrorSaysWhatToInstall) {
  // A file of its name that is none, in case this machine has the library.
  const auto folder =
      std::filesystem::temp_directory_path() / ("taeda_nccl_" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  std::ofstream(folder / "libnccl.so.2") << "no library";
  const Variable not_as_cuda("TAEDA_SIM_AS_CUDA", std::nullopt);
  Process process("nccl_without_the_library", {{"LD_LIBRARY_PATH", folder.string()}});
  EXPECT_THAT(process.line(),
              AllOf(HasSubstr("the backend 'nccl' needs NCCL's library libnccl.so.2: "),
                    HasSubstr("Install the package libnccl2"), HasSubstr("nvidia-nccl-cu13")));
  EXPECT_EQ(process.wait(), 0);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace taeda
