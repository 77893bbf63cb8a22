// Pipelines side by side: two stages, each with two replicas, in four processes.
#include <gmock/gmock.h>

#include "taeda/distributed/distributed.h"
#include "taeda/distributed/pipeline/schedules.h"
#include "taeda/nn/nn.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/optim/optim.h"
#include "tests/distributed/group/meeting_place.h"

namespace taeda {
namespace {

namespace dist = distributed;
using namespace distributed::pipelining;

constexpr int64_t kMicroBatches = 4;

Tensor half_square(const Tensor& output, const Tensor& target) {
  return (output - target).square().mean() * 0.5;
}

std::vector<nn::Sequential> stages_of_replicas(int n) {
  manual_seed(21);
  std::vector<nn::Sequential> out;
  for (int i = 0; i < n; ++i) {
    nn::Sequential part(nn::Linear(5, 5), nn::BatchNorm1d(5), nn::Tanh());
    part->to(kDouble);
    part->eval();  // normalising micro-batches would make another model of it
    out.push_back(part);
  }
  return out;
}

/// Three steps of one process with all data: what the parameters become.
void train_alone(std::vector<nn::Sequential>& parts, const Tensor& x, const Tensor& y) {
  std::vector<Tensor> params;
  for (const nn::Sequential& part : parts)
    for (const Tensor& p : part->parameters()) params.push_back(p);
  optim::SGD optimizer(params, optim::SGDOptions(0.2));
  for (int step = 0; step < 3; ++step) {
    optimizer.zero_grad();
    Tensor h = x;
    for (nn::Sequential& part : parts) h = part->forward(h);
    half_square(h, y).backward();
    optimizer.step();
  }
}

template <class Schedule, class Stages>
bool trains_as_alone(const dist::DeviceMesh& mesh, int per_rank, const Stages& what_it_takes) {
  const int count = 2 * per_rank, place = mesh.get_local_rank("stages");
  auto alone = stages_of_replicas(count), parts = stages_of_replicas(count);
  manual_seed(22);
  const Tensor x = randn({16, 5}, kDouble), y = randn({16, 5}, kDouble);
  train_alone(alone, x, y);
  std::vector<PipelineStage> mine;
  std::vector<Tensor> params;
  for (int s = place; s < count; s += 2) {
    dist::DistributedDataParallel ddp(parts[static_cast<size_t>(s)],
                                      {.process_group = mesh.get_group("replicas")});
    ddp->eval();
    mine.emplace_back(ddp, s, count, kCPU, mesh.get_group("stages"));
    for (const Tensor& p : ddp->parameters()) params.push_back(p);
  }
  Schedule schedule(what_it_takes(mine), kMicroBatches, half_square);
  optim::SGD optimizer(params, optim::SGDOptions(0.2));
  const int64_t begin = 8 * mesh.get_local_rank("replicas");
  for (int step = 0; step < 3; ++step) {
    optimizer.zero_grad();
    schedule.step(x.narrow(0, begin, 8), {.target = y.narrow(0, begin, 8)});
    optimizer.step();
  }
  for (int s = place; s < count; s += 2) {
    const auto got = parts[static_cast<size_t>(s)]->parameters();
    const auto want = alone[static_cast<size_t>(s)]->parameters();
    for (size_t i = 0; i < got.size(); ++i)
      if (!allclose(got[i], want[i], 1e-10, 1e-12)) return false;
  }
  return true;
}

int two_by_two() {
  dist::init_process_group("gloo", {.timeout = std::chrono::seconds(60),
                                    .world_size = world_size(),
                                    .rank = own_rank(),
                                    .store = common_store()});
  const auto mesh = dist::init_device_mesh("cpu", {2, 2}, {"replicas", "stages"});
  const auto first = [](const std::vector<PipelineStage>& stages) { return stages[0]; };
  const auto all = [](const std::vector<PipelineStage>& stages) { return stages; };
  int status = 0;
  if (!trains_as_alone<ScheduleGPipe>(mesh, 1, first)) status |= 2;
  if (!trains_as_alone<Schedule1F1B>(mesh, 1, first)) status |= 4;
  if (!trains_as_alone<ScheduleInterleaved1F1B>(mesh, 2, all)) status |= 8;
  dist::destroy_process_group();
  return status;
}
const Role two_by_two_role("two_by_two", two_by_two);

TEST(Pipelining, WithReplicasOfEachStage) {
  const MeetingPlace place;
  for (const auto& rank : start_ranks("two_by_two", 4, place))
    EXPECT_EQ(rank->wait(), 0) << rank->line(std::chrono::milliseconds(10));
}

}  // namespace
}  // namespace taeda
