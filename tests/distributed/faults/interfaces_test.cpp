// Ranks on several machines that nobody has told which interface to use.

#include <gmock/gmock.h>

#include <fstream>

#include "taeda/distributed/distributed.h"
#include "taeda/ops/create/create.h"
#include "tests/distributed/faults/machines.h"
#include "tests/distributed/group/meeting_place.h"
#include "tests/distributed/stores.h"
#include "tests/error_of.h"
#include "tests/io/temporary_folder.h"

namespace taeda {
namespace {

using testing::AllOf;
using testing::HasSubstr;

int join_over_machines() {
  std::printf("%s\n", error_of([] {
                        distributed::init_process_group(
                            "gloo", {.init_method = variable("TAEDA_TEST_MEETING"),
                                     .timeout = std::chrono::seconds(60),
                                     .world_size = world_size(),
                                     .rank = own_rank()});
                        const Tensor x = ones({2});
                        distributed::all_reduce(x);
                        if (x.select(0, 0).item<double>() != 2) throw Error("a wrong sum");
                        distributed::destroy_process_group();
                      }).c_str());
  return 0;
}
const Role joins_over_machines("join_over_machines", join_over_machines);

/// What the ranks of two machines say that meet there.
std::vector<std::string> errors_of_two_machines(std::map<std::string, std::string> environment) {
  const Machines machines(2);
  const TemporaryFolder folder;
  const std::string secret = folder / "secret";
  std::ofstream(secret) << distributed::kTestSecret;
  std::filesystem::permissions(secret, std::filesystem::perms::owner_read);
  environment.insert({{"WORLD_SIZE", "2"},
                      {"MASTER_ADDR", Machines::address(0)},
                      {"MASTER_PORT", "29517"},
                      {"TAEDA_DISTRIBUTED_SECRET_FILE", secret}});
  std::vector<std::unique_ptr<Process>> ranks;
  for (const int rank : {0, 1}) {
    environment["RANK"] = std::to_string(rank);
    ranks.push_back(machines[rank].start("join_over_machines", environment));
  }
  std::vector<std::string> out;
  for (const auto& rank : ranks) {
    out.push_back(rank->line(std::chrono::seconds(60)));
    EXPECT_EQ(rank->wait(), 0);
  }
  return out;
}

class Interfaces : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = Machines::missing(); !why.empty()) GTEST_SKIP() << why;
    if (const std::string why = distributed::missing_grpc(); !why.empty()) GTEST_SKIP() << why;
  }
};

TEST_F(Interfaces, AreThoseOfTheWayToWhereTheRanksMeet) {
  EXPECT_THAT(errors_of_two_machines({{"TAEDA_TEST_MEETING", "env://"}}),
              testing::Each("no error"));
}

TEST_F(Interfaces, ThatNoOtherMachineReachesAreAnErrorAtOnce) {
  const MeetingPlace place;
  EXPECT_THAT(errors_of_two_machines({{"TAEDA_TEST_MEETING", "file://" + place.path}}),
              testing::Each(AllOf(HasSubstr(" listens on 127.0.0.1, which its own machine alone "
                                            "reaches, and rank "),
                                  HasSubstr("Set TAEDA_DISTRIBUTED_INTERFACE"))));
}

}  // namespace
}  // namespace taeda
