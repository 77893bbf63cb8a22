// Workers that are processes: the public functions, and what becomes of calls when one dies.

#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "taeda/ops/create/create.h"
#include "taeda/rpc/rref.h"
#include "tests/distributed/process.h"
#include "tests/error_of.h"
#include "tests/io/temporary_folder.h"
#include "tests/rpc/functions.h"
#include "tests/rpc/workers.h"

namespace taeda::distributed::rpc {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

std::string text_of_variable(const char* name) {
  const char* text = std::getenv(name);
  return text ? text : "";
}

/// The second of two workers; "graceful" or "killed" is how the test ends it.
int serve_until_told() {
  init_rpc("child", 1, 2, {.init_method = text_of_variable("TAEDA_TEST_MEETING")});
  shutdown(true);
  return 0;
}
const Role serves("rpc worker", serve_until_told);

void end_yourself() { shutdown(); }
TAEDA_RPC_FUNCTION(end_yourself);

class RpcProcesses : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = missing(Net::Grpc); !why.empty()) GTEST_SKIP() << why;
    const std::string meeting = "file://" + std::string(folder_ / "meeting");
    child_ = std::make_unique<Process>(
        "rpc worker", std::map<std::string, std::string>{{"TAEDA_TEST_MEETING", meeting}});
    init_rpc("parent", 0, 2, {.rpc_timeout = 30, .init_method = meeting});
  }
  void TearDown() override {
    if (is_initialized()) shutdown(false);
  }

  TemporaryFolder folder_;
  std::unique_ptr<Process> child_;
};

TEST_F(RpcProcesses, CallEachOtherAndPart) {
  EXPECT_THAT(error_of([] { init_rpc("twice", 0, 1); }), HasSubstr("RPC is already initialized"));
  EXPECT_EQ(rpc_sync("child", who), "child");
  EXPECT_EQ(rpc_sync("child", back_and_forth, {int64_t{3}}).size(), 4u);
  const Tensor large = ones({5'000'000});
  EXPECT_TRUE(remote("child", add_scaled, {large, large, 2.0}).to_here().equal(large * 3));
  shutdown();
  EXPECT_EQ(child_->wait(), 0);
  EXPECT_FALSE(is_initialized());
}

TEST_F(RpcProcesses, ACallToOneThatIsKilledNamesIt) {
  const auto start = std::chrono::steady_clock::now();
  const auto call = rpc_async("child", sleep_for, {100.0});
  EXPECT_EQ(rpc_sync("child", who), "child");
  child_->signal(SIGKILL);
  EXPECT_THAT(error_of([&] { call.wait(); }),
              AllOf(HasSubstr("On WorkerInfo(id=1, name=child), in function 'sleep_for': "),
                    HasSubstr("the connection to worker child is gone")));
  EXPECT_THAT(error_of([] { rpc_sync("child", who); }),
              HasSubstr("in function 'who': the connection to worker child is gone"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20))
      << "not the timeout";
  EXPECT_THAT(error_of([] { shutdown(true, std::chrono::milliseconds(100)); }),
              HasSubstr("these workers are not done within 100 ms: child"));
}

TEST_F(RpcProcesses, ThePartingFromOneThatIsKilledEndsSoon) {
  EXPECT_EQ(rpc_sync("child", who), "child");
  child_->signal(SIGKILL);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(error_of([] { shutdown(true, std::chrono::minutes(5)); }),
              HasSubstr("rpc::shutdown: the connection to worker child is gone"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

TEST_F(RpcProcesses, AFunctionCannotEndItsOwnWorker) {
  EXPECT_THAT(error_of([] { rpc_sync("child", end_yourself); }),
              HasSubstr("a function that another worker called cannot end its own worker"));
  EXPECT_EQ(rpc_sync("child", who), "child") << "it goes on";
}

TEST_F(RpcProcesses, AFirstCallWaitsForOneThatStandsStill) {
  child_->signal(SIGSTOP);
  const auto call = rpc_async("child", who, {}, 60);
  std::this_thread::sleep_for(std::chrono::seconds(4));  // longer than a try to connect took
  child_->signal(SIGCONT);
  EXPECT_EQ(call.wait(), "child");
}

TEST_F(RpcProcesses, ACallToOneThatStandsStillEndsInTime) {
  EXPECT_EQ(rpc_sync("child", who), "child");
  child_->signal(SIGSTOP);
  EXPECT_EQ(error_of([] { rpc_sync("child", who, {}, 0.2); }),
            "On WorkerInfo(id=1, name=child), in function 'who': RPC ran for more than set timeout "
            "(200 ms) and will now be marked with an error");
  child_->signal(SIGCONT);
  EXPECT_EQ(rpc_sync("child", who), "child") << "it goes on";
}

}  // namespace
}  // namespace taeda::distributed::rpc
