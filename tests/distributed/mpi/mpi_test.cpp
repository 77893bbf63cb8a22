// The engine `mpi`, and other engines under mpirun: this program three times, started by MPI.

#include <gmock/gmock.h>

#include <cstdio>
#include <filesystem>

#include "taeda/distributed/distributed.h"
#include "taeda/distributed/engine.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "tests/distributed/group/meeting_place.h"
#include "tests/distributed/stores.h"
#include "tests/variable.h"
#include "tests/error_of.h"
#include "tests/io/temporary_folder.h"

namespace taeda {
namespace {

namespace dist = distributed;
using testing::AllOf;
using testing::HasSubstr;

/// Why nothing can be started by MPI here; empty if it can.
std::string missing_mpi() {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  return "Open MPI was built without sanitizers";
#else
  if (!dist::has_engine("mpi")) return "this build lacks the engine 'mpi'";
  return std::system("command -v mpirun > /dev/null 2>&1") == 0 ? "" : "there is no mpirun";
#endif
}

/// What three processes in a role print, each line once per process, and their common status.
std::string run_under_mpi(const std::string& role, const std::string& path, int* status) {
  const Variable as_role("TAEDA_TEST_ROLE", role), place("TAEDA_TEST_PATH", path);
  const Variable sooner("TAEDA_DISTRIBUTED_CHECK_MS", "200"), passive("OMP_WAIT_POLICY", "passive");
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  FILE* output = ::popen(("timeout -k 5 50 mpirun -n 3 --oversubscribe --allow-run-as-root "
                          "--bind-to none '" +
                          program + "' 2>&1")
                             .c_str(),
                         "r");
  std::string text;
  char buffer[4096];
  while (const size_t n = std::fread(buffer, 1, sizeof buffer, output)) text.append(buffer, n);
  *status = ::pclose(output);
  return text;
}

void expect_equal(const Tensor& got, const Tensor& want, const char* what) {
  if (!got.equal(want)) throw Error(std::string("wrong: ") + what);
}

int mpi_rank() { return std::stoi(variable("OMPI_COMM_WORLD_RANK")); }

void start_in_file() {
  dist::init_process_group("mpi", {.init_method = "file://" + variable("TAEDA_TEST_PATH"),
                                   .timeout = std::chrono::seconds(30),
                                   .world_size = 3,
                                   .rank = mpi_rank()});
}

void reduce_every_dtype(int64_t count) {
  const int rank = dist::get_rank();
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16, kLong, kByte}) {
    const auto of = [&](int value) { return full({count}, value, dtype); };
    const Tensor sum = of(rank + 1), most = of(rank + 1), one = of(rank + 1);
    dist::all_reduce(sum);
    expect_equal(sum, of(6), "all_reduce");
    dist::all_reduce(most, dist::ReduceOp::MAX);
    expect_equal(most, of(3), "all_reduce of MAX");
    dist::reduce(one, 2, dist::ReduceOp::PRODUCT);
    expect_equal(one, rank == 2 ? of(6) : of(rank + 1), "reduce of PRODUCT");
  }
}

void move_elements(int64_t count) {
  const int rank = dist::get_rank();
  const auto of = [&](int value) { return full({count}, 1.0 * value); };
  const Tensor from_one = of(rank), every = cat({of(0), of(1), of(2)});
  dist::broadcast(from_one, 1);
  expect_equal(from_one, of(1), "broadcast");
  const Tensor all = zeros({3 * count}), part = zeros({count}), swapped = zeros({3 * count});
  dist::all_gather_into_tensor(all, of(rank));
  expect_equal(all, every, "all_gather");
  dist::reduce_scatter_tensor(part, every);
  expect_equal(part, of(3 * rank), "reduce_scatter");
  dist::all_to_all_single(swapped, full({3 * count}, 1.0 * rank));
  expect_equal(swapped, every, "all_to_all");
  std::vector<Tensor> gathered, scattered;
  for (int r = 0; r < 3; ++r) {
    if (rank == 1) gathered.push_back(zeros({count}));
    if (rank == 1) scattered.push_back(of(r));
  }
  dist::gather(of(rank), gathered, 1);
  if (rank == 1) expect_equal(cat(gathered), every, "gather");
  dist::scatter(part, scattered, 1);
  expect_equal(part, of(rank), "scatter");
}

void send_around() {
  const int rank = dist::get_rank(), next = (rank + 1) % 3, before = (rank + 2) % 3;
  const Tensor got = zeros({4, 2});
  const auto sent = dist::isend(full({2, 4}, 1.0 * rank).t(), next, {}, 5);
  dist::recv(got, before, {}, 5);
  sent->wait();
  expect_equal(got, full({4, 2}, 1.0 * before), "recv");
  const auto pair = dist::new_group({0, 2});
  const Tensor x = ones({3});
  if (rank != 1) dist::all_reduce(x, dist::ReduceOp::SUM, pair);
  expect_equal(x, full({3}, rank == 1 ? 1.0 : 2.0), "all_reduce in a group");
}

int all_of_mpi() {
  start_in_file();
  for (const int64_t count : {0, 3, 100000}) {
    reduce_every_dtype(count);
    move_elements(count);
  }
  send_around();
  const Tensor x = ones({2}), y = ones({5});
  const auto first = dist::all_reduce(x, dist::ReduceOp::SUM, {}, true);
  const auto second = dist::all_reduce(y, dist::ReduceOp::AVG, {}, true);
  second->wait();
  first->wait();
  expect_equal(cat({x, y}), cat({full({2}, 3.0), ones({5})}), "two at once");
  dist::barrier();
  dist::destroy_process_group();
  std::printf("all well\n");
  return 0;
}
const Role all_of_mpi_role("all_of_mpi", all_of_mpi);

int differ_under_mpi() {
  start_in_file();
  dist::barrier();
  std::printf("%s\n", error_of([] {
                        if (dist::get_rank() == 1)
                          dist::broadcast(ones({2}), 0);
                        else
                          dist::all_reduce(ones({4}));
                      }).c_str());
  std::fflush(stdout);
  // mpirun ends the others when the first is gone.
  dist::FileStore said(variable("TAEDA_TEST_PATH") + ".said", 3);
  said.set("rank" + std::to_string(mpi_rank()), "");
  said.wait({"rank0", "rank1", "rank2"});
  std::_Exit(0);
}
const Role differ_role("differ_under_mpi", differ_under_mpi);

int gloo_under_mpi() {
  dist::init_process_group("gloo");
  const Tensor x = full({4}, dist::get_rank() + 1.0);
  dist::all_reduce(x);
  expect_equal(x, full({4}, 6.0), "all_reduce");
  dist::destroy_process_group();
  std::printf("all well\n");
  return 0;
}
const Role gloo_role("gloo_under_mpi", gloo_under_mpi);

size_t occurrences(const std::string& text, const std::string& part) {
  size_t out = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++out;
  return out;
}

void expect_all_well_under_mpi(const std::string& role) {
  const TemporaryFolder folder;
  int status = -1;
  const std::string text = run_under_mpi(role, folder / "store", &status);
  EXPECT_EQ(status, 0) << text;
  EXPECT_EQ(occurrences(text, "all well"), 3u) << text;
}

TEST(Mpi, EveryOperationOfThreeProcesses) {
  if (const std::string missing = missing_mpi(); !missing.empty()) GTEST_SKIP() << missing;
  expect_all_well_under_mpi("all_of_mpi");
}

TEST(Mpi, DifferentCallsAreNamedOnBothSides) {
  if (const std::string missing = missing_mpi(); !missing.empty()) GTEST_SKIP() << missing;
  const TemporaryFolder folder;
  int status = -1;
  const std::string text = run_under_mpi("differ_under_mpi", folder / "store", &status);
  for (const char* rank : {"rank 0", "rank 1", "rank 2"})
    EXPECT_THAT(text, HasSubstr(std::string(rank) + " of group 'default', in "));
  EXPECT_THAT(text, AllOf(HasSubstr("rank 1 called broadcast #2 float32[2], root rank 0 at"),
                          HasSubstr("called all_reduce #2 float32[4] (SUM) at")));
}

TEST(Mpi, GlooFindsItsRanksUnderMpirun) {
  if (const std::string missing = missing_mpi(); !missing.empty()) GTEST_SKIP() << missing;
  if (const std::string missing = dist::missing_grpc(); !missing.empty()) GTEST_SKIP() << missing;
  expect_all_well_under_mpi("gloo_under_mpi");
}

TEST(Mpi, AProcessOfItsOwnIsToldWhatToStart) {
  const bool there = dist::has_engine("mpi");
  const std::string error = error_of([] {
    dist::init_process_group(
        "mpi", {.world_size = 1, .rank = 0, .store = std::make_shared<dist::HashStore>()});
  });
  EXPECT_THAT(error, HasSubstr(there ? "this process was not started by MPI; start the program "
                                       "with `mpirun -n 4 program`"
                                     : "the backend 'mpi' needs the engine 'mpi': "));
}

}  // namespace
}  // namespace taeda
