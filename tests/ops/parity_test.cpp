// Corners where results follow PyTorch's (2.15), whatever else would make sense.
#include <gmock/gmock.h>

#include <cmath>

#include "taeda/taeda.h"
#include "tests/error_of.h"

namespace taeda::parity {
namespace {

using ::testing::HasSubstr;

constexpr float kNan = NAN;

Tensor floats(std::vector<float> values) { return tensor(values); }

std::vector<float> values_of(const Tensor& t) {
  const Tensor flat = t.detach().to(kFloat).flatten().contiguous();
  const float* first = flat.data_ptr<float>();
  return {first, first + flat.numel()};
}

using Values = std::vector<float>;

TEST(Parity, OneValueWhereAMaskChoosesIsConverted) {
  const Tensor x = zeros({3});
  x.index_put_({tensor({true, false, true})}, scalar_tensor(2, kLong));
  EXPECT_EQ(values_of(x), (Values{2, 0, 2}));
  const Tensor rows = zeros({2, 2});
  rows.index_put_({Slice(), tensor({false, true})}, ones({1}, kDouble));
  EXPECT_EQ(values_of(rows), (Values{0, 1, 0, 1}));
  EXPECT_THAT(error_of([] { zeros({3}).index_put_({tensor({0})}, scalar_tensor(2, kLong)); }),
              HasSubstr("Index put requires the source and destination dtypes match"));
}

TEST(Parity, BytesAreMasksOfWhere) {
  const Tensor mask = tensor({1, 0}).to(kByte);
  EXPECT_EQ(values_of(where(mask, ones({2}), zeros({2}))), (Values{1, 0}));
  const Tensor x = ones({2}).requires_grad_();
  where(mask, x, 5).sum().backward();
  EXPECT_EQ(values_of(x.grad()), (Values{1, 0}));
  EXPECT_THAT(error_of([] {
                where(tensor({1, 0}), ones({2}), zeros({2}));
              }),
              HasSubstr("where expected condition to be a boolean tensor"));
}

TEST(Parity, TrueIsOneBeforeAMinus) {
  EXPECT_EQ(values_of(true - floats({0.25f, 1})), (Values{0.75f, 0}));
  EXPECT_EQ((true - arange(2)).dtype(), kLong);
  EXPECT_THAT(error_of([] { rsub(ones({2}), Scalar(true)); }), HasSubstr("with a bool tensor"));
}

TEST(Parity, AWeightWithoutDimensionsIsConverted) {
  EXPECT_EQ(values_of(lerp(zeros({2}), ones({2}), scalar_tensor(0.5, kDouble))),
            (Values{0.5f, 0.5f}));
  EXPECT_THAT(error_of([] { lerp(zeros({2}), ones({2}), ones({2}, kDouble)); }),
              HasSubstr("for `weight` but got dtype Double"));
}

TEST(Parity, PartsOfTensorSplitChangeInPlace) {
  const Tensor x = ones({5}).requires_grad_();
  const Tensor y = x.mul(1);
  const std::vector<Tensor> parts = tensor_split(y, 2, 0);
  ASSERT_EQ(parts[0].numel(), 3);
  parts[0].mul_(3);
  y.sum().backward();
  EXPECT_EQ(values_of(x.grad()), (Values{3, 3, 3, 1, 1}));
}

TEST(Parity, BoolsHaveNoNegative) {
  EXPECT_THAT(error_of([] { tensor({true}).neg_(); }), HasSubstr("Negation, the `-` operator"));
}

TEST(Parity, ALargestOfNothingIsAnError) {
  const auto error = [](IntArrayRef dims, double p) {
    return error_of([&] { norm(zeros({0, 3}), p, dims); });
  };
  EXPECT_THAT(error({0}, INFINITY), HasSubstr("cannot compute the inf norm on the dimension 0"));
  EXPECT_THAT(error({0}, -1), HasSubstr("cannot compute the -1 norm on the dimension 0"));
  EXPECT_EQ(values_of(norm(zeros({0, 3}), 2, {0})), (Values{0, 0, 0}));
  EXPECT_EQ(norm(zeros({0, 3}), INFINITY, {1}).numel(), 0);
  EXPECT_THAT(error_of([] { norm(zeros({0}), INFINITY); }), HasSubstr("on an empty tensor"));
}

TEST(Parity, CovarianceOfOneVariableIsANumber) {
  EXPECT_EQ(cov(ones({1, 4})).dim(), 0);
  EXPECT_EQ(cov(ones({2, 4})).dim(), 2);
}

TEST(Parity, SignOfNanIsZero) {
  EXPECT_EQ(values_of(sign(floats({kNan, 2, -3, 0}))), (Values{0, 1, -1, 0}));
}

TEST(Parity, HardswishAtItsCorners) {
  const Tensor x = floats({3, -3, 0}).requires_grad_();
  hardswish(x).sum().backward();
  EXPECT_EQ(values_of(x.grad()), (Values{1, 0, 0.5f}));
}

TEST(Parity, NothingIsBehindNan) {
  const Tensor sorted = floats({1, 2, kNan}), wanted = floats({kNan, 1, 3});
  EXPECT_EQ(values_of(searchsorted(sorted, wanted)), (Values{3, 0, 3}));
  EXPECT_EQ(values_of(searchsorted(sorted, wanted, false, true)), (Values{3, 1, 3}));
}

TEST(Parity, GradientsOfClampAtItsBounds) {
  const auto gradients = [](std::vector<Tensor> in, auto f) {
    for (Tensor& t : in) t.requires_grad_();
    f(in).sum().backward();
    std::vector<Values> out;
    for (const Tensor& t : in) out.push_back(values_of(t.grad()));
    return out;
  };
  using Out = std::vector<Values>;
  EXPECT_EQ(gradients({floats({1, 2, 3, 0, 4})}, [](auto& t) { return t[0].clamp(1, 3); }),
            (Out{{0, 1, 0, 0, 0}}));
  EXPECT_EQ(gradients({floats({1, 2, 0})}, [](auto& t) { return t[0].clamp_min(1); }),
            (Out{{0, 1, 0}}));
  EXPECT_EQ(gradients({floats({1, 2, 0}), floats({1, 1, 1})},
                      [](auto& t) { return clamp_max(t[0], t[1]); }),
            (Out{{0.5f, 0, 1}, {0.5f, 1, 0}}));
  EXPECT_EQ(gradients({floats({1, 2, 3, 0, 4, 2}), floats({1, 1, 1, 1, 1, 2}),
                       floats({3, 3, 3, 3, 3, 2})},
                      [](auto& t) { return clamp(t[0], std::optional(t[1]), t[2]); }),
            (Out{{0.5f, 1, 0.5f, 0, 0, 1}, {0.5f, 0, 0, 1, 0, 0}, {0, 0, 0.5f, 0, 1, 0}}));
  EXPECT_EQ(gradients({floats({1, 4}), floats({3, 3}), floats({2, 2})},
                      [](auto& t) { return clamp(t[0], std::optional(t[1]), t[2]); }),
            (Out{{0, 0}, {0, 0}, {1, 1}}));
}

TEST(Parity, DrawsOfReducedPrecisionAreThoseOfFloat) {
  for (const ScalarType dtype : {kFloat, kBFloat16, kHalf}) {
    manual_seed(0);
    EXPECT_EQ(values_of(bernoulli(full({5}, 0.5).to(dtype))), (Values{1, 0, 1, 1, 1})) << dtype;
  }
}

TEST(Parity, DropoutOfFeaturesDraws) {
  manual_seed(0);
  EXPECT_EQ(values_of(feature_dropout(ones({2, 5, 1}), 0.5, true)),
            (Values{0, 0, 2, 0, 0, 0, 2, 2, 0, 2}));
  manual_seed(0);
  const Tensor alpha = alpha_dropout(ones({6}), 0.5, true).sub(1.6656f).abs().lt(1e-3);
  EXPECT_EQ(values_of(alpha), (Values{0, 0, 1, 0, 0, 0}));
}

TEST(Parity, ResultTypes) {
  EXPECT_EQ(result_type(ones({2}, kInt), Scalar(1.5)), kFloat);
  EXPECT_EQ(result_type(ones({2}, kInt), ones({}, kDouble)), kDouble);
  EXPECT_EQ(result_type(Scalar(1), ones({2}, kByte)), kByte);
  EXPECT_EQ(result_type(Scalar(1), Scalar(true)), kLong);
}

}  // namespace
}  // namespace taeda::parity
