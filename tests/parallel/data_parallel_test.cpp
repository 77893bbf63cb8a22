// DataParallel on 1, 2 and 4 devices: results, gradients, arguments, states of threads.
#include "taeda/parallel/data_parallel.h"

#include <thread>

#include "common.h"
#include "taeda/amp/autocast.h"
#include "taeda/autograd/engine.h"
#include "taeda/device/cuda.h"
#include "taeda/nn/any_module.h"
#include "taeda/nn/containers/sequential.h"
#include "taeda/ops/nn/loss.h"
#include "taeda/optim/optim.h"
#include "taeda/parallel/imbalance.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::nn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct DevicesTest : ::testing::TestWithParam<int> {
  std::vector<Device> devices = sim_devices(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Counts, DevicesTest, ::testing::Values(1, 2, 4));

TEST_P(DevicesTest, GradientsEqualThoseOfOneDevice) {
  for (const int64_t batch : {16, 7, 5, 2, 1}) {
    Net net = make_net();
    const Tensor x = batch_of(batch).requires_grad_();
    const Tensor expected = net(x);
    expected.pow(2).sum().backward();
    const std::vector<Tensor> gradients = take_gradients(*net);
    const Tensor input_gradient = x.grad();
    x.mutable_grad().reset();
    DataParallel model(net, devices);
    for (int round = 0; round < 2; ++round) {
      const Tensor output = model(x);
      EXPECT_EQ(output.device(), sim_device(0));
      EXPECT_LT(distance(output, expected), 1e-5);
      output.pow(2).sum().backward();
      const std::vector<Tensor> actual = take_gradients(*net);
      for (size_t i = 0; i < actual.size(); ++i)
        EXPECT_LT(distance(actual[i], gradients[i]), 1e-4) << "batch " << batch << ", number " << i;
      EXPECT_LT(distance(x.grad(), input_gradient), 1e-5);
      x.mutable_grad().reset();
    }
  }
}

TEST_P(DevicesTest, TheLossCurveIsThatOfOneDevice) {
  const auto train = [](auto& model, const Net& net) {
    optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.05).momentum(0.9));
    std::vector<double> losses;
    const Tensor x = batch_of(12), y = batch_of(12, 8);
    for (int step = 0; step < 10; ++step) {
      optimizer.zero_grad();
      const Tensor loss = mse_loss(model(x), y);
      loss.backward();
      optimizer.step();
      losses.push_back(loss.item<double>());
    }
    return losses;
  };
  Net alone = make_net(), shared = make_net();
  DataParallel model(shared, devices);
  const std::vector<double> expected = train(alone, alone), actual = train(model, shared);
  EXPECT_LT(expected.back(), expected.front() * 0.9);
  EXPECT_THAT(actual, ::testing::Pointwise(::testing::DoubleNear(1e-5), expected));
}

TEST_P(DevicesTest, MemoryDoesNotGrow) {
  Net net = make_net();
  DataParallel model(net, devices);
  optim::Adam optimizer(net->parameters(), optim::AdamOptions(0.01));
  const Tensor x = batch_of(16);
  std::vector<int64_t> after_third;
  for (int step = 0; step < 12; ++step) {
    optimizer.zero_grad();
    model(x).pow(2).mean().backward();
    optimizer.step();
    std::vector<int64_t> now;
    for (const Device& d : devices) {
      synchronize(d);
      now.push_back(sim::memory_allocated(d.index()));
    }
    if (step == 2) after_third = now;
    if (step > 2) {
      EXPECT_EQ(now, after_third) << "step " << step;
    }
  }
}

TEST_P(DevicesTest, OrderHoldsWhenDevicesAreSlow) {
  Net net = make_net();
  const Tensor x = batch_of(8);
  net(x).sum().backward();
  const std::vector<Tensor> expected = take_gradients(*net);
  for (const Device& slow : devices) {
    DataParallel model(net, devices);
    model(x).sum().backward();
    take_gradients(*net);
    for (const Device& d : devices) synchronize(d);
    sim::Gate gate;
    sim::delay_stream(default_stream(slow), gate);
    model(x).sum().backward();
    gate.open();
    const std::vector<Tensor> actual = take_gradients(*net);
    for (size_t i = 0; i < actual.size(); ++i)
      EXPECT_LT(distance(actual[i], expected[i]), 1e-4) << slow << " was slow";
  }
}

TEST_P(DevicesTest, GradientsAreTheSameBitsWhicheverDeviceIsLate) {
  Net net = make_net();
  DataParallel model(net, devices);
  const Tensor x = batch_of(13);
  std::vector<Tensor> first;
  for (int round = 0; round <= GetParam(); ++round) {
    sim::Gate gate;
    if (round < GetParam()) sim::delay_stream(default_stream(sim_device(round)), gate);
    model(x).pow(2).sum().backward();
    gate.open();
    const std::vector<Tensor> gradients = take_gradients(*net);
    if (round == 0) first = gradients;
    for (size_t i = 0; i < first.size(); ++i) EXPECT_TRUE(gradients[i].equal(first[i]));
  }
}

TEST_P(DevicesTest, StreamsOfTheCallerAreUsed) {
  Net net = make_net();
  const Tensor x = batch_of(8);
  const Tensor expected = net(x);
  DataParallel model(net, devices);
  model(x);
  for (const Device& d : devices) synchronize(d);
  std::vector<std::unique_ptr<StreamGuard>> guards;
  sim::Gate gate;
  for (const Device& d : devices) {
    sim::delay_stream(default_stream(d), gate);  // nothing may be queued there
    guards.push_back(std::make_unique<StreamGuard>(new_stream(d)));
  }
  const Tensor output = model(x);
  EXPECT_LT(distance(output, expected), 1e-5);
  while (!guards.empty()) guards.pop_back();
}

TEST(DataParallelTest, PrintsAsPyTorchAndPrefixesNames) {
  Net net = make_net();
  const DataParallel model(net, {0, 1});
  EXPECT_EQ(model->repr(),
            "DataParallel(\n"
            "  (module): Net(\n"
            "    (fc1): Linear(in_features=6, out_features=8, bias=True)\n"
            "    (fc2): Linear(in_features=8, out_features=8, bias=True)\n"
            "  )\n"
            ")");
  const auto state = model->state_dict();
  EXPECT_TRUE(state.contains("module.fc1.weight"));
  EXPECT_EQ(state.size(), net->state_dict().size());
  EXPECT_EQ(model->module(), net.ptr());
  EXPECT_EQ(model->parameters().size(), net->parameters().size());
  EXPECT_TRUE(model->parameters()[0].is_same(net->parameters()[0]));
}

TEST(DataParallelTest, DevicesByIndexNameAndDefault) {
  Net net = make_net();
  EXPECT_EQ(DataParallel(net)->devices(), sim_devices(4));
  EXPECT_EQ(DataParallel(net, {1, 2})->devices(),
            (std::vector<Device>{sim_device(1), sim_device(2)}));
  EXPECT_EQ(DataParallel(net, {0, 1}, 1)->output_device(), sim_device(1));
  EXPECT_EQ(DataParallel(net, {"sim:0", "sim:2"}, "cpu")->output_device(), Device(kCPU));
  EXPECT_EQ(DataParallel(net, std::vector<int>{0, 3})->devices()[1], sim_device(3));
  EXPECT_THAT(error_of([&] { DataParallel model(net, {0, 9}); }), HasSubstr("ordinal"));
}

TEST(DataParallelTest, ParametersMustBeOnTheFirstDevice) {
  Net net;
  DataParallel model(net, {"sim:0", "sim:1"});
  EXPECT_EQ(error_of([&] { model(batch_of(4)); }),
            "module must have its parameters and buffers on device sim:0 (device_ids[0]) but found "
            "one of them on device: cpu\nin module DataParallel");
  model->to(sim_device(0));
  EXPECT_EQ(model(batch_of(4)).sizes(), IntArrayRef({4, 8}));
}

TEST(DataParallelTest, OneDeviceCallsTheModuleThere) {
  Net net;
  DataParallel model(net, {"sim:2"});
  EXPECT_EQ(net->scale.device(), sim_device(2)) << "moved by the constructor";
  EXPECT_EQ(model(batch_of(4).cpu()).device(), sim_device(2));
}

TEST(DataParallelTest, WithoutAcceleratorsTheModuleRunsAsItIs) {
  if (cuda::is_available()) GTEST_SKIP() << "there is a GPU";
  Net net;
  DataParallel all(net), two(net, {0, 1});
  EXPECT_TRUE(two->devices().empty());
  const Tensor x = batch_of(4).cpu();
  EXPECT_EQ(distance(all(x), net(x)), 0);
  EXPECT_EQ(distance(two(x), net(x)), 0);
  EXPECT_THAT(error_of([&] { parallel::data_parallel(net, x); }),
              HasSubstr("Expected at least one CUDA device to be available"));
}

TEST(DataParallelTest, AnyDimensionAndOutputDevice) {
  struct RowsImpl : Cloneable<RowsImpl> {
    RowsImpl() { reset(); }
    void reset() override { w = register_parameter("w", taeda::ones({1})); }
    Tensor forward(const Tensor& x) { return x * w; }
    Tensor w;
  };
  const auto rows = std::make_shared<RowsImpl>();
  rows->to(sim_device(0));
  DataParallel model(rows, {0, 1, 2}, 2, 1);
  const Tensor x = taeda::arange(6, TensorOptions(kFloat)).reshape({2, 3}).requires_grad_();
  const Tensor y = model(x);
  EXPECT_EQ(y.device(), sim_device(2));
  EXPECT_THAT(values(y), ElementsAre(0, 1, 2, 3, 4, 5));
  y.sum().backward();
  EXPECT_THAT(values(x.grad()), ElementsAre(1, 1, 1, 1, 1, 1));
  EXPECT_THAT(values(rows->w.grad()), ElementsAre(15));
}

using Named = std::map<std::string, Tensor>;
struct ManyImpl : Cloneable<ManyImpl> {
  ManyImpl() { reset(); }
  void reset() override { w = register_parameter("w", taeda::ones({1})); }
  std::tuple<Tensor, Named> forward(const Tensor& x, const std::vector<Tensor>& list, double factor,
                                    const std::string& name, const Tensor& mask) {
    const Tensor y = x * w + list[0] * factor;
    return {mask.defined() ? y * mask : y, {{name, y.sum()}}};
  }
  Tensor w;
};

TEST(DataParallelTest, SeveralArgumentsAndNestedResults) {
  const auto many = std::make_shared<ManyImpl>();
  many->to(sim_device(0));
  DataParallel model(many, {0, 1});
  const Tensor x = taeda::arange(4, TensorOptions(kFloat));
  const auto [y, sums] = model(x, std::vector<Tensor>{x}, 10.0, std::string("sum"), Tensor());
  EXPECT_THAT(values(y), ElementsAre(0, 11, 22, 33));
  EXPECT_THAT(values(sums.at("sum")), ElementsAre(11, 55));
  (y.sum() + sums.at("sum").sum()).backward();
  EXPECT_THAT(values(many->w.grad()), ElementsAre(12));
}

TEST(DataParallelTest, NoArgumentsMeansOneDevice) {
  struct SourceImpl : Cloneable<SourceImpl> {
    SourceImpl() { reset(); }
    void reset() override { w = register_parameter("w", taeda::ones({3})); }
    Tensor forward() { return w * 2; }
    Tensor w;
  };
  const auto source = std::make_shared<SourceImpl>();
  source->to(sim_device(0));
  EXPECT_THAT(values(DataParallel(source, {0, 1})()), ElementsAre(2, 2, 2));
}

TEST(DataParallelTest, BatchNormTakesTheStatisticsOfTheFirstChunk) {
  Sequential net(Linear(6, 3), BatchNorm1d(3));
  net->to(sim_device(0));
  Sequential alone(std::dynamic_pointer_cast<SequentialImpl>(net->clone()));
  DataParallel model(net, {0, 1});
  const Tensor x = batch_of(8);
  for (int step = 0; step < 3; ++step) {
    model(x);
    alone->forward(x.narrow(0, 0, 4));
  }
  EXPECT_LT(distance(net->at<BatchNorm1dImpl>(1).running_mean,
                     alone->at<BatchNorm1dImpl>(1).running_mean),
            1e-6);
  EXPECT_EQ(values(net->at<BatchNorm1dImpl>(1).num_batches_tracked)[0], 3);
  model->eval();
  const Tensor expected = net->forward(x);
  EXPECT_LT(distance(model(x), expected), 1e-6);
}

TEST(DataParallelTest, AutocastReachesTheThreads) {
  Net net = make_net();
  DataParallel model(net, {0, 1, 2});
  const Tensor x = batch_of(6);
  {
    const amp::autocast autocast("sim", kBFloat16);
    DataParallel layer(net->fc1, {0, 1, 2});
    EXPECT_EQ(layer(x).dtype(), kBFloat16);
    const Tensor loss = model(x).to(kFloat).pow(2).mean();
    loss.backward();
    EXPECT_EQ(net->fc1->weight.grad().dtype(), kFloat);
    EXPECT_EQ(net->fc1->weight.dtype(), kFloat);
  }
  DataParallel layer(net->fc1, {0, 1, 2});
  EXPECT_EQ(layer(x).dtype(), kFloat) << "the threads forget it";
}

/// Notes the thread's modes at each call.
struct ModesImpl : Cloneable<ModesImpl> {
  ModesImpl() { reset(); }
  void reset() override { w = register_parameter("w", taeda::ones({1})); }
  Tensor forward(const Tensor& x) {
    const Tensor out = x * w;
    const double modes = GradMode::is_enabled() + 2 * InferenceMode::is_enabled() +
                         4 * (sim::current_device() == x.device().index());
    return taeda::full({1}, modes, out.options()) + (out * 0).sum();
  }
  Tensor w;
};

TEST(DataParallelTest, GradModeInferenceModeAndDeviceReachTheThreads) {
  const auto modes = std::make_shared<ModesImpl>();
  modes->to(sim_device(0));
  DataParallel model(modes, {0, 1, 2});
  const Tensor x = taeda::ones({3});
  EXPECT_THAT(values(model(x)), ElementsAre(5, 5, 5));
  {
    NoGradGuard guard;
    EXPECT_THAT(values(model(x)), ElementsAre(4, 4, 4));
    EXPECT_FALSE(model(x).requires_grad());
  }
  {
    InferenceMode guard;
    EXPECT_THAT(values(model(x)), ElementsAre(6, 6, 6));
  }
  EXPECT_THAT(values(model(x)), ElementsAre(5, 5, 5));
  EXPECT_TRUE(model(x).requires_grad());
  EXPECT_EQ(sim::current_device(), 0);
}

TEST(DataParallelTest, TwoPassesBeforeOneBackward) {
  Net net = make_net();
  const Tensor x = batch_of(4), y = batch_of(6) * 2;
  (net(x).sum() + net(y).pow(2).sum()).backward();
  const std::vector<Tensor> expected = take_gradients(*net);
  DataParallel model(net, {0, 1});
  const Tensor first = model(x).sum(), second = model(y).pow(2).sum();
  (first + second).backward();
  const std::vector<Tensor> actual = take_gradients(*net);
  for (size_t i = 0; i < actual.size(); ++i) EXPECT_LT(distance(actual[i], expected[i]), 1e-4);
}

TEST(DataParallelTest, SecondDerivatives) {
  Net net = make_net();
  const auto penalty = [](auto&& model, const Tensor& x) {
    const Tensor leaf = x.detach().requires_grad_();
    const std::vector<Tensor> g =
        autograd::grad({model(leaf).pow(2).sum()}, {leaf}, {}, true, true);
    g[0].pow(2).sum().backward();
  };
  const Tensor x = batch_of(4);
  penalty(net, x);
  const std::vector<Tensor> expected = take_gradients(*net);
  DataParallel model(net, {0, 1});
  penalty(model, x);
  const std::vector<Tensor> actual = take_gradients(*net);
  for (size_t i = 0; i < 3; ++i) EXPECT_LT(distance(actual[i], expected[i]), 1e-3);
}

TEST(DataParallelTest, InAnAnyModuleAndInASequential) {
  Net net = make_net();
  const Tensor x = batch_of(4), expected = net(x);
  AnyModule any{DataParallel(net, {0, 1})};
  EXPECT_LT(distance(any.forward(x), expected), 1e-5);
  Sequential whole(DataParallel(net, {0, 1}), DataParallel(Linear(8, 2), {0, 1}));
  whole->to(sim_device(0));
  EXPECT_EQ(whole->forward(x).sizes(), IntArrayRef({4, 2}));
  const AnyModule copy = any.clone(sim_device(1));
  EXPECT_LT(distance(AnyModule(copy).forward(x), expected), 1e-5);
}

TEST(DataParallelTest, TheFunction) {
  Net net;
  const Tensor x = batch_of(5).cpu().requires_grad_();
  const Tensor expected = net(x);
  const Tensor output = parallel::data_parallel(net, x, sim_devices(3), sim_device(1));
  EXPECT_EQ(output.device(), sim_device(1));
  EXPECT_LT(distance(output, expected), 1e-5);
  output.sum().backward();
  EXPECT_TRUE(net->scale.grad().is_cpu());
  const Tensor one = parallel::data_parallel(net.ptr(), x, sim_devices(1), Device(kCPU));
  EXPECT_TRUE(one.is_cpu());
  EXPECT_EQ(net->scale.device(), sim_device(0));
  EXPECT_LT(distance(parallel::data_parallel(net, x), expected), 1e-5) << "all of its type";
  EXPECT_EQ(parallel::data_parallel(net, x, {0, 2}, 1).device(), sim_device(1));
  EXPECT_EQ(parallel::data_parallel(net, x, std::nullopt, "cpu").device(), Device(kCPU));
  const auto many = std::make_shared<ManyImpl>();
  const auto [y, sums] = parallel::data_parallel(
      many, std::tuple(x, std::vector<Tensor>{x}, 2.0, std::string("s"), Tensor()), sim_devices(2));
  EXPECT_LT(distance(y, x * 3), 1e-6);
}

TEST(DataParallelTest, SeveralThreadsMayUseOneModel) {
  Net net = make_net();
  DataParallel model(net, {0, 1});
  const Tensor x = batch_of(6);
  const Tensor expected = net(x).detach();
  for (const Device& d : sim_devices(2)) synchronize(d);
  std::vector<double> distances(4, 1);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      NoGradGuard guard;
      DataParallel same = model;
      distances[t] = distance(same(x), expected);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_THAT(distances, ::testing::Each(::testing::Lt(1e-5)));
}

TEST(ParallelApply, ModulesAndInputsAndDevices) {
  Net net = make_net();
  const Tensor x = batch_of(2);
  const auto copies = parallel::replicate(net.ptr(), sim_devices(2));
  const std::vector<Tensor> inputs{x, x.to(sim_device(1))};
  const std::vector<Tensor> outputs = parallel::parallel_apply(copies, inputs);
  EXPECT_EQ(outputs[1].device(), sim_device(1));
  EXPECT_LT(distance(outputs[0], outputs[1]), 1e-6);
  const uint64_t number = outputs[0].grad_fn()->sequence_nr();
  EXPECT_EQ(outputs[1].grad_fn()->sequence_nr(), number) << "so they run backward side by side";
  EXPECT_GT((outputs[1] * 2).grad_fn()->sequence_nr(), number);
  EXPECT_THAT(error_of([&] { parallel::parallel_apply(copies, std::vector<Tensor>{x}); }),
              HasSubstr("The number of modules 2 is not equal to the number of inputs 1"));
  EXPECT_THAT(error_of([&] { parallel::parallel_apply(copies, inputs, sim_devices(1)); }),
              HasSubstr("The number of modules 2 is not equal to the number of devices 1"));
}

TEST(Imbalance, IsWarnedOfAsPyTorchDoes) {
  const auto warning = [](int64_t memory, int cores) {
    DeviceProperties large, small;
    large.total_memory = 1000;
    large.multi_processor_count = 100;
    small.total_memory = memory;
    small.multi_processor_count = cores;
    return parallel::imbalance_warning(sim_devices(3), {large, small, large});
  };
  EXPECT_EQ(warning(750, 75), "");
  EXPECT_EQ(
      warning(740, 75),
      "There is an imbalance between your GPUs. You may want to exclude GPU 1 which has less than "
      "75% of the memory or cores of GPU 0. You can do so by setting the device_ids argument to "
      "DataParallel, or by setting the CUDA_VISIBLE_DEVICES environment variable.");
  EXPECT_THAT(warning(750, 74), ::testing::HasSubstr("exclude GPU 1"));
  EXPECT_EQ(parallel::imbalance_warning({}, {}), "");
}

}  // namespace
}  // namespace taeda::nn
