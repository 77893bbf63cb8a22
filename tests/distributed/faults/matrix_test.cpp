// Every kind of fault meets five collectives of two sizes: what is not hit goes on or says who and
// where, nobody waits for ever, nothing sums wrongly, and a restarted job goes on.

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>

#include <fstream>
#include <optional>
#include <thread>

#include "taeda/distributed/store/tcp_store.h"
#include "tests/distributed/faults/job.h"
#include "tests/distributed/faults/machines.h"
#include "tests/distributed/group/meeting_place.h"
#include "tests/distributed/stores.h"
#include "tests/io/temporary_folder.h"
#include "tests/own_port.h"

namespace taeda {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

/// Where the ranks meet; on `Machines` rank 2 has a machine of its own, and rank 0 serves the
/// store.
enum class MatrixStore { File, Server, RankZero, Machines };

class MatrixJob;

/// Stopped ranks go on when `meanwhile` is over.
struct FaultKind {
  const char* name;
  std::string act = name;
  int victim = 1;
  /// What each of the others says of each of its collectives; the job goes on if it is empty.
  std::vector<std::string> others = {};
  /// The same of the victim, if it lives to say it.
  std::vector<std::string> victim_as_well = {};
  /// How the victim ends, and what it says first if it says anything of its own.
  int end = 0;
  std::string says = {};
  MatrixStore store = MatrixStore::File;
  std::vector<std::string> without_store = {};  ///< what others than rank 0 may say, too
  int timeout_ms = 0;  ///< from the fault on, unless 0
  std::function<void(MatrixJob&)> meanwhile = {};
  std::map<std::string, std::string> environment = {};
};
std::ostream& operator<<(std::ostream& out, const FaultKind& kind) { return out << kind.name; }

/// The processes of a job, and where they meet.
class MatrixJob {
 public:
  MatrixJob(const FaultKind& kind, const std::string& fault, const std::string& path) {
    std::map<std::string, std::string> env = kind.environment;
    env["TAEDA_TEST_FAULT"] = fault;
    env["TAEDA_TEST_VICTIM"] = std::to_string(kind.victim);
    if (!fault.empty() && kind.timeout_ms)
      env["TAEDA_TEST_TIMEOUT_MS"] = std::to_string(kind.timeout_ms);
    env["TAEDA_DISTRIBUTED_CHECK_MS"] = kind.store == MatrixStore::Machines ? "200" : "100";
    env["TAEDA_TEST_PATH"] = path;
    env["OMP_WAIT_POLICY"] = "passive";  // two cores for three ranks
    env["WORLD_SIZE"] = std::to_string(kFaultJobRanks);
    if (kind.store == MatrixStore::Server) add_server(env);
    if (kind.store == MatrixStore::RankZero) {
      env["TAEDA_TEST_PORT"] = std::to_string(own_port());
      env["TAEDA_TEST_MASTER"] = "0";
    }
    if (kind.store == MatrixStore::Machines) add_machines(env);
    for (int rank = 0; rank < kFaultJobRanks; ++rank) {
      env["RANK"] = std::to_string(rank);
      ranks.push_back(machines ? (*machines)[rank / 2].start("fault_job", env)
                               : std::make_unique<Process>("fault_job", env));
    }
  }

  std::optional<Machines> machines;
  std::unique_ptr<Process> server;
  std::vector<std::unique_ptr<Process>> ranks;

 private:
  void add_machines(std::map<std::string, std::string>& env) {
    machines.emplace(2);
    env["TAEDA_TEST_HOST"] = Machines::address(0);
    env["TAEDA_TEST_PORT"] = "29500";
    env["TAEDA_TEST_MASTER"] = "0";
    env["TAEDA_DISTRIBUTED_INTERFACE"] = "eth0";
    const std::string secret = env["TAEDA_TEST_PATH"] + ".secret";
    std::ofstream(secret) << distributed::kTestSecret;
    ::chmod(secret.c_str(), 0600);
    env.try_emplace("TAEDA_DISTRIBUTED_SECRET_FILE", secret);
  }
  void add_server(std::map<std::string, std::string>& env) {
    server = std::make_unique<Process>("fault_store");
    env["TAEDA_TEST_PORT"] = server->line();
    env["TAEDA_TEST_STORE_PROCESS"] = server->line();
  }
};

int serve_store() {
  const distributed::TCPStore store("localhost", {.port = 0, .is_master = true});
  std::printf("%d\n%d\n", store.port(), ::getpid());
  while (true) ::pause();
}
const Role fault_store("fault_store", serve_store);

class FaultMatrix : public testing::TestWithParam<FaultKind> {
 protected:
  const FaultKind& kind_ = GetParam();

  void expect_errors(Process& survivor, int rank, const std::vector<std::string>& texts) {
    for (const FaultCase& c : fault_cases()) {
      const std::string line = survivor.line();
      const std::string self = "rank " + std::to_string(rank) + " of group '" + c.name() + "', in ";
      EXPECT_THAT(line, StartsWith(c.name() + ": "));
      EXPECT_THAT(line, AnyOf(HasSubstr(self), HasSubstr("the process group '" + c.name() +
                                                         "' can no longer be used: ")));
      std::vector<testing::Matcher<std::string>> causes;
      for (const std::string& text : texts) causes.push_back(HasSubstr(text));
      EXPECT_THAT(line, testing::AnyOfArray(causes)) << "rank " << rank;
    }
    EXPECT_EQ(survivor.wait(), 0);
  }

  std::vector<std::string> causes_at(int rank) const {
    std::vector<std::string> out = kind_.others;
    if (rank > 0) out.insert(out.end(), kind_.without_store.begin(), kind_.without_store.end());
    return out;
  }

  std::string missing() const {
    std::string out;
    if (kind_.store != MatrixStore::File) out = distributed::missing_grpc();
    if (out.empty() && kind_.store == MatrixStore::Machines) out = Machines::missing();
    return out;
  }

  void expect_state(Process& rank, const std::string& state) {
    EXPECT_EQ(rank.line(), state);
    EXPECT_EQ(rank.wait(), 0);
  }
};

TEST_P(FaultMatrix, EveryCollectiveOfEverySize) {
  if (const std::string reason = missing(); !reason.empty()) GTEST_SKIP() << reason;
  const TemporaryFolder folder;
  MatrixJob job(kind_, kind_.act, folder / "first");
  Process& victim = *job.ranks[static_cast<size_t>(kind_.victim)];
  if (kind_.meanwhile) {
    ASSERT_TRUE(victim.stopped());
    kind_.meanwhile(job);
    victim.signal(SIGCONT);
  }
  if (!kind_.says.empty()) {
    EXPECT_THAT(victim.line(), HasSubstr(kind_.says));
  }
  const bool goes_on = kind_.others.empty();
  const std::string state = state_after_all_steps(kind_.act == "nan_batch" ? kind_.victim : -1);
  for (int rank = 0; rank < kFaultJobRanks; ++rank) {
    Process& process = *job.ranks[static_cast<size_t>(rank)];
    if (goes_on)
      expect_state(process, state);
    else if (rank != kind_.victim)
      expect_errors(process, rank, causes_at(rank));
    else if (!kind_.victim_as_well.empty())
      expect_errors(process, rank, kind_.victim_as_well);
  }
  EXPECT_EQ(victim.wait(), kind_.end);
  if (goes_on) return;
  std::filesystem::copy(folder / "first.checkpoint", folder / "second.checkpoint");
  MatrixJob again(kind_, "", folder / "second");
  for (const auto& process : again.ranks) expect_state(*process, state);
}

TEST(Machines, WithoutASecretNothingStarts) {
  if (const std::string missing = distributed::missing_grpc(); !missing.empty())
    GTEST_SKIP() << missing;
  if (const std::string missing = Machines::missing(); !missing.empty()) GTEST_SKIP() << missing;
  const TemporaryFolder folder;
  const FaultKind kind{.name = "",
                       .store = MatrixStore::Machines,
                       .environment = {{"TAEDA_DISTRIBUTED_SECRET_FILE", ""}}};
  MatrixJob job(kind, "", folder / "job");
  EXPECT_THAT(job.ranks[0]->line(),
              AllOf(HasSubstr("192.0.2.1, beyond this machine, is refused without a way to tell "
                              "who takes part"),
                    HasSubstr("TAEDA_DISTRIBUTED_SECRET_FILE")));
  EXPECT_EQ(job.ranks[0]->wait(), 1);
}

void let_time_pass(MatrixJob&) { std::this_thread::sleep_for(milliseconds(300)); }
void until_others_end(MatrixJob& job) {
  for (const int rank : {0, 2}) job.ranks[static_cast<size_t>(rank)]->wait();
}
void take_link_down(MatrixJob& job) { job.machines->set_link(1, false); }
void take_link_down_for_a_while(MatrixJob& job) {
  take_link_down(job);
  let_time_pass(job);
  job.machines->set_link(1, true);
}
void drop_silently(MatrixJob& job) { job.machines->drop_silently(1); }
void slow_link(MatrixJob& job) { job.machines->slow_link(1); }
void replace_machine(MatrixJob& job) { job.machines->replace(1); }

/// What rank 0 and rank 1 say of rank 2, which they cannot reach.
const std::vector<std::string> rank_2_is_away = {"rank 2 has not called it",
                                                 "nothing was heard from rank 2"};
/// What rank 1 says where rank 0 has heard it first, and has ended with the store before rank 1
/// could read why.
const std::vector<std::string> rank_0_has_ended = {
    "rank 1 lost the connection to rank ",
    "it did not end within the timeout of 1000 ms, and the store, which would tell why, does not "
    "answer"};
std::vector<std::string> rank_2_is_away_or_gone() {
  auto out = rank_2_is_away;
  out.push_back("rank 2 is gone: rank ");
  return out;
}

const std::vector<FaultKind> kinds = {
    {.name = "RankKilled", .act = "dies", .others = {"rank 1 is gone"}, .end = -SIGKILL},
    {.name = "RankKilledInBackward",
     .act = "dies_in_backward",
     .others = {"rank 1 is gone"},
     .end = -SIGKILL},
    {.name = "RankKilledInCheckpoint",
     .act = "dies_in_checkpoint",
     .victim = 0,
     .others = {"rank 0 is gone"},
     .end = -SIGXFSZ},
    {.name = "RankExits", .act = "exits", .others = {"rank 1 is gone"}, .end = 3},
    {.name = "RankThrows",
     .act = "throws",
     .others = {"rank 1 has left the group", "rank 1 is gone"},
     .end = 1,
     .says = "the data set is gone"},
    {.name = "RankThrowsMeanwhile",
     .act = "throws_meanwhile",
     .others = {"rank 1 is gone", "rank 1 has left the group"},
     .end = 1,
     .says = "the data set is gone"},
    {.name = "RankOutOfMemory",
     .act = "out_of_memory",
     .others = {"rank 1 has left the group", "rank 1 is gone"},
     .end = 1,
     .says = "out of memory",
     .environment = {{"TAEDA_SIM_DEVICES", "1"}, {"TAEDA_SIM_MEMORY", "1M"}}},
    {.name = "DiskFullAtCheckpoint",
     .act = "disk_full",
     .victim = 0,
     .others = {"rank 0 has left the group", "rank 0 is gone"},
     .end = 1,
     .says = ".checkpoint"},
    {.name = "RankStoppedAndContinued", .act = "stops", .meanwhile = let_time_pass},
    {.name = "RankStoppedTooLong",
     .act = "stops",
     .others = {"rank 1 has not called it", "nothing was heard from rank 1"},
     .timeout_ms = 1000,
     .meanwhile = until_others_end},
    {.name = "StoreKilled", .act = "kills_store", .store = MatrixStore::Server},
    {.name = "StoreAndRankKilled",
     .act = "kills_store_and_dies",
     .others = {"lost the connection to rank "},
     .end = -SIGKILL,
     .store = MatrixStore::Server},
    {.name = "RankWithStoreKilled",
     .act = "dies",
     .victim = 0,
     .others = {"lost the connection to rank "},
     .end = -SIGKILL,
     .store = MatrixStore::RankZero},
    {.name = "SameRankTwice",
     .act = "same_rank",
     .says = "stranger: rank 1 of group 'all_reduce_of_3' has joined twice"},
    {.name = "AnotherWorldSize",
     .act = "other_size",
     .says = "stranger: rank 3 of group 'all_reduce_of_3' has a world size of 4, others have one "
             "of 3",
     .store = MatrixStore::Server},
    {.name = "AnotherJobsClient",
     .act = "other_job",
     .says = "stranger: TCPStore(",
     .store = MatrixStore::Server},
    {.name = "AnotherJobsProcessAtAFile", .act = "other_job", .says = "stranger: FileStore("},
    {.name = "TwoJobsOnOnePort",
     .act = "same_port",
     .says = "stranger: TCPStore: the server cannot listen on ",
     .store = MatrixStore::Server},
    {.name = "AnotherCollective",
     .act = "other_operation",
     .others = {"the ranks called different things: "}},
    {.name = "AnotherShape",
     .act = "other_shape",
     .others = {"the ranks called different things: "}},
    {.name = "BatchOfNaN", .act = "nan_batch"},
    {.name = "TwoMachines", .act = "", .store = MatrixStore::Machines},
    {.name = "LinkDown",
     .act = "stops",
     .victim = 2,
     .others = rank_2_is_away,
     .victim_as_well = {"the store, which would tell why, does not answer"},
     .store = MatrixStore::Machines,
     .without_store = rank_0_has_ended,
     .timeout_ms = 1000,
     .meanwhile = take_link_down},
    {.name = "LinkDownForAWhile",
     .act = "stops",
     .victim = 2,
     .store = MatrixStore::Machines,
     .meanwhile = take_link_down_for_a_while},
    {.name = "SilentDrop",
     .act = "stops",
     .victim = 2,
     .others = rank_2_is_away,
     .victim_as_well = {"the store, which would tell why, does not answer"},
     .store = MatrixStore::Machines,
     .without_store = rank_0_has_ended,
     .timeout_ms = 1000,
     .meanwhile = drop_silently},
    {.name = "ConnectionsReset",
     .act = "stops",
     .victim = 2,
     .others = rank_2_is_away_or_gone(),
     .victim_as_well = {"the store, which would tell why, does not answer"},
     .store = MatrixStore::Machines,
     .without_store = rank_0_has_ended,
     .timeout_ms = 1000,
     .meanwhile = replace_machine},
    {.name = "SlowLink",
     .act = "stops",
     .victim = 2,
     .store = MatrixStore::Machines,
     .meanwhile = slow_link},
};
INSTANTIATE_TEST_SUITE_P(, FaultMatrix, testing::ValuesIn(kinds),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace taeda
