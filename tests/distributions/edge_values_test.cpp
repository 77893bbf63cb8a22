// Distributions where their formulas cancel, and at the edges of what their parameters may be.
#include <gtest/gtest.h>

#include <cmath>

#include "taeda/distributions/distributions.h"
#include "taeda/distributions/gamma_numbers.h"
#include "taeda/taeda.h"

namespace taeda {
namespace {

namespace D = distributions;

TEST(EdgesOfDistributions, AUniformDivergesFromABetaByAFiniteNumber) {
  const auto divergence = [](double low, double high, double a, double b) {
    return D::kl_divergence(D::Uniform(low, high), D::Beta(a, b)).item<double>();
  };
  EXPECT_NEAR(divergence(0, 1, 1, 2), 1 - std::log(2), 1e-6);
  EXPECT_NEAR(divergence(0, 1, 1, 1), 0, 1e-6);
  EXPECT_NEAR(divergence(0.25, 0.5, 1, 1), std::log(4), 1e-6);
  EXPECT_TRUE(std::isinf(divergence(-0.5, 1, 1, 2)));
  EXPECT_TRUE(std::isinf(divergence(0, 1.5, 1, 2)));
}

TEST(EdgesOfDistributions, BernoullisOfLargeLogitsHaveGradients) {
  for (const ScalarType dtype : {kFloat, kDouble})
    for (const double odds : {30.0, -30.0, 80.0, -80.0, 0.5}) {
      const Tensor logits = full({}, odds, dtype).requires_grad_();
      D::kl_divergence(D::Bernoulli(D::Logits(logits)),
                       D::Bernoulli(D::Probs(full({}, 0.5, dtype))))
          .backward();
      const double p = 1 / (1 + std::exp(-odds)), q = 1 / (1 + std::exp(odds)), want = odds * p * q;
      EXPECT_NEAR(logits.grad().item<double>(), want, std::abs(want) * 1e-4) << odds;
    }
  const Tensor certain = tensor({0.0, 1.0}, kDouble).requires_grad_();
  const Tensor half = full({2}, 0.5, kDouble).requires_grad_();
  D::kl_divergence(D::Bernoulli(D::Probs(certain)), D::Bernoulli(D::Probs(half))).sum().backward();
  EXPECT_TRUE(isfinite(certain.grad()).all().item<bool>()) << certain.grad();
  EXPECT_TRUE(allclose(half.grad(), tensor({2.0, -2.0}, kDouble))) << half.grad();
  EXPECT_TRUE(std::isinf(
      D::kl_divergence(D::Bernoulli(D::Probs(0.5)), D::Bernoulli(D::Probs(1.0))).item<double>()));
}

TEST(EdgesOfDistributions, BetaNumbersMoveWithTheirProbability) {
  struct Point {
    double a, b, x, slope;
  };
  const Point points[] = {
#include "tests/distributions/beta_gradients_golden.inc"
  };
  for (const Point& p : points)
    EXPECT_NEAR(D::beta_number_gradient(p.a, p.b, p.x, 1 - p.x), p.slope, std::abs(p.slope) * 1e-11)
        << p.a << " " << p.b << " " << p.x;
}

TEST(EdgesOfDistributions, BetaAndDirichletDrawsHaveThatGradient) {
  manual_seed(0);
  const Tensor a = full({6}, 0.01, kDouble).requires_grad_(),
               b = full({6}, 0.3, kDouble).requires_grad_();
  const Tensor x = D::Beta(a, b).rsample();
  x.sum().backward();
  for (int64_t i = 0; i < 6; ++i) {
    const double value = x[i].item<double>();
    const double by_a = (1 - value) * D::beta_number_gradient(0.01, 0.3, value, 1 - value);
    const double by_b = -value * D::beta_number_gradient(0.3, 0.01, 1 - value, value);
    EXPECT_NEAR(a.grad()[i].item<double>(), by_a, std::abs(by_a) * 1e-6 + 1e-12);
    EXPECT_NEAR(b.grad()[i].item<double>(), by_b, std::abs(by_b) * 1e-6 + 1e-12);
  }
  // Weights add up to 1 whatever the concentrations are.
  const Tensor c = full({4, 3}, 0.01).requires_grad_();
  D::Dirichlet(c).rsample().sum().backward();
  EXPECT_LT(c.grad().abs().max().item<double>(), 1e-4);
}

TEST(EdgesOfDistributions, ModesOfFlatDensities) {
  const auto mode = [](const Tensor& a) { return D::Dirichlet(a).mode(); };
  EXPECT_TRUE(isnan(mode(ones({3}))).all().item<bool>());
  EXPECT_TRUE(equal(mode(tensor({1.0, 0.5})), tensor({1.0, 0.0})));
  EXPECT_TRUE(equal(mode(tensor({0.5, 0.2, 0.3})), tensor({1.0, 0.0, 0.0})));
  EXPECT_TRUE(equal(mode(tensor({1.0, 1.0, 2.0})), tensor({0.0, 0.0, 1.0})));
  EXPECT_TRUE(std::isnan(D::Beta(1, 1).mode().item<double>()));
}

TEST(EdgesOfDistributions, AWishartTakesWhatItDraws) {
  manual_seed(0);
  const D::Wishart large(50.0, eye(4).mul(1e5).add(3e4));
  EXPECT_TRUE(isfinite(large.log_prob(large.sample({200}))).all().item<bool>());
}

TEST(EdgesOfDistributions, AQuantileUndoesTheDistributionFunction) {
  const Tensor x = tensor({2.0, 2.5, 3.0, 100.0}, kDouble);
  const D::Pareto pareto(tensor({2.0}, kDouble), tensor({3.0}, kDouble));
  EXPECT_TRUE(allclose(pareto.icdf(pareto.cdf(x)), x, 1e-9));
}

}  // namespace
}  // namespace taeda
