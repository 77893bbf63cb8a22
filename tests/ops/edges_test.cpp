// Values and gradients at the edges of formulas - NaN, equal bounds, nothing to reduce - and the
// numbers that a seed gives, as PyTorch 2.15 has them: tests/golden/edges.py prints what stands
// here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "taeda/autograd/engine.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/activation.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/special.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/linalg/linalg.h"
#include "taeda/ops/nn/dropout.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/reduce/sort.h"
#include "taeda/ops/reduce/statistics.h"
#include "taeda/ops/shape/join.h"
#include "tests/error_of.h"
#include "tests/ops/tensor_values.h"

namespace taeda {
namespace {

using testing::floats;
using ::testing::HasSubstr;
using testing::longs;
using Floats = std::vector<float>;
using Longs = std::vector<int64_t>;
using Tensors = std::vector<Tensor>;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Tensor numbers(const Floats& list) {
  Tensor out = empty({static_cast<int64_t>(list.size())});
  std::copy(list.begin(), list.end(), out.data_ptr<float>());
  return out;
}

/// The gradients of f's sum; NaN as -99, so that lists compare.
template <class F, class... T>
std::vector<Floats> gradients(F f, const T&... inputs) {
  Tensors leaves = {inputs.clone()...};
  for (Tensor& t : leaves) t.requires_grad_();
  f(leaves).sum().backward();
  std::vector<Floats> out;
  for (const Tensor& t : leaves) out.push_back(floats(t.grad().nan_to_num(-99)));
  return out;
}

const Floats kAround = {1, 2, 3, kNan, 0, 5};

TEST(Edges, ClampByNumbersPassesNothingAtItsBounds) {
  const Tensor x = numbers(kAround);
  EXPECT_EQ(gradients([](const Tensors& t) { return t[0].clamp(1, 3); }, x)[0],
            (Floats{0, 1, 0, 0, 0, 0}));
  EXPECT_EQ(gradients([](const Tensors& t) { return t[0].clamp_min(1); }, x)[0],
            (Floats{0, 1, 1, 0, 0, 1}));
  EXPECT_EQ(gradients([](const Tensors& t) { return t[0].clamp_max(3); }, x)[0],
            (Floats{1, 1, 0, 0, 1, 0}));
}

TEST(Edges, ClampByTensorsSharesAtEqualOnes) {
  const Tensor x = numbers(kAround), one = ones({6}), three = full({6}, 3.0);
  const auto both = [](const Tensors& t) { return clamp(t[0], t[1], t[2]); };
  EXPECT_EQ(gradients([](const Tensors& t) { return t[0].clamp_min(t[1]); }, x, one),
            (std::vector<Floats>{{0.5, 1, 1, 1, 0, 1}, {0.5, 0, 0, 1, 1, 0}}));
  EXPECT_EQ(gradients([](const Tensors& t) { return t[0].clamp_max(t[1]); }, x, three),
            (std::vector<Floats>{{1, 1, 0.5, 1, 1, 0}, {0, 0, 0.5, 1, 0, 1}}));
  EXPECT_EQ(
      gradients(both, x, one, three),
      (std::vector<Floats>{{0.5, 1, 0.5, 1, 0, 0}, {0.5, 0, 0, 0, 1, 0}, {0, 0, 0.5, 0, 0, 1}}));
  EXPECT_EQ(gradients(both, x, three, three),
            (std::vector<Floats>{{0, 0, 1, 1, 0, 0}, {1, 1, 0, 0, 1, 0}, {0, 0, 0, 0, 0, 1}}));
  EXPECT_EQ(gradients(both, x, three, one),
            (std::vector<Floats>{{0, 0, 0, 1, 0, 0}, {0, 0, 0, 0, 0, 0}, {1, 1, 1, 1, 1, 1}}));
}

TEST(Edges, HardswishHasItsOuterGradientsAtThree) {
  const auto g = gradients([](const Tensors& t) { return hardswish(t[0]); }, numbers({3, -3}));
  EXPECT_EQ(g[0], (Floats{1, 0}));
}

TEST(Edges, ExtremesShareGradientsOfNan) {
  const Tensor x = numbers({1, kNan, 3, kNan});
  EXPECT_EQ(gradients([](const Tensors& t) { return t[0].amax(0); }, x)[0],
            (Floats{-99, -99, -99, -99}));
  EXPECT_EQ(gradients([](const Tensors& t) { return std::get<0>(t[0].aminmax()); }, x)[0],
            (Floats{-99, -99, -99, -99}));
  EXPECT_EQ(gradients([](const Tensors& t) { return t[0].max(); }, x)[0], (Floats{0, 0.5, 0, 0.5}));
  EXPECT_EQ(gradients([](const Tensors& t) { return t[0].amax(0); }, numbers({3, 1, 3}))[0],
            (Floats{0.5, 0, 0.5}));
}

TEST(Edges, NanHasNoSignAndComesLastInASearch) {
  for (const ScalarType t : {kFloat, kDouble, kHalf, kBFloat16})
    EXPECT_EQ(floats(sign(numbers({kNan, -2, 0, 3}).to(t)).to(kFloat)), (Floats{0, -1, 0, 1})) << t;
  const Tensor ends = numbers({1, 2, kNan}), values = numbers({kNan, 1, 3});
  EXPECT_EQ(longs(searchsorted(ends, values)), (Longs{2, 0, 2}));
  EXPECT_EQ(longs(searchsorted(ends, values, false, true)), (Longs{3, 1, 2}));
  EXPECT_EQ(longs(searchsorted(numbers({1, kNan, kNan}), numbers({0, kNan, 2}))), (Longs{0, 1, 1}));
}

TEST(Edges, NormsOfNothing) {
  const Tensor none = zeros({0, 3});
  EXPECT_THAT(error_of([&] { linalg::vector_norm(none, INFINITY, {0}); }),
              HasSubstr("linalg.vector_norm cannot compute the inf norm on the dimension 0"));
  EXPECT_THAT(error_of([&] { norm(none, INFINITY); }),
              HasSubstr("linalg.vector_norm cannot compute the inf norm on an empty tensor"));
  EXPECT_THAT(error_of([&] { linalg::vector_norm(none, -1); }),
              HasSubstr("cannot compute the -1 norm"));
  EXPECT_EQ(linalg::vector_norm(none, INFINITY, {1}).sizes(), IntArrayRef({0}));
  EXPECT_EQ(floats(linalg::vector_norm(none, 2, {0})), (Floats{0, 0, 0}));
}

TEST(Edges, TheCovarianceOfOneRowIsANumber) {
  EXPECT_EQ(cov(ones({1, 4})).dim(), 0);
  EXPECT_EQ(cov(ones({2, 4})).sizes(), IntArrayRef({2, 2}));
  EXPECT_EQ(corrcoef(numbers({1, 2, 4}).unsqueeze(0)).item<float>(), 1);
}

TEST(Edges, NumbersOfOtherDtypes) {
  const Tensor x = zeros({3}), mask = tensor({true, false, true});
  EXPECT_EQ(floats(x.clone().index_put_({mask}, scalar_tensor(2, kLong))), (Floats{2, 0, 2}));
  EXPECT_EQ(floats(x.clone().index_put_({mask}, full({1}, 2, kLong))), (Floats{2, 0, 2}));
  EXPECT_THAT(
      error_of([&] { x.clone().index_put_({tensor({0}, kLong)}, scalar_tensor(2, kLong)); }),
      HasSubstr("Index put requires the source and destination dtypes match"));
  EXPECT_THAT(error_of([&] {
                x.clone().index_put_({mask}, full({}, std::complex<double>(0, 1), kComplexDouble));
              }),
              HasSubstr("value cannot be converted to type float"));
  EXPECT_EQ(floats(lerp(zeros({2}), ones({2}), scalar_tensor(0.5, kDouble))), (Floats{0.5, 0.5}));
  EXPECT_EQ(lerp(zeros({2}, kHalf), ones({2}, kHalf), scalar_tensor(0.5, kDouble)).dtype(), kHalf);
  EXPECT_EQ(floats(where(tensor({1, 0, 7}).to(kByte), ones({3}), zeros({3}))), (Floats{1, 0, 1}));
  EXPECT_EQ(logaddexp(ones({2}, kLong), ones({2})).dtype(), kFloat);
}

TEST(Edges, IntegersAreWholeInPlaceToo) {
  const Tensor x = tensor({-1, 2});
  EXPECT_EQ(longs(x.floor_().ceil_().trunc_().round_().to(kLong)), (Longs{-1, 2}));
  EXPECT_THAT(error_of([] { tensor({true}).neg_(); }),
              HasSubstr("Negation, the `-` operator, on a bool tensor"));
}

TEST(Edges, IndicesOf32Bits) {
  const Tensor x = numbers({1, 2, 3}), at = tensor({2, 0}, kInt);
  EXPECT_EQ(floats(x.gather(0, at)), (Floats{3, 1}));
  EXPECT_EQ(floats(zeros({3}).scatter(0, at, numbers({5, 6}))), (Floats{6, 0, 5}));
  EXPECT_EQ(floats(zeros({3}).scatter_add_(0, at, numbers({5, 6}))), (Floats{6, 0, 5}));
  EXPECT_EQ(gradients([&](const Tensors& t) { return t[0].gather(0, at); }, x)[0],
            (Floats{1, 0, 1}));
}

TEST(Edges, RowsToAddHaveSelfsShape) {
  const Tensor at = tensor({0, 1}, kLong);
  EXPECT_EQ(error_of([&] {
              zeros({3, 2}).index_add_(0, at, ones({2, 3}));
            }),
            "source tensor shape must match self tensor shape, excluding the specified dimension. "
            "Got self.shape = [3, 2] source.shape = [2, 3]");
  EXPECT_THAT(error_of([&] {
                zeros({3, 2}).index_add_(0, at, ones({2}));
              }),
              HasSubstr("source tensor shape must match"));
  EXPECT_EQ(
      error_of([&] {
        zeros({3, 2}).index_copy_(0, at, ones({2, 3}));
      }),
      "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice "
      "shape: 2 at dimension 0 and source slice shape: 3 at dimension 0.");
}

TEST(Edges, PartsOfTensorSplitChangeInPlace) {
  Tensor x = ones({4});
  x.requires_grad_();
  const Tensor y = x.mul(1);
  tensor_split(y, 2, 0)[0].mul_(3);
  y.sum().backward();
  EXPECT_EQ(floats(x.grad()), (Floats{3, 3, 1, 1}));
}

TEST(Edges, SeedsGivePyTorchsNumbers) {
  for (const ScalarType t : {kHalf, kBFloat16}) {
    manual_seed(0);
    EXPECT_EQ(floats(bernoulli(full({5}, 0.5).to(t)).to(kFloat)), (Floats{1, 0, 1, 1, 1})) << t;
    manual_seed(0);
    const Tensor drawn = rand({20}, t);
    manual_seed(0);
    EXPECT_TRUE(equal(drawn, rand({20}).to(t))) << t;
    EXPECT_TRUE(rand({100000}, t).lt(1).all().item<bool>()) << t;
  }
  manual_seed(0);
  EXPECT_EQ(floats(feature_dropout(ones({2, 5, 1}), 0.5, true).reshape({-1})),
            (Floats{0, 0, 2, 0, 0, 0, 2, 2, 0, 2}));
  manual_seed(0);
  EXPECT_TRUE(allclose(alpha_dropout(ones({6}), 0.5, true),
                       numbers({-0.7792f, -0.7792f, 1.6656f, -0.7792f, -0.7792f, -0.7792f}), 0,
                       1e-4));
  manual_seed(0);
  EXPECT_TRUE(allclose(feature_alpha_dropout(ones({1, 4, 2}), 0.5, true).select(2, 1).squeeze(0),
                       numbers({-0.7792f, -0.7792f, 1.6656f, -0.7792f}), 0, 1e-4));
}

/// The gradient, weighed with 3, of the gradient by the first input, weighed with 2.
template <class F>
std::vector<Floats> second_gradients(F f, Tensors inputs) {
  for (Tensor& t : inputs) t.requires_grad_();
  const Tensor y = f(inputs);
  const Tensor g = autograd::grad({y}, {inputs[0]}, {full_like(y, 2)}, {}, true)[0];
  std::vector<Floats> out;
  for (const Tensor& t : autograd::grad({g}, inputs, {full_like(g, 3)}, {}, false, true))
    out.push_back(t.defined() ? floats(t) : Floats{});
  return out;
}

TEST(Edges, SecondDerivativesWhereSlopesMeet) {
  const auto of = [](auto f) {
    return second_gradients([f](const Tensors& t) { return f(t[0]); }, {numbers({-1, 0, 1})})[0];
  };
  const auto zero_from_there = ::testing::ElementsAre(::testing::Gt(1), 0, 0);
  EXPECT_THAT(of([](const Tensor& x) { return elu(x); }), zero_from_there);
  EXPECT_THAT(of([](const Tensor& x) { return selu(x); }), zero_from_there);
  EXPECT_THAT(of([](const Tensor& x) { return celu(x); }), zero_from_there);
  const auto by_both = second_gradients([](const Tensors& t) { return prelu(t[0], t[1]); },
                                        {numbers({-1, 0, 1}), numbers({0.5f})});
  EXPECT_EQ(by_both, (std::vector<Floats>{{0, 0, 0}, {6}}));
  EXPECT_EQ(second_gradients([](const Tensors& t) { return linalg::vector_norm(t[0], 3); },
                             {numbers({0, 0})})[0],
            (Floats{0, 0}));
}

TEST(Edges, ProductsThatMeetWithZeros) {
  const Tensor at = tensor({0, 0, 1, 1, 1, 2, 2});
  const auto product = [&](const Tensors& t) { return t[0].scatter_reduce(0, at, t[1], "prod"); };
  const Tensor self = numbers({2, 3, 4, 5}), src = numbers({1, 2, 0, 4, 5, 0, 0});
  EXPECT_EQ(floats(product({self, src})), (Floats{4, 0, 0, 5}));
  EXPECT_EQ(gradients(product, self, src),
            (std::vector<Floats>{{2, 0, 0, 1}, {4, 2, 60, 0, 0, 0, 0}}));
  EXPECT_EQ(second_gradients(product, {self, src}),
            (std::vector<Floats>{{}, {12, 6, 120, 0, 0, 0, 0}}));
}

TEST(Edges, ExtremesThatMeet) {
  const Tensor at = tensor({0, 0, 1, 2}), src = numbers({kNan, 2, 5, 1});
  EXPECT_EQ(floats(numbers({1, 2, 3, 4}).scatter_reduce(0, at, src, "amax").nan_to_num(-99)),
            (Floats{-99, 5, 3, 4}));
  EXPECT_EQ(floats(numbers({1, kNan, 3, 4}).scatter_reduce(0, at, src, "amin").nan_to_num(-99)),
            (Floats{-99, -99, 1, 4}));
  EXPECT_EQ(floats(numbers({1, 9, 3, 4}).scatter_reduce(0, at, src, "amax", false).nan_to_num(-99)),
            (Floats{-99, 5, 1, 4}));
  EXPECT_EQ(longs(tensor({5, 5}).scatter_reduce(0, tensor({1, 1}), tensor({7, 3}), "prod")),
            (Longs{5, 105}));
}

}  // namespace
}  // namespace taeda
