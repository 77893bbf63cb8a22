// What a training step on several devices is predicted to take: Note [Predicted time] in
// device/sim_cost.h.
#include "common.h"
#include "taeda/device/sim_cost.h"
#include "taeda/nn/containers/sequential.h"
#include "taeda/nn/modules/activation.h"
#include "taeda/ops/nn/loss.h"
#include "taeda/optim/optim.h"

namespace taeda::nn {
namespace {

/// An h100 on which a step of sizes that are a sixteenth takes as long: the simulation computes
/// what it predicts.
sim::CostModel sixteenth_of_h100() {
  sim::CostModel cost = sim::cost_model("h100");
  cost.float32 /= 16 * 16 * 16;
  cost.memory_bandwidth /= 16 * 16;
  cost.peer_bandwidth /= 16 * 16;
  return cost;
}

struct Predicted : ::testing::Test {
  ~Predicted() override { sim::configure(4); }

  /// Milliseconds of a step on so many devices: four linear layers of `width` and a classifier.
  static double step_time(int devices, int64_t width, int64_t batch) {
    manual_seed(0);
    Sequential net;
    for (int i = 0; i < 4; ++i) {
      net->push_back(Linear(width, width));
      net->push_back(ReLU());
    }
    net->push_back(Linear(width, 10));
    net->to(sim_device(0));
    DataParallel<SequentialImpl> model(net.ptr(), sim_devices(devices));
    optim::SGD optimizer(net->parameters(), 0.01);
    const Tensor x = taeda::randn({batch, width}).to(sim_device(0));
    const Tensor y = taeda::randint(10, {batch}, kLong).to(sim_device(0));
    const auto step = [&] {
      optimizer.zero_grad();
      cross_entropy(model->forward(x), y).backward();
      optimizer.step();
    };
    const auto wait = [&] {
      for (int i = 0; i < devices; ++i) sim::synchronize(i);
    };
    step();  // makes the replicas
    step();  // has the buckets in the order in which gradients come
    wait();
    const double begin = sim::predicted_time();
    step();
    wait();
    return (sim::predicted_time() - begin) * 1e3;
  }
};

TEST_F(Predicted, MoreDevicesAreNotSlowerWhereThereIsWorkForThem) {
  sim::configure(4, {.cost = sixteenth_of_h100()});
  const double one = step_time(1, 1024 / 16, 2048 / 16), four = step_time(4, 1024 / 16, 2048 / 16);
  EXPECT_GT(one, 1.2 * four) << one << " ms on one device, " << four << " on four";
}

}  // namespace
}  // namespace taeda::nn
