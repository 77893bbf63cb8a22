// Distributions whose parameters have no values: shapes of samples, probabilities and gradients.
#include "taeda/distributions/distributions.h"

#include <gtest/gtest.h>

#include "taeda/ops/create/create.h"
#include "taeda/ops/reduce/reduce.h"

namespace taeda::distributions {
namespace {

template <class Make>
void expect_shapes(Make make) {
  const auto shapes = [&](Device device) {
    const Tensor a = full({3}, 0.5, device).requires_grad_(), b = full({3}, 2.0, device);
    const auto d = make(a, b);
    const Tensor x = d.sample({4}), p = d.log_prob(x);
    if (p.requires_grad()) p.sum().backward();
    EXPECT_TRUE(x.device() == device && p.device() == device);
    return std::tuple(x.sizes().vec(), x.dtype(), p.sizes().vec(), a.grad().defined());
  };
  EXPECT_EQ(shapes(kMeta), shapes(kCPU));
}

TEST(MetaDistributions, SampleAndJudge) {
  expect_shapes([](const Tensor& a, const Tensor& b) { return Normal(a, b); });
  expect_shapes([](const Tensor& a, const Tensor& b) { return Uniform(a, b); });
  expect_shapes([](const Tensor& a, const Tensor& b) { return Gamma(a, b); });
  expect_shapes([](const Tensor& a, const Tensor& b) { return Beta(a, b); });
  expect_shapes([](const Tensor& a, const Tensor&) { return Dirichlet(a); });
  expect_shapes([](const Tensor& a, const Tensor& b) { return VonMises(a, b); });
  expect_shapes([](const Tensor& a, const Tensor&) { return Poisson(a); });
  expect_shapes([](const Tensor& a, const Tensor&) { return Bernoulli(a); });
  expect_shapes([](const Tensor& a, const Tensor&) { return Categorical(a); });
  expect_shapes([](const Tensor& a, const Tensor& b) { return MultivariateNormal(a, b.diag()); });
}

TEST(MetaDistributions, AreShownWithoutValues) {
  EXPECT_EQ(Normal(full({}, 1.0, kMeta), full({}, 1.0, kMeta)).str(),
            "Normal(loc: torch.Size([]), scale: torch.Size([]))");
}

}  // namespace
}  // namespace taeda::distributions
