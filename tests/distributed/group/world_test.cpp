// The functions of the world, in real processes.

#include <gmock/gmock.h>

#include "taeda/distributed/distributed.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/shape/shape.h"
#include "tests/distributed/group/meeting_place.h"
#include "tests/error_of.h"

#if __has_include(<nlohmann/json.hpp>)
#include "taeda/distributed/group/objects.h"
#endif

namespace taeda {
namespace {

namespace dist = distributed;
using testing::HasSubstr;

void want(bool condition, const char* what) {
  if (!condition) throw Error(std::string("wrong: ") + what);
}
#define WANT(...) want(__VA_ARGS__, #__VA_ARGS__)

void start(const std::string& backend = "gloo") {
  dist::init_process_group(backend, {.timeout = std::chrono::seconds(60),
                                     .world_size = world_size(),
                                     .rank = own_rank(),
                                     .store = common_store()});
}

/// All ranks end with status 0; what one printed otherwise is the failure.
void expect_all_well(const char* role, int size, std::map<std::string, std::string> env = {}) {
  const MeetingPlace place;
  const auto ranks = start_ranks(role, size, place, std::move(env));
  for (int rank = 0; rank < size; ++rank) {
    const auto status = ranks[static_cast<size_t>(rank)]->wait(std::chrono::seconds(20));
    EXPECT_EQ(status, 0) << "rank " << rank << ": "
                         << ranks[static_cast<size_t>(rank)]->line(std::chrono::milliseconds(10));
  }
}

void groups_of_the_world() {
  const int rank = dist::get_rank();
  const auto odd = dist::new_group({3, 1}), all = dist::new_group();
  WANT(dist::get_world_size(all) == 4 &&
       dist::get_process_group_ranks(odd).size() == (rank % 2 == 1 ? 2u : 0u));
  const Tensor x = full({2}, 1.0 * rank);
  dist::all_reduce(x, dist::ReduceOp::SUM, odd);
  WANT(x[0].item<float>() == static_cast<float>(rank % 2 == 1 ? 4 : rank));
  WANT(dist::get_rank(odd) == (rank % 2 == 1 ? rank / 2 : -1));
  if (rank % 2 == 0) return;
  // A root is a rank of the world.
  const Tensor y = full({2}, 1.0 * rank);
  dist::broadcast(y, 3, odd);
  WANT(y[0].item<float>() == 3 && dist::get_group_rank(odd, 3) == 1);
  WANT(dist::get_global_rank(odd, 0) == 1);
  WANT(error_of([&] { dist::broadcast(y, 2, odd); }) ==
       "broadcast: rank 2 is not part of group 'group_1'");
}

void messages_of_the_world() {
  const int rank = dist::get_rank(), next = (rank + 1) % 4, before = (rank + 3) % 4;
  const Tensor got = zeros({3}), mine = full({3}, 1.0 * rank);
  for (const auto& work : dist::batch_isend_irecv(
           {{dist::P2POp::Isend, mine, next}, {dist::P2POp::Irecv, got, before}}))
    work->wait();
  WANT(got[1].item<float>() == static_cast<float>(before));
  if (rank == 2) dist::send(mine, 0, {}, 9);
  if (rank == 0) WANT(dist::recv(got, {}, {}, 9) == 2 && got[0].item<float>() == 2);
}

#if __has_include(<nlohmann/json.hpp>)
using dist::Object;

void objects_of_the_world() {
  const int rank = dist::get_rank();
  std::vector<Object> list(4);
  dist::all_gather_object(list, {{"rank", rank}, {"name", std::string(10u + rank, 'x')}});
  for (int r = 0; r < 4; ++r)
    WANT(list[r]["rank"] == r && list[r]["name"].get<std::string>().size() == 10u + r);
  std::vector<Object> shared =
      rank == 1 ? std::vector<Object>{"a", 7, nullptr} : std::vector<Object>(3);
  dist::broadcast_object_list(shared, 1);
  WANT(shared == std::vector<Object>{"a", 7, nullptr});
  std::vector<Object> gathered;
  dist::gather_object(rank * 10, &gathered, 2);
  WANT(gathered == (rank == 2 ? std::vector<Object>{0, 10, 20, 30} : std::vector<Object>{}));
  std::vector<Object> one(1);
  dist::scatter_object_list(
      one, rank == 3 ? std::vector<Object>{1, "b", 3.5, {4, 4}} : std::vector<Object>{}, 3);
  WANT(one[0] == std::vector<Object>{1, "b", 3.5, {4, 4}}[static_cast<size_t>(rank)]);
}
#else
void objects_of_the_world() {}
#endif

void meshes_of_the_world() {
  const int rank = dist::get_rank();
  const auto mesh = dist::init_device_mesh("cpu", {2, 2}, {"rows", "columns"});
  WANT(mesh.get_coordinate() == std::vector<int>{rank / 2, rank % 2});
  const Tensor x = full({1}, 1.0 * rank);
  dist::all_reduce(x, dist::ReduceOp::SUM, mesh.get_group("columns"));
  WANT(x.item().to<int>() == (rank < 2 ? 1 : 5));
  dist::all_reduce(x, dist::ReduceOp::SUM, mesh["rows"].get_group());
  WANT(x.item().to<int>() == 6);
  WANT(dist::init_device_mesh("cpu", {4}).get_group() == dist::default_group());
  want(error_of([] {
         dist::init_device_mesh("cpu", {3, 2});
       }) == "init_device_mesh: Mesh should hold as many ranks as the world, 4, but found 6",
       "a mesh that is too large");
}

int in_the_world() {
  WANT(dist::is_available() && !dist::is_initialized());
  start();
  WANT(dist::is_initialized() && dist::get_rank() == own_rank() && dist::get_world_size() == 4 &&
       dist::get_backend() == "gloo");
  WANT(error_of([] { start(); }) == "trying to initialize the default process group twice!");
  groups_of_the_world();
  messages_of_the_world();
  objects_of_the_world();
  meshes_of_the_world();
  dist::barrier();
  dist::monitored_barrier();
  dist::destroy_process_group();
  WANT(!dist::is_initialized());
  dist::init_process_group("gloo", "file://" + variable("TAEDA_TEST_PATH") + "_again", {}, 4,
                           own_rank());
  const Tensor x = ones({1});
  WANT(dist::all_reduce(x, dist::ReduceOp::SUM, {}, true)->wait() && x.item().to<int>() == 4);
  dist::destroy_process_group();
  return 0;
}
const Role world_role("in_the_world", in_the_world);

TEST(World, FunctionsOfFourProcesses) { expect_all_well("in_the_world", 4); }

int nccl_by_name() {
  start("nccl");
  WANT(dist::get_backend() == "nccl");
  const Tensor x = full({5}, own_rank() + 1.0, TensorOptions().device("cuda"));
  const auto work = dist::all_reduce(x, dist::ReduceOp::AVG, {}, true);
  work->wait();
  x.mul_(2);
  WANT(x.cpu().equal(full({5}, 3.0)));
  dist::destroy_process_group();
  return 0;
}
const Role nccl_role("nccl_by_name", nccl_by_name);

TEST(World, NcclByNameOnSimulatedDevices) {
  expect_all_well("nccl_by_name", 2, {{"TAEDA_SIM_AS_CUDA", "1"}});
}

TEST(World, WithoutAGroupFunctionsSayWhatToCall) {
  EXPECT_THAT(error_of([] { dist::all_reduce(ones({1})); }),
              HasSubstr("Default process group has not been initialized, please make sure to call "
                        "init_process_group."));
  EXPECT_FALSE(dist::is_initialized());
}

TEST(World, BackendsThatAreNotThereAreNamed) {
  const auto init = [](const std::string& backend) {
    return error_of([&] {
      dist::init_process_group(
          backend, {.world_size = 1, .rank = 0, .store = std::make_shared<dist::HashStore>()});
    });
  };
  EXPECT_THAT(init("ucc"), HasSubstr("expected a backend of gloo, mpi or nccl, got 'ucc'"));
  EXPECT_THAT(error_of([] {
                dist::init_process_group("gloo", {.store = std::make_shared<dist::HashStore>()});
              }),
              HasSubstr("a store needs rank and world_size, got -1 and -1"));
}

}  // namespace
}  // namespace taeda
