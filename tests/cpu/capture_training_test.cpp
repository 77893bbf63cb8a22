// Whole training steps of networks as programs have them, captured on the CPU: every loss and every
// weight has the bits of the eager program's.
#include <gtest/gtest.h>

#include <functional>

#include "taeda/base/parallel_for.h"
#include "taeda/device/graph.h"
#include "taeda/models/gpt.h"
#include "taeda/models/lenet.h"
#include "taeda/models/lstm_lm.h"
#include "taeda/models/resnet.h"
#include "taeda/nn/nn.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/optim/optim.h"
#include "tests/values.h"

namespace taeda {
namespace {

constexpr int kWarmUp = 3, kSteps = 5;

/// A network with what its training needs.
struct Case {
  std::vector<Tensor> parameters, buffers;
  std::function<Tensor(const Tensor& x, const Tensor& y)> loss;
  std::function<std::pair<Tensor, Tensor>()> batch;
};

Tensor classes(IntArrayRef shape, int64_t below) { return randint(0, below, shape, kLong); }

template <class Model>
Case classification(Model model, std::vector<int64_t> image) {
  return {model->parameters(), model->buffers(),
          [model](const Tensor& x, const Tensor& y) mutable {
            return nn::functional::cross_entropy(model->forward(x), y);
          },
          [image] { return std::pair(rand(image), classes({image[0]}, 10)); }};
}

Case make_case(const std::string& name) {
  if (name == "mlp")
    return classification(
        nn::Sequential(nn::Linear(20, 50), nn::ReLU(), nn::Dropout(0.2), nn::Linear(50, 10)),
        {16, 20});
  if (name == "cnn") return classification(models::LeNet(), {8, 1, 28, 28});
  if (name == "norm_cnn")
    return classification(nn::Sequential(nn::Conv2d({.in_channels = 3,
                                                     .out_channels = 8,
                                                     .kernel_size = 3,
                                                     .padding = 1,
                                                     .padding_mode = kReflect}),
                                         nn::BatchNorm2d(8), nn::GELU(), nn::AdaptiveAvgPool2d(2),
                                         nn::Flatten(), nn::Linear(32, 10)),
                          {4, 3, 9, 9});
  if (name == "lstm") {
    models::LSTMLanguageModelOptions o;
    o.ntoken = 30, o.ninp = 16, o.nhid = 16;
    models::LSTMLanguageModel model(o);
    return {model->parameters(), model->buffers(),
            [model](const Tensor& x, const Tensor& y) mutable {
              return nn::functional::nll_loss(std::get<0>(model->forward(x)), y);
            },
            [] {
              return std::pair(classes({6, 4}, 30), classes({24}, 30));
            }};
  }
  models::GPTOptions o;
  o.vocab_size = 31, o.block_size = 12, o.n_layer = 2, o.n_head = 2, o.n_embd = 16, o.dropout = 0.1;
  models::GPT model(o);
  return {model->parameters(), model->buffers(),
          [model](const Tensor& x, const Tensor& y) mutable {
            return nn::functional::cross_entropy(model->forward(x).flatten(0, 1), y.flatten());
          },
          [] {
            return std::pair(classes({3, 12}, 31), classes({3, 12}, 31));
          }};
}

std::unique_ptr<optim::Optimizer> make_optimizer(const std::string& kind,
                                                 const std::vector<Tensor>& params) {
  if (kind == "sgd")
    return std::make_unique<optim::SGD>(params, optim::SGDOptions(0.05).momentum(0.9));
  if (kind == "adam") return std::make_unique<optim::Adam>(params, optim::AdamOptions(0.01));
  if (kind == "adamw")
    return std::make_unique<optim::AdamW>(params, optim::AdamWOptions(0.01).amsgrad(true));
  if (kind == "rmsprop")
    return std::make_unique<optim::RMSprop>(params, optim::RMSpropOptions(0.01).centered(true));
  return std::make_unique<optim::Adagrad>(params, optim::AdagradOptions(0.05).lr_decay(0.1));
}

/// Losses and, at the end, all weights, buffers and the generator's state.
struct Trace {
  std::vector<float> losses;
  std::vector<std::vector<double>> weights;
  std::vector<uint8_t> generator;
  bool operator==(const Trace&) const = default;
};

Trace train(const std::string& name, const std::string& kind, bool captured) {
  manual_seed(9);
  Case c = make_case(name);
  const auto optimizer = make_optimizer(kind, c.parameters);
  optim::ExponentialLR schedule(*optimizer, 0.9);
  std::vector<std::pair<Tensor, Tensor>> batches;
  for (int i = 0; i < kSteps; ++i) batches.push_back(c.batch());
  const Tensor x = batches[0].first.clone(), y = batches[0].second.clone();
  const auto step = [&] {
    optimizer->zero_grad();
    Tensor loss = c.loss(x, y);
    loss.backward();
    nn::utils::clip_grad_value_(c.parameters, 0.5);
    optimizer->step();
    return loss.detach();
  };
  for (int i = 0; i < kWarmUp; ++i) step();
  DeviceGraph graph(kCPU);
  Tensor loss;
  if (captured) {
    optimizer->zero_grad();
    GraphCapture capture(graph);
    loss = step();
    capture.end();
  }
  Trace out;
  for (const auto& [bx, by] : batches) {
    x.copy_(bx);
    y.copy_(by);
    if (captured)
      graph.replay();
    else
      loss = step();
    out.losses.push_back(loss.item<float>());
    schedule.step();
  }
  for (const auto* list : {&c.parameters, &c.buffers})
    for (const Tensor& t : *list) out.weights.push_back(values<double>(t.to(kDouble)));
  out.generator = default_generator(kCPU).get_state();
  return out;
}

class CapturedTraining
    : public ::testing::TestWithParam<std::tuple<const char*, const char*, int>> {};

TEST_P(CapturedTraining, EqualsEagerBitByBit) {
  const auto [name, optimizer, threads] = GetParam();
  const NumThreadsGuard guard(threads);
  const Trace eager = train(name, optimizer, false), captured = train(name, optimizer, true);
  EXPECT_EQ(captured.losses, eager.losses);
  EXPECT_TRUE(captured == eager);
  EXPECT_NE(eager.losses.front(), eager.losses.back());
}

INSTANTIATE_TEST_SUITE_P(
    Networks, CapturedTraining,
    ::testing::Combine(::testing::Values("mlp", "cnn", "norm_cnn", "lstm", "gpt"),
                       ::testing::Values("sgd", "adam", "adamw"), ::testing::Values(1, 2)),
    [](const auto& info) {
      return std::string(std::get<0>(info.param)) + "_" + std::get<1>(info.param) + "_" +
             std::to_string(std::get<2>(info.param));
    });
INSTANTIATE_TEST_SUITE_P(Optimizers, CapturedTraining,
                         ::testing::Combine(::testing::Values("mlp"),
                                            ::testing::Values("rmsprop", "adagrad"),
                                            ::testing::Values(1)),
                         [](const auto& info) { return std::get<1>(info.param); });

}  // namespace
}  // namespace taeda
