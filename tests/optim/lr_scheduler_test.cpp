// Learning rate schedules: resuming, and errors.
#include "taeda/optim/lr_scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "taeda/ops/create/create.h"
#include "taeda/optim/sgd.h"

namespace taeda::optim {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<OptimizerParamGroup> two_groups(std::unique_ptr<OptimizerOptions> second) {
  std::vector<OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<Tensor>{zeros({1}, requires_grad())});
  groups.emplace_back(std::vector<Tensor>{zeros({1}, requires_grad())}, std::move(second));
  return groups;
}

std::unique_ptr<Optimizer> sgd() {
  return std::make_unique<SGD>(
      two_groups(std::make_unique<SGDOptions>(SGDOptions(0.02).momentum(0.9))),
      SGDOptions(0.1).momentum(0.9));
}

TEST(LrScheduler, ResumesFromItsState) {
  const auto make = [](Optimizer& o) {
    return std::make_unique<SequentialLR>(
        o,
        std::vector<std::shared_ptr<LRScheduler>>{std::make_shared<LinearLR>(o, 0.1, 1.0, 4),
                                                  std::make_shared<CosineAnnealingLR>(o, 10)},
        std::vector<int64_t>{5});
  };
  const auto straight = sgd();
  auto schedule = make(*straight);
  std::vector<double> expected;
  SchedulerState saved;
  OptimizerState saved_optimizer;
  for (int i = 0; i < 16; ++i) {
    if (i == 7) saved = schedule->state_dict(), saved_optimizer = straight->state_dict();
    schedule->step();
    if (i >= 7) expected.push_back(straight->param_groups()[0].get_lr());
  }
  const auto resumed = sgd();
  auto again = make(*resumed);
  resumed->load_state_dict(saved_optimizer);
  again->load_state_dict(saved);
  std::vector<double> got;
  for (int i = 7; i < 16; ++i) {
    again->step();
    got.push_back(again->get_last_lr()[0]);
  }
  EXPECT_EQ(got, expected);
}

TEST(LrScheduler, PlateauResumesFromItsState) {
  const auto first = sgd(), second = sgd();
  const auto options = ReduceLROnPlateauOptions{.patience = 1};
  ReduceLROnPlateau a(*first, options), b(*second, options);
  a.step(1.0);
  a.step(2.0);
  b.load_state_dict(a.state_dict());
  a.step(2.0);
  b.step(2.0);
  EXPECT_EQ(a.get_last_lr(), b.get_last_lr());
  EXPECT_DOUBLE_EQ(b.get_last_lr()[0], 0.01);
}

TEST(LrScheduler, RejectsBadNumbers) {
  const auto o = sgd(), other = sgd();
  const auto says = [](const char* text) { return ThrowsMessage<ValueError>(HasSubstr(text)); };
  EXPECT_THAT([&] { StepLR(*o, 0); }, says("Expected positive integer step_size, but got 0"));
  EXPECT_THAT([&] { CosineAnnealingLR(*o, 0); }, says("Expected positive integer T_max"));
  EXPECT_THAT([&] { LinearLR(*o, 0.0); },
              says("Starting multiplicative factor expected to be greater than 0"));
  EXPECT_THAT([&] { LinearLR(*o, 0.5, 2.0); },
              says("Ending multiplicative factor expected to be between 0 and 1"));
  EXPECT_THAT([&] { LambdaLR(*o, std::vector<LambdaLR::Function>(3)); },
              says("Expected 2 lr_lambdas, but got 3"));
  EXPECT_THAT([&] { OneCycleLR(*o, {.max_lr = 0.1}); },
              says("You must define either total_steps OR"));
  EXPECT_THAT([&] { OneCycleLR(*o, 0.1, -5); },
              says("Expected positive integer total_steps, but got -5"));
  EXPECT_THAT([&] { OneCycleLR(*o, {.max_lr = 0.1, .steps_per_epoch = 5}); },
              says("Expected positive integer epochs"));
  EXPECT_THAT([&] { OneCycleLR(*o, {.max_lr = 0.1, .epochs = 5}); },
              says("Expected positive integer steps_per_epoch"));
  EXPECT_THAT([&] { OneCycleLR(*o, {.max_lr = 0.1, .total_steps = 5, .pct_start = 2}); },
              says("pct_start, but got 2"));
  EXPECT_THAT([&] { OneCycleLR(*o, {.max_lr = std::vector<double>(3), .total_steps = 5}); },
              says("expected 2 values for max_lr, got 3"));
  EXPECT_THAT([&] { ReduceLROnPlateau(*o, {.factor = 1}); },
              says("Factor should be < 1.0, but got 1"));
  EXPECT_THAT(
      [&] {
        ReduceLROnPlateau(*o, {.min_lr = {1, 2, 3}});
      },
      says("expected 2 values for min_lr, got 3"));
  const auto a = std::make_shared<ExponentialLR>(*o, 0.9),
             b = std::make_shared<ExponentialLR>(*other, 0.9);
  EXPECT_THAT(
      [&] {
        SequentialLR(*o, {a, b}, {2});
      },
      says("got schedulers at index 1 to be different"));
  EXPECT_THAT([&] { SequentialLR(*o, {a}, {2}); },
              says("one more than the number of milestone points"));
  EXPECT_THAT(
      [&] {
        ChainedScheduler({a, b});
      },
      says("got schedulers at index 0 and 1 to be different"));
  EXPECT_THAT([&] { ChainedScheduler({}); }, says("at least one scheduler"));
}

TEST(LrScheduler, OneCycleEndsAfterItsLastStep) {
  const auto o = sgd();
  OneCycleLR schedule(*o, 0.1, 3);
  for (int i = 0; i < 3; ++i) schedule.step();
  EXPECT_THAT([&] { schedule.step(); },
              ThrowsMessage<ValueError>(
                  HasSubstr("Tried to step 5 times. The specified number of total steps is 3")));
}

TEST(LrScheduler, AStateThatLacksANumberChangesNothing) {
  const auto o = sgd();
  const auto a = std::make_shared<StepLR>(*o, 2), b = std::make_shared<StepLR>(*o, 3);
  ChainedScheduler chain({a, b});
  auto state = chain.state_dict();
  const double first = o->param_groups()[0].initial_lr();
  for (int i = 0; i < 4; ++i) chain.step();
  const auto before = chain.state_dict();
  state["initial_lr.0"] = 7;
  state["0.last_epoch"] = 9;
  state.erase("1.last_epoch");
  EXPECT_THROW(chain.load_state_dict(state), Error);
  EXPECT_EQ(o->param_groups()[0].initial_lr(), first);
  for (const auto& item : before) EXPECT_EQ(chain.state_dict()[item.key()], item.value());
}

TEST(LrScheduler, AnEpochWithoutARateDoesNotBegin) {
  const auto o = sgd();
  LambdaLR schedule(*o, [](int64_t epoch) { return epoch == 2 ? std::nan("") : 0.5; });
  schedule.step();
  const std::vector<double> rates = schedule.get_last_lr();
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT([&] { schedule.step(); }, ThrowsMessage<ValueError>(HasSubstr("in epoch 2")));
    EXPECT_EQ(schedule.last_epoch(), 1);
    EXPECT_EQ(schedule.get_last_lr(), rates);
  }
}

}  // namespace
}  // namespace taeda::optim
