#include "taeda/amp/grad_scaler.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "taeda/base/error.h"
#include "taeda/device/sim.h"
#include "taeda/nn/nn.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/optim/optim.h"

namespace taeda {
namespace {

using amp::GradScaler;
using testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

/// Tests run on the host and on a simulated device.
class Scaler : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    sim::configure(2);
    device_ = Device(GetParam());
    p_ = full({2}, 3, TensorOptions(kFloat).device(device_)).requires_grad_();
    q_ = full({3}, 5, TensorOptions(kFloat).device(device_)).requires_grad_();
    optimizer_.emplace(std::vector<Tensor>{p_, q_}, optim::SGDOptions(1));
  }
  Tensor loss() const { return p_.sum() + 2 * q_.sum(); }
  void backward(GradScaler& scaler) {
    optimizer_->zero_grad();
    scaler.scale(loss()).backward();
  }
  static double first(const Tensor& t) { return t.detach().cpu().reshape({-1})[0].item<double>(); }

  Device device_;
  Tensor p_, q_;
  std::optional<optim::SGD> optimizer_;
};

TEST_P(Scaler, ScalesLossesAndListsOfThem) {
  GradScaler scaler(device_, 8);
  EXPECT_EQ(scaler.scale(full({}, 2)).item<double>(), 16);
  const std::vector<Tensor> both = scaler.scale({full({}, 1), full({2}, 3)});
  EXPECT_EQ(both[0].item<double>(), 8);
  EXPECT_EQ(both[1][1].item<double>(), 24);
  // A half scalar times 65536 has no place in float16.
  GradScaler large(device_);
  const Tensor widened = large.scale(full({}, 2, TensorOptions(kHalf)));
  EXPECT_EQ(widened.dtype(), kFloat);
  EXPECT_EQ(widened.item<double>(), 131072);
}

TEST_P(Scaler, StepsWithUnscaledGradients) {
  GradScaler scaler(device_, 1024);
  backward(scaler);
  EXPECT_EQ(first(q_.grad()), 2048);
  const amp::StepResult result = scaler.step(*optimizer_);
  EXPECT_TRUE(result.stepped);
  EXPECT_FALSE(result.non_finite);
  EXPECT_EQ(first(q_.grad()), 2);
  EXPECT_EQ(first(p_), 2);
  EXPECT_EQ(first(q_), 3);
}

TEST_P(Scaler, UnscaledGradientsCanBeLookedAtBeforeTheStep) {
  GradScaler scaler(device_, 64);
  backward(scaler);
  scaler.unscale_(*optimizer_);
  EXPECT_EQ(first(q_.grad()), 2);
  nn::utils::clip_grad_value_(optimizer_->parameters(), 0.5);
  EXPECT_TRUE(scaler.step(*optimizer_));
  EXPECT_EQ(first(q_), 4.5);
}

TEST_P(Scaler, LeavesOutAStepThatOverflowedAndNamesTheParameter) {
  for (const double bad : {kInfinity, -kInfinity, std::nan("")}) {
    GradScaler scaler(device_, 1024);
    backward(scaler);
    q_.mutable_grad()[1].fill_(bad);
    const double p_before = first(p_), q_before = first(q_);
    const amp::StepResult result = scaler.step(*optimizer_, {{"weight", p_}, {"bias", q_}});
    EXPECT_FALSE(result);
    ASSERT_TRUE(result.non_finite);
    EXPECT_EQ(result.non_finite->group, 0u);
    EXPECT_EQ(result.non_finite->index, 1u);
    EXPECT_EQ(result.non_finite->str(), "bias");
    EXPECT_EQ((amp::NonFiniteGradient{2, 1, ""}).str(), "parameter 1 of group 2");
    EXPECT_EQ(first(p_), p_before);
    EXPECT_EQ(first(q_), q_before);
    scaler.update();
    EXPECT_EQ(scaler.get_scale(), 512);
    backward(scaler);
    EXPECT_TRUE(scaler.step(*optimizer_));
  }
}

TEST_P(Scaler, GrowsAfterAnIntervalOfGoodSteps) {
  GradScaler scaler(device_, 4, 3, 0.25, 2);
  const auto iterate = [&](bool good) {
    backward(scaler);
    if (!good) p_.mutable_grad().fill_(kInfinity);
    EXPECT_EQ(scaler.step(*optimizer_).stepped, good);
    scaler.update();
    return scaler.get_scale();
  };
  EXPECT_EQ(iterate(true), 4);
  EXPECT_EQ(iterate(true), 12);
  EXPECT_EQ(iterate(true), 12);
  EXPECT_EQ(iterate(false), 3);  // and the count begins anew
  EXPECT_EQ(iterate(true), 3);
  EXPECT_EQ(iterate(true), 9);
}

TEST_P(Scaler, DoesNotGrowOutOfFloat32) {
  GradScaler scaler(device_, 2e38, 2, 0.5, 1);
  scaler.scale(loss());
  p_.mutable_grad() = ones({2}, p_.options());
  scaler.step(*optimizer_);
  scaler.update();
  EXPECT_EQ(scaler.get_scale(), 2e38);
  scaler.update(16.0);
  EXPECT_EQ(scaler.get_scale(), 16);
}

TEST_P(Scaler, OneBadOptimizerOfTwoBacksOffButTheOtherSteps) {
  const Tensor r = full({2}, 7, TensorOptions(kFloat).device(device_.is_cpu() ? "cpu" : "sim:1"))
                       .requires_grad_();
  optim::SGD other({r}, optim::SGDOptions(1));
  GradScaler scaler(device_, 16);
  backward(scaler);
  scaler.scale(r.sum()).backward();
  p_.mutable_grad().fill_(kInfinity);
  EXPECT_FALSE(scaler.step(*optimizer_));
  EXPECT_TRUE(scaler.step(other));
  EXPECT_EQ(first(r), 6);
  scaler.update();
  EXPECT_EQ(scaler.get_scale(), 8);
}

TEST_P(Scaler, OneOptimizerMayHoldSeveralDevicesAndDtypes) {
  const Tensor elsewhere = full({2, 3}, 1, TensorOptions(kBFloat16)).requires_grad_();
  optim::SGD mixed({p_, elsewhere}, optim::SGDOptions(1));
  GradScaler scaler(device_, 16);
  scaler.scale(p_.sum()).backward();
  scaler.scale(elsewhere.t().sum().to(kFloat)).backward();
  EXPECT_TRUE(scaler.step(mixed));
  EXPECT_EQ(first(p_), 2);
  EXPECT_EQ(first(elsewhere), 0);
}

TEST_P(Scaler, GradientsWithGapsAreUnscaledToo) {
  GradScaler scaler(device_, 4);
  scaler.scale(loss());
  p_.mutable_grad() = full({2, 2}, 8, p_.options()).select(1, 0);
  EXPECT_TRUE(scaler.step(*optimizer_));
  EXPECT_EQ(first(p_), 1);
}

TEST_P(Scaler, ComplainsInPyTorchsWords) {
  GradScaler scaler(device_);
  EXPECT_THAT(error_of([&] { scaler.step(*optimizer_); }),
              HasSubstr("Attempted step but _scale is None.  This may indicate"));
  EXPECT_THAT(error_of([&] { scaler.update(); }), HasSubstr("Attempted update but _scale is None"));
  scaler.scale(loss());
  EXPECT_THAT(error_of([&] { scaler.step(*optimizer_); }),
              HasSubstr("No inf checks were recorded for this optimizer."));
  EXPECT_THAT(error_of([&] { scaler.update(); }),
              HasSubstr("No inf checks were recorded prior to update."));
  backward(scaler);
  scaler.unscale_(*optimizer_);
  EXPECT_THAT(error_of([&] { scaler.unscale_(*optimizer_); }),
              HasSubstr("unscale_() has already been called on this optimizer since the last "
                        "update()."));
  scaler.step(*optimizer_);
  EXPECT_THAT(error_of([&] { scaler.unscale_(*optimizer_); }),
              HasSubstr("unscale_() is being called after step()."));
  EXPECT_THAT(error_of([&] { scaler.step(*optimizer_); }),
              HasSubstr("step() has already been called since the last update()."));
  scaler.update();
  const Tensor half = ones({2}, TensorOptions(kHalf).device(device_)).requires_grad_();
  optim::SGD halves({half}, optim::SGDOptions(1));
  half.sum().backward();
  EXPECT_THAT(error_of([&] { scaler.unscale_(halves); }),
              HasSubstr("Attempting to unscale FP16 gradients."));
  EXPECT_THAT(error_of([] { GradScaler(kCPU, 1, 1); }), HasSubstr("growth factor must be > 1.0"));
  EXPECT_THAT(error_of([] { GradScaler(kCPU, 1, 2, 1); }),
              HasSubstr("backoff factor must be < 1.0"));
}

TEST_P(Scaler, StateGoesRound) {
  GradScaler scaler(device_, 4, 3, 0.25, 7);
  backward(scaler);
  scaler.step(*optimizer_);
  scaler.update();
  const OrderedDict<std::string, double> state = scaler.state_dict();
  EXPECT_EQ(state["_growth_tracker"], 1);
  GradScaler other(device_);
  other.load_state_dict(state);
  EXPECT_EQ(other.get_scale(), 4);
  EXPECT_EQ(other.get_growth_factor(), 3);
  EXPECT_EQ(other.get_backoff_factor(), 0.25);
  EXPECT_EQ(other.get_growth_interval(), 7);
  EXPECT_EQ(other.state_dict()["_growth_tracker"], 1);
  EXPECT_THAT(error_of([&] { other.load_state_dict(OrderedDict<std::string, double>()); }),
              HasSubstr("The source state dict is empty, possibly because it was saved from a "
                        "disabled instance of GradScaler."));
  OrderedDict<std::string, double> partial;
  partial.insert("scale", 1);
  EXPECT_THAT(error_of([&] { other.load_state_dict(partial); }), HasSubstr("lacks"));
}

TEST_P(Scaler, ADisabledOnePassesEverythingThrough) {
  GradScaler scaler(device_, 8, 2, 0.5, 1, false);
  backward(scaler);
  EXPECT_EQ(first(q_.grad()), 2);
  scaler.unscale_(*optimizer_);
  EXPECT_TRUE(scaler.step(*optimizer_));
  scaler.update();
  EXPECT_EQ(scaler.get_scale(), 1);
  EXPECT_FALSE(scaler.is_enabled());
  EXPECT_TRUE(scaler.state_dict().is_empty());
}

INSTANTIATE_TEST_SUITE_P(Devices, Scaler, testing::Values("cpu", "sim:0"));

}  // namespace
}  // namespace taeda
