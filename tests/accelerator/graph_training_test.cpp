// Whole training steps as graphs: what may change between replays, and gradient scaling.
#include <gmock/gmock.h>

#include <functional>
#include <map>

#include "common.h"
#include "taeda/amp/grad_scaler.h"
#include "taeda/nn/nn.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/optim/ademamix.h"
#include "taeda/optim/optim.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda {
namespace {

using ::testing::HasSubstr;

constexpr int kWarmUp = 3, kSteps = 8;

using Parameters = std::vector<Tensor>;
using Made = std::unique_ptr<optim::Optimizer>;
template <class Optimizer, class Options>
std::function<Made(const Parameters&)> with(const Options& options) {
  return [options](const Parameters& p) -> Made { return std::make_unique<Optimizer>(p, options); };
}

const std::map<std::string, std::function<Made(const Parameters&)>> kOptimizers = {
    {"sgd", with<optim::SGD>(optim::SGDOptions(0.1).momentum(0.9))},
    {"adam", with<optim::Adam>(optim::AdamOptions(0.01).weight_decay(0.1))},
    {"adamw", with<optim::AdamW>(optim::AdamWOptions(0.01).amsgrad(true))},
    {"rmsprop", with<optim::RMSprop>(optim::RMSpropOptions(0.01).momentum(0.5))},
    {"adagrad", with<optim::Adagrad>(optim::AdagradOptions(0.1).lr_decay(0.2))},
    {"adamax", with<optim::Adamax>(optim::AdamaxOptions(0.01))},
    {"nadam", with<optim::NAdam>(optim::NAdamOptions(0.01))},
    {"radam", with<optim::RAdam>(optim::RAdamOptions(0.01))},
    {"adadelta", with<optim::Adadelta>(optim::AdadeltaOptions(0.5))},
    {"rprop", with<optim::Rprop>(optim::RpropOptions(0.01))},
    {"asgd", with<optim::ASGD>(optim::ASGDOptions(0.1).t0(2))},
    {"lion", with<optim::Lion>(optim::LionOptions(0.01).weight_decay(0.1))},
    {"ademamix", with<optim::AdEMAMix>(optim::AdEMAMixOptions(0.01).alpha_warmup(9))},
    {"adafactor", with<optim::Adafactor>(optim::AdafactorOptions(0.01).weight_decay(0.1))},
    {"muon", [](const Parameters& p) -> Made {  // matrices alone
       return std::make_unique<optim::Muon>(Parameters{p[0]}, optim::MuonOptions(0.01));
     }}};

Made make_optimizer(const std::string& kind, const Parameters& params) {
  return kOptimizers.at(kind)(params);
}

/// A layer that is trained with scaled gradients on one batch after the other.
struct ScaledTraining {
  ScaledTraining(const Device& device, const std::string& kind)
      : scaler(device, 1024, 2, 0.5, 2), x(zeros({8, 6}, device)) {
    manual_seed(4);
    model = nn::Linear(6, 3);
    model->to(device);
    optimizer = make_optimizer(kind, model->parameters());
  }
  void iteration() {
    optimizer->zero_grad();
    scaler.scale(model->forward(x).pow(2).mean()).backward();
    scaler.unscale_(*optimizer);
    scaler.step(*optimizer);
    scaler.update();
  }
  /// Warms up on a stream of its own and records an iteration.
  void capture_into(DeviceGraph& graph) {
    optimizer->zero_grad();
    synchronize(x.device());
    GraphCapture capture(graph);
    iteration();
    capture.end();
  }
  std::vector<std::vector<double>> weights() const {
    std::vector<std::vector<double>> out;
    for (const Tensor& p : model->parameters()) out.push_back(values(p));
    return out;
  }
  nn::Linear model{nullptr};
  std::unique_ptr<optim::Optimizer> optimizer;
  amp::GradScaler scaler;
  Tensor x;
};

class GraphSteps : public OnDevice<>, public ::testing::WithParamInterface<const char*> {
 protected:
  /// Powers are computed by the device: not the host's last bit everywhere.
  void expect_same(const std::vector<std::vector<double>>& got,
                   const std::vector<std::vector<double>>& want) const {
    if (!device_.is_cuda()) {
      EXPECT_EQ(got, want);
      return;
    }
    for (size_t i = 0; i < want.size(); ++i)
      for (size_t k = 0; k < want[i].size(); ++k) EXPECT_NEAR(got[i][k], want[i][k], 1e-6);
  }
};

TEST_P(GraphSteps, LearningRatesMayChangeBetweenReplays) {
  const auto train = [&](bool graphed) {
    manual_seed(4);
    nn::Linear model(6, 3);
    model->to(device_);
    const auto optimizer = make_optimizer(GetParam(), model->parameters());
    optim::ExponentialLR schedule(*optimizer, 0.7);
    const Tensor x = zeros({8, 6}, device_);
    const auto step = [&] {
      optimizer->zero_grad();
      model->forward(x).pow(2).mean().backward();
      optimizer->step();
    };
    x.copy_(randn({8, 6}));
    for (int i = 0; i < kWarmUp; ++i) step();
    DeviceGraph graph(device_.type());
    if (graphed) {
      optimizer->zero_grad();
      GraphCapture capture(graph);
      step();
      capture.end();
    }
    for (int i = 0; i < kSteps; ++i) {
      x.copy_(randn({8, 6}));
      graphed ? graph.replay() : step();
      schedule.step();
    }
    std::vector<std::vector<double>> out;
    for (const Tensor& p : model->parameters()) out.push_back(values(p));
    return out;
  };
  expect_same(train(true), train(false));
}

TEST_P(GraphSteps, ScaledIterationsEqualEagerOnes) {
  ScaledTraining eager(device_, GetParam()), graphed(device_, GetParam());
  std::vector<Tensor> batches;
  for (int i = 0; i < kWarmUp + kSteps; ++i) batches.push_back(randn({8, 6}));
  for (int i : {1, 5, 6, 9}) batches[static_cast<size_t>(i)].fill_(i == 6 ? NAN : INFINITY);
  DeviceGraph graph(device_.type());
  for (int i = 0; i < kWarmUp + kSteps; ++i) {
    eager.x.copy_(batches[static_cast<size_t>(i)]);
    graphed.x.copy_(batches[static_cast<size_t>(i)]);
    eager.iteration();
    if (i == kWarmUp) graphed.capture_into(graph);
    i < kWarmUp ? graphed.iteration() : graph.replay();
    if (i == kWarmUp + 2) continue;  // the state need not be asked for each time
    EXPECT_EQ(graphed.scaler.get_scale(), eager.scaler.get_scale()) << "iteration " << i;
  }
  expect_same(graphed.weights(), eager.weights());
  EXPECT_EQ(graphed.scaler.state_dict()["_growth_tracker"],
            eager.scaler.state_dict()["_growth_tracker"]);
  const auto steps = [](const ScaledTraining& t) {
    return t.optimizer->state(t.model->parameters()[0]).step;
  };
  EXPECT_EQ(steps(graphed), kWarmUp + kSteps - 4);
  EXPECT_EQ(steps(graphed), steps(eager));
  EXPECT_EQ(graphed.optimizer->state_dict().numbers["state.0.step"], steps(eager));
  // Back and forth: eager iterations and replays go on from each other's state.
  const auto both = [&](bool replay, const Tensor& batch) {
    for (ScaledTraining* t : {&eager, &graphed}) t->x.copy_(batch);
    eager.iteration();
    replay ? graph.replay() : graphed.iteration();
  };
  const Tensor bad = full({8, 6}, INFINITY), good = batches[0];
  for (const bool replay : {false, true, false, true}) both(replay, replay ? bad : good);
  EXPECT_EQ(graphed.scaler.get_scale(), eager.scaler.get_scale());
  EXPECT_EQ(steps(graphed), steps(eager));
  expect_same(graphed.weights(), eager.weights());
}

INSTANTIATE_TEST_SUITE_P(Optimizers, GraphSteps,
                         ::testing::Values("sgd", "adam", "adamw", "rmsprop", "adagrad", "adamax",
                                           "nadam", "radam", "adadelta", "rprop", "asgd", "lion",
                                           "ademamix", "adafactor", "muon"),
                         [](const auto& info) { return info.param; });

class GraphScaler : public OnDevice<> {};

TEST_F(GraphScaler, WhatTheHostSetsReachesTheNextReplay) {
  ScaledTraining t(device_, "sgd");
  t.x.copy_(randn({8, 6}));
  t.iteration();
  DeviceGraph graph(device_.type());
  t.capture_into(graph);
  graph.replay();
  EXPECT_EQ(t.scaler.get_scale(), 2048);
  const auto state = t.scaler.state_dict();
  t.scaler.update(64);
  t.scaler.set_growth_interval(1);
  t.scaler.set_growth_factor(4);
  EXPECT_EQ(t.scaler.get_scale(), 64);
  graph.replay();
  EXPECT_EQ(t.scaler.get_scale(), 256);
  t.x.fill_(INFINITY);
  graph.replay();
  EXPECT_EQ(t.scaler.get_scale(), 128);
  t.scaler.load_state_dict(state);
  graph.replay();
  EXPECT_EQ(t.scaler.get_scale(), 1024);
}

TEST_F(GraphScaler, NeedsAnIterationBeforeTheCapture) {
  ScaledTraining t(device_, "sgd");
  t.x.copy_(randn({8, 6}));
  const auto error_in_capture = [&](auto&& body) {
    DeviceGraph graph(device_.type());
    const StreamGuard guard(new_stream(device_));
    graph.capture_begin();
    const std::string text = error_of(body);
    error_of([&] { graph.capture_end(); });
    return text;
  };
  EXPECT_THAT(error_in_capture([&] { t.iteration(); }),
              HasSubstr("a GradScaler's first iteration on a device cannot be captured"));
  t.iteration();
  optim::SGD other(t.model->parameters(), optim::SGDOptions(0.1));
  EXPECT_THAT(error_in_capture([&] {
                t.scaler.scale(t.model->forward(t.x).sum()).backward();
                t.scaler.step(other);
              }),
              HasSubstr("first iteration with an optimizer cannot be captured"));
  struct Foreign {
    std::vector<optim::OptimizerParamGroup> groups;
    auto& param_groups() { return groups; }
    void step() {}
  } foreign{{optim::OptimizerParamGroup(t.model->parameters())}};
  t.scaler.scale(t.model->forward(t.x).sum()).backward();
  t.scaler.step(foreign);
  t.scaler.update();
  EXPECT_THAT(error_in_capture([&] { t.scaler.step(foreign); }),
              HasSubstr("a captured GradScaler needs an optimizer with step_unless"));
}

TEST_F(GraphScaler, UpdatesInTheCaptureOfTheStep) {
  ScaledTraining t(device_, "sgd");
  t.x.copy_(randn({8, 6}));
  t.iteration();
  DeviceGraph graph(device_.type());
  {
    GraphCapture capture(graph);
    t.optimizer->zero_grad();
    t.scaler.scale(t.model->forward(t.x).sum()).backward();
    t.scaler.step(*t.optimizer);
    capture.end();
  }
  EXPECT_THAT(error_of([&] { t.scaler.update(); }),
              HasSubstr("update() belongs into the capture that its iteration's step is in"));
  t.iteration();
  EXPECT_EQ(t.scaler.get_scale(), 2048);
}

TEST_F(GraphScaler, IsNeededByItsGraphs) {
  DeviceGraph graph(device_.type());
  auto t = std::make_unique<ScaledTraining>(device_, "sgd");
  t->x.copy_(randn({8, 6}));
  t->iteration();
  t->capture_into(graph);
  graph.replay();
  synchronize(device_);
  amp::GradScaler taken = std::move(t->scaler);
  graph.replay();  // wherever it is
  EXPECT_EQ(taken.get_scale(), 2048);
  { const amp::GradScaler gone = std::move(taken); }
  EXPECT_THAT(error_of([&] { graph.replay(); }),
              HasSubstr("the GradScaler whose iteration was captured is gone"));
}

}  // namespace
}  // namespace taeda
