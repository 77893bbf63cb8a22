// rpc_sync and rpc_async: what travels, what goes wrong, and who is named.

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "taeda/device/sim.h"
#include "taeda/distributed/store/hash_store.h"
#include "taeda/ops/create/create.h"
#include "tests/error_of.h"
#include "tests/rpc/functions.h"
#include "tests/rpc/workers.h"

namespace taeda::distributed::rpc {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class Calls : public testing::TestWithParam<Net> {
 protected:
  void SetUp() override {
    if (const std::string why = missing(GetParam()); !why.empty()) GTEST_SKIP() << why;
  }
  /// Two workers; the first runs `f`, the other serves.
  void run(const std::function<void()>& f,
           const std::function<RpcBackendOptions(int64_t)>& options = {}) {
    run_workers(
        GetParam(), 2,
        [&](int64_t rank) {
          if (rank == 0) f();
        },
        options);
  }
};
INSTANTIATE_TEST_SUITE_P(Nets, Calls, testing::Values(Net::Memory, Net::Grpc),
                         testing::PrintToStringParamName());

TEST_P(Calls, AFunctionRunsAtTheOtherWorker) {
  run([] {
    EXPECT_EQ(rpc_sync("worker1", who), "worker1");
    EXPECT_EQ(rpc_sync(1, who), "worker1");
    EXPECT_EQ(rpc_sync("worker0", who), "worker0") << "a worker may call itself";
    const Tensor sum = rpc_sync("worker1", add_scaled, {ones({2, 3}), full({3}, 2.0), 0.5});
    EXPECT_TRUE(sum.equal(full({2, 3}, 2.0)));
    EXPECT_TRUE(rpc_sync<Tensor>("worker1", "add_scaled", std::tuple(ones({2}), ones({2}), 1.0))
                    .equal(full({2}, 2.0)));
  });
}

TEST_P(Calls, WorkersAreKnownByNameAndNumber) {
  run([] {
    EXPECT_EQ(get_worker_info(), (WorkerInfo{"worker0", 0}));
    EXPECT_EQ(get_worker_info("worker1"), (WorkerInfo{"worker1", 1}));
    EXPECT_EQ(get_worker_infos().size(), 2u);
    EXPECT_EQ(error_of([] { rpc_sync("worker7", who); }),
              "rpc: there is no worker 'worker7'; there are worker0, worker1");
  });
}

struct Point {
  double x = 0, y = 0;
  std::tuple<double, double> to_rpc() const { return {x, y}; }
  static Point from_rpc(const std::tuple<double, double>& parts) {
    return {std::get<0>(parts), std::get<1>(parts)};
  }
  bool operator==(const Point&) const = default;
};
using Everything = std::tuple<int64_t, uint8_t, bool, double, std::string, std::vector<std::string>,
                              std::optional<double>, std::optional<double>,
                              std::map<std::string, std::vector<int64_t>>, Point, std::tuple<>>;
Everything same(const Everything& all) { return all; }
std::vector<Tensor> same_tensors(const std::vector<Tensor>& all) { return all; }
TAEDA_RPC_FUNCTION(same);
TAEDA_RPC_FUNCTION(same_tensors);

TEST_P(Calls, ValuesOfAllTypesTravel) {
  run([] {
    const Everything all = {
        INT64_MIN,       255,    true, -0.5, std::string("\0x", 2), {"a", ""}, 1.5, {},
        {{"k", {1, 2}}}, {3, 4}, {}};
    EXPECT_EQ(rpc_sync("worker1", same, {all}), all);
  });
}

TEST_P(Calls, TensorsOfAllKindsTravel) {
  run([] {
    manual_seed(0);
    const std::vector<Tensor> all = {Tensor(),
                                     randn({3, 4}).t(),
                                     randn({4, 4}).narrow(1, 1, 2),
                                     zeros({0, 5}),
                                     ones({}).to(kBFloat16),
                                     ones({2}).to(kHalf),
                                     arange(7),
                                     randn({2}).to(kComplexFloat),
                                     ones({3}).to(kBool),
                                     randn({1 << 20}),
                                     randn({300, 1000}).expand({2, 300, 1000})};
    const std::vector<Tensor> back = rpc_sync("worker1", same_tensors, {all});
    ASSERT_EQ(back.size(), all.size());
    EXPECT_FALSE(back[0].defined());
    for (size_t i = 1; i < all.size(); ++i) {
      EXPECT_EQ(back[i].dtype(), all[i].dtype());
      EXPECT_TRUE(back[i].equal(all[i])) << i;
    }
    EXPECT_TRUE(
        rpc_sync("worker1", same_tensors, {std::vector(3000, ones({1}))})[2999].equal(ones({1})));
  });
}

std::string device_of(const Tensor& t) { return t.device().str(); }
Tensor on_device(const std::string& device) { return full({2}, 3.0).to(Device(device)); }
TAEDA_RPC_FUNCTION(device_of);
TAEDA_RPC_FUNCTION(on_device);

TEST_P(Calls, TensorsOfAcceleratorsGoWhereTheMapSays) {
  sim::configure(3);
  const auto mapped = [](int64_t rank) {
    RpcBackendOptions out;
    if (rank == 0) out.set_device_map("worker1", {{"sim:0", "sim:1"}});
    return out;
  };
  run(
      [] {
        const Tensor x = ones({2}).to("sim:0");
        EXPECT_EQ(rpc_sync("worker1", device_of, {x}), "sim:1");
        EXPECT_EQ(rpc_sync("worker1", device_of, {ones({2})}), "cpu");
        EXPECT_EQ(rpc_sync("worker0", device_of, {x}), "sim:0");
        const Tensor back = rpc_sync("worker1", same_tensors, {{x}})[0];
        EXPECT_EQ(back.device(), x.device());
        EXPECT_TRUE(back.equal(x));
        EXPECT_EQ(rpc_sync("worker1", on_device, {"sim:1"}).device().str(), "sim:0");
        EXPECT_THAT(error_of([] { rpc_sync("worker1", device_of, {ones({2}).to("sim:2")}); }),
                    AllOf(HasSubstr("only tensors of the CPU are sent by default"),
                          HasSubstr("no device map for it from worker worker0 to worker1")));
        EXPECT_THAT(error_of([] { rpc_sync("worker1", on_device, {"sim:2"}); }),
                    HasSubstr("On WorkerInfo(id=1, name=worker1), in function 'on_device': rpc: "
                              "only tensors of the CPU are sent by default"));
      },
      mapped);
}

TEST(Workers, ADeviceMapIsOneToOne) {
  RpcBackendOptions options;
  options.set_device_map("worker1", {{"sim:0", "sim:1"}});
  EXPECT_THAT(error_of([&] {
                options.set_device_map("worker1", {{"sim:2", "sim:1"}});
              }),
              HasSubstr("only supports 1-to-1 mapping, trying to map sim:2 to sim:1"));
  options.store = std::make_shared<HashStore>();
  EXPECT_THAT(error_of([&] { Agent::join("alone", 0, 1, options, memory_net()); }),
              HasSubstr("node alone has a device map for worker1, which is no worker"));
}

TEST_P(Calls, ManyCallsAreUnderWayAtOnce) {
  run([] {
    std::vector<Future<Tensor>> sums;
    for (int i = 0; i < 200; ++i)
      sums.push_back(rpc_async("worker1", add_scaled, {full({i}, 1.0), full({i}, 1.0), 1.0 * i}));
    const std::vector<Tensor> all = wait_all(sums);
    for (int i = 0; i < 200; ++i)
      EXPECT_TRUE(all[static_cast<size_t>(i)].equal(full({i}, 1.0 + i)));
    const auto length = rpc_async("worker1", who).then([](const Future<std::string>& name) {
      return name.value().size();
    });
    EXPECT_EQ(length.wait(), 7u);
    EXPECT_TRUE(length.done());
  });
}

TEST_P(Calls, WorkersThatCallEachOtherBackDoNotRunOutOfThreads) {
  const auto one_thread = [](int64_t) { return RpcBackendOptions{.num_worker_threads = 1}; };
  run([] { EXPECT_EQ(rpc_sync("worker1", back_and_forth, {int64_t{20}}).size(), 21u); },
      one_thread);
}

TEST_P(Calls, AnErrorSaysWhereItComesFromAndKeepsItsClass) {
  run([] {
    const std::string place = "On WorkerInfo(id=1, name=worker1), in function 'fail_with': ";
    try {
      rpc_sync("worker1", fail_with, {"IndexError", "no such row"});
      FAIL() << "no error";
    } catch (const IndexError& e) {
      EXPECT_EQ(e.what(), place + "no such row");
    }
    EXPECT_THROW(rpc_sync("worker1", fail_with, {"ValueError", ""}), ValueError);
    const auto later = rpc_async("worker1", fail_with, {"", "what std says"});
    EXPECT_EQ(error_of([&] { later.wait(); }), place + "what std says");
    EXPECT_THAT(error_of([&] {
                  later
                      .then([](const auto& f) {
                        f.wait();
                        return 1;
                      })
                      .wait();
                }),
                HasSubstr("what std says"));
    EXPECT_THAT(error_of([] {
                  rpc_sync("worker1", add_scaled, {ones({2}), ones({3}), 1.0});
                }),
                AllOf(HasSubstr("On WorkerInfo(id=1, name=worker1), in function 'add_scaled': "),
                      HasSubstr("size of tensor")));
  });
}

TEST_P(Calls, AFunctionThatIsNotWhatWasMeantNamesBothSignatures) {
  run([] {
    EXPECT_EQ(error_of([] { rpc_sync<int64_t>("worker1", "nobody", std::tuple(1, true)); }),
              "On WorkerInfo(id=1, name=worker1), in function 'nobody': worker worker1 has no "
              "function 'nobody', which worker0 called as nobody(int, bool) -> int; functions are "
              "registered with TAEDA_RPC_FUNCTION in every process");
    EXPECT_THAT(error_of([] {
                  rpc_sync<Tensor>("worker1", "add_scaled", std::tuple(ones({2}), ones({2})));
                }),
                HasSubstr("worker worker1 has add_scaled(Tensor, Tensor, float) -> Tensor, but "
                          "worker0 called add_scaled(Tensor, Tensor) -> Tensor"));
    EXPECT_THAT(error_of([] {
                  rpc_sync<std::string>("worker1", "add_scaled",
                                        std::tuple(ones({2}), ones({2}), 1.0));
                }),
                HasSubstr("called add_scaled(Tensor, Tensor, float) -> str"));
    const auto unknown = +[](int64_t x) { return x; };
    EXPECT_THAT(error_of([&] { rpc_sync("worker1", unknown, {1}); }),
                HasSubstr("is not registered in this process"));
    EXPECT_THROW(rpc_sync<int64_t>("worker1", "nobody"), TypeError);
  });
}

TEST_P(Calls, ACallThatTakesTooLongIsAnErrorThatNamesIt) {
  run([] {
    EXPECT_EQ(error_of([] { rpc_sync("worker1", sleep_for, {0.3}, 0.05); }),
              "On WorkerInfo(id=1, name=worker1), in function 'sleep_for': RPC ran for more than "
              "set timeout (50 ms) and will now be marked with an error");
    rpc_sync("worker1", sleep_for, {0.1}, 0);  // no limit
  });
  const auto short_timeout = [](int64_t) { return RpcBackendOptions{.rpc_timeout = 0.05}; };
  run([] { EXPECT_THROW(rpc_sync("worker1", sleep_for, {0.3}), DistributedError); }, short_timeout);
}

TEST_P(Calls, AWorkerThatLeftIsNamed) {
  std::atomic<bool> left = false;
  const auto store_and_run = [&](int64_t rank) {
    if (rank == 1) {
      Agent::current()->shutdown(false, {});
      left = true;
      return;
    }
    while (!left) std::this_thread::yield();
    EXPECT_THAT(error_of([] { rpc_sync("worker1", who); }),
                HasSubstr("On WorkerInfo(id=1, name=worker1), in function 'who': the connection to "
                          "worker worker1 is gone: "));
    Agent::current()->shutdown(false, {});
    EXPECT_THAT(error_of([] { rpc_sync("worker1", who); }),
                HasSubstr("this worker was shut down; no call is sent any more"));
  };
  run_workers(GetParam(), 2, store_and_run);
}

TEST_P(Calls, ShutdownWaitsForWhatIsUnderWay) {
  static std::atomic<int> ran;
  ran = 0;
  static const bool registered = (register_function("count_later",
                                                    [](double seconds) {
                                                      sleep_for(seconds);
                                                      ++ran;
                                                    }),
                                  true);
  ASSERT_TRUE(registered);
  run([] {
    for (int i = 0; i < 4; ++i) rpc_async<void>("worker1", "count_later", std::tuple(0.05));
  });
  EXPECT_EQ(ran, 4);
}

TEST(Workers, NamesAreCheckedByAll) {
  const auto store = std::make_shared<HashStore>(std::chrono::seconds(10));
  const TransportFactory open = memory_net();
  const auto join = [&](const std::string& name, int64_t rank) {
    return error_of([&] { Agent::join(name, rank, 2, {.store = store}, open); });
  };
  EXPECT_THAT(join("a b", 0), HasSubstr("but got 'a b'"));
  EXPECT_THAT(join("late", 2), HasSubstr("rank 2 is not one of a world of size 2"));
  std::string first;
  std::thread other([&] { first = join("twin", 0); });
  const std::string second = join("twin", 1);
  other.join();
  EXPECT_EQ(first,
            "rpc::init_rpc: RPC worker name twin is not unique. Worker 0 and worker 1 both "
            "have it");
  EXPECT_EQ(second, first);
}

TEST(Workers, OneThatDoesNotComeIsNamed) {
  const auto store = std::make_shared<HashStore>(std::chrono::milliseconds(50));
  EXPECT_THAT(error_of([&] { Agent::join("alone", 0, 2, {.store = store}, memory_net()); }),
              HasSubstr("rpc::init_rpc: worker 1 of 2 did not come"));
}

TEST(Workers, CallsNeedAWorker) {
  EXPECT_EQ(error_of([] { rpc_sync("worker1", who); }),
            "RPC has not been initialized. Call rpc::init_rpc(...) first.");
  EXPECT_FALSE(is_initialized());
}

}  // namespace
}  // namespace taeda::distributed::rpc
