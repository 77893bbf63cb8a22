#include "taeda/distributed/store/tcp_store.h"

#include <gmock/gmock.h>
#include <signal.h>

#include <cstdio>
#include <future>
#include <thread>

#include "taeda/base/error.h"
#include "taeda/distributed/engine.h"
#include "tests/distributed/process.h"
#include "tests/distributed/stores.h"
#include "tests/error_of.h"
#include "tests/own_port.h"
#include "tests/variable.h"

namespace taeda::distributed {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

uint16_t port_of_test() { return static_cast<uint16_t>(std::stoi(std::getenv("TAEDA_TEST_PORT"))); }

/// Serves a store until it is killed.
const Role serve_store("serve a store", [] {
  TCPStore store("localhost", {.port = 0, .is_master = true});
  store.set("from the master", "1");
  std::printf("%d\n", store.port());
  store.wait({"never"});
  return 0;
});

/// Counts to 100 with the others.
const Role count_in_store("count in a served store", [] {
  TCPStore store("localhost", port_of_test(), 4);
  for (int i = 0; i < 100; ++i) store.add("n", 1);
  store.set("done" + std::to_string(store.add("done", 1)), "1");
  store.wait({"finish"});
  return 0;
});

/// Ends while threads that it left to themselves still ask, each with a code for every question.
const Role end_while_asking("end while a store is asked", [] {
  const Security security{.secret = kTestSecret};
  auto store = std::make_shared<TCPStore>(
      "localhost", TCPStoreOptions{.port = 0, .is_master = true, .security = security});
  for (int i = 0; i < 4; ++i)
    std::thread([store] {
      while (true) store->add("asked", 1);
    }).detach();
  while (store->add("asked", 0) < 100) std::this_thread::yield();
  return 0;
});

class TcpStores : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = missing_grpc(); !reason.empty()) GTEST_SKIP() << reason;
  }

  static TCPStoreOptions server(const Security& security = {}) {
    return {.port = 0, .is_master = true, .job = "tests", .security = security};
  }
  static TCPStoreOptions client(const TCPStore& of, const Security& security = {}) {
    return {.port = of.port(), .timeout = seconds(20), .job = "tests", .security = security};
  }
  /// What opening a store that must not open says.
  static std::string refusal(const std::string& host, const TCPStoreOptions& options) {
    return error_of([&] { TCPStore store(host, options); });
  }
  static std::string name(uint16_t port) {
    return "TCPStore(localhost:" + std::to_string(port) + ")";
  }
};

TEST_F(TcpStores, TheSystemChoosesAPort) {
  TCPStore store("localhost", server());
  EXPECT_NE(store.port(), 0);
  EXPECT_EQ(store.host(), "localhost");
  EXPECT_EQ(store.timeout(), kDefaultTimeout);
  EXPECT_EQ(refusal("localhost", {.port = 0}),
            "TCPStore: a process that is not the master must be told the port, but got 0");
}

TEST_F(TcpStores, ProcessesCountTogether) {
  TCPStoreOptions options = server();
  options.job = "";
  options.wait_for_workers = false;
  options.world_size = 4;
  TCPStore store("localhost", options);
  std::vector<std::unique_ptr<Process>> processes;
  for (int i = 0; i < 3; ++i)
    processes.push_back(std::make_unique<Process>(
        "count in a served store",
        std::map<std::string, std::string>{{"TAEDA_TEST_PORT", std::to_string(store.port())},
                                           {"TAEDA_DISTRIBUTED_JOB_ID", ""}}));
  store.wait({"done1", "done2", "done3"}, seconds(20));
  EXPECT_EQ(store.get("n"), "300");
  store.set("finish", "1");
  for (auto& process : processes) EXPECT_EQ(process->wait(), 0) << process->line();
}

TEST_F(TcpStores, TheMasterWaitsForWorkers) {
  TCPStoreOptions master = server();
  master.world_size = 3;
  master.multi_tenant = true;
  master.timeout = seconds(1);
  EXPECT_THAT(refusal("localhost", master),
              HasSubstr(": Timed out after 1000ms waiting for clients. 1/3 clients joined."));
  master.wait_for_workers = false;
  TCPStore first("localhost", master);
  master.port = first.port();
  master.wait_for_workers = true;
  master.timeout = seconds(20);
  auto waiting = std::async(std::launch::async, [&] { TCPStore second("localhost", master); });
  while (first.add("polls", 1) < 10) {
  }
  EXPECT_NE(waiting.wait_for(milliseconds(0)), std::future_status::ready);
  TCPStore worker("localhost", client(first));
  waiting.get();
}

TEST_F(TcpStores, AClientMayComeBeforeTheServer) {
  const uint16_t port = own_port();
  TCPStoreOptions options = {
      .port = port, .timeout = seconds(20), .job = "tests", .security = Security()};
  auto early =
      std::async(std::launch::async, [&] { return TCPStore("localhost", options).get("k"); });
  std::this_thread::sleep_for(milliseconds(100));
  options.is_master = true;
  TCPStore store("localhost", options);
  store.set("k", "here");
  EXPECT_EQ(early.get(), "here");
}

TEST_F(TcpStores, NobodyThereIsAnErrorInTime) {
  const uint16_t port = own_port();
  EXPECT_THAT(refusal("localhost", {.port = port, .timeout = seconds(1)}),
              AllOf(HasSubstr(name(port) +
                              ": The client socket has timed out after 1000ms while "
                              "trying to connect to (localhost, " +
                              std::to_string(port) + ")"),
                    AnyOf(HasSubstr("refused"), HasSubstr("no answer"))));
  EXPECT_THAT(refusal("no-such-host.invalid", {.port = port}),
              HasSubstr("the host name 'no-such-host.invalid' has no address"));
}

TEST_F(TcpStores, AKilledServerIsAnErrorForAllWhoWait) {
  Process process("serve a store");
  const auto port = static_cast<uint16_t>(std::stoi(process.line()));
  TCPStore store("localhost", {.port = port});
  EXPECT_EQ(store.get("from the master"), "1");
  auto waiting =
      std::async(std::launch::async, [&] { return error_of([&] { store.get("never"); }); });
  while (store.num_keys() != 1) {
  }
  process.signal(SIGKILL);
  const std::string gone = "the store's server at localhost:" + std::to_string(port) + " is gone: ";
  EXPECT_THAT(waiting.get(), HasSubstr(name(port) + ".get: " + gone));
  EXPECT_THAT(error_of([&] { store.set("key", "1"); }), HasSubstr(name(port) + ".set: " + gone));
  EXPECT_THAT(error_of([&] { store.wait({"key"}); }), HasSubstr(".wait: " + gone));
}

TEST_F(TcpStores, AStoppedServerIsAnErrorInTime) {
  Process process("serve a store");
  const auto port = static_cast<uint16_t>(std::stoi(process.line()));
  TCPStore store("localhost", {.port = port});
  store.set_timeout(milliseconds(100));
  process.signal(SIGSTOP);
  EXPECT_EQ(error_of([&] { store.set("key", "1"); }),
            name(port) + ".set: the store's server at localhost:" + std::to_string(port) +
                " gave no answer within 100ms");
  process.signal(SIGCONT);
  store.set_timeout(seconds(20));
  EXPECT_EQ(store.get("key"), "1") << "what was sent arrives when the server goes on";
}

TEST_F(TcpStores, TheMastersEndIsAnErrorForTheOthers) {
  auto store = std::make_unique<TCPStore>("localhost", server());
  TCPStore other("localhost", client(*store));
  auto waiting =
      std::async(std::launch::async, [&] { return error_of([&] { other.get("never"); }); });
  store.reset();
  EXPECT_THAT(waiting.get(), AllOf(HasSubstr(name(other.port()) + ".get: the store's server at"),
                                   HasSubstr("is gone: the master's store was closed")));
}

TEST_F(TcpStores, AProcessMayEndWhileItsThreadsAsk) {
  for (int i = 0; i < 3; ++i) {
    Process process("end while a store is asked");
    EXPECT_EQ(process.wait(), 0);
  }
}

TEST_F(TcpStores, TwoJobsOnOnePortAreAnError) {
  TCPStore store("localhost", server());
  TCPStoreOptions second = client(store);
  second.is_master = true;
  EXPECT_THAT(refusal("localhost", second),
              HasSubstr("TCPStore: the server cannot listen on 127.0.0.1:" +
                        std::to_string(store.port()) + " (Address already in use)"));
}

TEST_F(TcpStores, OneProcessMayServeSeveralStoresOnOnePort) {
  TCPStoreOptions options = server();
  options.multi_tenant = true;
  auto first = std::make_unique<TCPStore>("localhost", options);
  options.port = first->port();
  TCPStore second("localhost", options);
  first->set("key", "1");
  first.reset();
  EXPECT_EQ(second.get("key"), "1") << "the server stays until the last is gone";
}

TEST_F(TcpStores, AnotherJobsClientIsRefusedByName) {
  TCPStoreOptions options = server();
  options.world_size = 2;
  options.wait_for_workers = false;
  TCPStore store("localhost", options);
  TCPStoreOptions other = client(store);
  other.job = "another";
  EXPECT_EQ(refusal("localhost", other),
            name(store.port()) +
                ": the server refused this process: it serves job 'tests', but "
                "this process belongs to job 'another'");
  other.job = "tests";
  other.world_size = 3;
  EXPECT_EQ(refusal("localhost", other),
            name(store.port()) +
                ": the server refused this process: it serves a job of world size "
                "2, but this process was told 3");
  other.world_size = 2;
  EXPECT_EQ(refusal("localhost", other), "no error");
}

TEST_F(TcpStores, TheJobsNameComesFromTheEnvironment) {
  TCPStore store("localhost", server());
  TCPStoreOptions options = client(store);
  options.job.reset();
  {
    const Variable job("TAEDA_DISTRIBUTED_JOB_ID", "tests");
    EXPECT_EQ(refusal("localhost", options), "no error");
  }
  const Variable job("TAEDA_DISTRIBUTED_JOB_ID", "another");
  EXPECT_THAT(refusal("localhost", options), HasSubstr("belongs to job 'another'"));
}

TEST_F(TcpStores, BeyondThisMachineASecretIsNeeded) {
  TCPStoreOptions options = server();
  options.interface_name = "0.0.0.0";
  EXPECT_THAT(
      refusal("localhost", options),
      AllOf(HasSubstr("TCPStore: listening on 0.0.0.0, beyond this machine, is refused"),
            HasSubstr("TAEDA_DISTRIBUTED_SECRET_FILE"), HasSubstr("TAEDA_DISTRIBUTED_TLS_CERT")));
  EXPECT_THAT(refusal("192.0.2.1", {.port = 1}),
              HasSubstr("TCPStore: connecting to 192.0.2.1, beyond this machine, is refused"));
  options.security = Security{.secret = kTestSecret};
  TCPStore store("localhost", options);
  TCPStore other("localhost", client(store, *options.security));
  other.set("key", "1");
  EXPECT_EQ(store.get("key"), "1");
  options.interface_name = "eth99";
  EXPECT_THAT(refusal("localhost", options),
              AllOf(HasSubstr("the network interface 'eth99' has no address; there are "),
                    HasSubstr("lo")));
}

TEST_F(TcpStores, WhoDoesNotKnowTheSecretIsRefused) {
  TCPStore store("localhost", server({.secret = kTestSecret}));
  EXPECT_EQ(refusal("localhost", client(store, {.secret = "what others might guess"})),
            name(store.port()) +
                ": the server refused this process: this process does not know "
                "the job's secret. Another job may serve that port, with a secret of its own");
  EXPECT_EQ(refusal("localhost", client(store)),
            name(store.port()) +
                ": the server asks for the job's secret, and this process was "
                "given none: set TAEDA_DISTRIBUTED_SECRET_FILE");
  EXPECT_EQ(store.num_keys(), 0);
}

TEST_F(TcpStores, AServerWithoutTheSecretIsRefused) {
  TCPStore store("localhost", server());
  EXPECT_THAT(refusal("localhost", client(store, {.secret = kTestSecret})),
              HasSubstr("the server does not ask for the job's secret: it is another job's"));
}

TEST_F(TcpStores, LongKeysAndValuesAreRefused) {
  TCPStore store("localhost", server());
  EXPECT_EQ(error_of([&] { store.set(std::string(65537, 'k'), ""); }),
            name(store.port()) + ".set: a key of 65537 bytes, at most 65536");
  EXPECT_EQ(error_of([&] { store.set("key", std::string((8 << 20) + 1, 'x')); }),
            name(store.port()) + ".set: a value for key 'key' of 8388609 bytes, at most 8388608");
  const std::string most(8 << 20, 'x');
  store.set("key", most);
  EXPECT_EQ(store.compare_set("key", most, most), most);
  EXPECT_EQ(error_of([&] { store.wait(std::vector<std::string>(65'537, "k")); }),
            name(store.port()) + ".wait: 65537 keys at once, at most 65536");
}

TEST_F(TcpStores, ManyWaitForManyKeys) {
  constexpr int kClients = 12, kKeys = 200;
  TCPStore store("localhost", server());
  std::vector<std::string> keys;
  for (int i = 0; i < kKeys; ++i) keys.push_back("key" + std::to_string(i));
  std::vector<std::future<void>> clients;
  for (int c = 0; c < kClients; ++c)
    clients.push_back(std::async(std::launch::async, [&] {
      TCPStore other("localhost", client(store));
      other.add("waiting", 1);
      other.wait(keys, seconds(20));
    }));
  while (store.add("waiting", 0) < kClients) {
  }
  for (const std::string& key : keys) store.set(key, "1");
  for (auto& each : clients) each.get();
}

TEST(Engines, AMissingOneIsAnErrorThatSaysWhatToInstall) {
  EXPECT_THAT(error_of([] { load_engine("absent", "TCPStore", "package a"); }),
              AllOf(HasSubstr("TCPStore needs the engine 'absent': no plug-in libtaeda_absent.so "
                              "was found in "),
                    HasSubstr(". Install package a and build Taeda with TAEDA_ABSENT=ON")));
  EXPECT_FALSE(has_engine("absent"));
}

}  // namespace
}  // namespace taeda::distributed
