// Captured work of the CPU: replays do what the eager program does, bit for bit, and what cannot be
// captured is an error that names it.
#include <gmock/gmock.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "taeda/base/parallel_for.h"
#include "taeda/cpu/onednn.h"
#include "taeda/device/graph.h"
#include "taeda/device/registry.h"
#include "taeda/models/gpt.h"
#include "taeda/nn/graphed.h"
#include "taeda/nn/nn.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/nn/dropout.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/optim/optim.h"
#include "taeda/tensor/grad_mode.h"
#include "tests/cpu/counted_calls.h"
#include "tests/error_of.h"
#include "tests/values.h"

namespace taeda {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// The error of `body`, called inside a capture that is thrown away.
template <class F>
std::string error_in_capture(F&& body) {
  DeviceGraph graph(kCPU);
  graph.capture_begin();
  const std::string text = error_of(body);
  const std::string end = error_of([&] { graph.capture_end(); });
  if (text.rfind("CPU error", 0) == 0) {
    EXPECT_EQ(end, "CPU error: operation failed due to a previous error during capture");
  }
  return text;
}

TEST(CpuCapture, RecordsAndDoesNotRun) {
  const Tensor x = tensor({1, 2, 3}, kFloat);
  Tensor y;
  DeviceGraph graph(kCPU);
  EXPECT_FALSE(is_current_stream_capturing(kCPU));
  {
    GraphCapture capture(graph);
    EXPECT_TRUE(is_current_stream_capturing(kCPU));
    x.mul_(10);
    y = (x + 1).sum();
  }
  EXPECT_FALSE(is_current_stream_capturing(kCPU));
  EXPECT_THAT(values<float>(x), ElementsAre(1, 2, 3));
  graph.replay();
  EXPECT_THAT(values<float>(x), ElementsAre(10, 20, 30));
  EXPECT_EQ(y.item<float>(), 63);
  x.copy_(tensor({4, 5, 6}, kFloat));
  graph.replay();
  EXPECT_EQ(y.item<float>(), 153);
}

TEST(CpuCapture, OneApiForAllDevices) {
  DeviceGraph graph(kCPU);
  EXPECT_THAT(error_of([&] { graph.replay(); }), HasSubstr("without a preceding successful"));
  graph.capture_begin();
  DeviceGraph second(kCPU);
  EXPECT_THAT(error_of([&] { second.capture_begin(); }), HasSubstr("already capturing a graph"));
  EXPECT_THAT(error_of([&] { graph.reset(); }), HasSubstr("during its capture"));
  const Tensor y = ones({2});
  graph.capture_end();
  EXPECT_THAT(error_of([&] { graph.capture_begin(); }), HasSubstr("already owns a captured graph"));
  graph.replay();
  EXPECT_THAT(values<float>(y), ElementsAre(1, 1));
  graph.enable_debug_mode();
  const std::string path = ::testing::TempDir() + "cpu_capture.dot";
  graph.debug_dump(path);
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_THAT(text.str(), HasSubstr("digraph"));
  EXPECT_THAT(text.str(), HasSubstr("fill"));
  graph.reset();
  EXPECT_THAT(error_of([&] { graph.replay(); }), HasSubstr("without a preceding successful"));
}

TEST(CpuCapture, ACaptureThatIsLeftEndsWithItsGraph) {
  {
    DeviceGraph graph(kCPU);
    graph.capture_begin();
    ones({4});
  }
  EXPECT_EQ(captures_under_way(), 0);
  EXPECT_EQ(ones({2}).sum().item<float>(), 2);
}

TEST(CpuCapture, WhatTheHostWroteIsThereAtEveryReplay) {
  const Tensor x = tensor({1, 2, 3, 4}, kFloat);
  Tensor picked, changed;
  DeviceGraph graph(kCPU);
  {
    GraphCapture capture(graph);
    picked = x.index_select(0, tensor({3, 1}, kLong));  // written by the host, and freed at once
    for (int i = 0; i < 4; ++i) full({2}, i, kLong);    // takes over its memory
    changed = tensor({1, 1}, kFloat);
    changed.add_(picked);  // begins anew at every replay
  }
  for (int i = 0; i < 3; ++i) {
    graph.replay();
    EXPECT_THAT(values<float>(picked), ElementsAre(4, 2));
    EXPECT_THAT(values<float>(changed), ElementsAre(5, 3));
  }
}

TEST(CpuCapture, RandomNumbersGoOnWhereEagerOnesWould) {
  const auto draw = [&] {
    return std::vector<Tensor>{randn({5}),
                               dropout(ones({64}), 0.5, true),
                               rand({40}),
                               randint(0, 100, {7}, kLong),
                               randperm(9),
                               empty({6}).bernoulli_(0.4),
                               empty({6}).log_normal_(),
                               empty({6}).exponential_(),
                               empty({33}, kHalf).normal_(),
                               multinomial(full({4}, 0.25), 2)};
  };
  const auto all_values = [](const std::vector<Tensor>& list) {
    std::vector<std::vector<double>> out;
    for (const Tensor& t : list) out.push_back(values<double>(t.to(kDouble)));
    return out;
  };
  manual_seed(11);
  std::vector<std::vector<std::vector<double>>> want;
  for (int i = 0; i < 3; ++i) want.push_back(all_values(draw()));
  const std::vector<uint8_t> end = default_generator(kCPU).get_state();
  manual_seed(11);
  DeviceGraph graph(kCPU);
  std::vector<Tensor> drawn;
  {
    GraphCapture capture(graph);
    drawn = draw();
  }
  for (int i = 0; i < 3; ++i) {
    graph.replay();
    EXPECT_EQ(all_values(drawn), want[static_cast<size_t>(i)]);
  }
  EXPECT_EQ(default_generator(kCPU).get_state(), end);
}

TEST(CpuCapture, DropoutsGradientHasTheMaskOfItsReplay) {
  const Tensor x = ones({256}).requires_grad_();
  Tensor y;
  DeviceGraph graph(kCPU);
  {
    GraphCapture capture(graph);
    y = dropout(x, 0.5, true);
    y.sum().backward();
  }
  std::vector<float> last;
  for (int i = 0; i < 3; ++i) {
    graph.replay();
    EXPECT_EQ(values<float>(y), values<float>(x.grad()));
    EXPECT_NE(values<float>(y), last);
    last = values<float>(y);
  }
}

TEST(CpuCapture, WhatNeedsValuesIsRefusedByName) {
  const Tensor x = tensor({1, 2, 0}, kFloat), n = tensor({3, 2}, kLong);
  const auto refused = [](const std::string& name) {
    return HasSubstr("operation not permitted when stream is capturing (" + name);
  };
  EXPECT_THAT(error_in_capture([&] { x.sum().item<float>(); }), refused("item"));
  EXPECT_THAT(error_in_capture([&] { x[1].item<float>(); }), refused("item"));
  EXPECT_THAT(error_in_capture([&] { x.nonzero(); }), refused("nonzero"));
  EXPECT_THAT(error_in_capture([&] { x.index({x > 0}); }), refused("index"));
  EXPECT_THAT(error_in_capture([&] { x.masked_select(x > 0); }), refused("masked_select"));
  EXPECT_THAT(error_in_capture([&] { n.repeat_interleave(n); }), refused("repeat_interleave"));
  EXPECT_THAT(error_in_capture([&] { poisson(x); }), refused("poisson"));
  EXPECT_THAT(error_in_capture([&] { x.equal(x + 1); }), refused("equal"));
  EXPECT_THAT(error_in_capture([&] { (x + 1).data_ptr<float>()[0] = 1; }),
              HasSubstr("it reads or writes on the host what recorded work computes or uses"));
  EXPECT_THAT(error_in_capture([&] { manual_seed(1); }),
              HasSubstr("Cannot call Generator::manual_seed during CUDA graph capture."));
  EXPECT_THAT(error_in_capture([&] { default_generator(kCPU).uniform(); }),
              HasSubstr("Generator::uniform"));
  EXPECT_THAT(error_in_capture([&] { x.to(kSim); }), refused("to, copy between devices"));
  const Tensor p = tensor({1, 2}, kFloat).requires_grad_();
  optim::Adam fresh({p}, 0.1);
  p.mutable_grad() = ones({2});
  EXPECT_THAT(error_in_capture([&] { fresh.step(); }),
              HasSubstr("an optimizer's first step cannot be captured"));
  EXPECT_THAT(values<float>(x), ElementsAre(1, 2, 0)) << "the CPU stays usable";
}

TEST(CpuCapture, ChecksOfValuesInPassingAreLeftToTheKernels) {
  const Tensor p = full({4}, 0.5), a = tensor({7, 5}, kLong), b = tensor({2, 0}, kLong);
  const Tensor index = tensor({1, 0}, kLong), table = rand({3, 2});
  Tensor loss, floor, rows;
  DeviceGraph graph(kCPU);
  {
    GraphCapture capture(graph);
    loss = binary_cross_entropy(p, ones({4}));
    floor = a.floor_divide(b);
    rows = table.index_select(0, index);
  }
  graph.replay();
  EXPECT_NEAR(loss.item<double>(), std::log(2.0), 1e-6);
  EXPECT_EQ(floor[0].item<int64_t>(), 3);
  index[0] = 3;
  EXPECT_THAT(error_of([&] { graph.replay(); }), HasSubstr("index"));
  index[0] = 2;
  graph.replay();
  EXPECT_EQ(values<float>(rows[0]), values<float>(table[2]));
}

TEST(CpuCapture, OtherThreadsGoOn) {
  const Tensor x = ones({1000});
  DeviceGraph graph(kCPU);
  Tensor y;
  std::atomic<bool> stop{false};
  std::atomic<int64_t> steps{0};
  std::vector<std::thread> others;
  for (int t = 0; t < 3; ++t)
    others.emplace_back([&] {
      while (!stop || steps < 100) {
        const Tensor h = ones({600}).mul_(2) + 1;
        if (h.sum().item<float>() == 1800) ++steps;
        EXPECT_FALSE(is_current_stream_capturing(kCPU));
      }
    });
  for (int i = 0; i < 20; ++i) {
    graph.reset();
    GraphCapture capture(graph);
    y = (x + 1) * 3;
    std::thread([&] {
      DeviceGraph second(kCPU);
      EXPECT_THAT(error_of([&] { second.capture_begin(); }),
                  HasSubstr("another graph is being captured on cpu"));
    }).join();
    capture.end();
    std::thread([&] { graph.replay(); }).join();  // by any thread
    EXPECT_EQ(y.sum().item<float>(), 6000);
  }
  stop = true;
  for (std::thread& t : others) t.join();
  EXPECT_GE(steps, 100);
}

TEST(CpuCapture, BlocksServeAllWhoseLifetimesDoNotMeet) {
  const Tensor x = ones({1 << 18});  // 1 MiB
  DeviceGraph graph(kCPU);
  Tensor y;
  const int64_t before = allocator::memory_stats(kCPU).allocated;
  int64_t most = 0;
  {
    GraphCapture capture(graph);
    y = x + 1;
    for (int i = 0; i < 100; ++i) {
      y = y + 1;
      most = std::max(most, allocator::memory_stats(kCPU).allocated - before);
    }
  }
  EXPECT_LE(most, 3 << 20);
  graph.replay();
  EXPECT_EQ(y.max().item<float>(), 102);
  std::vector<Tensor> others;  // eager work gets none of it
  for (int i = 0; i < 8; ++i) others.push_back(zeros({1 << 18}));
  graph.replay();
  for (const Tensor& t : others) EXPECT_EQ(t.max().item<float>(), 0);
}

TEST(CpuCapture, GraphedCallablesTrain) {
  const auto train = [](bool graphed) {
    manual_seed(5);
    nn::Linear layer(8, 8);
    std::function<Tensor(const Tensor&)> forward = [&](const Tensor& x) {
      return layer->forward(x).tanh();
    };
    const Tensor sample = randn({4, 8}).requires_grad_();
    if (graphed) {
      const nn::TensorFunction f = nn::make_graphed_callables(
          [&](const std::vector<Tensor>& in) {
            return std::vector<Tensor>{layer->forward(in[0]).tanh()};
          },
          {sample}, layer->parameters());
      forward = [f](const Tensor& x) { return f({x})[0]; };
    }
    optim::SGD optimizer(layer->parameters(), 0.1);
    for (int i = 0; i < 5; ++i) {
      optimizer.zero_grad();
      const Tensor x = full({4, 8}, 0.1 * i).requires_grad_();
      forward(x).sum().backward();
      optimizer.step();
    }
    return values<float>(layer->weight);
  };
  EXPECT_EQ(train(true), train(false));
}

/// A step of a small network, repeated until its caches are warm.
struct SmallStep {
  SmallStep() {
    manual_seed(2);
    model = nn::Sequential(nn::Linear(100, 50), nn::ReLU(), nn::Linear(50, 10));
    optimizer = std::make_unique<optim::Adam>(model->parameters(), 1e-3);
    for (int i = 0; i < 3; ++i) step();
    optimizer->zero_grad();
    GraphCapture capture(graph);
    step();
    capture.end();
    for (int i = 0; i < 3; ++i) graph.replay();
  }
  void step() {
    optimizer->zero_grad();
    nn::functional::cross_entropy(model->forward(x), y).backward();
    optimizer->step();
  }
  Tensor x = rand({64, 100}), y = randint(0, 10, {64}, kLong);
  nn::Sequential model{nullptr};
  std::unique_ptr<optim::Adam> optimizer;
  DeviceGraph graph{kCPU};
};

/// oneDNN's own calls allocate a few bytes each time: what is counted is this library's.
struct WithoutOneDnn {
  WithoutOneDnn() { cpu::set_onednn_enabled(false); }
  ~WithoutOneDnn() { cpu::set_onednn_enabled(was); }
  const bool was = cpu::onednn_enabled();
};

TEST(CpuCapture, AReplayAllocatesNothingAndTakesNoLock) {
  if (!CountedCalls::counts()) GTEST_SKIP() << "a sanitizer's allocator";
  const NumThreadsGuard one_thread(1);
  const WithoutOneDnn own_kernels;
  SmallStep s;
  const int64_t before = allocator::memory_stats(kCPU).allocations;
  int64_t allocations = 0, locks = 0;
  {
    const CountedCalls calls;
    for (int i = 0; i < 10; ++i) s.graph.replay();
    allocations = calls.allocations();
    locks = calls.locks();
  }
  EXPECT_EQ(allocations, 0);
  EXPECT_EQ(locks, 0);
  EXPECT_EQ(allocator::memory_stats(kCPU).allocations, before);
  const CountedCalls eager;
  s.step();
  EXPECT_GT(eager.allocations() + eager.locks(), 0) << "calls are counted";
}

TEST(CpuCapture, InferenceOfOneSampleAllocatesNothing) {
  if (!CountedCalls::counts()) GTEST_SKIP() << "a sanitizer's allocator";
  const NumThreadsGuard one_thread(1);
  const NoGradGuard no_grad;
  nn::Sequential mlp(nn::Linear(64, 64), nn::ReLU(), nn::Linear(64, 64), nn::ReLU(),
                     nn::Linear(64, 8));
  nn::LSTMCell cell(64, 64);
  const Tensor x = rand({1, 64}), h = zeros({1, 64}), c = zeros({1, 64});
  Tensor y;
  DeviceGraph graph(kCPU);
  {
    GraphCapture capture(graph);
    y = mlp->forward(x);
    const auto next = cell->forward(x, std::tuple(h, c));
    h.copy_(std::get<0>(next));
    c.copy_(std::get<1>(next));
    capture.end();
  }
  graph.replay();
  const CountedCalls calls;
  for (int i = 0; i < 10; ++i) graph.replay();
  EXPECT_EQ(calls.allocations(), 0);
  EXPECT_EQ(calls.locks(), 0);
}

TEST(CpuCapture, TheNextTokenOfATextAllocatesNothing) {
  if (!CountedCalls::counts()) GTEST_SKIP() << "a sanitizer's allocator";
  const NumThreadsGuard one_thread(1);
  const WithoutOneDnn own_kernels;
  const NoGradGuard no_grad;
  models::GPT model(models::GPTOptions{
      .vocab_size = 31, .block_size = 40, .n_layer = 2, .n_head = 2, .n_embd = 32});
  model->eval();
  models::KeyValueCache cache = model->make_cache();
  const Tensor token = zeros({1, 1}, kLong), position = zeros({1}, kLong);
  for (int i = 0; i < 3; ++i) model(token, cache);
  const int64_t before = allocator::memory_stats(kCPU).allocated;
  for (int i = 0; i < 10; ++i) {
    model(token, cache);
    EXPECT_EQ(allocator::memory_stats(kCPU).allocated, before) << "token " << i;
  }
  DeviceGraph graph(kCPU);
  Tensor scores;
  {
    GraphCapture capture(graph);
    scores = model(token, cache, position);
    position.add_(1);
    capture.end();
  }
  graph.replay();
  const CountedCalls calls;
  for (int i = 0; i < 30; ++i) graph.replay();
  EXPECT_EQ(calls.allocations(), 0);
  EXPECT_EQ(calls.locks(), 0);
}

TEST(CpuCapture, AReplayMakesNoSystemCall) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers call the system themselves";
#endif
  const NumThreadsGuard one_thread(1);
  SmallStep s;
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // From here on anything but read, write, exit and sigreturn kills the process.
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) syscall(SYS_exit, 77);
    for (int i = 0; i < 100; ++i) s.graph.replay();
    syscall(SYS_exit, 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "no seccomp here";
  EXPECT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
}

}  // namespace
}  // namespace taeda
