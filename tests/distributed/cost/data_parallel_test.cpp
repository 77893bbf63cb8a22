// Steps that are run on a simulated device, and what data parallelism adds to them.
#include "taeda/distributed/cost/data_parallel.h"

#include <gmock/gmock.h>

#include "taeda/amp/autocast.h"
#include "taeda/base/error.h"
#include "taeda/device/sim.h"
#include "taeda/models/gpt.h"
#include "taeda/models/resnet.h"
#include "taeda/nn/containers/sequential.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/nn/loss.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/optim/sgd.h"
#include "tests/sim/devices.h"

namespace taeda {
namespace {

using namespace distributed::cost;
using sim_tests::kDevice;
using testing::HasSubstr;

/// Large devices that compute nothing.
struct PlanStep : testing::Test {
  PlanStep() { configure(false); }
  ~PlanStep() override { sim::configure(2); }
  static void configure(bool compute) {
    sim::configure(1, {.memory = static_cast<size_t>(compute ? 2 : 80) << 30,
                       .cost = sim::cost_model("h100"),
                       .compute = compute});
  }
};

TrainingStep linear_layers(int64_t width, int layers) {
  nn::Sequential network;
  for (int i = 0; i < layers; ++i) network->push_back(nn::Linear(width, width));
  network->to(kDevice);
  const Tensor x = zeros({width, width}, TensorOptions(kFloat).device(kDevice));
  TrainingStep step{
      network.ptr(), [network, x]() mutable { return network->forward(x).sum(); }, {}, {}};
  step.optimizer =
      std::make_shared<optim::SGD>(network->parameters(), optim::SGDOptions(0.1).momentum(0.9));
  for (size_t i = 1; i < static_cast<size_t>(layers); ++i) step.cuts.push_back(network->ptr(i));
  return step;
}

TEST_F(PlanStep, GradientsComeFromTheLastLayerOn) {
  const MeasuredStep s = measure_step(linear_layers(1024, 4), kDevice);
  ASSERT_EQ(s.gradients.size(), 8u);
  for (size_t i = 0; i < s.gradients.size(); ++i) {
    EXPECT_EQ(s.gradients[i].layer, 3 - i / 2);
    EXPECT_GT(s.gradients[i].ready, s.forward_end);
    EXPECT_LE(s.gradients[i].ready, s.backward_end);
    EXPECT_GE(s.gradients[i].ready, s.gradients[i == 0 ? 0 : i - 1].ready);
  }
  EXPECT_EQ(s.gradient_bytes, 4 * (1024 * 1024 + 1024) * 4);
  EXPECT_EQ(s.parameter_bytes, s.gradient_bytes);
  EXPECT_EQ(s.state_bytes, s.gradient_bytes);
  EXPECT_GT(s.peak_bytes, 3 * s.gradient_bytes);
  EXPECT_GT(s.end, s.backward_end);
  // Three products for each layer, but for the first, whose input wants no gradient.
  EXPECT_DOUBLE_EQ(s.flops, 11 * 2.0 * 1024 * 1024 * 1024);
}

TEST_F(PlanStep, PartsAddUpToTheStep) {
  const MeasuredStep s = measure_step(linear_layers(1024, 4), kDevice);
  ASSERT_EQ(s.parts.size(), 4u);
  double forward = 0, backward = 0;
  int64_t parameters = 0;
  for (const Part& p : s.parts) {
    forward += p.forward;
    backward += p.backward;
    parameters += p.parameter_bytes;
    EXPECT_EQ(p.parameter_bytes, (1024 * 1024 + 1024) * 4);
    EXPECT_EQ(p.input_bytes, &p == &s.parts[0] ? 0 : 1024 * 1024 * 4);
  }
  EXPECT_NEAR(forward, s.forward_end, 1e-12);
  EXPECT_NEAR(backward, s.backward_end - s.forward_end, 1e-12);
  EXPECT_EQ(parameters, s.parameter_bytes);
  // All layers multiply as much, but the first has one product less to do.
  EXPECT_NEAR(s.parts[1].backward, s.parts[2].backward, 1e-6);
  EXPECT_GT(s.parts[1].backward, 1.5 * s.parts[0].backward);
}

/// When gradients come, when the step ends, and what it needs.
struct Summary {
  std::vector<double> times;
  int64_t peak_bytes;
  bool operator==(const Summary&) const = default;
};

Summary summary_of_a_step() {
  const MeasuredStep s = measure_step(linear_layers(64, 3), kDevice);
  Summary out{{s.forward_end, s.end}, s.peak_bytes};
  for (const Gradient& g : s.gradients) out.times.push_back(g.ready);
  return out;
}

TEST_F(PlanStep, IsTheSameWhetherValuesAreComputedOrNot) {
  const Summary planned = summary_of_a_step();
  configure(true);
  EXPECT_EQ(summary_of_a_step(), planned);
}

TEST_F(PlanStep, LeavesNoHooksBehind) {
  const TrainingStep step = linear_layers(64, 2);
  const MeasuredStep first = measure_step(step, kDevice), second = measure_step(step, kDevice);
  EXPECT_EQ(first.gradients.size(), second.gradients.size());
  step.loss().backward();  // what a hook that is still there would record into is gone
}

TEST_F(PlanStep, SaysWhatItCannotMeasure) {
  TrainingStep step = linear_layers(8, 2);
  EXPECT_THROW(measure_step(step, Device(kCPU)), Error);
  step.cuts = {std::make_shared<nn::LinearImpl>(8, 8)};
  try {
    measure_step(step, kDevice);
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("was not called with a tensor that gets a gradient"));
  }
}

/// A second forward, a backward of two in which gradients of 400 bytes come at 2 and at 3.
MeasuredStep two_gradients() {
  MeasuredStep s;
  s.forward_end = 1;
  s.backward_end = 3;
  s.end = 3.5;
  s.gradients = {{zeros({100}), 1, 2}, {zeros({100}), 0, 3}};
  s.gradient_bytes = 800;
  return s;
}

/// Two devices send all 400 bytes of a bucket in `seconds`.
Network one_bucket_in(double seconds) {
  return {"by hand", {0, 400 / seconds}, {0, 400 / seconds}, 8, 8, 0};
}

TEST(PlanDataParallel, OnlyTheLastBucketIsNotHidden) {
  const nn::parallel::BucketLimits each{1, 1};
  const DataParallelStep s = data_parallel_step(two_gradients(), 2, one_bucket_in(0.5), each);
  ASSERT_EQ(s.buckets.size(), 2u);
  EXPECT_DOUBLE_EQ(s.buckets[0].begin, 2);
  EXPECT_DOUBLE_EQ(s.buckets[0].end, 2.5);
  EXPECT_DOUBLE_EQ(s.buckets[1].begin, 3);
  EXPECT_DOUBLE_EQ(s.exposed, 0.5);
  EXPECT_DOUBLE_EQ(s.seconds, 4);
  EXPECT_DOUBLE_EQ(s.bytes, 800);
}

TEST(PlanDataParallel, BucketsWaitForEachOther) {
  const nn::parallel::BucketLimits each{1, 1};
  const DataParallelStep s = data_parallel_step(two_gradients(), 2, one_bucket_in(4), each);
  EXPECT_DOUBLE_EQ(s.buckets[1].begin, 6);
  EXPECT_DOUBLE_EQ(s.exposed, 7);
  EXPECT_DOUBLE_EQ(s.communication, 8);
}

TEST(PlanDataParallel, OneBucketBeginsWithItsLastGradient) {
  const DataParallelStep s = data_parallel_step(two_gradients(), 2, one_bucket_in(0.5));
  ASSERT_EQ(s.buckets.size(), 1u);
  EXPECT_DOUBLE_EQ(s.buckets[0].begin, 3);
  EXPECT_DOUBLE_EQ(s.exposed, 1);
  EXPECT_DOUBLE_EQ(data_parallel_step(two_gradients(), 1, one_bucket_in(0.5)).exposed, 0);
}

TEST(PlanDataParallel, BuffersAreSentBeforeForward) {
  MeasuredStep with_buffers = two_gradients();
  with_buffers.buffer_bytes = 400;
  const DataParallelStep s = data_parallel_step(with_buffers, 2, one_bucket_in(0.5));
  EXPECT_DOUBLE_EQ(s.broadcast, 0.5);
  EXPECT_DOUBLE_EQ(s.exposed, 1.5);
}

TEST_F(PlanStep, ResNet50ScalesToEightH100) {
  models::ResNet network = models::resnet50();
  network->to(kDevice);
  const Tensor x = zeros({256, 3, 224, 224}, TensorOptions(kFloat).device(kDevice));
  const Tensor y = zeros({256}, TensorOptions(kLong).device(kDevice));
  TrainingStep step{network.ptr(), {}, {}, {}};
  step.loss = [&] {
    const amp::autocast autocast(kDevice, kBFloat16);
    return cross_entropy(network->forward(x), y);
  };
  step.optimizer = std::make_shared<optim::SGD>(network->parameters(), 0.1);
  const MeasuredStep s = measure_step(step, kDevice);
  EXPECT_NEAR(static_cast<double>(s.gradient_bytes), 25.557e6 * 4, 1e5);
  // 4.1 G multiplications forward (He et al. 2015: 3.8 without the stride's place), as many twice
  // backward.
  EXPECT_NEAR(s.flops, 3 * 2 * 4.1e9 * 256, 0.05 * s.flops);
  const Network ib = distributed::cost::network("ib400", sim::cost_model("h100"));
  EXPECT_GT(s.end / data_parallel_step(s, 8, ib).seconds, 0.98);
  EXPECT_GT(s.end / data_parallel_step(s, 1024, ib).seconds, 0.9);
}

TEST_F(PlanStep, AGptScalesToEightH100AndLosesBeyond) {
  models::GPT network(models::GPTOptions{
      .vocab_size = 8192, .block_size = 1024, .n_layer = 8, .n_head = 8, .n_embd = 512});
  network->to(kDevice);
  const Tensor tokens = zeros({8, 1024}, TensorOptions(kLong).device(kDevice));
  TrainingStep step{network.ptr(), {}, {}, {}};
  step.loss = [&] {
    const amp::autocast autocast(kDevice, kBFloat16);
    return cross_entropy(network->forward(tokens).view({8 * 1024, 8192}), tokens.view({8 * 1024}));
  };
  step.optimizer = std::make_shared<optim::SGD>(network->parameters(), 0.1);
  const MeasuredStep s = measure_step(step, kDevice);
  const Network ib = distributed::cost::network("ib400", sim::cost_model("h100"));
  EXPECT_GT(s.end / data_parallel_step(s, 8, ib).seconds, 0.9);
  const DataParallelStep many = data_parallel_step(s, 1024, ib);
  EXPECT_LT(s.end / many.seconds, 0.9);
  EXPECT_GT(many.buckets.back().begin, many.buckets.back().ready);  // it falls behind
  const Network ethernet = distributed::cost::network("eth100", sim::cost_model("h100"));
  EXPECT_GT(data_parallel_step(s, 64, ethernet).seconds, 2 * data_parallel_step(s, 64, ib).seconds);
}

}  // namespace
}  // namespace taeda
