// A worker that ends while its functions wait for what only other workers' messages would bring.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "taeda/rpc/references.h"
#include "taeda/rpc/rref.h"
#include "tests/error_of.h"
#include "tests/rpc/functions.h"
#include "tests/rpc/workers.h"

namespace taeda::distributed::rpc {
namespace {

using testing::HasSubstr;

std::promise<void> looking;
std::promise<std::string> seen;

/// Waits for a value that nobody makes.
int64_t look_at_nothing(const RRef<Tensor>& reference) {
  looking.set_value();
  seen.set_value(error_of([&] { reference.local_value(); }));
  return 0;
}
TAEDA_RPC_FUNCTION(look_at_nothing);

void nap(int64_t milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}
TAEDA_RPC_FUNCTION(nap);

/// Neither the call nor the pool has it any more; only the thread that tells it does.
TEST(Shutdown, WaitsForThoseThatHearOfAnEnd) {
  std::shared_ptr<Agent> agents[2];
  std::atomic<bool> told{false};
  run_workers(Net::Memory, 2, [&](int64_t rank) {
    agents[rank] = Agent::current();
    if (rank == 1) return;
    const RRef<Tensor> kept = remote("worker1", add_scaled, {ones({2}), ones({2}), 2.0});
    kept.to_here();
    rpc_async("worker1", nap, {50}, 0.02).add_done_callback([&told, kept](const auto&) {
      nap(200);
      told = true;
    });
  });
  EXPECT_TRUE(told);
  for (const auto& agent : agents) EXPECT_THAT(agent->leaks(), testing::IsEmpty());
}

TEST(Shutdown, EndsTheWaitForAValue) {
  const std::shared_future<void> begun = looking.get_future();
  std::weak_ptr<Agent> agents[2];
  run_workers(Net::Memory, 2, [&](int64_t rank) {
    const auto agent = Agent::current();
    agents[rank] = agent;
    Future<int64_t> answer;
    if (rank == 0) {
      const RRefInfo nothing{{0, 12345}, 1, "Tensor", "nobody"};
      const RRef<Tensor> reference(
          std::make_shared<RRefHandle>(agent, nothing, GlobalId{0, 12346}, true));
      answer = rpc_async("worker1", look_at_nothing, {reference});
    }
    begun.wait();
    if (rank == 0) return agent->shutdown(false, std::chrono::milliseconds(0));
    EXPECT_FALSE(agent->references().value({0, 12345})->done());
    agent->shutdown(false, std::chrono::milliseconds(0));
  });
  EXPECT_THAT(seen.get_future().get(), HasSubstr("this worker was shut down"));
  for (const auto& agent : agents) EXPECT_TRUE(agent.expired());  // nothing keeps them in a circle
}

std::promise<void> entered, may_end;

/// Ends when the test says so.
void wait_for_the_test() {
  entered.set_value();
  may_end.get_future().wait();
}
TAEDA_RPC_FUNCTION(wait_for_the_test);

TEST(Shutdown, DoesNotWaitLongerThanItsTimeoutForAFunctionThatRuns) {
  const std::shared_future<void> begun = entered.get_future();
  std::string errors[2];
  Future<void> call;
  try {
    run_workers(Net::Memory, 2, [&](int64_t rank) {
      if (rank == 0) call = rpc_async("worker1", wait_for_the_test, {}, 0);
      begun.wait();
      const auto agent = Agent::current();
      errors[rank] = error_of([&] { agent->shutdown(true, std::chrono::milliseconds(300)); });
    });
  } catch (const Error&) {  // the workers cannot part once more
  }
  may_end.set_value();
  EXPECT_THAT(errors[0], HasSubstr("these workers are not done within 300 ms: worker0 (0 functions "
                                   "run; waits for 1 calls, the first On WorkerInfo(id=1, "
                                   "name=worker1), in function 'wait_for_the_test'"));
  EXPECT_THAT(errors[1], HasSubstr("these workers are not done within 300 ms: worker1 (1 function "
                                   "runs)"));
  EXPECT_THAT(error_of([&] { call.wait(); }), HasSubstr("this worker was shut down"));
}

}  // namespace
}  // namespace taeda::distributed::rpc
