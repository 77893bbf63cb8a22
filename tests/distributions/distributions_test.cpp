// What distributions promise beside their numbers: shapes, gradients of draws, checks, classes of
// one's own.
#include "taeda/distributions/distributions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "taeda/autograd/gradcheck.h"
#include "taeda/distributions/gamma_numbers.h"
#include "taeda/taeda.h"
#include "tests/error_of.h"
#include "tests/values.h"

namespace taeda {
namespace {

namespace D = distributions;
using ::testing::AllOf;
using ::testing::HasSubstr;

DimVector shape_of(const Tensor& t) { return DimVector(t.sizes()); }

TEST(Distribution, ParametersBroadcastToTheBatch) {
  const D::Normal d(zeros({3, 1}), ones({4}));
  EXPECT_EQ(DimVector(d.batch_shape()), (DimVector{3, 4}));
  EXPECT_TRUE(d.event_shape().empty());
  EXPECT_EQ(shape_of(d.sample({5, 2})), (DimVector{5, 2, 3, 4}));
  EXPECT_EQ(shape_of(d.log_prob(zeros({2, 1, 4}))), (DimVector{2, 3, 4}));
  const D::MultivariateNormal vectors(zeros({2, 3}), eye(3));
  EXPECT_EQ(DimVector(vectors.batch_shape()), (DimVector{2}));
  EXPECT_EQ(DimVector(vectors.event_shape()), (DimVector{3}));
  EXPECT_EQ(shape_of(vectors.log_prob(vectors.sample({7}))), (DimVector{7, 2}));
}

TEST(Distribution, NumbersTakeTheDtypeOfTheTensorsBesideThem) {
  EXPECT_EQ(D::Normal(0, 1).sample().dtype(), kFloat);
  EXPECT_EQ(D::Normal(0, ones({2}, kDouble)).sample().dtype(), kDouble);
  EXPECT_EQ(D::Normal(tensor({1, 2}), 1).loc().dtype(), kFloat);
}

TEST(Distribution, ExpandKeepsTheParameters) {
  const D::Categorical d = D::Categorical(tensor({0.2, 0.8})).expand({3});
  EXPECT_EQ(shape_of(d.probs()), (DimVector{3, 2}));
  const D::Independent joined = D::Independent(D::Normal(zeros({4}), 1), 1).expand({2, 3});
  EXPECT_EQ(shape_of(joined.sample({5})), (DimVector{5, 2, 3, 4}));
  EXPECT_EQ(shape_of(joined.log_prob(zeros({4}))), (DimVector{2, 3}));
  const D::TransformedDistribution mapped =
      D::TransformedDistribution(D::Normal(0, 1), D::transforms::exp()).expand({2});
  EXPECT_EQ(shape_of(mapped.sample()), (DimVector{2}));
}

/// Draws have the mean and the variance that the distribution states.
TEST(Distribution, DrawsHaveTheStatedMoments) {
  manual_seed(1);
  const auto check = [](const D::Distribution& d) {
    const Tensor x = d.sample({20'000}).to(kDouble);
    const double spread = d.stddev().item<double>();
    EXPECT_NEAR(x.mean().item<double>(), d.mean().item<double>(), 0.05 * spread) << d;
    EXPECT_NEAR(x.std(0).item<double>(), spread, 0.1 * spread) << d;
  };
  check(D::Normal(1, 2));
  check(D::Uniform(-1, 3));
  check(D::Laplace(1, 2));
  check(D::Gumbel(1, 2));
  check(D::Exponential(3));
  check(D::Weibull(2, 1.5));
  check(D::Pareto(1, 9));
  check(D::Kumaraswamy(2, 3));
  check(D::GeneralizedPareto(1, 2, 0.1));
  check(D::GeneralizedPareto(1, 2, -0.4));
  check(D::ContinuousBernoulli(0.9));
  check(D::ContinuousBernoulli(0.5));
  check(D::Gamma(0.4, 2));
  check(D::Gamma(30, 2));
  check(D::Beta(0.7, 2));
  check(D::InverseGamma(9, 2));
  check(D::StudentT(9, 1, 2));
  check(D::FisherSnedecor(4, 20));
  check(D::HalfNormal(2));
  check(D::LogNormal(0.5, 0.3));
  check(D::Bernoulli(0.3));
  check(D::Geometric(0.3));
  check(D::Binomial(12, 0.3));
  check(D::Binomial(300, 0.3));
  check(D::NegativeBinomial(4.5, 0.3));
  check(D::Poisson(0.7));
  check(D::Poisson(70));
}

/// Their variance is 1 less the mean of cos(x - loc).
TEST(Distribution, DrawsOfAnglesLieAroundTheirPlace) {
  manual_seed(1);
  for (const double concentration : {1e-6, 0.3, 4.0, 500.0}) {
    const D::VonMises d(tensor(3.0, kDouble), tensor(concentration, kDouble));
    const Tensor x = d.sample({20'000});
    EXPECT_TRUE(x.ge(-M_PI).logical_and(x.lt(M_PI)).all().item<bool>());
    const double spread = 1 - x.sub(3.0).cos().mean().item<double>();
    EXPECT_NEAR(spread, d.variance().item<double>(), 0.02 * spread + 0.01) << concentration;
  }
}

TEST(Distribution, DrawsOfMatricesHaveTheStatedMoments) {
  manual_seed(2);
  const Tensor covariance = tensor({{2.0, 0.5}, {0.5, 1.0}}, kDouble);
  for (const D::Wishart& d :
       {D::Wishart(3.5, covariance), D::Wishart(3.5, D::Precision(linalg::inv(covariance))),
        D::Wishart(3.5, D::ScaleTril(linalg::cholesky(covariance)))}) {
    const Tensor x = d.sample({20'000});
    EXPECT_TRUE(allclose(x.mean(0), d.mean(), 0.05, 0.05)) << x.mean(0);
    EXPECT_TRUE(allclose(x.var(0), d.variance(), 0.1, 0.1)) << x.var(0);
  }
  const Tensor factors = D::LKJCholesky(3, 1.0).sample({20'000});
  const Tensor correlations = factors.matmul(factors.transpose(-2, -1));
  EXPECT_TRUE(allclose(correlations.mean(0), eye(3), 0, 0.03));
  // Of three uniform ones each has the variance 1 / (2 concentration + dim - 1).
  EXPECT_NEAR(correlations.select(1, 2).select(1, 0).var(0).item<double>(), 0.25, 0.02);
}

TEST(Distribution, DrawsOfOneDeviceAreThoseOfAnother) {
  const Device sim(kSim, 0);
  manual_seed(3);
  const Tensor x = D::Gamma(tensor({0.5, 2.0}, sim), 1).sample({400});
  EXPECT_EQ(x.device(), sim);
  EXPECT_NEAR(x.mean(0).cpu()[0].item<double>(), 0.5, 0.15);
  EXPECT_NEAR(x.mean(0).cpu()[1].item<double>(), 2.0, 0.3);
  manual_seed(3);
  EXPECT_TRUE(equal(x, D::Gamma(tensor({0.5, 2.0}, sim), 1).sample({400})));
}

// The derivative of a draw with fixed randomness is that of the inverse cdf; by differences of it.
TEST(Distribution, GammaNumbersHaveTheDerivativeOfTheInverseCdf) {
  // x with P(a, x) = u by bisection, P by the sum of its series.
  const auto cdf = [](double a, double x) {
    double term = std::exp(a * std::log(x) - x - std::lgamma(a + 1)), sum = term;
    for (int n = 1; n < 4000; ++n) sum += term *= x / (a + n);
    return sum;
  };
  const auto quantile = [&](double a, double u) {
    double low = 0, high = 20 * a + 60;
    for (int i = 0; i < 200; ++i) (cdf(a, (low + high) / 2) < u ? low : high) = (low + high) / 2;
    return (low + high) / 2;
  };
  for (const double a : {0.05, 0.4, 1.0, 2.5, 12.0, 80.0})
    for (const double u : {0.02, 0.3, 0.5, 0.9, 0.999}) {
      const double step = 1e-4 * a;
      const double difference = (quantile(a + step, u) - quantile(a - step, u)) / (2 * step);
      const double x = quantile(a, u);
      EXPECT_NEAR(D::gamma_number_gradient(a, x), difference, 1e-5 * std::max(difference, 1e-3))
          << a << " " << u;
    }
}

TEST(Distribution, TheGammaCdfIsDifferentiableInBoth) {
  const TensorOptions options = TensorOptions(kDouble).requires_grad(true);
  const Tensor a = tensor({0.3, 2.0, 2.0, 40.0}, options),
               x = tensor({0.2, 0.9, 7.0, 38.0}, options);
  EXPECT_TRUE(autograd::gradcheck(
      [](const std::vector<Tensor>& in) { return std::vector<Tensor>{D::gamma_cdf(in[0], in[1])}; },
      {a, x}));
}

/// d/dp of the mean of f(x) over draws is what the draws' gradients average to.
TEST(Distribution, GradientsOfDrawsAverageToTheGradientOfTheMean) {
  manual_seed(5);
  const auto mean_gradient = [](auto make, double p) {
    const Tensor parameter = tensor(p, TensorOptions(kDouble).requires_grad(true));
    make(parameter).rsample({20'000}).mean().backward();
    return parameter.grad().item<double>();
  };
  EXPECT_NEAR(mean_gradient([](Tensor p) { return D::Gamma(p, 2.0); }, 0.7), 0.5, 0.02);
  EXPECT_NEAR(mean_gradient([](Tensor p) { return D::Gamma(3.0, p); }, 2.0), -0.75, 0.02);
  EXPECT_NEAR(mean_gradient([](Tensor p) { return D::Beta(p, 1.5); }, 0.7), 1.5 / (2.2 * 2.2),
              0.02);
  EXPECT_NEAR(mean_gradient([](Tensor p) { return D::Normal(p, 1.0); }, 0.7), 1, 1e-9);
  EXPECT_NEAR(mean_gradient([](Tensor p) { return D::Exponential(p); }, 2.0), -0.25, 0.02);
  EXPECT_NEAR(mean_gradient([](Tensor p) { return D::InverseGamma(p, 2.0); }, 5.0), -0.125, 0.02);
}

TEST(Distribution, LogProbIsDifferentiable) {
  const auto check = [](auto make, Tensor value) {
    const Tensor a = tensor({0.7, 0.4}, TensorOptions(kDouble).requires_grad(true));
    const Tensor b = tensor({0.6, 0.9}, TensorOptions(kDouble).requires_grad(true));
    EXPECT_TRUE(autograd::gradcheck(
        [&](const std::vector<Tensor>& in) {
          return std::vector<Tensor>{make(in[0], in[1]).log_prob(value)};
        },
        {a, b}));
  };
  const Tensor value = tensor({0.3, 0.8}, kDouble);
  check([](Tensor a, Tensor b) { return D::Normal(a, b); }, value);
  check([](Tensor a, Tensor b) { return D::Gamma(a, b); }, value);
  check([](Tensor a, Tensor b) { return D::Beta(a, b); }, value);
  check([](Tensor a, Tensor b) { return D::Weibull(a, b); }, value);
  check([](Tensor a, Tensor b) { return D::StudentT(a, b, 1); }, value);
  check([](Tensor a, Tensor b) { return D::RelaxedBernoulli(a, b); }, value);
  check([](Tensor a, Tensor b) { return D::VonMises(a, b); }, value);
  check([](Tensor a, Tensor b) { return D::GeneralizedPareto(a.mul(0.1), b, a); }, value);
  check([](Tensor a, Tensor b) { return D::ContinuousBernoulli(a.mul(b)); }, value);
  check([](Tensor a, Tensor b) { return D::LowRankMultivariateNormal(a, b.unsqueeze(1), b); },
        value);
  check([](Tensor a, Tensor b) { return D::NegativeBinomial(a, b); }, tensor({2.0, 1.0}, kDouble));
}

TEST(Distribution, WrongParametersAreNamed) {
  EXPECT_THAT(
      error_of([] {
        D::Normal(0, tensor({1.0, -1.0}));
      }),
      AllOf(HasSubstr("Expected parameter scale (Tensor of shape (2,)) of distribution Normal"),
            HasSubstr("GreaterThan(lower_bound=0.0)"), HasSubstr("-1")));
  EXPECT_THAT(error_of([] { D::Bernoulli(1.5); }),
              HasSubstr("Interval(lower_bound=0.0, upper_bound=1.0)"));
  EXPECT_THAT(error_of([] { D::Uniform(2, 1); }), HasSubstr("not defined when low>= high"));
  EXPECT_THAT(error_of([] { D::Categorical(tensor({0.5, -0.1})); }), HasSubstr("Simplex()"));
  EXPECT_THAT(error_of([] {
                D::MultivariateNormal(zeros({2}), tensor({{1.0, 2.0}, {2.0, 1.0}}));
              }),
              AllOf(HasSubstr("covariance_matrix"), HasSubstr("PositiveDefinite()")));
  EXPECT_THAT(error_of([] { D::MultivariateNormal(zeros({2}), eye(3)); }), HasSubstr("[3, 3]"));
  EXPECT_THAT(error_of([] { D::Normal(zeros({2}), ones({3})); }),
              HasSubstr("size of tensor a (2) must match the size of tensor b (3)"));
  EXPECT_THAT(error_of([] { D::LKJCholesky(1); }), HasSubstr("Found dim=1"));
  EXPECT_THAT(error_of([] { D::Wishart(1.0, eye(2)); }),
              AllOf(HasSubstr("df=1"), HasSubstr("greater than ndim - 1 = 1")));
  EXPECT_THAT(error_of([] { D::Wishart(3.0, ones({2})); }), HasSubstr("has shape [2]"));
  EXPECT_THAT(error_of([] {
                D::LowRankMultivariateNormal(zeros({3}), ones({2, 1}), ones({3}));
              }),
              AllOf(HasSubstr("3 x m"), HasSubstr("[2, 1]")));
  EXPECT_THAT(error_of([] { D::Geometric(0); }), HasSubstr("positive"));
  EXPECT_THROW(D::Normal(NAN, 1), ValueError);
  EXPECT_NO_THROW(D::Normal(0, -1, false));
}

TEST(Distribution, WrongValuesAreNamed) {
  EXPECT_THAT(error_of([] { D::Exponential(1).log_prob(tensor(-2.0)); }),
              AllOf(HasSubstr("to be within the support (GreaterThanEq(lower_bound=0.0))"),
                    HasSubstr("Exponential(rate: 1.0)"), HasSubstr("-2")));
  EXPECT_THAT(error_of([] { D::Categorical(ones({3})).log_prob(tensor(3.0)); }),
              HasSubstr("IntegerInterval(lower_bound=0"));
  EXPECT_THAT(error_of([] { D::Normal(zeros({3}), 1).log_prob(zeros({2})); }),
              AllOf(HasSubstr("not broadcastable"), HasSubstr("[2] vs [3]")));
  EXPECT_THAT(error_of([] { D::Dirichlet(ones({3})).log_prob(zeros({2})); }),
              HasSubstr("right-most size"));
  EXPECT_THROW(D::Normal(0, 1).log_prob(Tensor()), TypeError);
}

TEST(Distribution, WhatThereIsNotIsSaid) {
  EXPECT_THAT(error_of([] { D::Poisson(1).rsample(); }),
              HasSubstr("Poisson does not implement rsample"));
  EXPECT_THAT(error_of([] { D::Gamma(1, 1).icdf(tensor(0.5)); }),
              HasSubstr("Gamma does not implement icdf"));
  EXPECT_THAT(error_of([] { D::kl_divergence(D::Normal(0, 1), D::Poisson(1)); }),
              HasSubstr("No KL(p || q) is implemented for p type Normal and q type Poisson"));
  const Tensor a = tensor(2.0, TensorOptions(kDouble).requires_grad(true));
  const Tensor x = D::Gamma(a, 1.0).rsample();
  const Tensor slope = autograd::grad({x}, {a}, {}, true, true)[0];
  EXPECT_THAT(error_of([&] { slope.backward(); }), HasSubstr("_standard_gamma_grad"));
}

/// A class of one's own, with a divergence from the class it derives from.
class Shifted : public D::DistributionOf<Shifted, D::Normal> {
 public:
  explicit Shifted(D::Parameter loc) : DistributionOf(std::move(loc), 1) {}
};

TEST(Distribution, DivergencesAreFoundByBaseClassesAndCanBeAdded) {
  const Shifted p(1.0), q(3.0);
  EXPECT_DOUBLE_EQ(D::kl_divergence(p, q).item<double>(), 2);
  D::register_kl<Shifted, Shifted>([](const Shifted&, const Shifted&) { return tensor(42.0); });
  EXPECT_EQ(D::kl_divergence(p, q).item<double>(), 42);
  EXPECT_DOUBLE_EQ(D::kl_divergence(p, D::Normal(3, 1)).item<double>(), 2);
  EXPECT_NEAR(D::kl_divergence(D::ContinuousBernoulli(0.5), D::Uniform(0, 1)).item<double>(), 0,
              1e-6);
  const D::LogisticNormal narrow(zeros({2}), 1.0), wide(zeros({2}), 2.0);
  EXPECT_NEAR(D::kl_divergence(narrow, wide).item<double>(), 2 * (std::log(2.0) - 0.375), 1e-6);
}

TEST(Transforms, InvertAndMeasureThemselves) {
  using namespace D::transforms;
  const Tensor x = tensor({{0.3, -0.4, 1.2}, {2.0, 0.1, -1.0}}, kDouble);
  const auto check = [](const D::TransformPtr& f, const Tensor& x) {
    const Tensor y = (*f)(x);
    EXPECT_TRUE(allclose(f->inv(y), x)) << f->name();
    // The determinant of the Jacobian of each value, by autograd.
    const int64_t events = f->domain().event_dim();
    Tensor flat = x.reshape({-1}).narrow(0, 0, events == 0 ? 1 : x.size(-1)).detach();
    flat.requires_grad_();
    const Tensor out = (*f)(flat);
    std::vector<Tensor> rows;
    for (int64_t i = 0; i < flat.numel(); ++i)
      rows.push_back(autograd::grad({out.reshape({-1})[i]}, {flat}, {}, true)[0]);
    const Tensor expected = std::get<1>(
        linalg::slogdet(stack(rows).reshape({flat.numel(), -1}).narrow(1, 0, flat.numel())));
    const Tensor measured = f->log_abs_det_jacobian(flat, out).sum();
    EXPECT_NEAR(measured.item<double>(), expected.item<double>(), 1e-9) << f->name();
  };
  check(D::transforms::exp(), x);
  check(D::transforms::sigmoid(), x);
  check(D::transforms::tanh(), x);
  check(D::transforms::softplus(), x);
  check(affine(2.0, -3.0), x);
  check(affine(2.0, -3.0, 1), x);
  check(power(1.7), x.abs());
  check(stick_breaking(), x);
  check(inverse(D::transforms::exp()), x.abs());
  check(independent(D::transforms::exp(), 1), x);
  check(compose({D::transforms::exp(), affine(1.0, 2.0, 1), D::transforms::softplus()}), x);
}

TEST(Transforms, GradientsAtZeroAreThoseAround) {
  const auto slope = [](const D::TransformPtr& f) {
    const Tensor x = zeros({2}, kDouble).requires_grad_();
    f->log_abs_det_jacobian(x, (*f)(x)).sum().backward();
    return x.grad();
  };
  EXPECT_EQ(slope(D::transforms::sigmoid()).abs().max().item<double>(), 0);
  EXPECT_EQ(slope(D::transforms::tanh()).abs().max().item<double>(), 0);
  EXPECT_LT(slope(D::transforms::stick_breaking()).abs().max().item<double>(), 1e-12);
  const Tensor logits = zeros({1}).requires_grad_();
  D::Bernoulli(D::Logits(logits)).log_prob(ones({1})).backward();
  EXPECT_EQ(logits.grad().item<float>(), 0.5f);
}

TEST(Transforms, WrongOnesAreNamed) {
  using namespace D::transforms;
  EXPECT_THAT(error_of([] { reshape({2, 3}, {5}); }), HasSubstr("[2, 3] and [5]"));
  EXPECT_THAT(error_of([] { compose({D::transforms::exp(), nullptr}); }), HasSubstr("null"));
  EXPECT_THAT(error_of([] { D::TransformedDistribution(D::Normal(0, 1), stick_breaking()); }),
              HasSubstr("base_distribution needs to have shape with size at least 1"));
  EXPECT_THAT(
      error_of([] {
        D::TransformedDistribution(D::Normal(0, 1), D::transforms::abs()).log_prob(tensor(0.5));
      }),
      HasSubstr("not bijective"));
  EXPECT_THAT(error_of([] { D::Independent(D::Normal(zeros({2}), 1), 2); }),
              HasSubstr("actual 2 vs 1"));
  EXPECT_THAT(
      error_of([] { D::MixtureSameFamily(D::Categorical(ones({3})), D::Normal(zeros({2}), 1)); }),
      AllOf(HasSubstr("(3)"), HasSubstr("(2)")));
}

}  // namespace
}  // namespace taeda
