// Sums of many numbers, of numbers far from zero, and of what is no number: statistics that lose no
// digits.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "taeda/taeda.h"

namespace taeda {
namespace {

double largest(const Tensor& t) { return t.to(kDouble).abs().max().item<double>(); }

TEST(LongSums, OfNormalisedRowsAreAsExactAsShortOnes) {
  manual_seed(0);
  const int64_t n = 1'200'000;
  const Tensor x = randn({1, n}).add(3), exact = x.to(kDouble);
  const auto error = [&](auto f) { return largest(f(x).to(kDouble).sub(f(exact))); };
  const double most = 1e-6;
  EXPECT_LT(error([=](const Tensor& t) { return layer_norm(t, {n}); }), most);
  EXPECT_LT(error([=](const Tensor& t) { return group_norm(t.view({1, 10, n / 10}), 2); }), most);
  EXPECT_LT(error([=](const Tensor& t) { return rms_norm(t, {n}); }), most);
  EXPECT_LT(error([=](const Tensor& t) { return instance_norm(t.view({1, 1, n})); }), most);
  EXPECT_LT(error([=](const Tensor& t) {
              return batch_norm(t.view({1, 1, n}), {}, {}, {}, {}, true, 0.1, 1e-5);
            }),
            most);
  const auto gradient = [=](const Tensor& t) {
    const Tensor leaf = t.clone().requires_grad_();
    layer_norm(leaf, {n}).mul(linspace(0, 1, n, t.dtype())).sum().backward();
    return leaf.grad();
  };
  EXPECT_LT(error(gradient), most);
}

TEST(LongSums, OfNumbersFarFromZeroKeepTheirVariance) {
  manual_seed(0);
  const Tensor x = rand({500, 4}, kDouble).add(1e6).to(kFloat), exact = x.to(kDouble);
  for (const DimVector& dims : {DimVector{0}, DimVector{1}, DimVector{0, 1}}) {
    EXPECT_LT(largest(x.var(dims, true).sub(exact.var(dims, true))), 1e-7);
    EXPECT_LT(largest(x.std(dims, true).sub(exact.std(dims, true))), 1e-7);
    EXPECT_LT(largest(std::get<0>(var_mean(x, dims, true)).sub(exact.var(dims, true))), 1e-7);
  }
}

TEST(LongSums, CovariancesAreTakenFromAccurateMeans) {
  manual_seed(0);
  const Tensor x = rand({3, 500}, kDouble).add(1e6).to(kFloat), exact = x.to(kDouble);
  EXPECT_LT(largest(cov(x).sub(cov(exact))), 1e-3);
}

TEST(RowsWithInfinity, HaveNoNormalisedNumbers) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const ScalarType dtype : {kBFloat16, kHalf, kFloat, kDouble})
    for (const int64_t n : {1, 3, 8, 16, 33, 768})
      for (const double value : {inf, -inf}) {
        const Tensor x = ones({3, n}, dtype);
        x[1][n / 2].fill_(value);
        const Tensor one = ones({n}, kFloat), none = isnan(layer_norm(x, {n}));
        EXPECT_TRUE(none[1].all().item<bool>()) << dtype << " " << n;
        EXPECT_FALSE(none[0].any().item<bool>() || none[2].any().item<bool>()) << dtype << " " << n;
        EXPECT_TRUE(isnan(layer_norm(x, {n}, one.to(dtype), one.to(dtype)))[1].all().item<bool>());
        EXPECT_TRUE(isnan(group_norm(x.view({3, 1, n}), 1))[1].all().item<bool>());
      }
}

TEST(SearchSorted, PutsNaNBehindAllNumbersAsSortDoes) {
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               inf = std::numeric_limits<double>::infinity();
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
    const Tensor values = tensor({nan, -inf, 1.0, 2.0, 3.0, inf}, kDouble).to(dtype);
    const auto find = [&](std::vector<double> sorted, bool right) {
      return searchsorted(tensor(sorted, kDouble).to(dtype), values, false, right);
    };
    EXPECT_TRUE(equal(find({1, 2, 3}, false), tensor({3, 0, 0, 1, 2, 3}, kLong)));
    EXPECT_TRUE(equal(find({1, nan, nan}, false), tensor({1, 0, 0, 1, 1, 1}, kLong)));
    EXPECT_TRUE(equal(find({1, nan, nan}, true), tensor({3, 0, 1, 1, 1, 1}, kLong)));
    EXPECT_TRUE(equal(find({nan, nan}, false), tensor({0, 0, 0, 0, 0, 0}, kLong)));
    EXPECT_TRUE(equal(bucketize(values, tensor({1.0, inf, nan}, kDouble).to(dtype)),
                      tensor({2, 0, 0, 1, 1, 1}, kLong)));
  }
}

}  // namespace
}  // namespace taeda
