// The learning-rate finder: what it suggests, and that nothing of it stays.
#include "taeda/training/rate_finder.h"

#include <gmock/gmock.h>

#include <cmath>

#include "taeda/base/error.h"
#include "taeda/nn/nn.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/nn/loss.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/optim/optim.h"

namespace taeda {
namespace {

using training::find_rate;
using training::RateTrial;

/// (w - 3)^2 of a single weight: SGD diverges at rates above 1.
struct Bowl : nn::Module {
  Tensor w = register_parameter("w", zeros({1}));
  Tensor counts = register_buffer("counts", zeros({1}));
  Tensor loss() {
    counts.add_(1);
    return (w - 3).square().sum();
  }
};

TEST(RateFinder, SuggestsARateThatLearnsAndDoesNotDiverge) {
  Bowl bowl;
  optim::SGD optimizer(bowl.parameters(), 0.123);
  const RateTrial trial = find_rate(bowl, optimizer, [&] { return bowl.loss(); });
  ASSERT_TRUE(trial.suggestion);
  EXPECT_GT(*trial.suggestion, 1e-3);
  EXPECT_LT(*trial.suggestion, 1);
  EXPECT_EQ(trial.rates.size(), trial.losses.size());
  EXPECT_EQ(trial.rates[0], 1e-7);
  EXPECT_NEAR(trial.losses[0], 9, 1e-4);
  for (size_t i = 1; i < trial.rates.size(); ++i)
    EXPECT_NEAR(trial.rates[i] / trial.rates[i - 1], std::pow(1e8, 1. / 199), 1e-9);
}

TEST(RateFinder, LeavesModelAndOptimizerAsTheyWere) {
  Bowl bowl, other;
  optim::SGD optimizer(bowl.parameters(), optim::SGDOptions(0.01).momentum(0.9)),
      untouched(other.parameters(), optim::SGDOptions(0.01).momentum(0.9));
  const auto step = [](Bowl& b, optim::Optimizer& o) {
    o.zero_grad();
    b.loss().backward();
    o.step();
    return b.w.item<float>();
  };
  find_rate(bowl, optimizer, [&] { return bowl.loss(); });  // there was no state
  EXPECT_EQ(bowl.w.item<float>(), 0);
  EXPECT_EQ(bowl.counts.item<float>(), 0);
  EXPECT_EQ(optimizer.param_groups()[0].get_lr(), 0.01);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(step(bowl, optimizer), step(other, untouched));
  int calls = 0;  // there is some, and the trial fails
  const auto fails = [&] {
    if (++calls == 5) throw Error("no more batches");
    return bowl.loss();
  };
  EXPECT_THROW(find_rate(bowl, optimizer, fails), Error);
  EXPECT_FALSE(bowl.w.grad().defined());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(step(bowl, optimizer), step(other, untouched));
}

TEST(RateFinder, EndsWhereItIsTold) {
  Bowl bowl;
  optim::SGD optimizer(bowl.parameters(), 0.1);
  int calls = 0;
  const RateTrial none =
      find_rate(bowl, optimizer, [&] { return ++calls > 2 ? Tensor() : bowl.loss(); });
  EXPECT_EQ(none.rates.size(), 2u);
  EXPECT_FALSE(none.suggestion);
  const RateTrial flat = find_rate(bowl, optimizer, [&] { return bowl.w.sum() * 0.0 + 1.0; });
  EXPECT_EQ(flat.rates.size(), 200u);
  EXPECT_FALSE(flat.suggestion);
}

TEST(RateFinder, OptionsThatMakeNoSenseAreNamed) {
  Bowl bowl;
  optim::SGD optimizer(bowl.parameters(), 0.1);
  const auto message = [&](const training::RateFinderOptions& o) -> std::string {
    try {
      find_rate(
          bowl, optimizer, [&] { return bowl.loss(); }, o);
    } catch (const ValueError& e) {
      return e.message();
    }
    return "";
  };
  EXPECT_EQ(message({.lowest = 1, .highest = 0.1}),
            "find_rate: expected 0 < lowest < highest, but got 1 and 0.1");
  EXPECT_EQ(message({.steps = 2}), "find_rate: expected at least 3 steps, but got 2");
  EXPECT_EQ(message({.smoothing = 1}),
            "find_rate: expected smoothing from 0 to less than 1, but got 1");
  EXPECT_EQ(message({.diverged = 1}), "find_rate: expected diverged above 1, but got 1");
}

}  // namespace
}  // namespace taeda
