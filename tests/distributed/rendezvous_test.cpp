#include "taeda/distributed/rendezvous.h"

#include <gmock/gmock.h>

#include <cstdio>
#include <memory>
#include <vector>

#include "taeda/base/error.h"
#include "taeda/distributed/environment.h"
#include "taeda/distributed/store/file_store.h"
#include "taeda/distributed/store/hash_store.h"
#include "taeda/distributed/store/tcp_store.h"
#include "tests/distributed/process.h"
#include "tests/distributed/stores.h"
#include "tests/error_of.h"
#include "tests/io/temporary_folder.h"
#include "tests/own_port.h"
#include "tests/variable.h"

namespace taeda::distributed {
namespace {

using testing::HasSubstr;

/// Meets the others as the environment says and tells what it learned.
const Role meet("meet", [] {
  const Rendezvous met = rendezvous(std::getenv("TAEDA_TEST_URL"));
  met.store->set("rank" + std::to_string(met.rank), "here");
  for (int64_t r = 0; r < met.world_size; ++r) met.store->wait({"rank" + std::to_string(r)});
  if (met.store->add("seen", 1) == met.world_size) met.store->set("all", "1");
  met.store->wait({"all"});
  if (met.store->add("left", 1) == met.world_size) met.store->set("done", "1");
  if (met.rank == 0) met.store->wait({"done"});  // it serves the store
  std::printf("%d of %d\n", static_cast<int>(met.rank), static_cast<int>(met.world_size));
  return 0;
});

/// No launcher's variables, whatever started the tests.
class RendezvousTest : public testing::Test {
 protected:
  RendezvousTest() {
    for (const char* name : {"RANK",
                             "WORLD_SIZE",
                             "MASTER_ADDR",
                             "MASTER_PORT",
                             "OMPI_COMM_WORLD_RANK",
                             "OMPI_COMM_WORLD_SIZE",
                             "OMPI_COMM_WORLD_LOCAL_SIZE",
                             "OMPI_COMM_WORLD_LOCAL_RANK",
                             "LOCAL_RANK",
                             "SLURM_LOCALID",
                             "SLURM_PROCID",
                             "SLURM_NTASKS",
                             "SLURM_STEP_ID",
                             "SLURM_JOB_ID",
                             "SLURM_STEP_NODELIST",
                             "SLURM_STEP_NUM_NODES",
                             "PMIX_NAMESPACE",
                             "TORCHELASTIC_RUN_ID",
                             "TAEDA_DISTRIBUTED_JOB_ID",
                             "TAEDA_DISTRIBUTED_INTERFACE",
                             "TAEDA_DISTRIBUTED_SECRET_FILE"})
      put(name, {});
  }
  void put(const std::string& name, std::optional<std::string> value) {
    variables_.push_back(std::make_unique<Variable>(name, std::move(value)));
  }
  ~RendezvousTest() override {
    while (!variables_.empty()) variables_.pop_back();  // the last one first
  }
  /// What one who cannot be told where to go is told.
  static std::string refusal(const std::string& url, int64_t rank = -1, int64_t world_size = -1) {
    try {
      rendezvous(url, rank, world_size, std::chrono::milliseconds(200));
    } catch (const ValueError& e) {
      return e.what();
    }
    return "no ValueError";
  }
  static std::string env(const std::string& what) {
    return "Error initializing torch.distributed using env:// rendezvous: " + what;
  }

 private:
  std::vector<std::unique_ptr<Variable>> variables_;
};

TEST_F(RendezvousTest, VariablesThatAreMissingAreNamed) {
  for (const char* name : {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}) {
    EXPECT_EQ(refusal("env://"),
              env("environment variable " + std::string(name) + " expected, but not set"));
    put(name, name == std::string("MASTER_ADDR") ? "localhost" : "2");
    if (name == std::string("WORLD_SIZE")) put("RANK", "1");
  }
}

TEST_F(RendezvousTest, VariablesThatAreWrongAreNamedWithTheirValues) {
  put("RANK", "first");
  EXPECT_EQ(refusal(""), env("environment variable RANK expected a number from 0 to 16777216, "
                             "but it is 'first'"));
  put("RANK", "2");
  put("WORLD_SIZE", "0");
  EXPECT_THAT(refusal("env://"), HasSubstr("WORLD_SIZE expected a number from 1"));
  put("WORLD_SIZE", "2");
  EXPECT_EQ(refusal("env://"), env("rank 2 is not one of a world of size 2"));
  put("RANK", "1");
  put("MASTER_ADDR", "localhost");
  put("MASTER_PORT", "70000");
  EXPECT_EQ(refusal("env://"), env("environment variable MASTER_PORT expected a number from 0 to "
                                   "65535, but it is '70000'"));
}

TEST_F(RendezvousTest, UrlsThatAreWrongSayWhy) {
  EXPECT_EQ(refusal("udp://host:1"),
            "No rendezvous handler for 'udp://host:1'; there are env://, tcp://host:port and "
            "file:///path");
  const std::string tcp = "Error initializing torch.distributed using tcp:// rendezvous: ";
  EXPECT_EQ(refusal("tcp://localhost", 0, 2), tcp + "port number missing");
  EXPECT_EQ(refusal("tcp://localhost:x", 0, 2),
            tcp + "port number expected a number, but got 'x' in 'tcp://localhost:x'");
  EXPECT_EQ(refusal("tcp://localhost:70000", 0, 2),
            tcp + "a host and a port up to 65535 expected, but got 'tcp://localhost:70000'");
  EXPECT_EQ(refusal("tcp://localhost:1"), tcp + "rank parameter missing");
  EXPECT_EQ(refusal("tcp://localhost:1?rank=0"), tcp + "world size parameter missing");
  EXPECT_EQ(refusal("tcp://localhost:1?rank=0&size=2"),
            tcp + "'size' in 'tcp://localhost:1?rank=0&size=2' is neither rank nor world_size");
  EXPECT_EQ(refusal("tcp://localhost:1?rank=0", 1, 2),
            "The url: tcp://localhost:1?rank=0 has node-specific arguments(rank, world_size) "
            "already.");
  const std::string file = "Error initializing torch.distributed using file:// rendezvous: ";
  EXPECT_EQ(refusal("file://", 0, 2), file + "path missing");
  EXPECT_EQ(refusal("file://relative/path", 0, 2),
            file + "the path in 'file://relative/path' is not absolute; write file:///path");
  EXPECT_EQ(refusal("file:///path", 2, 2), file + "rank 2 is not one of a world of size 2");
}

TEST_F(RendezvousTest, AFileGivesAFileStore) {
  const TemporaryFolder folder;
  const Rendezvous first = rendezvous("file://" + (folder / "store"), 0, 2);
  const Rendezvous second = rendezvous("file://" + (folder / "store") + "?rank=1&world_size=2");
  EXPECT_NE(dynamic_cast<FileStore*>(first.store.get()), nullptr);
  EXPECT_EQ(second.rank, 1);
  EXPECT_EQ(second.world_size, 2);
  first.store->set("key", "1");
  EXPECT_EQ(second.store->get("key"), "1");
}

TEST_F(RendezvousTest, AWorldOfOneNeedsNoNetwork) {
  put("RANK", "0");
  put("WORLD_SIZE", "1");
  put("MASTER_ADDR", "localhost");
  put("MASTER_PORT", "1");
  const Rendezvous alone = rendezvous("env://", -1, -1, std::chrono::milliseconds(70));
  EXPECT_NE(dynamic_cast<HashStore*>(alone.store.get()), nullptr);
  EXPECT_EQ(alone.store->timeout(), std::chrono::milliseconds(70));
}

TEST_F(RendezvousTest, OpenMpiTellsRankSizeAndPlace) {
  put("OMPI_COMM_WORLD_RANK", "3");
  put("OMPI_COMM_WORLD_SIZE", "4");
  EXPECT_EQ(rank_from_environment(), 3);
  EXPECT_EQ(world_size_from_environment(), 4);
  EXPECT_THAT(error_of([] { master_address_from_environment(); }), HasSubstr("MASTER_ADDR"));
  put("OMPI_COMM_WORLD_LOCAL_SIZE", "4");
  EXPECT_EQ(master_address_from_environment(), "127.0.0.1");
  EXPECT_THAT(error_of([] { master_port_from_environment(); }), HasSubstr("MASTER_PORT"));
  put("PMIX_NAMESPACE", "prterun-1");
  const uint16_t port = master_port_from_environment();
  EXPECT_GE(port, 29500);
  EXPECT_LT(port, 32500);
  EXPECT_EQ(master_port_from_environment(), port);
  put("RANK", "1");
  EXPECT_EQ(rank_from_environment(), 1) << "what the user says comes first";
}

TEST_F(RendezvousTest, SlurmTellsRankSizeAndPlace) {
  put("SLURM_PROCID", "2");
  put("SLURM_NTASKS", "8");
  EXPECT_THAT(error_of([] { rank_from_environment(); }), HasSubstr("RANK expected, but not set"))
      << "a batch script is no rank";
  put("SLURM_STEP_ID", "0");
  put("SLURM_JOB_ID", "77");
  EXPECT_EQ(rank_from_environment(), 2);
  EXPECT_EQ(world_size_from_environment(), 8);
  put("SLURM_STEP_NUM_NODES", "2");
  put("SLURM_STEP_NODELIST", "gpu[03-04]");
  EXPECT_EQ(master_address_from_environment(), "gpu03");
  put("SLURM_STEP_NUM_NODES", "1");
  EXPECT_EQ(master_address_from_environment(), "127.0.0.1");
  EXPECT_GE(master_port_from_environment(), 29500);
}

TEST_F(RendezvousTest, LaunchersTellTheRankOnTheMachine) {
  EXPECT_EQ(get_node_local_rank(5), 5);
  EXPECT_THAT(error_of([] { get_node_local_rank(); }),
              testing::StartsWith("LOCAL_RANK is not in the environment. Consider passing"));
  put("SLURM_LOCALID", "3");
  EXPECT_EQ(get_node_local_rank(0), 0) << "a batch script is no rank";
  put("SLURM_PROCID", "7");
  put("SLURM_NTASKS", "8");
  put("SLURM_STEP_ID", "0");
  EXPECT_EQ(get_node_local_rank(), 3);
  put("OMPI_COMM_WORLD_RANK", "7");
  put("OMPI_COMM_WORLD_SIZE", "8");
  put("OMPI_COMM_WORLD_LOCAL_RANK", "2");
  EXPECT_EQ(get_node_local_rank(), 2);
  put("LOCAL_RANK", "1");
  EXPECT_EQ(get_node_local_rank(), 1);
  put("LOCAL_RANK", "-1");
  EXPECT_THAT(error_of([] { get_node_local_rank(); }), HasSubstr("LOCAL_RANK expected a number"));
}

TEST_F(RendezvousTest, TheFirstHostOfSlurmsLists) {
  EXPECT_EQ(first_host("node"), "node");
  EXPECT_EQ(first_host("a,b[1-2]"), "a");
  EXPECT_EQ(first_host("gpu[03-07,9],login"), "gpu03");
  EXPECT_EQ(first_host("gpu[12]"), "gpu12");
  EXPECT_EQ(first_host("rack[2,4]-gpu,x"), "rack2-gpu");
  EXPECT_EQ(first_host("node[1-3,7],gpu05"), "node1");
  EXPECT_EQ(first_host("gpu05,node[1-3,7]"), "gpu05");
  EXPECT_EQ(first_host("r[1-2]n[07-09]"), "r1n07") << "dimensions of a cluster";
}

class MeetingTest : public RendezvousTest, public testing::WithParamInterface<std::string> {};

TEST_P(MeetingTest, ProcessesMeet) {
  constexpr int kRanks = 3;
  if (const std::string reason = missing_grpc(); GetParam() != "file" && !reason.empty())
    GTEST_SKIP() << reason;
  const TemporaryFolder folder;
  const std::string port = std::to_string(own_port());
  std::vector<std::unique_ptr<Process>> processes;
  for (int rank = kRanks - 1; rank >= 0; --rank) {
    const std::string place =
        "?rank=" + std::to_string(rank) + "&world_size=" + std::to_string(kRanks);
    std::map<std::string, std::string> environment = {{"TAEDA_TEST_URL", "env://"},
                                                      {"RANK", std::to_string(rank)},
                                                      {"WORLD_SIZE", std::to_string(kRanks)},
                                                      {"MASTER_ADDR", "localhost"},
                                                      {"MASTER_PORT", port}};
    if (GetParam() == "file")
      environment = {{"TAEDA_TEST_URL", "file://" + (folder / "store") + place}};
    if (GetParam() == "tcp") environment = {{"TAEDA_TEST_URL", "tcp://localhost:" + port + place}};
    processes.push_back(std::make_unique<Process>("meet", environment));
  }
  for (int rank = kRanks - 1; rank >= 0; --rank) {
    Process& process = *processes[static_cast<size_t>(kRanks - 1 - rank)];
    EXPECT_EQ(process.line(), std::to_string(rank) + " of " + std::to_string(kRanks));
    EXPECT_EQ(process.wait(), 0);
  }
  EXPECT_EQ(folder.count(), 0u);
}

INSTANTIATE_TEST_SUITE_P(All, MeetingTest, testing::Values("env", "tcp", "file"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace taeda::distributed
