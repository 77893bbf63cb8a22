// Backward passes over several accelerators: a launching thread for each, and nothing that depends
// on which of them is faster.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "taeda/autograd/engine.h"
#include "taeda/autograd/function.h"
#include "taeda/base/parallel_for.h"
#include "taeda/device/sim.h"
#include "taeda/device/sim_cost.h"
#include "taeda/nn/containers/sequential.h"
#include "taeda/nn/functional/loss.h"
#include "taeda/nn/modules/activation.h"
#include "taeda/nn/modules/linear.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/optim/sgd.h"
#include "taeda/parallel/data_parallel.h"
#include "tests/error_of.h"
#include "tests/threads/together.h"

namespace taeda {
namespace {

using ::testing::HasSubstr;

struct FourDevices : ::testing::Environment {
  void SetUp() override { sim::configure(4); }
};
[[maybe_unused]] const auto* const environment =
    ::testing::AddGlobalTestEnvironment(new FourDevices);

Device device(int i) { return Device(kSim, i); }

/// Its gradient is its argument, and `in_backward` is called on the way.
struct Probe : autograd::Function<Probe> {
  using Job = std::function<void()>;
  static Tensor forward(autograd::AutogradContext* ctx, const Tensor& x, const Job& in_backward) {
    ctx->saved_data["job"] = IValue::capsule(in_backward);
    return x * 1;
  }
  static autograd::variable_list backward(autograd::AutogradContext* ctx,
                                          autograd::variable_list g) {
    std::any_cast<const Probe::Job&>(ctx->saved_data["job"].toCapsule())();
    return {g[0], Tensor()};
  }
};

/// A value that depends on `x` by way of all four devices.
Tensor over_devices(const Tensor& x, const std::vector<Probe::Job>& jobs) {
  Tensor sum = x * 1;
  for (int i = 0; i < 4; ++i) {
    const Tensor there = (x.to(device(i)) * (i + 0.1)).tanh();
    sum = sum + Probe::apply(there, jobs[static_cast<size_t>(i)]).to(x.device());
  }
  return sum.sum();
}

TEST(Lanes, EachDeviceHasAThreadAndTheCallerTheFirst) {
  const Tensor x = ones({4}, device(0)).requires_grad_();
  std::vector<std::thread::id> threads(4);
  std::vector<Probe::Job> jobs;
  for (size_t i = 0; i < 4; ++i)
    jobs.push_back([&threads, i] { threads[i] = std::this_thread::get_id(); });
  over_devices(x, jobs).backward();
  EXPECT_EQ(threads[0], std::this_thread::get_id());
  std::ranges::sort(threads);
  EXPECT_EQ(std::unique(threads.begin(), threads.end()), threads.end()) << "four threads";
  const Tensor alone = ones({4}, device(2)).requires_grad_();
  std::thread::id one;
  Probe::apply(alone * 2, Probe::Job([&] { one = std::this_thread::get_id(); })).sum().backward();
  EXPECT_EQ(one, std::this_thread::get_id());
}

TEST(Lanes, SumsHaveTheOrderOfOneThread) {
  manual_seed(0);
  const Tensor start = randn({257}).to(device(0));
  std::vector<float> expected;
  for (int round = 0; round < 40; ++round) {
    const Tensor x = start.clone().requires_grad_();
    std::vector<Probe::Job> jobs(4, [] {});
    // Another one of the threads is late each time.
    jobs[static_cast<size_t>(round % 4)] = [] {
      synchronize(device(0)), std::this_thread::yield();
    };
    over_devices(x, jobs).backward();
    const Tensor g = x.grad().cpu();
    const std::vector<float> now(g.data_ptr<float>(), g.data_ptr<float>() + g.numel());
    if (round == 0) expected = now;
    ASSERT_EQ(now, expected) << "round " << round;
  }
  // What one thread computes: newest first, the last device's gradient before the others'.
  const Tensor x = start.clone();
  Tensor sum;
  for (int i = 3; i >= 0; --i) {
    const Tensor leaf = x.to(device(i)).clone().requires_grad_();
    (leaf * (i + 0.1)).tanh().sum().backward();
    const Tensor g = leaf.grad().to(device(0));
    sum = sum.defined() ? sum + g : g;
  }
  sum = sum + 1;
  const Tensor g = sum.cpu();
  EXPECT_EQ(std::vector<float>(g.data_ptr<float>(), g.data_ptr<float>() + g.numel()), expected);
}

TEST(Lanes, TheCallersModesHoldInAll) {
  const Tensor x = ones({4}, device(0)).requires_grad_();
  std::vector<int> recording(4), streams(4);
  const Stream side = new_stream(device(1));
  std::vector<Probe::Job> jobs;
  for (size_t i = 0; i < 4; ++i)
    jobs.push_back([&, i] {
      recording[i] = GradMode::is_enabled();
      streams[i] = current_stream(device(1)) == side;
    });
  const Tensor y = over_devices(x, jobs);
  {
    const StreamGuard guard(side);
    autograd::grad({y}, {x}, {}, true, true);
  }
  EXPECT_EQ(recording, std::vector<int>(4, 1));
  // Device 1's own node runs on the stream of its forward.
  EXPECT_EQ(streams, (std::vector<int>{1, 0, 1, 1}));
  autograd::grad({y}, {x});
  EXPECT_EQ(recording, std::vector<int>(4, 0));
}

TEST(Lanes, SecondDerivatives) {
  const Tensor x = full({3}, 0.5, TensorOptions(kDouble).device(device(0))).requires_grad_();
  const Tensor y = (x.to(device(1)) * x.to(device(1)) * x.to(device(2)).to(device(1))).sum();
  const Tensor first = autograd::grad({y}, {x}, {}, true, true)[0];
  EXPECT_TRUE(first.eq(0.75).all().item<bool>());
  const Tensor second = autograd::grad({first.sum()}, {x})[0];
  EXPECT_TRUE(second.eq(3).all().item<bool>());
}

TEST(Lanes, TheFirstErrorReachesTheCallerOnce) {
  const Tensor x = ones({4}, device(0)).requires_grad_();
  for (int round = 0; round < 30; ++round) {
    std::vector<Probe::Job> jobs(4, [] {});
    for (const size_t i : {1u, 3u})  // backward reaches the last device first
      jobs[i] = [i] { throw ValueError("device " + std::to_string(i)); };
    const Tensor y = over_devices(x, jobs);
    EXPECT_EQ(error_of([&] { y.backward({}, true); }), "device 3");
    EXPECT_FALSE(x.grad().defined());
  }
  over_devices(x, std::vector<Probe::Job>(4, [] {})).backward();
  EXPECT_TRUE(x.grad().defined()) << "nothing is left behind";
}

TEST(Lanes, ANodeMayRunAPassOfItsOwn) {
  const Tensor x = ones({4}, device(0)).requires_grad_();
  const Tensor other = ones({4}, device(3)).requires_grad_();
  std::vector<Probe::Job> none(4, [] {}), nested(4);
  for (size_t i = 0; i < 4; ++i)
    nested[i] = [&] {
      const AutoGradMode recording(true);
      over_devices(other, none).backward();
    };
  over_devices(x, nested).backward();
  const Tensor four = other.grad().clone();
  other.mutable_grad().reset();
  over_devices(other, none).backward();
  EXPECT_LT((other.grad() * 4 - four).abs().max().item<double>(), 1e-6);
}

// The hook holds the leaf; a pass of its own that reached the leaf on another thread would wait for
// ever.
TEST(Lanes, APostAccumulateHookMayRunAPassOverSeveralDevices) {
  const Tensor x = ones({4}, device(0)).requires_grad_();
  bool inner = false;
  x.register_post_accumulate_grad_hook([&](const Tensor& t) {
    if (std::exchange(inner, true)) return;
    const AutoGradMode recording(true);
    (t.to(device(1)) * 3).sum().backward();
  });
  (x.to(device(1)) * 2).sum().backward();
  EXPECT_TRUE(x.grad().eq(5).all().item<bool>());
}

TEST(Lanes, CallbacksRunOnTheCallersThreadInOrder) {
  const Tensor x = ones({4}, device(0)).requires_grad_();
  for (int round = 0; round < 20; ++round) {
    std::vector<size_t> order;
    std::vector<Probe::Job> jobs;
    for (size_t i = 0; i < 4; ++i)
      jobs.push_back([&order, i, caller = std::this_thread::get_id()] {
        autograd::queue_callback([&order, i, caller] {
          EXPECT_EQ(std::this_thread::get_id(), caller);
          order.push_back(i);
        });
      });
    over_devices(x, jobs).backward();
    EXPECT_EQ(order, (std::vector<size_t>{3, 2, 1, 0}));
  }
}

TEST(Lanes, SeveralThreadsRunPassesOverSeveralDevices) {
  const Tensor x = ones({4}, device(0)).requires_grad_();
  std::vector<Probe::Job> none(4, [] {});
  over_devices(x, none).backward();
  const Tensor once = x.grad().clone();
  x.mutable_grad().reset();
  together(3, [&](int) {
    for (int i = 0; i < 10; ++i) over_devices(x, none).backward();
  });
  EXPECT_LT((x.grad() - once * 30).abs().max().item<double>(), 1e-4);
}

nn::Sequential network(int64_t layers, int64_t width) {
  nn::Sequential out;
  for (int64_t i = 0; i < layers; ++i) {
    out->push_back(nn::Linear(width, width));
    out->push_back(nn::ReLU());
  }
  return out;
}

TEST(Lanes, TrainingInParallelIsTheSameEveryTime) {
  std::vector<float> expected;
  for (int round = 0; round < 4; ++round) {
    manual_seed(0);
    nn::Sequential net = network(3, 16);
    net->to(device(0));
    nn::DataParallel<nn::SequentialImpl> model(
        net, std::vector<Device>{device(0), device(1), device(2), device(3)});
    optim::SGD optimizer(net->parameters(), 0.1);
    const Tensor x = randn({32, 16}).to(device(0));
    for (int step = 0; step < 5; ++step) {
      optimizer.zero_grad();
      model->forward(x).pow(2).sum().backward();
      optimizer.step();
    }
    const Tensor w = net->parameters()[0].detach().cpu();
    const std::vector<float> now(w.data_ptr<float>(), w.data_ptr<float>() + w.numel());
    if (round == 0) expected = now;
    EXPECT_EQ(now, expected);
  }
}

/// Milliseconds that a training step on `devices` devices is predicted to take. Kernels compute
/// nothing: only their costs are looked at.
double predicted_step(int devices, int64_t layers, int64_t width, int64_t batch) {
  manual_seed(0);
  nn::Sequential net = network(layers, width);
  net->to(device(0));
  std::vector<Device> ids;
  for (int i = 0; i < devices; ++i) ids.push_back(device(i));
  nn::DataParallel<nn::SequentialImpl> model(net, ids);
  optim::SGD optimizer(net->parameters(), 0.01);
  const Tensor x = randn({batch, width}, device(0));
  const auto step = [&] {
    optimizer.zero_grad();
    model->forward(x).mean().backward();
    optimizer.step();
  };
  step();
  for (const Device& d : ids) synchronize(d);
  const double begin = sim::predicted_time();
  step();
  for (const Device& d : ids) synchronize(d);
  return (sim::predicted_time() - begin) * 1e3;
}

TEST(PredictedDataParallel, LaunchingIsSharedAmongThreads) {
  // A machine on which a layer of this width takes as long as one of 1024 x 1024 on an h100.
  sim::CostModel cost = sim::cost_model("h100");
  cost.float32 /= 16 * 16 * 16;
  cost.memory_bandwidth /= 16 * 16;
  cost.peer_bandwidth /= 16 * 16;
  sim::configure(4, {.cost = cost});
  const double one = predicted_step(1, 4, 64, 128), four = predicted_step(4, 4, 64, 128);
  EXPECT_LT(four, one);
  sim::configure(4);
}

struct Threads : ::testing::Test {
  ~Threads() override { set_num_threads(before); }
  const int before = get_num_threads();
};

TEST_F(Threads, TheNumberIsTheProcesss) {
  set_num_threads(3);
  int seen = 0, limited = 0;
  std::thread([&] {
    seen = get_num_threads();
    const NumThreadsGuard guard(1);
    limited = get_num_threads();
  }).join();
  EXPECT_EQ(seen, 3);
  EXPECT_EQ(limited, 1);
  {
    const NumThreadsGuard guard(2);
    set_num_threads(5);
    EXPECT_EQ(get_num_threads(), 5);
  }
  EXPECT_EQ(get_num_threads(), 3) << "within a guard only its scope is changed";
}

TEST_F(Threads, ReplicasTakeOverTheCallersLimit) {
  const NumThreadsGuard guard(1);
  std::vector<int> seen(4);
  nn::parallel::run_on_devices({device(0), device(1), device(2), device(3)},
                               [&](size_t i) { seen[i] = get_num_threads(); });
  EXPECT_EQ(seen, std::vector<int>(4, 1));
}

}  // namespace
}  // namespace taeda
