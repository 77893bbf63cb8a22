// Every distribution gives PyTorch's numbers: densities, moments, draws of a seed, divergences.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "taeda/distributions/distributions.h"
#include "taeda/taeda.h"
#include "tests/distributions/distributions_golden.h"
#include "tests/values.h"

namespace taeda {
namespace {

namespace D = distributions;

Tensor t(const TensorLiteral& values) { return tensor(values, kDouble); }

/// A distribution and values to ask it about.
struct Asked {
  std::shared_ptr<const D::Distribution> of;
  Tensor values;
};

template <class T>
Asked asked(T distribution, Tensor values) {
  return {std::make_shared<const T>(std::move(distribution)), std::move(values)};
}

using Cases = std::map<std::string, Asked>;

const Tensor kReals = t({-0.7, 1.3}), kPositive = t({0.4, 2.5}), kCounts = t({0.0, 3.0});
const Tensor kLoc = t({0.5, -1.0}), kScale = t({2.0, 0.3});
const Tensor kWeights = t({{0.2, 0.5, 0.3}, {0.6, 0.1, 0.3}});
const Tensor kLogits = t({{0.5, -1.0, 2.0}, {0.0, 0.3, -0.2}});
const Tensor kVectors = t({{0.1, 0.2, 0.3}, {-1.0, 0.0, 2.0}});

Cases of_reals() {
  const Tensor loc3 = t({0.5, -1.0, 2.0});
  const Tensor covariance = t({{2.0, 0.5, 0.1}, {0.5, 1.5, -0.3}, {0.1, -0.3, 1.0}});
  return {
      {"Normal", asked(D::Normal(kLoc, kScale), kReals)},
      {"LogNormal", asked(D::LogNormal(kLoc, kScale), kPositive)},
      {"HalfNormal", asked(D::HalfNormal(kScale), kPositive)},
      {"MultivariateNormal", asked(D::MultivariateNormal(loc3, covariance), kVectors)},
      {"MultivariateNormal precision",
       asked(D::MultivariateNormal(loc3, D::Precision(covariance)), kVectors)},
      {"Uniform", asked(D::Uniform(t({-1.0, 0.0}), t({0.5, 3.0})), kReals)},
      {"Laplace", asked(D::Laplace(kLoc, kScale), kReals)},
      {"Cauchy", asked(D::Cauchy(kLoc, kScale), kReals)},
      {"HalfCauchy", asked(D::HalfCauchy(kScale), kPositive)},
      {"Gumbel", asked(D::Gumbel(kLoc, kScale), kReals)},
      {"StudentT", asked(D::StudentT(t({3.0, 4.5}), kLoc, kScale), kReals)},
      {"VonMises", asked(D::VonMises(kLoc, kScale), kReals)},
      {"LowRankMultivariateNormal",
       asked(D::LowRankMultivariateNormal(loc3, t({{1.0, 0.2}, {-0.5, 0.7}, {0.3, 0.4}}),
                                          t({0.5, 1.0, 2.0})),
             kVectors)},
      {"Independent", asked(D::Independent(D::Normal(loc3, t({2.0, 0.3, 1.0})), 1), kVectors)},
  };
}

Cases of_positive_numbers() {
  const Tensor shapes = t({1.5, 2.5}), units = t({0.4, 0.9});
  return {
      {"Exponential", asked(D::Exponential(kScale), kPositive)},
      {"Weibull", asked(D::Weibull(kScale, shapes), kPositive)},
      {"Pareto", asked(D::Pareto(t({0.2, 0.3}), t({3.0, 2.5})), kPositive)},
      {"GeneralizedPareto",
       asked(D::GeneralizedPareto(t({0.1, 0.3}), kScale, t({0.2, -0.3})), units)},
      {"GeneralizedPareto exponential",
       asked(D::GeneralizedPareto(t({0.1, 0.3}), kScale, t({0.0, 0.7})), units)},
      {"ContinuousBernoulli", asked(D::ContinuousBernoulli(t({0.3, 0.8})), units)},
      {"ContinuousBernoulli logits",
       asked(D::ContinuousBernoulli(D::Logits(t({0.3, -0.001}))), units)},
      {"Kumaraswamy", asked(D::Kumaraswamy(t({2.0, 1.3}), shapes), units)},
      {"Gamma", asked(D::Gamma(kScale, shapes), kPositive)},
      {"Chi2", asked(D::Chi2(t({2.0, 5.0})), kPositive)},
      {"InverseGamma", asked(D::InverseGamma(t({2.5, 3.3}), shapes), kPositive)},
      {"Beta", asked(D::Beta(t({2.0, 1.3}), shapes), units)},
      {"Dirichlet", asked(D::Dirichlet(t({{2.0, 1.3, 0.7}, {1.5, 2.5, 4.0}})), kWeights)},
      {"FisherSnedecor", asked(D::FisherSnedecor(t({3.0, 4.5}), t({5.5, 6.0})), kPositive)},
  };
}

Cases of_outcomes() {
  const Tensor probs = t({0.3, 0.8}), odds = t({0.3, -0.8}), bits = t({0.0, 1.0});
  const Tensor index = t({2.0, 0.0}), temperature = t(0.7);
  return {
      {"Bernoulli", asked(D::Bernoulli(probs), bits)},
      {"Bernoulli logits", asked(D::Bernoulli(D::Logits(odds)), bits)},
      {"Geometric", asked(D::Geometric(probs), kCounts)},
      {"Binomial", asked(D::Binomial(5, probs), kCounts)},
      {"Binomial logits", asked(D::Binomial(5, D::Logits(odds)), kCounts)},
      {"NegativeBinomial", asked(D::NegativeBinomial(t({5.0, 2.5}), probs), kCounts)},
      {"Poisson", asked(D::Poisson(t({2.3, 0.8})), kCounts)},
      {"Poisson of many", asked(D::Poisson(t({70.0, 800.0})), t({60.0, 850.0}))},
      {"Binomial of many", asked(D::Binomial(300, probs), t({88.0, 230.0}))},
      {"Categorical", asked(D::Categorical(kWeights), index)},
      {"Categorical logits", asked(D::Categorical(D::Logits(kLogits)), index)},
      {"OneHotCategorical",
       asked(D::OneHotCategorical(kWeights), t({{0.0, 1.0, 0.0}, {1.0, 0.0, 0.0}}))},
      {"Multinomial", asked(D::Multinomial(4, kWeights), t({{1.0, 2.0, 1.0}, {4.0, 0.0, 0.0}}))},
      {"RelaxedBernoulli", asked(D::RelaxedBernoulli(temperature, probs), t({0.4, 0.9}))},
      {"RelaxedOneHotCategorical",
       asked(D::RelaxedOneHotCategorical(temperature, kWeights), kWeights)},
  };
}

Cases of_matrices() {
  const Tensor covariance = t({{2.0, 0.5, 0.1}, {0.5, 1.5, -0.3}, {0.1, -0.3, 1.0}});
  const Tensor correlations = t({{{1.0, 0.5, 0.1}, {0.5, 1.0, -0.3}, {0.1, -0.3, 1.0}},
                                 {{1.0, -0.2, 0.4}, {-0.2, 1.0, 0.6}, {0.4, 0.6, 1.0}}});
  return {
      {"LKJCholesky", asked(D::LKJCholesky(3, t({0.7, 2.5})), linalg::cholesky(correlations))},
      {"Wishart",
       asked(D::Wishart(t({4.5, 5.0}), covariance), stack({covariance, eye(3, kDouble)}))},
  };
}

Cases of_others() {
  const D::Normal normal(kLoc, kScale);
  using namespace D::transforms;
  return {
      {"MixtureSameFamily",
       asked(D::MixtureSameFamily(D::Categorical(kWeights), D::Normal(kLogits, kWeights)), kReals)},
      {"Transformed",
       asked(D::TransformedDistribution(normal, {D::transforms::sigmoid(), affine(1.0, -3.0)}),
             t({-0.7, 0.3}))},
      {"LogisticNormal", asked(D::LogisticNormal(t({{0.5, -1.0}, {0.2, 0.1}}), kScale), kWeights)},
      {"StickBreaking", asked(D::TransformedDistribution(normal, stick_breaking()), kWeights)},
      {"Tanh", asked(D::TransformedDistribution(normal, D::transforms::tanh()), t({-0.7, 0.3}))},
      {"Power", asked(D::TransformedDistribution(D::Exponential(kScale),
                                                 {power(0.5), inverse(D::transforms::softplus())}),
                      kReals)},
  };
}

const Cases& cases() {
  static const Cases all = [] {
    Cases result;
    for (Cases some :
         {of_reals(), of_positive_numbers(), of_outcomes(), of_matrices(), of_others()})
      result.merge(some);
    return result;
  }();
  return all;
}

Tensor answer(const Asked& asked, const std::string& what) {
  const D::Distribution& d = *asked.of;
  if (what == "log_prob") return d.log_prob(asked.values);
  if (what == "cdf") return d.cdf(asked.values);
  if (what == "icdf") return d.icdf(t({0.1, 0.7}));
  if (what == "mean") return d.mean();
  if (what == "mode") return d.mode();
  if (what == "variance") return d.variance();
  if (what == "stddev") return d.stddev();
  if (what == "entropy") return d.entropy();
  if (what == "enumerate_support") return d.enumerate_support();
  manual_seed(7);
  return d.sample({3});
}

/// Calls f, and reports what it throws as a failure of the row.
template <class F>
Tensor attempt(F f) {
  try {
    return f();
  } catch (const Error& e) {
    ADD_FAILURE() << e.what();
    return Tensor();
  }
}

void expect_numbers(const Tensor& got, const DistributionRow& row) {
  if (!got.defined()) return;
  const std::vector<double> numbers = values<double>(got.to(kDouble));
  ASSERT_EQ(numbers.size(), row.numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    const double expected = row.numbers[i];
    if (!std::isfinite(expected))
      EXPECT_TRUE(numbers[i] == expected || (std::isnan(numbers[i]) && std::isnan(expected)))
          << numbers[i] << " instead of " << expected;
    else
      EXPECT_NEAR(numbers[i], expected, 1e-9 * std::max(1.0, std::abs(expected)));
  }
}

TEST(Distributions, GivePyTorchsNumbers) {
  for (const DistributionRow& row : kDistributionRows) {
    SCOPED_TRACE(std::string(row.distribution) + " " + row.what);
    expect_numbers(attempt([&] { return answer(cases().at(row.distribution), row.what); }), row);
  }
}

TEST(Distributions, DivergeAsPyTorchsDo) {
  for (const DistributionRow& row : kDivergenceRows) {
    SCOPED_TRACE(std::string("KL(") + row.distribution + " || " + row.what + ")");
    const auto &p = *cases().at(row.distribution).of, &q = *cases().at(row.what).of;
    expect_numbers(attempt([&] { return D::kl_divergence(p, q); }), row);
  }
}

}  // namespace
}  // namespace taeda
