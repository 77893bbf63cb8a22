// Code that runs for another thread, and models that are trained in threads of their own.
#include <gtest/gtest.h>

#include <set>

#include "taeda/amp/autocast.h"
#include "taeda/base/parallel_for.h"
#include "taeda/data/loader.h"
#include "taeda/nn/containers/sequential.h"
#include "taeda/nn/modules/activation.h"
#include "taeda/nn/modules/linear.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/optim/sgd.h"
#include "taeda/tensor/thread_state.h"
#include "tests/threads/together.h"

namespace taeda {
namespace {

/// An example says in which modes it was made: recording, inference, autocast, threads.
struct Modes : data::datasets::Dataset<Modes, Tensor> {
  Tensor get(size_t) override {
    const Tensor product = ones({2, 2}).matmul(ones({2, 2}));
    return tensor({static_cast<double>(GradMode::is_enabled()),
                   static_cast<double>(product.is_inference()),
                   static_cast<double>(product.dtype() == kBFloat16),
                   static_cast<double>(get_num_threads())});
  }
  std::optional<size_t> size() const override { return 64; }
};

std::set<std::vector<double>> modes_of_batches(int workers) {
  std::set<std::vector<double>> out;
  data::DataLoader loader(Modes(), {.batch_size = 1, .num_workers = workers});
  const InferenceMode inference;
  const amp::autocast lower(Device(kCPU), kBFloat16);
  for (const Tensor& batch : loader) {
    const Tensor row = batch.to(kDouble).reshape({-1});
    out.insert({row.data_ptr<double>(), row.data_ptr<double>() + row.numel()});
  }
  return out;
}

TEST(LoaderModes, DoNotDependOnWhoMakesTheBatch) {
  // The consumer does nothing in between, so it makes some batches itself.
  EXPECT_EQ(modes_of_batches(1), (std::set<std::vector<double>>{{1, 0, 0, 1}}));
}

TEST(LoaderModes, AreTheConsumersWithoutWorkers) {
  EXPECT_EQ(modes_of_batches(0),
            (std::set<std::vector<double>>{{0, 1, 1, static_cast<double>(get_num_threads())}}));
}

TEST(ThreadState, IsPutBack) {
  const ThreadState before = ThreadState::here();
  {
    const ThreadState::Scope scope(
        {.grad = false, .inference = true, .recomputing = true, .num_threads = 1});
    EXPECT_FALSE(GradMode::is_enabled());
    EXPECT_TRUE(InferenceMode::is_enabled());
    EXPECT_TRUE(RecomputeMode::is_enabled());
    EXPECT_EQ(get_num_threads(), 1);
  }
  const ThreadState after = ThreadState::here();
  EXPECT_EQ(after.grad, before.grad);
  EXPECT_EQ(after.inference, before.inference);
  EXPECT_EQ(after.recomputing, before.recomputing);
  EXPECT_EQ(after.num_threads, before.num_threads);
}

/// Losses of a small network.
std::vector<double> train() {
  Generator random(kCPU, 7);
  nn::Sequential net(nn::Linear(8, 16), nn::ReLU(), nn::Linear(16, 4));
  {
    const NoGradGuard guard;
    for (const Tensor& p : net->parameters()) p.uniform_(-0.5, 0.5, &random);
  }
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.05).momentum(0.9));
  const Tensor x = randn({32, 8}, {}, &random), y = randn({32, 4}, {}, &random);
  std::vector<double> losses;
  for (int step = 0; step < 20; ++step) {
    optimizer.zero_grad();
    const Tensor loss = (net(x) - y).pow(2).mean();
    loss.backward();
    optimizer.step();
    losses.push_back(loss.item<double>());
  }
  return losses;
}

TEST(ParallelTraining, ModelsOfTheirOwnDoNotDisturbEachOther) {
  const std::vector<double> alone = train();
  std::vector<std::vector<double>> losses(4);
  together(4, [&](int thread) { losses[static_cast<size_t>(thread)] = train(); });
  for (const auto& l : losses) EXPECT_EQ(l, alone);
}

TEST(ParallelTraining, OneModelMayBeEvaluatedByAll) {
  nn::Sequential net(nn::Linear(8, 16), nn::ReLU(), nn::Linear(16, 4));
  const Tensor x = ones({4, 8}), expected = net(x).detach();
  std::atomic<int> wrong{0};
  together(4, [&](int thread) {
    const AutoGradMode mode(thread % 2 == 0);
    for (int i = 0; i < 50; ++i) wrong += !net(x).eq(expected).all().item<bool>();
  });
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace taeda
