// Captured graphs: replays do what the eager program does, and what cannot be captured is an error.
#include <gmock/gmock.h>

#include <fstream>

#include "common.h"
#include "taeda/device/sim.h"
#include "taeda/nn/nn.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/nn/dropout.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/optim/optim.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Graph : public OnDevice<> {
 protected:
  /// The error of `body`, called inside a capture that is thrown away.
  template <class F>
  std::string error_in_capture(F&& body) {
    DeviceGraph graph(device_.type());
    const StreamGuard guard(new_stream(device_));
    graph.capture_begin();
    const std::string text = error_of(body);
    try {
      graph.capture_end();
    } catch (const Error& e) {
      EXPECT_THAT(e.what(), HasSubstr("operation failed due to a previous error during capture"));
    }
    return text;
  }
  void SetUp() override {
    OnDevice::SetUp();
    if (!IsSkipped()) stream_ = new_stream(device_);
  }
  Stream stream_;
  Tensor tensor(std::vector<float> v) { return taeda::tensor(v).to(device_); }
};

TEST_F(Graph, ReplayReadsWhatTheInputsHoldNow) {
  const Tensor x = tensor({1, 2, 3});
  Tensor y;
  DeviceGraph graph(device_.type());
  {
    GraphCapture capture(graph);
    EXPECT_TRUE(is_current_stream_capturing(device_));
    y = x * 2;
    y.add_(1);
  }
  EXPECT_FALSE(is_current_stream_capturing(device_));
  graph.replay();
  EXPECT_THAT(values(y), ElementsAre(3, 5, 7));
  x.copy_(tensor({10, 20, 30}));
  graph.replay();
  EXPECT_THAT(values(y), ElementsAre(21, 41, 61));
}

/// Two layers with dropout, and their training step.
struct Trainer {
  Trainer(const Device& device, const std::string& kind) {
    manual_seed(3);
    model = nn::Sequential(nn::Linear(6, 16), nn::Tanh(), nn::Dropout(0.25), nn::Linear(16, 4));
    model->to(device);
    if (kind == "sgd")
      optimizer =
          std::make_unique<optim::SGD>(model->parameters(), optim::SGDOptions(0.1).momentum(0.9));
    else if (kind == "adam")
      optimizer = std::make_unique<optim::Adam>(model->parameters(), optim::AdamOptions(0.01));
    else
      optimizer = std::make_unique<optim::AdamW>(model->parameters(), optim::AdamWOptions(0.01));
  }
  Tensor step(const Tensor& x, const Tensor& y) {
    optimizer->zero_grad();
    Tensor loss = nn::functional::cross_entropy(model->forward(x), y);
    loss.backward();
    optimizer->step();
    return loss.detach();
  }
  nn::Sequential model{nullptr};
  std::unique_ptr<optim::Optimizer> optimizer;
};

class GraphTraining : public Graph, public ::testing::WithParamInterface<const char*> {};

TEST_P(GraphTraining, EqualsEagerBitByBit) {
  constexpr int kWarmUp = 3, kSteps = 6;
  std::vector<Tensor> xs, ys;
  for (int i = 0; i < kSteps; ++i) {
    xs.push_back(randn({32, 6}).to(device_));
    ys.push_back(randint(0, 4, {32}, kLong).to(device_));
  }
  Trainer eager(device_, GetParam());
  std::vector<double> want, got;
  for (int i = 0; i < kWarmUp; ++i) eager.step(xs[0], ys[0]);
  for (int i = 0; i < kSteps; ++i) want.push_back(eager.step(xs[i], ys[i]).item<double>());

  Trainer trainer(device_, GetParam());
  const Tensor x = xs[0].clone(), y = ys[0].clone();
  {
    const StreamGuard side(new_stream(device_));
    current_stream(device_).wait_stream(default_stream(device_));
    for (int i = 0; i < kWarmUp; ++i) trainer.step(x, y);
  }
  trainer.optimizer->zero_grad();
  synchronize(device_);
  DeviceGraph graph(device_.type());
  Tensor loss;
  {
    GraphCapture capture(graph);
    loss = trainer.step(x, y);
    capture.end();
  }
  for (int i = 0; i < kSteps; ++i) {
    x.copy_(xs[i]);
    y.copy_(ys[i]);
    graph.replay();
    got.push_back(loss.item<double>());
  }
  EXPECT_EQ(got, want);
  const std::vector<Tensor> a = trainer.model->parameters(), b = eager.model->parameters();
  for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(values(a[i]), values(b[i]));
  EXPECT_EQ(trainer.optimizer->state(a[0]).step, kWarmUp + kSteps);
}

INSTANTIATE_TEST_SUITE_P(Optimizers, GraphTraining, ::testing::Values("sgd", "adam", "adamw"),
                         [](const auto& info) { return info.param; });

TEST_F(Graph, RandomNumbersGoOnWhereEagerOnesWould) {
  const auto draw = [&] {
    const Tensor x = randn({5}, device_), y = dropout(ones({64}, device_), 0.5, true);
    return std::pair(x, y);
  };
  manual_seed(11);
  std::vector<std::vector<double>> want, got;
  for (int i = 0; i < 3; ++i) {
    const auto [x, y] = draw();
    want.push_back(values(x));
    want.push_back(values(y));
  }
  const std::vector<uint8_t> end = default_generator(device_).get_state();
  manual_seed(11);
  DeviceGraph graph(device_.type());
  Tensor x, y;
  {
    GraphCapture capture(graph);
    std::tie(x, y) = draw();
  }
  for (int i = 0; i < 3; ++i) {
    graph.replay();
    got.push_back(values(x));
    got.push_back(values(y));
  }
  EXPECT_EQ(got, want);
  EXPECT_EQ(default_generator(device_).get_state(), end);
  manual_seed(11);
  graph.replay();
  EXPECT_EQ(values(x), want[0]) << "seeding again restarts the sequence";
}

TEST_F(Graph, RegisteredGenerators) {
  const Generator own(device_, 5);
  EXPECT_THAT(error_in_capture([&] { own.next_philox(); }),
              HasSubstr("Attempt to increase offset for a CUDA generator not in capture mode."));
  DeviceGraph graph(device_.type());
  graph.register_generator_state(own);
  EXPECT_THAT(error_of([&] { graph.register_generator_state(Generator()); }),
              HasSubstr("cannot draw from a cpu generator"));
  {
    GraphCapture capture(graph);
    EXPECT_NE(own.next_philox().base, nullptr);
    EXPECT_THAT(error_of([&] { own.current_seed(); }),
                HasSubstr("Cannot call Generator::current_seed during CUDA graph capture."));
    EXPECT_THAT(error_of([&] { graph.register_generator_state(own); }),
                HasSubstr("should be called before capture_begin"));
    const StreamGuard elsewhere(default_stream(device_));
    EXPECT_THAT(error_of([&] { own.next_philox(); }),
                HasSubstr("Offset increment outside graph capture encountered unexpectedly."));
  }
  graph.replay();
  EXPECT_EQ(own.next_philox().offset, 1u) << "the replay used one";
}

TEST_F(Graph, ErrorsOfTheWrongOrder) {
  DeviceGraph graph(device_.type());
  EXPECT_THAT(error_of([&] { graph.replay(); }),
              HasSubstr("Called CUDAGraph::replay without a preceding successful capture."));
  EXPECT_THAT(error_of([&] { graph.pool(); }),
              HasSubstr("Called CUDAGraph::pool() without a preceding successful capture."));
  EXPECT_THAT(error_of([&] { graph.capture_end(); }),
              HasSubstr("Called CUDAGraph::capture_end without a preceding capture_begin."));
  EXPECT_THAT(error_of([&] { graph.capture_begin(); }),
              HasSubstr("CUDA graphs must be captured on a non-default stream."));
  const StreamGuard guard(new_stream(device_));
  graph.capture_begin();
  DeviceGraph second(device_.type());
  EXPECT_THAT(error_of([&] { second.capture_begin(); }),
              HasSubstr("this thread is already capturing a graph"));
  EXPECT_THAT(error_of([&] { graph.reset(); }), HasSubstr("during its capture"));
  {
    const StreamGuard other(new_stream(device_));
    EXPECT_THAT(error_of([&] { graph.capture_end(); }),
                HasSubstr("Capture must end on the same stream it began on."));
  }
  graph.capture_end();
  EXPECT_THAT(error_of([&] { graph.capture_begin(); }),
              HasSubstr("This CUDAGraph instance already owns a captured graph."));
  graph.replay();
  graph.reset();
  EXPECT_THAT(error_of([&] { graph.replay(); }), HasSubstr("without a preceding"));
}

TEST_F(Graph, StepsThatCannotBeRepeatedAreErrors) {
  const Tensor wide = ones({4, 4}, device_), apart = wide.slice(1, 0, 4, 2).requires_grad_();
  optim::SGD optimizer({apart}, optim::SGDOptions(0.1));
  (apart * 2).sum().backward();
  optimizer.step();
  EXPECT_THAT(error_in_capture([&] { optimizer.step(); }),
              HasSubstr("cannot be captured for parameters whose elements lie apart in memory"));
  EXPECT_THAT(error_in_capture([&] { graph_numbers(device_under_test(0), 1, [](double*) {}); }),
              HasSubstr("no error"));
  EXPECT_THAT(error_of([&] { graph_numbers(device_, 1, {}); }),
              HasSubstr("no graph is being captured"));
}

TEST_F(Graph, StateThatAnOptionAsksForLaterIsMadeBeforeTheCapture) {
  const Tensor x = ones({4}, device_).requires_grad_();
  optim::Adam optimizer({x}, optim::AdamOptions(0.1));
  (x * 2).sum().backward();
  optimizer.step();
  static_cast<optim::AdamOptions&>(optimizer.param_groups()[0].options()).amsgrad(true);
  EXPECT_THAT(error_in_capture([&] { optimizer.step(); }),
              HasSubstr("a captured step cannot make the state max_exp_avg_sq"));
  EXPECT_EQ(optimizer.state(x).step, 1);
  optimizer.step();
  EXPECT_EQ(error_in_capture([&] { optimizer.step(); }), "no error");
}

TEST_F(Graph, DivisionsOfIntegersDoNotWait) {
  const Tensor a = taeda::tensor({7, -7, 5}).to(device_), b = taeda::tensor({2, 2, 0}).to(device_);
  Tensor floor, trunc, rest, sign;
  DeviceGraph graph(device_.type());
  {
    GraphCapture capture(graph);
    floor = a.floor_divide(b);
    trunc = a.div(b, "trunc");
    rest = a.remainder(b);
    sign = a.fmod(b);
  }
  graph.replay();
  EXPECT_THAT(values(floor), ElementsAre(3, -4, 0));
  EXPECT_THAT(values(trunc), ElementsAre(3, -3, 0));
  EXPECT_THAT(values(rest), ElementsAre(1, 1, 0));
  EXPECT_THAT(values(sign), ElementsAre(1, -1, 0));
  EXPECT_THAT(values(a.floor_divide_(0)), ElementsAre(0, 0, 0));
}

TEST_F(Graph, ACaptureThatIsLeftEndsWithItsGraph) {
  {
    const StreamGuard guard(new_stream(device_));
    auto graph = std::make_unique<DeviceGraph>(device_.type());
    graph->capture_begin();
    const StreamGuard elsewhere(new_stream(device_));
    graph.reset();
  }
  EXPECT_EQ(captures_under_way(), 0);
  const Tensor x = tensor({1});
  EXPECT_THAT(values(x + 1), ElementsAre(2));
}

TEST_F(Graph, WaitingDuringACaptureIsAnError) {
  const Tensor x = tensor({1, 2});
  const char* const not_permitted = "operation not permitted when stream is capturing";
  EXPECT_THAT(error_in_capture([&] { current_stream(device_).synchronize(); }),
              HasSubstr(not_permitted));
  EXPECT_THAT(error_in_capture([&] { synchronize(device_); }), HasSubstr(not_permitted));
  const char* const pageable = "Cannot copy between CPU and CUDA tensors during CUDA graph capture";
  EXPECT_THAT(error_in_capture([&] { x.cpu(); }), HasSubstr(pageable));
  EXPECT_THAT(error_in_capture([&] { x.sum().item<float>(); }), HasSubstr(pageable));
  EXPECT_THAT(error_in_capture([&] { x.copy_(taeda::zeros({2})); }), HasSubstr(pageable));
  EXPECT_THAT(values(x), ElementsAre(1, 2)) << "the device stays usable";
}

TEST_F(Graph, AnErrorAtTheEndOfAScopeIsThrownByReplay) {
  DeviceGraph graph(device_.type());
  {
    GraphCapture capture(graph);
    error_of([&] { synchronize(device_); });
  }
  EXPECT_THAT(error_of([&] { graph.replay(); }),
              HasSubstr("operation failed due to a previous error during capture"));
  Tensor y;
  {
    GraphCapture capture(graph);  // nothing is left of the first one
    y = ones({2}, device_);
  }
  graph.replay();
  EXPECT_THAT(values(y), ElementsAre(1, 1));
}

TEST_F(Graph, StreamsForkAndJoin) {
  const Tensor x = tensor({1, 2});
  const Stream side = new_stream(device_);
  Tensor y, z;
  DeviceGraph graph(device_.type());
  {
    GraphCapture capture(graph);
    const Stream main = current_stream(device_);
    const Tensor h = x + 1;
    side.wait_stream(main);
    {
      const StreamGuard guard(side);
      EXPECT_TRUE(is_current_stream_capturing(device_));
      y = h * 10;
    }
    z = h * 100;
    main.wait_stream(side);
    z.add_(y);
    capture.end();
  }
  x.copy_(tensor({3, 4}));
  graph.replay();
  EXPECT_THAT(values(z), ElementsAre(440, 550));
}

TEST_F(Graph, WorkThatIsNotJoinedIsAnError) {
  const Tensor x = tensor({1, 2});
  const Stream side = new_stream(device_);
  DeviceGraph graph(device_.type());
  GraphCapture capture(graph);
  side.wait_stream(current_stream(device_));
  Tensor y;
  {
    const StreamGuard guard(side);
    y = x + 1;
  }
  EXPECT_THAT(error_of([&] { capture.end(); }), HasSubstr("unjoined work"));
}

TEST_F(Graph, MemoryIsTheGraphsOwn) {
  DeviceGraph graph(device_.type());
  const Tensor x = tensor({1, 2});
  Tensor y;
  {
    GraphCapture capture(graph);
    const Tensor h = x * 3;  // freed here, and used by every replay
    y = h + 1;
  }
  std::vector<Tensor> others;
  for (int i = 0; i < 8; ++i) others.push_back(full({2}, 77.0, device_));
  graph.replay();
  EXPECT_THAT(values(y), ElementsAre(4, 7));
  for (const Tensor& t : others) EXPECT_THAT(values(t), ElementsAre(77, 77));

  DeviceGraph second(device_.type());
  Tensor z;
  {
    GraphCapture capture(second, graph.pool());
    z = y * 2;
  }
  EXPECT_EQ(second.pool(), graph.pool());
  second.replay();
  EXPECT_THAT(values(z), ElementsAre(8, 14));

  others.clear();
  allocator::empty_cache(device_);
  const int64_t with_graphs = allocator::memory_stats(device_).reserved;
  y.reset();
  z.reset();
  graph.reset();
  second.reset();
  allocator::empty_cache(device_);
  EXPECT_LT(allocator::memory_stats(device_).reserved, with_graphs);
}

TEST_F(Graph, TheNextGraphTakesOverMemory) {
  const auto capture_and_drop = [&] {
    DeviceGraph graph(device_.type());
    const StreamGuard guard(stream_);
    graph.capture_begin();
    const Tensor y = ones({1 << 16}, device_);
    graph.capture_end();
    graph.replay();
    EXPECT_EQ(y.sum().item<double>(), 1 << 16);
  };
  capture_and_drop();
  const int64_t segments = allocator::memory_stats(device_).segment_allocations;
  for (int i = 0; i < 4; ++i) capture_and_drop();
  EXPECT_EQ(allocator::memory_stats(device_).segment_allocations, segments);
}

TEST_F(Graph, KeepsItsPagesOfExpandableSegments) {
  const struct Setting {
    Setting() { allocator::set_settings("expandable_segments:True"); }
    ~Setting() { allocator::set_settings(""); }
  } expandable;
  const auto reserved = [&] {
    allocator::empty_cache(device_);
    return allocator::memory_stats(device_).reserved;
  };
  const Tensor x = ones({1 << 20}, device_);
  const int64_t before = reserved();
  DeviceGraph graph(device_.type());
  Tensor y;
  {
    GraphCapture capture(graph);
    y = (x + 1) * 2;
    capture.end();
  }
  const int64_t with_graph = reserved();
  EXPECT_GT(with_graph, before);
  const Tensor other = taeda::full({1 << 22}, 5.0, device_);
  graph.replay();
  EXPECT_EQ(y.sum().item<double>(), 4 << 20);
  EXPECT_EQ(other.sum().item<double>(), 5 << 22);
  y.reset();
  EXPECT_GE(reserved(), with_graph);
  graph.replay();
  graph.reset();
  EXPECT_EQ(x.sum().item<double>(), 1 << 20);
  const bool trims = allocator::memory_snapshot(device_).front().expandable;
  if (trims) {
    EXPECT_LE(reserved(), before + (40 << 20)) << "room for `other` alone";
  }
}

TEST_F(Graph, CopiesOfPinnedMemoryAreCaptured) {
  const Tensor x = tensor({1, 2});
  const Tensor host = taeda::zeros({2}).pin_memory(), out = taeda::zeros({2}).pin_memory();
  if (!host.is_pinned()) GTEST_SKIP() << "memory is pinned for another type of device";
  DeviceGraph graph(device_.type());
  {
    GraphCapture capture(graph);
    x.copy_(host, true);
    x.add_(5);
    out.copy_(x, true);
    capture.end();
  }
  host.fill_(3);
  graph.replay();
  synchronize(device_);
  EXPECT_THAT(values(out), ElementsAre(8, 8));
}

TEST_F(Graph, OptimizersWarmUpFirstAndOutliveTheirGraphs) {
  auto trainer = std::make_unique<Trainer>(device_, "adam");
  const Tensor x = randn({8, 6}).to(device_), y = taeda::zeros({8}, kLong).to(device_);
  EXPECT_THAT(error_in_capture([&] { trainer->step(x, y); }),
              HasSubstr("an optimizer's first step cannot be captured"));
  EXPECT_EQ(trainer->optimizer->state(trainer->model->parameters()[0]).step, 0);
  {
    const StreamGuard side(new_stream(device_));
    trainer->step(x, y);
  }
  synchronize(device_);
  DeviceGraph graph(device_.type());
  {
    GraphCapture capture(graph);
    trainer->step(x, y);
    capture.end();
  }
  graph.replay();
  EXPECT_EQ(trainer->optimizer->state(trainer->model->parameters()[0]).step, 2);
  const nn::Sequential model = trainer->model;
  trainer.reset();
  EXPECT_THAT(error_of([&] { graph.replay(); }),
              HasSubstr("the optimizer whose step was captured is gone"));
}

TEST_F(Graph, GraphedCallablesTrainAsTheModuleDoes) {
  const auto losses = [&](bool graphed) {
    manual_seed(6);
    nn::Sequential model{nn::Linear(6, 16), nn::Tanh(), nn::Linear(16, 3)};
    model->to(device_);
    optim::SGD optimizer(model->parameters(), optim::SGDOptions(0.1));
    std::vector<double> out;
    std::function<Tensor(const Tensor&)> forward = [&](const Tensor& x) {
      return model->forward(x);
    };
    const Tensor sample = taeda::zeros({8, 6}).to(device_).requires_grad_();
    if (graphed) forward = nn::make_graphed_callables(model, sample);
    manual_seed(8);
    for (int i = 0; i < 4; ++i) {
      const Tensor x = randn({8, 6}).to(device_).requires_grad_();
      optimizer.zero_grad();
      // Twice, so that gradients add up.
      Tensor loss = forward(x).pow(2).mean();
      loss.backward();
      out.push_back(loss.item<double>());
      loss = forward(x * 2).abs().mean();
      loss.backward();
      out.push_back(loss.item<double>());
      out.push_back(x.grad().abs().sum().item<double>());
      optimizer.step();
    }
    const NoGradGuard no_grad;
    out.push_back(forward(sample).sum().item<double>());
    return out;
  };
  EXPECT_EQ(losses(true), losses(false));
}

TEST_F(Graph, GraphedCallablesCheckTheirArguments) {
  const auto twice = nn::make_graphed_callables(
      [](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{in[0] * 2, in[0] > 0};
      },
      {ones({3}, device_)});
  const std::vector<Tensor> out = twice({tensor({1, -1, 2})});
  EXPECT_THAT(values(out[0]), ElementsAre(2, -2, 4));
  EXPECT_THAT(values(out[1]), ElementsAre(1, 0, 1));
  EXPECT_FALSE(out[0].requires_grad());
  EXPECT_THAT(error_of([&] { twice({ones({4}, device_)}); }),
              HasSubstr("argument 0 has shape [4]"));
  EXPECT_THAT(error_of([&] { twice({}); }), HasSubstr("for 1 arguments was called with 0"));
  EXPECT_THAT(error_of([&] { nn::make_graphed_callables(twice, {}); }),
              HasSubstr("needs at least one sample argument"));
  EXPECT_THAT(error_of([&] { nn::make_graphed_callables(nn::TensorFunction(), {}); }),
              HasSubstr("expected a function"));
}

TEST(GraphNames, AreThoseOfTorchCuda) {
  if (sim::device_count() == 0) GTEST_SKIP() << "no simulated device";
  sim::CUDAGraph graph;
  Tensor y;
  {
    const sim::graph capture(graph, sim::graph_pool_handle());
    EXPECT_TRUE(sim::is_current_stream_capturing());
    y = ones({2}, Device(kSim, 0));
  }
  graph.replay();
  EXPECT_THAT(values(y), ElementsAre(1, 1));
  EXPECT_EQ(sim::get_device_capability(), std::pair(0, 0));
  EXPECT_EQ(sim::get_per_process_memory_fraction(), 1);
}

TEST_F(Graph, DebugDump) {
  DeviceGraph graph(device_.type());
  const std::string path = ::testing::TempDir() + "/taeda_graph.dot";
  EXPECT_THAT(error_of([&] { graph.debug_dump(path); }), HasSubstr("debug not enabled"));
  graph.enable_debug_mode();
  EXPECT_THAT(error_of([&] { graph.debug_dump(path); }), HasSubstr("without a preceding"));
  Tensor y;
  {
    GraphCapture capture(graph);
    y = ones({4}, device_) + 1;
  }
  graph.debug_dump(path);
  std::ifstream file(path);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_THAT(text, HasSubstr("digraph"));
}

TEST(GraphOnMeta, IsNotImplemented) {
  EXPECT_THAT(error_of([] {
                DeviceGraph graph(kMeta);
                graph.capture_begin();
              }),
              HasSubstr("graphs are not implemented for meta devices"));
}

}  // namespace
}  // namespace taeda
