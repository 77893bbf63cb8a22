// Whole trainings: losses of every step equal PyTorch's from the same seed.
#include "common.h"
#include "taeda/device/generator.h"
#include "taeda/device/sim.h"
#include "taeda/nn/nn.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/nn/dropout.h"
#include "taeda/ops/random/random.h"
#include "taeda/optim/optim.h"

namespace taeda::nn {
namespace {

using namespace testing_helpers;
namespace F = functional;

/// The network of the fifth seed program.
struct NetworkImpl : Cloneable<NetworkImpl> {
  NetworkImpl() { reset(); }
  void reset() override {
    conv1 = register_module("conv1", Conv2d(1, 6, 5));
    conv2 = register_module("conv2", Conv2d(6, 12, 5));
    fc1 = register_module("fc1", Linear(192, 120));
    fc2 = register_module("fc2", Linear(120, 60));
    out = register_module("out", Linear(60, 10));
  }
  Tensor forward(Tensor t) {
    t = F::max_pool2d(conv1(t).relu(), 2, 2);
    t = F::max_pool2d(conv2(t).relu(), 2, 2);
    t = fc1(t.reshape({-1, 192})).relu();
    return out(fc2(t).relu());
  }
  Conv2d conv1{nullptr}, conv2{nullptr};
  Linear fc1{nullptr}, fc2{nullptr}, out{nullptr};
};
TAEDA_MODULE(Network);

template <class Model, class Loss>
std::vector<double> train(Model& model, optim::Optimizer& optimizer, const Tensor& inputs,
                          const Tensor& targets, Loss loss_function) {
  std::vector<double> losses;
  for (int step = 0; step < 10; ++step) {
    optimizer.zero_grad();
    const Tensor loss = loss_function(model(inputs), targets);
    loss.backward();
    optimizer.step();
    losses.push_back(loss.template item<double>());
  }
  return losses;
}

template <class O, class Options>
void expect_mlp(const char* name, const Options& options) {
  manual_seed(7);
  // Braces: layers are made, and draw their values, from left to right.
  Sequential model{Linear(6, 16), Tanh(), Linear(16, 8), ReLU(), Linear(8, 3)};
  O optimizer(model->parameters(), options);
  const Tensor inputs = randn({20, 6}), targets = randn({20, 3});
  EXPECT_THAT(train(model, optimizer, inputs, targets, MSELoss()),
              near(golden_losses.at(name), 2e-5))
      << name;
}

TEST(Training, MlpLossesEqualPyTorchs) {
  expect_mlp<optim::SGD>("mlp_sgd", optim::SGDOptions(0.1).momentum(0.9));
  expect_mlp<optim::Adam>("mlp_adam", optim::AdamOptions(0.01));
  expect_mlp<optim::RMSprop>("mlp_rmsprop", optim::RMSpropOptions(0.003));
}

template <class O, class Options>
std::vector<double> cnn_losses(const Options& options) {
  manual_seed(50);
  Network model;
  O optimizer(model->parameters(), options);
  const Tensor inputs = rand({16, 1, 28, 28});
  Tensor targets = empty({16}, kLong);
  for (int64_t i = 0; i < 16; ++i) targets.data_ptr<int64_t>()[i] = i % 10;
  return train(model, optimizer, inputs, targets, CrossEntropyLoss());
}

TEST(Training, CnnLossesEqualPyTorchs) {
  EXPECT_THAT(cnn_losses<optim::SGD>(optim::SGDOptions(0.05).momentum(0.9)),
              near(golden_losses.at("cnn_sgd"), 1e-4));
  EXPECT_THAT(cnn_losses<optim::Adam>(optim::AdamOptions(0.005)),
              near(golden_losses.at("cnn_adam"), 1e-3));
}

TEST(Training, RunningAgainGivesTheSameNumbers) {
  const auto options = optim::AdamOptions(0.005);
  EXPECT_EQ(cnn_losses<optim::Adam>(options), cnn_losses<optim::Adam>(options));
}

/// Losses of a training on a simulated device whose batches come by asynchronous copies from pinned
/// memory. `disturb` is called between its parts and may hold streams and links up.
std::vector<float> device_losses(Device device, const std::function<void(int)>& disturb) {
  manual_seed(50);
  Network model;
  model->to(device);
  optim::Adam optimizer(model->parameters(), optim::AdamOptions(0.005));
  const Tensor images = rand({8, 4, 1, 28, 28}).pin_memory();
  const Tensor targets = arange(32).remainder(10).reshape({8, 4}).pin_memory();
  Tensor losses = zeros({8}, device);
  for (int64_t step = 0; step < 8; ++step) {
    disturb(0);
    const Tensor x = images[step].to(device, true);
    const Tensor y = targets[step].to(device, true);
    optimizer.zero_grad();
    disturb(1);
    const Tensor loss = F::cross_entropy(model(dropout(x, 0.1, true)), y);
    disturb(2);
    loss.backward();
    disturb(3);
    optimizer.step();
    losses[step].copy_(loss.detach());
  }
  const Tensor host = losses.cpu();
  return {host.data_ptr<float>(), host.data_ptr<float>() + 8};
}

TEST(Training, TheTimingOfStreamsChangesNoBit) {
  const Device device("sim:0");
  const std::vector<float> calm = device_losses(device, [](int) {});
  EXPECT_EQ(calm, device_losses(device, [](int) {}));
  EXPECT_EQ(calm, device_losses(device, [&](int part) {
              sim::delay_stream(current_stream(device), part == 1 ? 3 : 0.3);
            }));
  EXPECT_EQ(calm, device_losses(device, [&](int part) {
              if (part == 0) sim::delay_stream(default_stream(device), 2);
            }));
  const StreamGuard side(new_stream(device));
  EXPECT_EQ(calm, device_losses(device, [&](int part) {
              if (part == 2) sim::delay_stream(current_stream(device), 2);
            }));
}

}  // namespace
}  // namespace taeda::nn
