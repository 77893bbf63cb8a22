// Pipelines: the gradients of the unsplit model, what is kept when, and what comes out when a stage
// fails. Stages are on simulated devices, whose streams are threads: a missing wait is a real race.
#include "taeda/parallel/pipe/pipe.h"

#include <cmath>
#include <set>

#include "common.h"
#include "taeda/nn/containers/functional.h"
#include "taeda/nn/modules/activation.h"
#include "taeda/nn/modules/loss.h"
#include "taeda/ops/nn/loss.h"
#include "taeda/parallel/equivalence.h"
#include "taeda/parallel/pipe/balance.h"
#include "taeda/parallel/pipe/schedule.h"
#include "taeda/parallel/pipe/skip.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::nn {
namespace {

using equivalence::check_parallel_equivalence;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
constexpr auto k1F1B = PipeSchedule::OneForwardOneBackward;

Sequential pipe_layers() {
  return Sequential{Linear(6, 8), Tanh(), Linear(8, 8), Tanh(), Linear(8, 8), Linear(8, 4)};
}

/// The layers on the first `stages` devices, the same every time.
Sequential spread(int stages) {
  manual_seed(3);
  return partition(pipe_layers(), sim_devices(stages));
}

equivalence::Batch make_batch(int64_t n) {
  manual_seed(5);
  return {taeda::randn({n, 6}), taeda::randn({n, 4})};
}

nn::Pipe pipe_of(const Sequential& layers, int64_t chunks = 1,
                 const std::string& checkpoint = "except_last") {
  return nn::Pipe(layers, chunks, checkpoint);
}

Tensor mse(const Tensor& output, const Tensor& target) { return mse_loss(output, target); }

TEST(Pipe, HasTheGradientsOfTheUnsplitModel) {
  using equivalence::Pipe, equivalence::PipeStep;
  check_parallel_equivalence(
      pipe_layers, make_batch(10),
      {Pipe(1, 1), Pipe(2, 4), Pipe(2, 3, "always"), Pipe(4, 5, "never"), Pipe(3, 64),
       PipeStep(2, 4, PipeSchedule::GPipe), PipeStep(4, 3, PipeSchedule::GPipe, "never"),
       PipeStep(2, 4, k1F1B), PipeStep(3, 7, k1F1B, "never"), PipeStep(4, 64, k1F1B, "always"),
       PipeStep(1, 3, k1F1B)});
}

TEST(Pipe, TheComparisonCatchesAWrongOne) {
  equivalence::Plan wrong = equivalence::PipeStep(2, 4, k1F1B);
  const auto right = wrong.prepare_step;
  wrong.prepare_step = [right](const AnyModule& model, Device device,
                               const equivalence::Plan::Loss& loss) {
    // As if the last micro-batch had been forgotten behind the second layer.
    const auto calls = std::make_shared<int>(0);
    model->named_parameters()["2.weight"].register_hook(
        [calls](const Tensor& g) { return ++*calls == 4 ? g * 0 : g; });
    return right(model, device, loss);
  };
  EXPECT_THAT(error_of([&] { check_parallel_equivalence(pipe_layers, make_batch(10), {wrong}); }),
              HasSubstr("Pipe(2, chunks=4, checkpoint=\"except_last\", 1F1B): the gradient of "
                        "'2.weight' differs from one device's by "));
}

TEST(Pipe, StagesAreNeighboursOnOneDevice) {
  // Without tensors a module stays with what is before it.
  Sequential layers{ReLU(), Linear(2, 3), Sequential(ReLU(), Linear(3, 3)),
                    WithDevice(Dropout(), "sim:2"), Linear(3, 1)};
  layers->ptr(1)->to(sim_device(0));
  layers->ptr(2)->to(sim_device(1));
  layers->ptr(4)->to(sim_device(2));
  const nn::Pipe split(layers, 8);
  EXPECT_EQ(split->devices(), sim_devices(3));
  EXPECT_THAT(split->balance(), ElementsAre(2, 2, 2));
  EXPECT_EQ(split->size(), 6u);
  EXPECT_EQ((*split)[3]->name(), "Linear");
  EXPECT_THROW((*split)[6], IndexError);
  EXPECT_EQ(split->repr(),
            "Pipe(\n"
            "  (partitions): ModuleList(\n"
            "    (0): PipeSequential(\n"
            "      (0): ReLU()\n"
            "      (1): Linear(in_features=2, out_features=3, bias=True)\n"
            "    )\n"
            "    (1): PipeSequential(\n"
            "      (0): ReLU()\n"
            "      (1): Linear(in_features=3, out_features=3, bias=True)\n"
            "    )\n"
            "    (2): PipeSequential(\n"
            "      (0): Dropout(p=0.5, inplace=False)\n"
            "      (1): Linear(in_features=3, out_features=1, bias=True)\n"
            "    )\n"
            "  )\n"
            ")");
  EXPECT_EQ(split->named_parameters().begin()->key(), "partitions.0.1.weight");
  const nn::Pipe on_cpu(pipe_layers(), 2);
  EXPECT_EQ(on_cpu->devices().size(), 6u);
  EXPECT_EQ(nn::Pipe(on_cpu)(taeda::ones({3, 6})).size(1), 4);
  const Tensor x = taeda::ones({2});
  EXPECT_TRUE(distributed::pipeline::sync::Pipe(Sequential())(x).is_same(x));
}

TEST(Pipe, ArgumentsAreChecked) {
  const auto error = [](const auto& f) { return error_of(f); };
  EXPECT_EQ(error([] { pipe_of(pipe_layers(), 0); }), "number of chunks must be positive integer");
  EXPECT_EQ(error([] { pipe_of(pipe_layers(), 1, "sometimes"); }),
            "checkpoint is not one of 'always', 'except_last', or 'never'");
  const Linear layer(6, 6);
  EXPECT_EQ(error([&] {
              pipe_of(Sequential{layer, layer});
            }),
            "module with duplicate children is not supported");
  const Sequential twice{Sequential(layer), Sequential(layer, Linear(6, 6))};
  EXPECT_EQ(error([&] { pipe_of(twice); }), "no error");  // both on the CPU
  twice->at<Sequential>(1).ptr(1)->to(sim_device(1));
  EXPECT_THAT(
      error([&] { pipe_of(twice); }),
      AllOf(HasSubstr("nn.Module: Sequential(\n"),
            HasSubstr(", should have all parameters on a single device, please use .to() to "
                      "place the module on a single device")));
  twice->at<Sequential>(1).ptr(1)->cpu();
  const Sequential shared{Sequential(layer), WithDevice(Sequential(layer), "sim:1")};
  EXPECT_EQ(error([&] { pipe_of(shared); }),
            "module with duplicate parameters on distinct devices is not supported");
  nn::Pipe pipe(spread(2), 2);
  EXPECT_EQ(error([&] {
              pipe(taeda::ones({4, 6}));
            }),
            "All inputs should be on the same device as the first partition\nin module Pipe");
  const Tensor x = batch_of(4), y = taeda::ones({4, 4});
  EXPECT_THAT(error([&] { pipe(x, batch_of(1)); }),
              HasSubstr("Found different number of chunks produced for inputs: 2 and 1"));
  const std::string denied =
      "denied to move parameters and buffers, because Pipe should manage device placement";
  EXPECT_EQ(error([&] { pipe->to(sim_device(0)); }), denied);
  EXPECT_EQ(error([&] { pipe->to(sim_device(0), kHalf); }), denied);
  EXPECT_EQ(error([&] { pipe->cuda(); }), denied);
  EXPECT_EQ(error([&] { pipe->cpu(); }), denied);
  EXPECT_EQ(error([&] {
              pipe->train_step(x, taeda::ones({3, 4}), mse);
            }),
            "Expected input batch_size (4) to match target batch_size (3).");
  EXPECT_EQ(error([&] {
              pipe->train_step(taeda::ones({4, 6}), y, mse);
            }),
            "All inputs should be on the same device as the first partition");
  EXPECT_EQ(error([&] { pipe->train_step(x, y, mse, Reduction::None); }),
            "Pipe: train_step expected reduction Mean or Sum");
  EXPECT_THAT(error([&] {
                pipe->train_step(x, y, [](const Tensor& a, const Tensor& b) { return a - b; });
              }),
              HasSubstr("expected the loss to be a scalar, but it has shape [2, 4]\n"
                        "Caught Error in the loss of stage 1 on device sim:1 (micro-batch 0)."));
  EXPECT_THAT(
      error([] { pipe_of(Sequential())->train_step(taeda::ones({1}), taeda::ones({1}), mse); }),
      HasSubstr("Pipe: train_step needs at least one module"));
  pipe->to(kDouble);
  EXPECT_EQ(pipe(x.to(kDouble)).dtype(), kDouble);
}

TEST(Pipe, TheFirstStageDoesNotWaitForTheSecond) {
  const NoGradGuard guard;
  nn::Pipe pipe(spread(2), 4);
  const Tensor x = batch_of(8);
  const Tensor expected = pipe(x);
  sim::synchronize(1);
  sim::Gate gate;
  sim::delay_stream(default_stream(sim_device(1)), gate);
  const Tensor y = pipe(x);
  default_stream(sim_device(0)).synchronize();  // all micro-batches, though none went on
  EXPECT_FALSE(default_stream(sim_device(1)).query());
  gate.open();
  EXPECT_EQ(distance(y, expected), 0);
}

TEST(Pipe, LateCopiesAreWaitedFor) {
  for (const PipeSchedule schedule : {PipeSchedule::GPipe, k1F1B}) {
    nn::Pipe pipe(spread(3), PipeOptions(4).schedule(schedule));
    const Tensor x = batch_of(8).requires_grad_(), y = taeda::ones({8, 4});
    const double loss = pipe->train_step(x, y, mse).item<double>();
    const std::vector<Tensor> expected = take_gradients(*pipe);
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k)
        if (i != k) sim::delay_link(sim_device(i), sim_device(k), 0.5);
    EXPECT_EQ(pipe->train_step(x, y, mse).item<double>(), loss);
    const std::vector<Tensor> actual = take_gradients(*pipe);
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(distance(actual[i], expected[i]), 0);
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k)
        if (i != k) sim::delay_link(sim_device(i), sim_device(k), 0);
  }
}

TEST(Pipe, AStageMayLeaveItsOutputOnAnyDevice) {
  for (const int where : {1, 2}) {  // the next stage's device, a third one
    const auto twice = [where](const Tensor& x) { return x.to(sim_device(where)) * 2; };
    const Sequential layers{Linear(6, 8), Functional(twice), Linear(8, 4)};
    nn::Pipe pipe(partition(layers, sim_devices(2), {2, 1}), 2);
    const std::vector<Tensor> p = pipe->parameters();
    const Tensor x = batch_of(6), y = pipe(x);
    y.square().sum().backward();
    const std::vector<Tensor> actual = take_gradients(*pipe);
    const Tensor middle = (linear(x, p[0], p[1]) * 2).to(p[2].device());
    const Tensor expected = linear(middle, p[2], p[3]);
    expected.square().sum().backward();
    EXPECT_LT(distance(y, expected), 1e-6);
    for (size_t i = 0; i < p.size(); ++i) EXPECT_LT(distance(actual[i], p[i].grad()), 1e-5);
  }
}

TEST(PipeSchedule, OneForwardOneBackwardKeepsFewMicroBatches) {
  const auto text = [](PipeSchedule schedule, size_t stage) {
    std::string out;
    for (const detail::StageAction& a : detail::order_of(schedule, stage, 3, 4))
      out += (a.backward ? "B" : "F") + std::to_string(a.micro_batch);
    return out;
  };
  EXPECT_EQ(text(PipeSchedule::GPipe, 0), "F0F1F2F3B3B2B1B0");
  EXPECT_EQ(text(k1F1B, 0), "F0F1F2B0F3B1B2B3");
  EXPECT_EQ(text(k1F1B, 1), "F0F1B0F2B1F3B2B3");
  EXPECT_EQ(text(k1F1B, 2), "F0B0F1B1F2B2F3B3");

  manual_seed(3);
  const Sequential wide =
      partition(Sequential{Linear(6, 64), Linear(64, 64), Tanh(), Linear(64, 64), Linear(64, 4)},
                sim_devices(2), {3, 2});
  nn::Pipe pipe(wide, nn::PipeConfig{.chunks = 8, .checkpoint = "never", .measure = true});
  const Tensor x = batch_of(2048), y = taeda::ones({2048, 4}).to(sim_device(1));
  int64_t peaks[2];
  for (const PipeSchedule schedule : {PipeSchedule::GPipe, k1F1B}) {
    pipe->options().schedule(schedule);
    pipe->train_step(x, y, mse);
    take_gradients(*pipe);
    sim::synchronize(0);
    sim::reset_peak_memory_stats(0);
    const int64_t before = sim::memory_allocated(0);
    pipe->train_step(x, y, mse);
    take_gradients(*pipe);
    peaks[schedule == k1F1B] = sim::max_memory_allocated(0) - before;
    const PipeReport report = pipe->report();
    const bool few = schedule == k1F1B;
    EXPECT_EQ(report.stages[0].kept, few ? 2 : 8);
    EXPECT_EQ(report.stages[1].kept, few ? 1 : 8);
  }
  EXPECT_LT(peaks[1], peaks[0] / 2);
}

TEST(PipeReport, MeasuresTheBubble) {
  nn::Pipe pipe(spread(3), 6);
  const Tensor x = batch_of(12), y = taeda::ones({12, 4});
  EXPECT_EQ(error_of([&] { pipe->report(); }), "Pipe: there is no report before the first step");
  pipe(x);
  EXPECT_EQ(error_of([&] { pipe->report(); }),
            "Pipe: the last step was not measured; set options().measure(true) before it");
  pipe->options().measure(true).schedule(k1F1B);
  pipe->train_step(x, y, mse);
  const PipeReport report = pipe->report();
  EXPECT_DOUBLE_EQ(report.ideal_bubble(), 0.25);
  EXPECT_GT(report.measured_bubble(), 0);
  EXPECT_LT(report.measured_bubble(), 1);
  double busy = 0, longest = 0;
  for (const PipeReport::Stage& s : report.stages) {
    EXPECT_GT(s.busy_ms, 0);
    EXPECT_LE(s.busy_ms, s.total_ms);
    busy += s.busy_ms;
    longest = std::max(longest, s.total_ms);
  }
  EXPECT_DOUBLE_EQ(report.measured_bubble(), 1 - busy / (3 * longest));
  EXPECT_THAT(report.str(), AllOf(HasSubstr("1F1B, 6 micro-batches, forward and backward\n"
                                            "stage  device  modules   busy ms   idle %  kept\n"
                                            "    0  sim:0        "),
                                  HasSubstr("; with equal stages 25.0 %")));
  pipe(x);
  EXPECT_FALSE(pipe->report().backward);
}

TEST(Pipe, RandomLayersDrawTheSameNumbersAgain) {
  std::vector<std::vector<Tensor>> gradients;
  for (const std::string mode : {"never", "always", "except_last"})
    for (const PipeSchedule schedule : {PipeSchedule::GPipe, k1F1B}) {
      manual_seed(3);
      nn::Pipe pipe(
          partition(Sequential{Linear(6, 32), Dropout(), Linear(32, 32), Dropout(), Linear(32, 4)},
                    sim_devices(2)),
          PipeOptions(4).checkpoint(mode).schedule(schedule));
      const Tensor x = batch_of(8), y = taeda::ones({8, 4});
      manual_seed(9);
      pipe->train_step(x, y, mse);
      gradients.push_back(take_gradients(*pipe));
      manual_seed(9);
      mse(pipe(x), y.to(sim_device(1))).backward();
      gradients.push_back(take_gradients(*pipe));
    }
  for (const auto& g : gradients)
    for (size_t i = 0; i < g.size(); ++i) EXPECT_LT(distance(g[i], gradients[0][i]), 1e-6);
}

TEST(Pipe, BatchNormCountsEachMicroBatchOnce) {
  manual_seed(3);
  const BatchNorm1d norm(8);
  const Sequential layers{Linear(6, 8), norm, Linear(8, 4)};
  nn::Pipe pipe(partition(layers, sim_devices(2)), 4, "always");
  pipe(batch_of(8)).sum().backward();
  EXPECT_EQ(norm->num_batches_tracked.item<int64_t>(), 4);
  pipe->train_step(batch_of(8), taeda::ones({8, 4}), mse);
  EXPECT_EQ(norm->num_batches_tracked.item<int64_t>(), 8);
}

TEST(PipeStep, TheInputMayWantAGradientAndLossesMayBeSums) {
  nn::Pipe pipe(spread(2), 3);
  const Tensor x = batch_of(7).requires_grad_(), y = taeda::ones({7, 4});
  const auto sum = [](const Tensor& a, const Tensor& b) { return mse_loss(a, b, Reduction::Sum); };
  sum(pipe(x), y.to(sim_device(1))).backward();
  const Tensor expected = x.grad();
  const std::vector<Tensor> gradients = take_gradients(*pipe);
  x.mutable_grad().reset();
  const Tensor loss = pipe->train_step(x, y, sum, Reduction::Sum);
  EXPECT_FALSE(loss.requires_grad());
  EXPECT_LT(distance(x.grad(), expected), 1e-5);
  const std::vector<Tensor> again = take_gradients(*pipe);
  for (size_t i = 0; i < again.size(); ++i) EXPECT_LT(distance(again[i], gradients[i]), 1e-4);
  // Modules as losses; twice the steps, twice the gradients.
  pipe->train_step(x, y, MSELoss());
  const Tensor once = pipe->parameters()[0].grad().clone();
  pipe->train_step(x, y, MSELoss());
  EXPECT_LT(distance(pipe->parameters()[0].grad(), once * 2), 1e-5);
}

struct DownImpl : Cloneable<DownImpl>, Skippable {
  DownImpl() : Skippable({"skip"}) { reset(); }
  void reset() override { fc = register_module("fc", Linear(6, 6)); }
  Tensor forward(const Tensor& x) {
    if (!forget) stash("skip", x * 2);
    return fc(x);
  }
  Linear fc{nullptr};
  bool forget = false;
};
TAEDA_MODULE(Down);

struct UpImpl : Cloneable<UpImpl>, Skippable {
  UpImpl() : Skippable({}, {"skip"}) { reset(); }
  void reset() override { fc = register_module("fc", Linear(6, 4)); }
  Tensor forward(const Tensor& x) {
    if (wrong_name) return pop("other");
    return ignore ? fc(x) : fc(x + pop("skip"));
  }
  Linear fc{nullptr};
  bool ignore = false, wrong_name = false;
};
TAEDA_MODULE(Up);

TEST(Skip, TensorsGoStraightToTheStageThatPopsThem) {
  const auto make = [] {
    return Sequential{Linear(6, 6), Down(), Linear(6, 6), Tanh(), Linear(6, 6), Up()};
  };
  using equivalence::Pipe, equivalence::PipeStep;
  check_parallel_equivalence(
      make, make_batch(8),
      {Pipe(1, 2), Pipe(3, 4), Pipe(4, 4, "always"), Pipe(4, 3, "never"), PipeStep(4, 4, k1F1B),
       PipeStep(3, 4, PipeSchedule::GPipe, "never"), PipeStep(4, 2, k1F1B, "always")});
  EXPECT_EQ(balance_by_time(2, make(), taeda::ones({4, 6})).size(), 2u);
}

TEST(Skip, NamesAreChecked) {
  EXPECT_EQ(error_of([] {
              pipe_of(Sequential{Up(), Down(), Down()});
            }),
            "one or more pairs of stash and pop do not match:\n\n"
            "* '0' declared 'skip' as poppable but it was not stashed\n"
            "* '2' redeclared 'skip' as stashable\n"
            "* no module declared 'skip' as poppable but stashed");
  EXPECT_THAT(error_of([] {
                pipe_of(Sequential{Down(), Up(), Up()});
              }),
              HasSubstr("* '2' redeclared 'skip' as poppable"));
  struct Both : Cloneable<Both>, Skippable {
    Both() : Skippable({"a"}, {"a"}) {}
    void reset() override {}
    Tensor forward(const Tensor& x) { return x; }
  };
  EXPECT_THAT(error_of([] { pipe_of(Sequential{Both()}); }),
              HasSubstr("* '0' declared 'a' both as stashable and as poppable"));
  Down down;
  Up up;
  nn::Pipe pipe(Sequential(down, up), 2);
  const Tensor x = taeda::ones({4, 6});
  down->forget = true;
  EXPECT_THAT(error_of([&] { pipe(x); }), HasSubstr("'skip' must be stashed but have not"));
  down->forget = false;
  up->ignore = true;
  EXPECT_THAT(error_of([&] { pipe(x); }), HasSubstr("'skip' must be popped but have not"));
  up->wrong_name = true;
  EXPECT_THAT(error_of([&] { pipe(x); }), HasSubstr("'other' has not been declared as poppable"));
  up->wrong_name = up->ignore = false;
  EXPECT_THAT(error_of([&] { up(x); }), HasSubstr("'skip' has not been stashed"));
}

/// Two tensors in, two out.
struct CrossImpl : Cloneable<CrossImpl> {
  CrossImpl() { reset(); }
  void reset() override { fc = register_module("fc", Linear(6, 6)); }
  std::tuple<Tensor, Tensor> forward(const Tensor& a, const Tensor& b) {
    return {fc(a) + b, fc(b)};
  }
  Linear fc{nullptr};
};
TAEDA_MODULE(Cross);

struct JoinImpl : Cloneable<JoinImpl> {
  JoinImpl() { reset(); }
  void reset() override { fc = register_module("fc", Linear(6, 4)); }
  Tensor forward(const std::tuple<Tensor, Tensor>& t) {
    return fc(std::get<0>(t) * std::get<1>(t));
  }
  Linear fc{nullptr};
};
TAEDA_MODULE(Join);

TEST(Pipe, SeveralTensorsGoFromStageToStage) {
  manual_seed(3);
  Sequential layers{Cross(), Join()};
  layers->to(sim_device(0));
  const Tensor a = batch_of(5), b = batch_of(5) * 0.5;
  const Tensor expected = layers->forward(a, b);
  expected.square().sum().backward();
  const std::vector<Tensor> gradients = take_gradients(*layers);
  nn::Pipe pipe(partition(layers, sim_devices(2)), 2, "always");
  const Tensor y = pipe(a, b);
  EXPECT_LT(distance(y, expected), 1e-6);
  y.square().sum().backward();
  const std::vector<Tensor> actual = take_gradients(*pipe);
  for (size_t i = 0; i < actual.size(); ++i) EXPECT_LT(distance(actual[i], gradients[i]), 1e-5);
  EXPECT_THAT(error_of([&] { pipe_of(Sequential{Cross()})(a.cpu(), b.cpu()); }),
              HasSubstr("the output of the last stage of a pipeline must be a tensor"));
  struct Count : Cloneable<Count> {
    void reset() override {}
    int forward(const Tensor&) { return 1; }
  };
  EXPECT_THAT(error_of([&] { pipe_of(Sequential{Count()})(a.cpu()); }),
              HasSubstr("the output of stage 0 is a int, but only tensors, and vectors or "
                        "tuples of two or three of them, go from stage to stage"));
}

/// Throws when told to.
struct FragileStageImpl : Cloneable<FragileStageImpl> {
  FragileStageImpl() { reset(); }
  void reset() override { fc = register_module("fc", Linear(8, 4)); }
  Tensor forward(const Tensor& x) {
    if (fails && --calls_left == 0) throw ValueError("bad value on the device");
    return fc(x);
  }
  Linear fc{nullptr};
  bool fails = false;
  int calls_left = 0;
};
TAEDA_MODULE(FragileStage);

/// Two stages, of which the second can fail. Afterwards everything must be as before.
struct PipeFaults : ::testing::TestWithParam<PipeSchedule> {
  PipeFaults() {
    pipe->options().schedule(GetParam());
    step();
    expected = take_gradients(*pipe);
    settle(before);
  }
  ~PipeFaults() override {
    pipe->zero_grad();
    int64_t after[2];
    settle(after);
    EXPECT_EQ(after[0], before[0]) << "leaked";
    EXPECT_EQ(after[1], before[1]) << "leaked";
    step();
    const std::vector<Tensor> actual = take_gradients(*pipe);
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_LT(distance(actual[i], expected[i]), 1e-6) << "the next step";
  }
  Tensor step() { return pipe->train_step(x, y, mse); }
  static void settle(int64_t* allocated) {
    for (int i = 0; i < 2; ++i) {
      sim::synchronize(i);
      allocated[i] = sim::memory_allocated(i);
    }
  }

  FragileStage fragile;
  nn::Pipe pipe{
      partition(Sequential{Linear(6, 8), Tanh(), Sequential(Tanh(), fragile)}, sim_devices(2)), 4};
  Tensor x = batch_of(8), y = taeda::ones({8, 4}).to(sim_device(1));
  std::vector<Tensor> expected;
  int64_t before[2];
};

TEST_P(PipeFaults, AnErrorNamesModuleStageAndDevice) {
  for (const int call : {2, 5}) {  // in forward; while a micro-batch is computed again
    fragile->fails = true;
    fragile->calls_left = call;
    try {
      step();
      FAIL() << "the error was lost";
    } catch (const ValueError& e) {
      EXPECT_THAT(e.what(),
                  ::testing::MatchesRegex(
                      "bad value on the device\n"
                      "in module partitions.1.1 \\(FragileStage\\)\n"
                      "Caught ValueError in stage 1 on device sim:1 \\(micro-batch .\\)."));
    }
    pipe->zero_grad();
  }
  fragile->calls_left = 3;
  EXPECT_EQ(error_of([&] { pipe(x); }),
            "bad value on the device\nin module partitions.1.1 (FragileStage)\n"
            "Caught ValueError in stage 1 on device sim:1 (micro-batch 2).");
  fragile->fails = false;
}

TEST_P(PipeFaults, OutOfMemoryInAStage) {
  std::set<std::string> places;
  for (int64_t n = 1; n <= 40; ++n) {
    sim::fail_allocation(sim_device(1), n);
    const std::string message = error_of([&] { step(); });
    pipe->zero_grad();
    EXPECT_THAT(message, HasSubstr("SIM out of memory")) << n;
    for (const char* place : {"in module partitions.1.0 (Tanh)", "in module partitions.1.1.fc",
                              "in the backward pass of stage 1 on device sim:1"})
      if (message.find(place) != std::string::npos) places.insert(place);
  }
  EXPECT_EQ(places.size(), 3u);
}

TEST_P(PipeFaults, ABatchOfNan) {
  const Tensor bad = x * NAN;
  EXPECT_TRUE(std::isnan(pipe->train_step(bad, y, mse).item<double>()));
  EXPECT_TRUE(pipe->parameters()[0].grad().isnan().all().item<bool>());
}

INSTANTIATE_TEST_SUITE_P(Schedules, PipeFaults, ::testing::Values(PipeSchedule::GPipe, k1F1B),
                         [](const auto& info) {
                           return info.param == k1F1B ? "OneForwardOneBackward" : "GPipe";
                         });

}  // namespace
}  // namespace taeda::nn
