// Drawn numbers as new tensors, counts and slopes: PyTorch's for a seed, and errors.
#include "taeda/ops/random/random_forms.h"

#include <gtest/gtest.h>

#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/activation.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/nn/dropout.h"
#include "taeda/ops/out_forms.h"
#include "taeda/ops/random/random.h"
#include "tests/error_of.h"
#include "tests/ops/golden_operations.h"

namespace taeda {
namespace {

using testing::expect_golden;

Tensor like_rates() {
  return tensor({0.0, 0.5, 3.0, 9.5, 15.0, 120.0, 1e4}).to(kFloat).repeat({4});
}

TEST(RandomForms, CountsArePyTorchs) {
  manual_seed(3);
  expect_golden("poisson", {poisson(like_rates())});
  const Tensor count = tensor({0.0, 5.0, 20.0, 100.0, 1000.0, 40.0}).to(kFloat).repeat({4}),
               prob = tensor({0.5, 0.25, 0.1, 0.75, 0.375, 1.0}).to(kFloat).repeat({4});
  manual_seed(3);
  expect_golden("binomial", {binomial(count, prob)});
}

TEST(RandomForms, CountsBroadcastAndHaveNoSlope) {
  manual_seed(1);
  const Tensor rate = full({3}, 4.0).requires_grad_();
  poisson(rate).sum().backward();
  EXPECT_TRUE(rate.grad().equal(zeros({3})));
  const Tensor prob = tensor({0.5f}).requires_grad_();
  const Tensor drawn = binomial(full({2, 1}, 6.0), prob.expand({3}));
  EXPECT_EQ(drawn.sizes(), IntArrayRef({2, 3}));
  drawn.sum().backward();
  EXPECT_TRUE(prob.grad().equal(zeros({1})));
  Tensor out = empty({0});
  manual_seed(2);
  const Tensor expected = poisson(like_rates());
  manual_seed(2);
  EXPECT_TRUE(poisson_out(out, like_rates()).equal(expected));
}

TEST(RandomForms, CountsRefuseWhatIsNone) {
  EXPECT_EQ(error_of([] {
              poisson(tensor({1.f, -2.f}));
            }),
            "invalid Poisson rate, expected rate to be non-negative, but got -2");
  EXPECT_NE(error_of([] {
              poisson(tensor({1, 2}));
            }).find("not implemented for 'Long'"),
            std::string::npos);
  EXPECT_EQ(error_of([] {
              binomial(tensor({1, 2}), tensor({.5f, .5f}));
            }),
            "binomial only supports floating-point dtypes for count, got: Long");
  EXPECT_EQ(error_of([] { binomial(ones({2}), ones({2}, kDouble)); }),
            "Found dtype Double but expected Float");
  EXPECT_NE(error_of([] { binomial(ones({1}), full({1}, 1.5)); }).find("1.5"), std::string::npos);
}

/// The function gives what the method fills a tensor with.
void expect_filled(const std::function<Tensor(const Tensor&)>& make,
                   const std::function<void(const Tensor&)>& fill) {
  const Tensor like = zeros({3, 5}, kDouble).requires_grad_();
  manual_seed(9);
  const Tensor made = make(like);
  manual_seed(9);
  const Tensor filled = zeros({3, 5}, kDouble);
  fill(filled);
  EXPECT_TRUE(made.equal(filled));
  EXPECT_FALSE(made.requires_grad());
  EXPECT_TRUE(like.detach().equal(zeros({3, 5}, kDouble)));
}

TEST(RandomForms, FunctionsDrawWhatMethodsFill) {
  expect_filled([](const Tensor& t) { return uniform(t, 2, 3); },
                [](const Tensor& t) { t.uniform_(2, 3); });
  expect_filled([](const Tensor& t) { return normal_functional(t, 1, 2); },
                [](const Tensor& t) { t.normal_(1, 2); });
  expect_filled([](const Tensor& t) { return exponential(t, 2); },
                [](const Tensor& t) { t.exponential_(2); });
  expect_filled([](const Tensor& t) { return cauchy(t, 1, 2); },
                [](const Tensor& t) { t.cauchy_(1, 2); });
  expect_filled([](const Tensor& t) { return geometric(t, 0.25); },
                [](const Tensor& t) { t.geometric_(0.25); });
  expect_filled([](const Tensor& t) { return log_normal(t); },
                [](const Tensor& t) { t.log_normal_(); });
  expect_filled([](const Tensor& t) { return random(t); }, [](const Tensor& t) { t.random_(); });
  expect_filled([](const Tensor& t) { return random(t, 7); },
                [](const Tensor& t) { t.random_(7); });
  expect_filled([](const Tensor& t) { return random(t, -3, OptionalDim(7)); },
                [](const Tensor& t) { t.random_(-3, 7); });
  expect_filled([](const Tensor& t) { return bernoulli(t, full({5}, 0.5)); },
                [](const Tensor& t) { t.bernoulli_(full({5}, 0.5)); });
}

TEST(RandomForms, FunctionsSayWhatMethodsSay) {
  EXPECT_EQ(error_of([] { normal_functional(ones({1}), 0, -1); }),
            "normal expects std >= 0.0, but found std -1");
  EXPECT_EQ(error_of([] { exponential(ones({1}), 0); }),
            "exponential_ expects lambda > 0.0, but found lambda=0");
}

const Tensor& sloped() {
  static const Tensor x = tensor({-1.0, 2.0, -3.0, 0.0, -5.0, 0.5, -0.25, -2.0}).to(kFloat);
  return x;
}

TEST(RandomForms, SlopesArePyTorchs) {
  const Tensor noise = zeros({8});
  manual_seed(3);
  const Tensor out = rrelu_with_noise(sloped(), noise, 0.125, 0.5, true);
  expect_golden("slopes", {out, noise});
  const Tensor x = sloped().clone();
  manual_seed(3);
  rrelu_with_noise_(x, zeros({8}), 0.125, 0.5, true);
  EXPECT_TRUE(x.equal(out));
  manual_seed(3);
  EXPECT_TRUE(rrelu(sloped(), 0.125, 0.5, true).equal(out));
  const Tensor y = sloped().clone();
  manual_seed(3);
  rrelu_(y, 0.125, 0.5, true);
  EXPECT_TRUE(y.equal(out));
}

TEST(RandomForms, SlopesAreTheGradient) {
  const Tensor x = sloped().clone().requires_grad_(), noise = zeros({8});
  rrelu_with_noise(x, noise, 0.125, 0.5, true).sum().backward();
  EXPECT_TRUE(x.grad().equal(noise));
  EXPECT_TRUE(rrelu(sloped(), 0.25, 0.75).equal(leaky_relu(sloped(), 0.5)));
  for (const bool training : {false, true}) {  // PyTorch refuses the negative slopes
    const Tensor leaf = sloped().clone().requires_grad_(), changed = leaf * 1;
    rrelu_(changed, -0.5, -0.5, training);
    changed.sum().backward();
    EXPECT_TRUE(leaf.grad().equal(sloped().gt(0).to(kFloat).mul(1.5).sub(0.5)));
  }
  EXPECT_EQ(error_of([&] { rrelu_with_noise(x, zeros({2})); }),
            "noise tensor shape must match self tensor shape. Got self.shape = [8] noise.shape = "
            "[2]");
}

TEST(RandomForms, DropoutInPlaceIsDropout) {
  const Tensor x = ones({4, 6, 5});
  const auto expect_same = [&](Tensor& (*in_place)(const Tensor&, double, bool),
                               Tensor (*plain)(const Tensor&, double, bool)) {
    manual_seed(5);
    const Tensor expected = plain(x, 0.5, true);
    const Tensor changed = x.clone();
    manual_seed(5);
    EXPECT_TRUE(in_place(changed, 0.5, true).equal(expected));
    EXPECT_TRUE(changed.equal(expected));
    EXPECT_FALSE(changed.equal(x));
  };
  expect_same(&feature_dropout_, &feature_dropout);
  expect_same(&alpha_dropout_, &alpha_dropout);
  expect_same(&feature_alpha_dropout_, &feature_alpha_dropout);
  EXPECT_TRUE(alpha_dropout_(x, 0.5, false).equal(x));
  EXPECT_TRUE(feature_dropout_(x, 0.5, false).equal(x));
  EXPECT_TRUE(feature_alpha_dropout_(x, 0.5, false).equal(x));
}

}  // namespace
}  // namespace taeda
