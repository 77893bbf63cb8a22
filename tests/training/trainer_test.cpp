// Steps of a Trainer, compared with loops that are written out, and what is left of steps that
// fail.
#include "taeda/training/trainer.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "taeda/base/error.h"
#include "taeda/device/sim.h"
#include "taeda/nn/nn.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/nn/loss.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/optim/lr_cycles.h"
#include "taeda/optim/optim.h"
#include "tests/error_of.h"

namespace taeda {
namespace {

using testing::HasSubstr;
using training::Outcome;
using training::StepReport;
using training::Trainer;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A network with all that changes it. Two of the same kind are equal.
struct Setting {
  explicit Setting(Device d, double initial_scale = 1024)
      : device(d), scaler(d, initial_scale, 2, 0.5, 3) {
    manual_seed(7);
    net->push_back("first", nn::Linear(3, 5));
    net->push_back("act", nn::Tanh());
    net->push_back("last", nn::Linear(5, 2));
    net->to(device);
    optimizer.emplace(net->parameters(), optim::AdamOptions(0.05));
    schedule.emplace(*optimizer, optim::OneCycleLROptions{.max_lr = 0.1, .total_steps = 12});
  }
  Tensor loss(int i) {
    manual_seed(static_cast<uint64_t>(100 + i));
    const Tensor x = randn({4, 3}).to(device), y = randn({4, 2}).to(device);
    return mse_loss(net->forward(x), y) * 5.0;
  }
  Tensor weight(const char* name) { return net->named_parameters()[name]; }

  Device device;
  nn::Sequential net;
  std::optional<optim::Adam> optimizer;
  std::optional<optim::OneCycleLR> schedule;
  amp::GradScaler scaler;
};

/// All that a step may change, as numbers.
std::vector<double> all_of(Setting& s) {
  std::vector<double> out;
  const auto add = [&](const Tensor& t) {
    const Tensor host = t.detach().cpu().to(kDouble).contiguous();
    for (int64_t i = 0; i < host.numel(); ++i) out.push_back(host.data_ptr<double>()[i]);
  };
  for (const Tensor& p : s.net->parameters()) add(p);
  const optim::OptimizerState state = s.optimizer->state_dict();
  for (const auto& item : state.tensors) add(item.value());
  for (const auto& item : state.numbers) out.push_back(item.value());
  for (const auto& item : s.schedule->state_dict()) out.push_back(item.value());
  for (const auto& item : s.scaler.state_dict()) out.push_back(item.value());
  return out;
}

bool has_gradients(Setting& s) {
  for (const Tensor& p : s.net->parameters())
    if (p.grad().defined()) return true;
  return false;
}

class TrainerSteps : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { sim::configure(2); }
  Device device() const { return Device(GetParam()); }
};

TEST_P(TrainerSteps, DoWhatTheLoopDoesThatIsWrittenOut) {
  Setting a(device()), b(device());
  Trainer trainer(a.net, *a.optimizer,
                  {.scaler = &a.scaler, .schedule = &*a.schedule, .max_norm = 0.7});
  int clipped = 0;
  for (int i = 0; i < 8; ++i) {
    const double rate = b.schedule->get_last_lr()[0], scale = b.scaler.get_scale();
    const StepReport report = trainer.step(a.loss(i));

    b.optimizer->zero_grad();
    const Tensor loss = b.loss(i);
    b.scaler.scale(loss).backward();
    b.scaler.unscale_(*b.optimizer);
    const double norm = nn::utils::clip_grad_norm_(b.net->parameters(), 0.7);
    EXPECT_TRUE(b.scaler.step(*b.optimizer));
    b.scaler.update();
    b.schedule->step();

    EXPECT_TRUE(report);
    EXPECT_EQ(report.outcome, Outcome::Stepped);
    EXPECT_EQ(report.step, i + 1);
    EXPECT_EQ(report.losses, 1);
    EXPECT_EQ(report.lr, rate);
    EXPECT_EQ(report.scale, scale);
    EXPECT_EQ(report.grad_norm, norm);
    EXPECT_EQ(report.clipped, norm > 0.7);
    EXPECT_EQ(report.loss, loss.item<double>());
    EXPECT_FALSE(report.non_finite);
    EXPECT_FALSE(has_gradients(a));
    clipped += report.clipped;
    ASSERT_EQ(all_of(a), all_of(b)) << "step " << i;
  }
  EXPECT_GT(clipped, 0);
  EXPECT_EQ(b.scaler.get_scale(), 4096);  // it grew twice, in both
}

TEST_P(TrainerSteps, NeedNeitherScalerNorSchedule) {
  Setting a(device()), b(device());
  Trainer trainer(a.net, *a.optimizer);
  for (int i = 0; i < 3; ++i) {
    const StepReport report = trainer.step(a.loss(i));
    b.optimizer->zero_grad();
    b.loss(i).backward();
    b.optimizer->step();
    EXPECT_EQ(report.scale, 1);
    EXPECT_FALSE(report.clipped);
    ASSERT_EQ(all_of(a), all_of(b));
  }
  amp::GradScaler off(device(), 1024, 2, 0.5, 2000, /*enabled=*/false);
  EXPECT_EQ(Trainer(a.net, *a.optimizer, {.scaler = &off}).step(a.loss(9)).scale, 1);
}

TEST_P(TrainerSteps, AreForTheMeanOfSeveralLosses) {
  Setting a(device()), b(device());
  Trainer trainer(a.net, *a.optimizer,
                  {.scaler = &a.scaler, .schedule = &*a.schedule, .accumulate = 3});
  for (int i = 0; i < 6; ++i) {
    const std::vector<double> before = all_of(a);
    const StepReport report = trainer.step(a.loss(i));
    EXPECT_EQ(report.losses, i % 3 + 1);
    EXPECT_EQ(report.outcome, i % 3 == 2 ? Outcome::Stepped : Outcome::Gathered);
    EXPECT_EQ(report.step, (i + 1) / 3);
    if (i % 3 != 2) {
      EXPECT_EQ(all_of(a), before);
      EXPECT_TRUE(std::isnan(report.loss) && std::isnan(report.grad_norm));
      continue;
    }
    EXPECT_NEAR(
        report.loss,
        (b.loss(i - 2).item<double>() + b.loss(i - 1).item<double>() + b.loss(i).item<double>()) /
            3,
        1e-6);
    for (int k = i - 2; k <= i; ++k) b.scaler.scale(b.loss(k).div(3.0)).backward();
    b.scaler.step(*b.optimizer);
    b.scaler.update();
    b.schedule->step();
    b.optimizer->zero_grad();
    ASSERT_EQ(all_of(a), all_of(b));
  }
}

TEST_P(TrainerSteps, EndAnEpochWithTheLossesThatThereAre) {
  Setting a(device()), b(device());
  Trainer trainer(a.net, *a.optimizer, {.max_norm = 100, .accumulate = 4});
  Trainer pairs(b.net, *b.optimizer, {.max_norm = 100, .accumulate = 2});
  EXPECT_EQ(trainer.finish().losses, 0);
  EXPECT_EQ(trainer.finish().outcome, Outcome::Gathered);
  trainer.step(a.loss(0));
  trainer.step(a.loss(1));
  const StepReport rest = trainer.finish();
  pairs.step(b.loss(0));
  const StepReport pair = pairs.step(b.loss(1));
  EXPECT_EQ(rest.outcome, Outcome::Stepped);
  EXPECT_EQ(rest.losses, 2);
  EXPECT_NEAR(rest.grad_norm, pair.grad_norm, 1e-5 * pair.grad_norm);
  EXPECT_EQ(rest.loss, pair.loss);
  EXPECT_TRUE(allclose(a.weight("last.weight").cpu(), b.weight("last.weight").cpu(), 1e-4, 1e-6));
  EXPECT_EQ(trainer.finish().losses, 0);
}

/// What becomes of the gradient of one element of a parameter.
unsigned spoil(Setting& s, const char* name, double value) {
  return s.weight(name).register_hook([value](const Tensor& g) {
    const Tensor changed = g.clone();
    changed.view({-1})[0].fill_(value);
    return changed;
  });
}

TEST_P(TrainerSteps, AreSkippedForAGradientThatIsNotFinite) {
  for (const double value : {std::nan(""), kInfinity, -kInfinity})
    for (const bool scaled : {true, false}) {
      Setting s(device());
      Trainer trainer(
          s.net, *s.optimizer,
          {.scaler = scaled ? &s.scaler : nullptr, .schedule = &*s.schedule, .max_norm = 0.5});
      EXPECT_TRUE(trainer.step(s.loss(0)));
      const std::vector<double> before = all_of(s);
      const double scale = s.scaler.get_scale();
      const unsigned hook = spoil(s, "last.weight", value);
      const StepReport report = trainer.step(s.loss(1));
      s.weight("last.weight").remove_hook(hook);
      EXPECT_FALSE(report);
      EXPECT_EQ(report.outcome, Outcome::Skipped);
      EXPECT_EQ(report.step, 1);
      ASSERT_TRUE(report.non_finite);
      EXPECT_EQ(report.non_finite->str(), "last.weight");
      EXPECT_EQ(report.non_finite->index, 2u);
      EXPECT_FALSE(std::isfinite(report.grad_norm));
      EXPECT_FALSE(report.clipped);
      EXPECT_FALSE(has_gradients(s));
      EXPECT_EQ(s.scaler.get_scale(), scaled ? scale / 2 : scale);
      if (scaled) {
        EXPECT_EQ(report.scale, scale);  // that of this loss, not of the next
      } else {
        EXPECT_EQ(all_of(s), before);
      }
      EXPECT_THAT(report.str(), HasSubstr("skipped after step 1: loss "));
      EXPECT_THAT(report.str(), HasSubstr("(not finite: last.weight), lr 0.03"));
      EXPECT_TRUE(trainer.step(s.loss(2)));
    }
}

TEST_P(TrainerSteps, AreSkippedAsAWholeForOneOfSeveralLosses) {
  Setting s(device());
  Trainer trainer(s.net, *s.optimizer, {.schedule = &*s.schedule, .accumulate = 2});
  const std::vector<double> before = all_of(s);
  const unsigned hook = spoil(s, "first.bias", kInfinity);
  trainer.step(s.loss(0));
  s.weight("first.bias").remove_hook(hook);
  const StepReport report = trainer.step(s.loss(1));
  EXPECT_EQ(report.outcome, Outcome::Skipped);
  EXPECT_EQ(report.non_finite->str(), "first.bias");
  EXPECT_EQ(all_of(s), before);
}

/// The trainer goes on with the next loss as one does that saw nothing but that.
void expect_to_go_on(Setting& s, Trainer& trainer, const std::vector<double>& before,
                     Setting& other) {
  EXPECT_EQ(all_of(s), before);
  EXPECT_FALSE(has_gradients(s));
  ASSERT_EQ(all_of(other), before);
  Trainer fresh(other.net, *other.optimizer, {.scaler = &other.scaler, .max_norm = 1});
  EXPECT_TRUE(trainer.step(s.loss(5)));
  EXPECT_TRUE(fresh.step(other.loss(5)));
  for (size_t i = 0; i < s.net->parameters().size(); ++i)
    EXPECT_TRUE(equal(s.net->parameters()[i], other.net->parameters()[i]));
}

TEST_P(TrainerSteps, ThatFailInBackwardLeaveNothing) {
  Setting s(device()), other(device());
  Trainer trainer(s.net, *s.optimizer, {.scaler = &s.scaler, .max_norm = 1});
  const std::vector<double> before = all_of(s);
  const unsigned hook = s.weight("first.weight").register_hook([](const Tensor&) -> Tensor {
    throw ValueError("no gradient today");
  });
  EXPECT_THAT(error_of([&] { trainer.step(s.loss(0)); }), HasSubstr("no gradient today"));
  s.weight("first.weight").remove_hook(hook);
  expect_to_go_on(s, trainer, before, other);
}

/// An optimizer that fails when it is told to.
struct FailingAdam : optim::Adam {
  using Adam::Adam;
  Tensor step(LossClosure closure = nullptr) override {
    TAEDA_CHECK(!fails, "no step today");
    return Adam::step(std::move(closure));
  }
  bool fails = false;
};

TEST_P(TrainerSteps, ThatFailInTheOptimizerLeaveNothing) {
  Setting s(device());
  FailingAdam optimizer(s.net->parameters(), optim::AdamOptions(0.05));
  optim::OneCycleLR schedule(optimizer, {.max_lr = 0.1, .total_steps = 12});
  Trainer trainer(s.net, optimizer, {.scaler = &s.scaler, .schedule = &schedule});
  EXPECT_TRUE(trainer.step(s.loss(0)));
  const std::vector<double> weights = all_of(s);
  const auto rates = schedule.get_last_lr();
  const auto numbers = optimizer.state_dict().numbers, at = schedule.state_dict();
  optimizer.fails = true;
  EXPECT_THAT(error_of([&] { trainer.step(s.loss(1)); }), HasSubstr("no step today"));
  optimizer.fails = false;
  EXPECT_EQ(all_of(s), weights);  // with the scaler's numbers
  EXPECT_EQ(schedule.get_last_lr(), rates);
  for (const auto& [key, value] : numbers)
    EXPECT_EQ(optimizer.state_dict().numbers[key], value) << key;
  for (const auto& [key, value] : at) EXPECT_EQ(schedule.state_dict()[key], value) << key;
  EXPECT_EQ(trainer.steps(), 1);
  EXPECT_EQ(trainer.step(s.loss(2)).step, 2);
}

TEST_P(TrainerSteps, ThatFailInTheScheduleLeaveNothing) {
  Setting s(device());
  Trainer trainer(s.net, *s.optimizer, {.scaler = &s.scaler, .schedule = &*s.schedule});
  for (int i = 0; i < 12; ++i) EXPECT_TRUE(trainer.step(s.loss(i)));
  const std::vector<double> before = all_of(s);
  EXPECT_THAT(error_of([&] { trainer.step(s.loss(12)); }), HasSubstr("total steps is 12"));
  EXPECT_EQ(all_of(s), before);
  EXPECT_FALSE(has_gradients(s));
}

TEST_P(TrainerSteps, WithoutAGradientAreErrors) {
  Setting s(device());
  Trainer trainer(s.net, *s.optimizer);
  const Tensor other = full({}, 1, TensorOptions(kFloat).device(device())).requires_grad_();
  EXPECT_THAT(error_of([&] { trainer.step(other * 2); }),
              HasSubstr("no parameter of the optimizer got a gradient"));
  EXPECT_THAT(error_of([&] { trainer.step(s.loss(0).detach()); }),
              HasSubstr("does not require grad"));
}

INSTANTIATE_TEST_SUITE_P(On, TrainerSteps, testing::Values("cpu", "sim:0"),
                         [](const auto& info) { return std::string(info.param).substr(0, 3); });

TEST(TrainerReport, SaysItInALine) {
  std::ostringstream out;
  StepReport report;
  report.step = 3;
  report.losses = 1;
  report.lr = 0.5;
  out << report;
  EXPECT_EQ(out.str(), "after step 3: 1 loss gathered, lr 0.5, scale 1");
  report.outcome = Outcome::Stepped;
  report.loss = 0.25;
  report.grad_norm = 2;
  report.clipped = true;
  report.scale = 64;
  EXPECT_EQ(report.str(), "step 3: loss 0.25, gradient norm 2 (clipped), lr 0.5, scale 64");
}

TEST(TrainerReport, NamesAParameterThatIsNotInTheModelByItsPlace) {
  nn::Linear net(2, 2), other(2, 1);
  optim::SGD optimizer(other->parameters(), 0.1);
  Trainer trainer(net, optimizer);
  const StepReport report = trainer.step(other(full({1, 2}, kInfinity)).sum());
  EXPECT_EQ(report.non_finite->str(), "parameter 0 of group 0");
}

TEST(TrainerOptionsOf, AreChecked) {
  nn::Linear net(2, 2), other(2, 2);
  optim::SGD optimizer(net->parameters(), 0.1), another(other->parameters(), 0.1);
  optim::ExponentialLR schedule(another, 0.9);
  EXPECT_THROW(Trainer(net, optimizer, {.max_norm = 0}), ValueError);
  EXPECT_THROW(Trainer(net, optimizer, {.max_norm = std::nan("")}), ValueError);
  EXPECT_THROW(Trainer(net, optimizer, {.accumulate = 0}), ValueError);
  EXPECT_THROW(Trainer(net, optimizer, {.schedule = &schedule}), ValueError);
}

}  // namespace
}  // namespace taeda
