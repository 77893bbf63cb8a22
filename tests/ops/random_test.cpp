// Random numbers: PyTorch's sequences on the CPU (tests/golden/random_numbers.py), moments, masks.
#include "taeda/ops/random/random.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "taeda/autograd/gradcheck.h"
#include "taeda/base/error.h"
#include "taeda/base/parallel_for.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/nn/dropout.h"
#include "taeda/ops/out_forms.h"
#include "taeda/ops/reduce/sort.h"
#include "tests/error_of.h"
#include "tests/ops/tensor_values.h"

namespace taeda {
namespace {

using namespace testing;
using Sizes = std::vector<int64_t>;
using Floats = std::vector<float>;

TEST(Random, BernoulliComparesNumbersOf53Bits) {
  for (const int64_t n : {1, 63, 64, 65, 1000})
    for (const double p : {0.0, 0.3, 0.999, 1.0}) {
      manual_seed(9);
      const Tensor want = rand({n}, kDouble).lt(p), next = rand({4});
      for (const ScalarType dtype : {kFloat, kDouble, kHalf, kLong, kBool}) {
        manual_seed(9);
        Tensor got = full({n}, 7, dtype);
        got.bernoulli_(p);
        EXPECT_TRUE(got.equal(want.to(dtype))) << n << " of " << p << ", " << to_string(dtype);
        EXPECT_TRUE(rand({4}).equal(next));
      }
    }
}

TEST(Random, SeedGivesPyTorchsNumbers) {
  manual_seed(0);
  EXPECT_EQ(floats(rand({3})),
            (Floats{0.49625658988952637f, 0.7682217955589294f, 0.08847743272781372f}));
  manual_seed(0);
  EXPECT_EQ(values<double>(rand({3}, kDouble)),
            (std::vector<double>{0.9700530018065531, 0.707819864399788, 0.45938294312745087}));
  manual_seed(0);
  EXPECT_EQ(longs(randint(0, 100, {5})), (Sizes{44, 39, 33, 60, 63}));
  manual_seed(0);
  EXPECT_EQ(longs(randint(int64_t{1} << 40, {3})),
            (Sizes{741280623151, 506137267392, 291447657211}));
  manual_seed(0);
  EXPECT_EQ(longs(randperm(8)), (Sizes{4, 0, 7, 3, 2, 5, 1, 6}));
  manual_seed(0);
  EXPECT_EQ(longs(empty({3}, kLong).random_()),
            (Sizes{900450186894289455, 3969543146641149120, 1895649597198586619}));
  manual_seed(0);
  EXPECT_EQ(floats(empty({3}).random_()), (Floats{8325664, 12888472, 1484222}));
}

void expect_near(const Tensor& t, const Floats& expected) {
  const Floats have = floats(t.to(kFloat));
  ASSERT_EQ(have.size(), expected.size());
  for (size_t i = 0; i < have.size(); ++i)
    EXPECT_NEAR(have[i], expected[i], 2e-6 * std::max(1.0f, std::fabs(expected[i]))) << i;
}

TEST(Random, SeedGivesPyTorchsDistributions) {
  manual_seed(0);
  expect_near(randn({5}), {1.5409960746765137f, -0.293428897857666f, -2.1787893772125244f,
                           0.5684312582015991f, -1.0845223665237427f});
  manual_seed(0);
  expect_near(randn({17}).slice(0, 12),
              {1.3893661499023438f, 1.586334228515625f, 0.946298360824585f, -0.843676745891571f,
               0.9318265914916992f});
  manual_seed(0);
  expect_near(empty({4}).exponential_(2),
              {1.754163146018982f, 0.6151923537254333f, 0.3075220584869385f, 1.267559289932251f});
  manual_seed(0);
  EXPECT_EQ(floats(empty({8}).bernoulli_(0.5)), (Floats{0, 0, 1, 0, 0, 0, 1, 1}));
  manual_seed(0);
  EXPECT_EQ(floats(bernoulli(full({8}, 0.5))), (Floats{1, 0, 1, 1, 1, 0, 1, 0}));
  manual_seed(0);
  expect_near(normal(tensor({1.0, 2.0, 3.0}), 2),
              {4.081992149353027f, 1.413142204284668f, -1.3575787544250488f});
  manual_seed(0);
  expect_near(normal(tensor({1.0, 2.0, 3.0}), tensor({1.0, 0.1, 3.0})),
              {2.5409960746765137f, 1.9706571102142334f, -3.5363683700561523f});
}

TEST(Random, FillsInMemoryOrder) {
  manual_seed(0);
  const Tensor x = empty({2, 3}).t();
  x.uniform_();
  manual_seed(0);
  EXPECT_TRUE(x.t().equal(rand({2, 3})));
}

TEST(Random, LikeAnotherTensor) {
  const Tensor model = empty({3, 2}, kDouble);
  const auto same = [&](const Tensor& got, const Tensor& want) {
    EXPECT_EQ(got.dtype(), want.dtype());
    EXPECT_TRUE(got.equal(want));
  };
  const auto drawn = [](auto draw) {
    manual_seed(5);
    return draw();
  };
  same(drawn([&] { return rand_like(model); }), drawn([] { return rand({3, 2}, kDouble); }));
  same(drawn([&] { return randn_like(model); }), drawn([] { return randn({3, 2}, kDouble); }));
  same(drawn([&] { return randint_like(model, -3, 4); }), drawn([] {
         return randint(-3, 4, {3, 2}, kDouble);
       }));
  same(drawn([&] { return randint_like(model, 9, kLong); }), drawn([] {
         return randint(0, 9, {3, 2});
       }));
}

TEST(Random, Multinomial) {
  const Tensor weights = tensor({0.1, 0.2, 0.3, 0.4});
  manual_seed(0);
  EXPECT_EQ(longs(multinomial(weights, 3)), (Sizes{2, 1, 3}));
  manual_seed(0);
  EXPECT_EQ(longs(multinomial(tensor({{0.1, 0.2, 0.3, 0.4}, {1.0, 1.0, 1.0, 1.0}}), 1)),
            (Sizes{2, 2}));
  manual_seed(0);
  EXPECT_EQ(longs(multinomial(weights, 8, true)), (Sizes{3, 3, 2, 3, 3, 3, 1, 2}));
  EXPECT_EQ(error_of([&] { multinomial(weights, 5); }),
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  EXPECT_EQ(error_of([] {
              multinomial(tensor({-1.0, 0.2}), 1);
            }),
            "probability tensor contains either `inf`, `nan` or element < 0");
  EXPECT_EQ(error_of([] {
              Tensor out = empty({1}, kInt);
              multinomial_out(out, ones({2}), 1);
            }),
            "Expected out tensor to have dtype long int, but got int instead");
  EXPECT_EQ(error_of([] { multinomial(zeros({2}), 1); }),
            "invalid multinomial distribution (sum of probabilities <= 0)");
}

TEST(Random, Errors) {
  EXPECT_EQ(error_of([] { empty({2}).random_(3, 3); }),
            "random_ expects 'from' to be less than 'to', but got from=3 >= to=3");
  EXPECT_EQ(error_of([] { empty({2}).normal_(0, -1); }),
            "normal expects std >= 0.0, but found std -1");
  EXPECT_EQ(error_of([] { empty({2}).uniform_(2, 1); }),
            "uniform_ expects to return a [from, to) range, but found from=2 > to=1");
  EXPECT_EQ(error_of([] { empty({2}).bernoulli_(2); }),
            "bernoulli_ expects p to be in [0, 1], but got p=2");
  EXPECT_EQ(error_of([] { empty({2}, kChar).random_(0, 300); }),
            "to - 1 is out of bounds for int8");
  EXPECT_THROW(empty({2}, kLong).uniform_(), NotImplementedError);
  EXPECT_EQ(error_of([] { empty({2}).exponential_(0); }),
            "exponential_ expects lambda > 0.0, but found lambda=0");
}

TEST(Dropout, KeepsMeanAndIsTheSameForGradient) {
  manual_seed(5);
  const Tensor x = ones({100000}, requires_grad());
  const Tensor y = dropout(x, 0.25);
  const double kept = y.ne(0).sum().item<double>() / 1e5;
  EXPECT_NEAR(kept, 0.75, 0.01);
  EXPECT_FLOAT_EQ(y.max().item<float>(), 1 / 0.75f);
  y.sum().backward();
  EXPECT_TRUE(x.grad().equal(y.detach()));
  EXPECT_TRUE(dropout(x, 0.25, false).is_same(x));
  EXPECT_EQ(dropout(x, 1.0).sum().item<float>(), 0);
  EXPECT_EQ(error_of([&] { dropout(x, 1.5); }),
            "dropout probability has to be between 0 and 1, but got 1.5");
}

TEST(Dropout, DoesNotDependOnThreads) {
  const int threads = get_num_threads();
  const Tensor x = ones({300001});
  manual_seed(5);
  const Tensor a = dropout(x);
  set_num_threads(threads == 1 ? 2 : 1);
  manual_seed(5);
  const Tensor b = dropout(x);
  set_num_threads(threads);
  EXPECT_TRUE(a.equal(b));
}

TEST(Dropout, InPlaceAndChannels) {
  manual_seed(6);
  const Tensor x = ones({1000});
  dropout_(x, 0.5);
  EXPECT_EQ(x.eq(0).logical_or(x.eq(2)).all().item<bool>(), true);
  const Tensor y = feature_dropout(ones({4, 50, 3, 3}), 0.5);
  EXPECT_TRUE(y.amax({2, 3}).equal(y.amin({2, 3})));
  EXPECT_GT(y.eq(0).sum().item<int64_t>(), 0);
}

TEST(Dropout, AlphaKeepsMeanAndVariance) {
  manual_seed(7);
  const Tensor y = alpha_dropout(randn({200000}), 0.2);
  EXPECT_NEAR(y.mean().item<double>(), 0, 0.02);
  EXPECT_NEAR(y.std().item<double>(), 1, 0.02);
}

TEST(Dropout, AlphaOfWholeChannels) {
  manual_seed(7);
  const Tensor y = feature_alpha_dropout(ones({4, 50, 3, 3}), 0.5);
  EXPECT_TRUE(y.amax({2, 3}).equal(y.amin({2, 3})));
  EXPECT_EQ(std::get<0>(unique(y)).numel(), 2);
}

TEST(Dropout, Gradients) {
  const Tensor x = randn({4, 5}, dtype(kDouble).requires_grad(true));
  const auto f = [](const std::vector<Tensor>& t) {
    manual_seed(8);
    return std::vector<Tensor>{dropout(t[0], 0.5).square()};
  };
  EXPECT_TRUE(autograd::gradcheck(f, {x}));
  EXPECT_TRUE(autograd::gradgradcheck(f, {x}));
}

/// PyTorch's numbers after torch.manual_seed(3).
TEST(Random, GeometricCauchyAndLogNormalArePyTorchs) {
  manual_seed(3);
  const auto expect = [](const Tensor& t, std::initializer_list<double> want) {
    const Tensor values = t.to(kDouble);
    const double* p = values.data_ptr<double>();
    for (double x : want) EXPECT_NEAR(*p++, x, 1e-6 * std::max(1.0, std::fabs(x)));
  };
  const TensorOptions wide = kDouble, whole = kLong;
  expect(empty({4}, wide).cauchy_(1, 2),
         {-17.593224847361967, -0.5844280648642248, 3.310874583284215, -2.2653834187873096});
  expect(empty({4}).geometric_(0.3), {1, 2, 5, 3});
  expect(empty({4}, whole).geometric_(0.3), {3, 1, 5, 2});
  expect(empty({4}, wide).log_normal_(0.5, 0.25),
         {1.3282218718455554, 1.7766689080959954, 1.8308945339551952, 1.616133260367809});
  EXPECT_EQ(error_of([] { empty({2}).geometric_(0); }),
            "geometric_ expects p to be in (0, 1), but got p=0");
  EXPECT_EQ(error_of([] { empty({2}).log_normal_(1, -1); }),
            "log_normal_ expects std > 0.0, but found std=-1");
  EXPECT_EQ(
      error_of([] { empty({2}, kLong).cauchy_(); }),
      "Cauchy distribution is a continuous probability distribution. dtype must be a floating "
      "point but you specified Long");
  EXPECT_THAT(error_of([] { empty({2}, kLong).exponential_(); }),
              ::testing::HasSubstr("Exponential distribution is a continuous"));
  for (const ScalarType t : {kBool, kComplexFloat}) {
    EXPECT_THAT(error_of([t] { arange(3, t); }),
                ::testing::HasSubstr("\"arange\" not implemented"));
    EXPECT_THAT(error_of([t] { randperm(2, t); }),
                ::testing::HasSubstr("\"randperm\" not implemented"));
    EXPECT_THAT(error_of([t] { empty({2}, t).geometric_(0.5); }),
                ::testing::HasSubstr("\"geometric_\" not implemented"));
  }
  EXPECT_THAT(error_of([] { empty({2}, kComplexFloat).bernoulli_(0.5); }),
              ::testing::HasSubstr("\"bernoulli_\" not implemented"));
  EXPECT_THAT(error_of([] { bernoulli(ones({2}, kLong)); }),
              ::testing::HasSubstr("\"bernoulli\" not implemented for 'Long'"));
}

}  // namespace
}  // namespace taeda
