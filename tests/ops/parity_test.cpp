// Corners where results follow PyTorch's (2.15), whatever else would make sense.
#include <gmock/gmock.h>

#include <cmath>

#include "taeda/taeda.h"
#include "tests/error_of.h"

namespace taeda::parity {
namespace {

using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

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
              HasSubstr("for `weight` but got dtype double"));
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

Values kept_of(const Tensor& t) { return values_of(t.ne(0).to(kFloat)); }

TEST(Parity, DropoutDrawsInTheOrderOfMemory) {
  manual_seed(3);
  EXPECT_EQ(kept_of(dropout(ones({20}), 0.4)),
            (Values{1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1, 0, 1}));
  manual_seed(3);
  const Tensor turned = dropout(ones({4, 3}).t(), 0.4);
  EXPECT_EQ(kept_of(turned), (Values{1, 1, 1, 0, 1, 0, 1, 1, 0, 0, 1, 1}));
  EXPECT_EQ(turned.strides(), IntArrayRef({1, 3}));
  manual_seed(3);
  EXPECT_EQ(kept_of(dropout(ones({3, 8}).slice(1, 0, 8, 2), 0.4)),
            (Values{1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 1, 1}));
  manual_seed(3);
  const Tensor long_one = dropout(ones({700}), 0.4);
  EXPECT_EQ(kept_of(long_one.slice(0, 640, 660)),
            (Values{1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1}));
  EXPECT_EQ(long_one.count_nonzero().item<int64_t>(), 432);
}

TEST(Parity, DropoutTakesTwoDrawsForAnElement) {
  manual_seed(3);
  rand({1});
  EXPECT_EQ(kept_of(dropout(ones({20}), 0.4)),
            (Values{0, 1, 1, 0, 1, 1, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1, 1, 1, 1, 1}));
  EXPECT_FLOAT_EQ(rand({1}).item<float>(), 0.4283205270767212f);
}

TEST(Parity, DropoutRoundsItsFactor) {
  manual_seed(3);
  EXPECT_EQ(values_of(dropout(ones({3}, kBFloat16), 0.4)), (Values{1.6640625f, 1.6640625f, 0}));
}

TEST(Parity, AttentionDrawsAsDropoutOfItsWeights) {
  manual_seed(3);
  const Tensor q = ones({1, 1, 3, 4}), v = arange(12, kFloat).view({1, 1, 3, 4});
  const Values got = values_of(scaled_dot_product_attention(q, q, v, {}, 0.4));
  EXPECT_THAT(got, Pointwise(FloatNear(1e-5f),
                             Values{2.2222223f, 3.3333335f, 4.4444447f, 5.5555558f, 0, 0.5555556f,
                                    1.1111112f, 1.6666667f, 6.666667f, 8.333334f, 10, 11.666668f}));
}

/// The gradient is dropped where the input was, whatever strides it comes with.
TEST(Parity, DropoutOfTransposedTensorsHasTheirGradient) {
  const Tensor x = ones({4, 3}, TensorOptions().requires_grad(true));
  const Tensor y = dropout(x.t(), 0.5);
  y.backward(ones({3, 4}));
  EXPECT_EQ(values_of(x.grad()), values_of(y.detach().t().contiguous()));
}

TEST(Parity, ResultTypes) {
  EXPECT_EQ(result_type(ones({2}, kInt), Scalar(1.5)), kFloat);
  EXPECT_EQ(result_type(ones({2}, kInt), ones({}, kDouble)), kDouble);
  EXPECT_EQ(result_type(Scalar(1), ones({2}, kByte)), kByte);
  EXPECT_EQ(result_type(Scalar(1), Scalar(true)), kLong);
}

TEST(Parity, PolynomialsOfEndlessDegreeEnd) {
  for (const double n : {double{INFINITY}, 1e18, 0x1p31}) {
    EXPECT_TRUE(special::laguerre_polynomial_l(floats({0.5}), Scalar(n)).isnan().item<bool>()) << n;
    EXPECT_TRUE(special::chebyshev_polynomial_t(floats({0.5}), Scalar(n)).isnan().item<bool>());
  }
  EXPECT_EQ(values_of(special::hermite_polynomial_h(floats({0.5}), Scalar(-INFINITY))),
            (Values{0}));
}

TEST(Parity, NumbersWithoutDimensionsDoNotRoll) {
  const Tensor x = scalar_tensor(3);
  EXPECT_EQ(error_of([&] { roll(x, 1, 0); }),
            "Dimension specified as 0 but tensor has no dimensions");
  EXPECT_EQ(error_of([&] { fft::fftshift(x, IntArrayRef({0})); }),
            "Dimension specified as 0 but tensor has no dimensions");
  EXPECT_EQ(roll(x, 1).item<float>(), 3);
}

TEST(Parity, MatricesWithInfinitiesHaveNoSingularValues) {
  const Tensor A = floats({1, INFINITY, 0, 1}).view({2, 2});
  const std::string failed =
      "The algorithm failed to converge because the input matrix contained non-finite values.";
  EXPECT_EQ(error_of([&] { linalg::svdvals(A); }), "linalg.svd: " + failed);
  EXPECT_EQ(error_of([&] {
              linalg::svd(stack({eye(2), A}));
            }),
            "linalg.svd: (Batch element 1): " + failed);
}

TEST(Parity, ActivationsOfIntegers) {
  const Tensor x = tensor({-3, 0, 7}), bytes = tensor({3, 0, 9}).to(kByte);
  EXPECT_TRUE(equal(hardtanh(x), tensor({-1, 0, 1})));
  EXPECT_TRUE(equal(hardtanh(x, -1.5, 2.7), tensor({-1, 0, 2})));
  EXPECT_TRUE(equal(hardtanh(bytes), tensor({1, 0, 1}).to(kByte)));
  EXPECT_TRUE(equal(relu6(bytes), tensor({3, 0, 6}).to(kByte)));
  EXPECT_TRUE(equal(hardtanh_(x.clone()), tensor({-1, 0, 1})));
  EXPECT_TRUE(equal(threshold(x, 1.5, 7.5), tensor({7, 7, 7})));
  EXPECT_TRUE(equal(threshold_(x.clone(), 1, 4), tensor({4, 4, 7})));
  EXPECT_TRUE(equal(threshold_backward(x, tensor({1, 2, 3}), 2), tensor({0, 0, 7})));
  EXPECT_EQ(error_of([] { hardtanh(tensor({true})); }), "Bool inputs not supported for hardtanh");
  EXPECT_TRUE(std::isnan(hardtanh(floats({kNan})).item<float>()));
}

TEST(Parity, ProductsWithVectorsPromote) {
  const Tensor x = ones({2, 2}, kChar), v = floats({1, 2}).to(kDouble), w = tensor({1, 2});
  EXPECT_TRUE(equal(addr(x, v, w), tensor({2., 3., 3., 5.}, kDouble).view({2, 2})));
  const Tensor yes = tensor({true, false}), bools = ones({2, 2}, kBool);
  EXPECT_TRUE(equal(addr(bools, yes, yes), bools));
  EXPECT_TRUE(
      equal(addr(bools, yes, yes, false), tensor({true, false, false, false}).view({2, 2})));
  EXPECT_EQ(error_of([&] {
              addr(ones({2, 2}), ones({2}), ones({2}), true);
            }),
            "Boolean beta only supported for Boolean results.");
  EXPECT_EQ(error_of([&] {
              addr(ones({2, 2}, kLong), w, w, 1, 0.5);
            }),
            "For integral input tensors, argument alpha must not be a floating point number.");
}

TEST(Parity, FactorsOfIntegerMatricesAreCut) {
  const Tensor one = ones({2, 2}, kLong);
  EXPECT_TRUE(equal(addmm(one, one, one, 1.7, 2.6), full({2, 2}, 5, kLong)));
  EXPECT_TRUE(equal(baddbmm(one.unsqueeze(0), one.unsqueeze(0), one.unsqueeze(0), 2.6),
                    full({1, 2, 2}, 4, kLong)));
  EXPECT_TRUE(equal(addmv(ones({2}, kLong), one, ones({2}, kLong), 1.7), full({2}, 3, kLong)));
}

TEST(Parity, ScansInPlaceKeepTheirDtype) {
  EXPECT_THAT(error_of([] {
                tensor({1, 2}).cumsum_(0, kFloat);
              }),
              HasSubstr("Bad in-place call: input tensor dtype"));
  EXPECT_THAT(error_of([] { tensor({1, 2}).cumprod_(0, kFloat); }), HasSubstr("should match"));
  EXPECT_TRUE(equal(tensor({1, 2}).cumsum_(0), tensor({1, 3})));
}

TEST(Parity, BoolsAndComplexNumbersAreNotSearched) {
  EXPECT_EQ(error_of([] { isin(ones({2}), Scalar(true)); }),
            "Unsupported input type encountered for isin(): Bool");
  EXPECT_EQ(error_of([] { isin(Scalar(std::complex<double>(1, 1)), ones({2})); }),
            "Unsupported input type encountered for isin(): ComplexDouble");
}

TEST(Parity, NextNumbersOf16Bits) {
  const Tensor from = floats({1, -1, 0, 0, 2, kNan, 65504}),
               to = floats({2, 0, 1, -1, 2, 1, INFINITY});
  const Tensor half = nextafter(from.to(kHalf), to.to(kHalf));
  EXPECT_EQ(half.dtype(), kHalf);
  EXPECT_EQ(values_of(half.index({Slice(0, 5)})),
            (Values{1 + 0x1p-10f, -1 + 0x1p-11f, 0x1p-24f, -0x1p-24f, 2}));
  EXPECT_TRUE(half[5].isnan().item<bool>());
  EXPECT_TRUE(half[6].isinf().item<bool>());
  EXPECT_EQ(values_of(nextafter(floats({1}).to(kBFloat16), floats({2}).to(kBFloat16))),
            (Values{1 + 0x1p-7f}));
}

TEST(Parity, ComplexEndsMakeComplexSpaces) {
  const std::complex<double> end(1, 1);
  const Tensor line = linspace(0, end, 3), powers = logspace(0, end, 2);
  EXPECT_EQ(line.dtype(), kComplexFloat);
  EXPECT_EQ(values_of(view_as_real(line)), (Values{0, 0, 0.5, 0.5, 1, 1}));
  EXPECT_NEAR(real(powers)[1].item<float>(), -6.682015F, 1e-4);
  EXPECT_NEAR(imag(powers)[1].item<float>(), 7.439804F, 1e-4);
  EXPECT_THAT(error_of([&] { linspace(0, end, 3, kFloat); }),
              HasSubstr("can't be safely cast to passed dtype Float"));
}

TEST(Parity, BoolsAsNumbers) {
  const Tensor x = tensor({true, false});
  EXPECT_TRUE(equal(square(x), tensor({1, 0})));
  EXPECT_EQ(values_of(diff(x, 1, 0, floats({1.5}))), (Values{-0.5, -1}));
  EXPECT_TRUE(equal(x.pow(Scalar(true)), x));
  EXPECT_TRUE(equal(x.pow(Scalar(false)), tensor({true, true})));
  EXPECT_TRUE(equal(masked_fill(x, x, Scalar(std::complex<double>(1, 0))), x));
}

TEST(Parity, EmptyIndicesHaveAnyDtype) {
  const Tensor x = floats({1, 2}), none = floats({});
  EXPECT_EQ(x.gather(0, none).numel(), 0);
  EXPECT_TRUE(equal(x.scatter(0, none, 1), x));
  EXPECT_TRUE(equal(x.scatter_add(0, none, scalar_tensor(1)), x));
  EXPECT_TRUE(equal(take_along_dim(x, none), none));
  EXPECT_THAT(error_of([&] { x.scatter(0, ones({1}), 1); }),
              HasSubstr("Expected dtype int32/int64 for index"));
}

TEST(Parity, ANumberIsAListOfOneInScatter) {
  const Tensor x = floats({1, 2}), at = tensor({0}), first = scalar_tensor(0, kLong);
  EXPECT_EQ(values_of(x.scatter_add(0, at, scalar_tensor(1))), (Values{2, 2}));
  EXPECT_EQ(values_of(x.scatter_add(0, first, floats({1}))), (Values{2, 2}));
  EXPECT_EQ(values_of(x.scatter_reduce(0, first, floats({5}), "amax")), (Values{5, 2}));
  EXPECT_EQ(scalar_tensor(3).scatter_reduce(0, at, floats({4}), "sum").item<float>(), 7);
  EXPECT_EQ(error_of([&] { x.scatter_reduce(0, at, tensor({1}), "sum"); }),
            "scatter(): Expected self.dtype to be equal to src.dtype");
}

TEST(Parity, LogitsBetweenBoundsThatCross) {
  EXPECT_EQ(values_of(logit(floats({0.3F, 1, 2}), 1.0)), (Values{INFINITY, -INFINITY, -INFINITY}));
}

TEST(Parity, MomentsOfComplexNumbers) {
  const Tensor x = make_complex(floats({1, 2, 0}), floats({1, 0, 3}));
  EXPECT_NEAR(var(x).item<float>(), 10. / 3, 1e-5);
  EXPECT_NEAR(std::get<0>(std_mean(x, IntArrayRef({0}))).item<float>(), std::sqrt(10. / 3), 1e-5);
  EXPECT_NEAR(l1_loss(x, zeros_like(x)).item<float>(), (std::sqrt(2) + 2 + 3) / 3, 1e-5);
  const Tensor leaf = x.clone().requires_grad_();
  var(leaf).backward();
  EXPECT_EQ(values_of(view_as_real(leaf.grad()).select(1, 0)), (Values{0, 1, -1}));
}

TEST(Parity, NormsOfIntegersAreErrors) {
  EXPECT_EQ(error_of([] {
              norm(tensor({1, 2}), 2, kFloat);
            }),
            "linalg.vector_norm: Expected a floating point or complex tensor as input. Got Long");
  EXPECT_EQ(error_of([] { linalg::vecdot(tensor({1}), tensor({1})); }),
            "linalg.vecdot: Expected a floating point or complex tensor as input. Got Long");
  EXPECT_EQ(error_of([] { kl_div(tensor({1}), ones({1})); }),
            "kl_div: Integral inputs not supported.");
  EXPECT_EQ(error_of([] { cosine_similarity(tensor({1}), tensor({1}), 0); }),
            "expected common dtype to be floating point, yet common dtype is Long");
  EXPECT_NEAR(cosine_similarity(tensor({1, 2}), floats({3, 4}), 0).item<float>(), 0.98387, 1e-5);
  EXPECT_EQ(values_of(norm_except_dim(floats({1, -2}), 0, 0)), (Values{1, 1}));
  EXPECT_EQ(error_of([] { norm_except_dim(ones({}), 2, 0); }),
            "Dimension specified as 0 but tensor has no dimensions");
}

TEST(Parity, ShapesThatAreRefused) {
  EXPECT_EQ(error_of([] {
              prelu(ones({2, 3}), ones({1, 3}));
            }),
            "prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = 2");
  EXPECT_EQ(error_of([] { index_fill(ones({2}), 0, tensor({0}), std::complex<double>(1, 0)); }),
            "index_fill_(): Converting complex Scalar to non-complex type is not supported");
  EXPECT_EQ(margin_ranking_loss(floats({1, 2}), ones({}), ones({2, 2})).item<float>(), 0);
  EXPECT_EQ(linalg::vander(scalar_tensor(0.5), 3).sizes(), IntArrayRef({1, 3}));
  const Tensor leaf = ones({2, 2}).requires_grad_();
  linalg::matrix_power(leaf, 0).sum().backward();
  EXPECT_EQ(values_of(leaf.grad()), (Values{0, 0, 0, 0}));
}

TEST(Parity, OnlyMatricesAreTransposed) {
  const Tensor number = scalar_tensor(3), list = ones({2});
  for (const Tensor& t : {number.mT(), number.mH(), number.adjoint(), number.matrix_H()})
    EXPECT_EQ(t.item<float>(), 3);
  const std::string refused =
      " is only supported on matrices or batches of matrices. Got 1-D tensor.";
  EXPECT_EQ(error_of([&] { list.mT(); }), "tensor.mT" + refused);
  EXPECT_EQ(error_of([&] { list.mH(); }), "tensor.mH" + refused);
  EXPECT_EQ(error_of([&] { list.adjoint(); }), "tensor.adjoint()" + refused);
  EXPECT_EQ(error_of([&] { list.matrix_H(); }),
            "tensor.H is only supported on matrices (2-D tensors). Got 1-D tensor.");
  EXPECT_EQ(error_of([] {
              ones({2, 2, 2}).matrix_H();
            }),
            "tensor.H is only supported on matrices (2-D tensors). Got 3-D tensor. For batches of "
            "matrices, consider using tensor.mH");
}

TEST(Parity, GradientsOfTiesAndOfComplexSinc) {
  const Tensor a = floats({1, 2, 3}).requires_grad_(), b = floats({1, kNan, 5}).requires_grad_();
  fmax(a, b).sum().backward();
  EXPECT_EQ(values_of(a.grad()), (Values{0.5, 1, 0}));
  EXPECT_EQ(values_of(b.grad()), (Values{0.5, 0, 1}));
  const Tensor z = full({}, std::complex<double>(-3.5, -2.9), kComplexDouble).requires_grad_();
  const Tensor y = sinc(z);
  (real(y) + imag(y) * 0.5).backward();
  const double h = 1e-6;
  const auto at = [&](std::complex<double> by) {
    const Tensor moved = sinc(z.detach() + Scalar(by));
    return (real(moved) + imag(moved) * 0.5).item<double>();
  };
  const auto grad = z.grad().item<std::complex<double>>();
  EXPECT_NEAR(grad.real() / ((at(h) - at(-h)) / (2 * h)), 1, 1e-6);
  EXPECT_NEAR(grad.imag() / ((at({0, h}) - at({0, -h})) / (2 * h)), 1, 1e-6);
}

TEST(Parity, RowsToFillCountFromTheEnd) {
  EXPECT_EQ(values_of(index_fill(zeros({3}), 0, tensor({-1, 0}), 2)), (Values{2, 0, 2}));
}

TEST(Parity, WhatRandomProgramsFound) {
  EXPECT_NEAR(round(floats({-2.650390625}).to(kHalf), 1).item<float>(), -2.7, 1e-3);
  EXPECT_EQ(values_of(diff(floats({1, 2}), 0, -1, floats({5}))), (Values{1, 2}));
  EXPECT_EQ(error_of([] {
              ones({2, 2}).scatter(0, tensor({0}), ones({1}), "multiply");
            }),
            "Index tensor must have the same number of dimensions as self tensor");
  EXPECT_THAT(error_of([] { ones({1}).scatter(0, tensor({2}), ones({1}), "multiply"); }),
              HasSubstr("out of bounds"));
  const Tensor z = make_complex(floats({1, 2}), floats({3, 4}));
  EXPECT_TRUE(equal(z.scatter_reduce(0, tensor({0}), z.narrow(0, 1, 1), "mean"),
                    make_complex(floats({1.5, 2}), floats({3.5, 4}))));
  const Tensor strided = z.expand({3, 2}).t();
  EXPECT_TRUE(equal(strided.nan_to_num(), strided));
}

TEST(Parity, ScatteringIntoStridesKeepsThePlacesOfTheStorage) {
  const Tensor x = arange(8.0f).as_strided({2, 2}, {3, 1}, 1);
  const Tensor y = as_strided_scatter(x, floats({-1, -2}).reshape({1, 2}), {1, 2}, {1, 1}, 2);
  EXPECT_EQ(values_of(y), (Values{1, -1, 4, 5}));
  EXPECT_EQ(y.strides(), x.strides());
  EXPECT_EQ(y.storage_offset(), 1);
  const Tensor leaf = arange(6.0f).requires_grad_(), src = zeros({2}).requires_grad_();
  as_strided_scatter(leaf.narrow(0, 1, 4), src, {2}, {2}, 1)
      .mul(floats({1, 2, 3, 4}))
      .sum()
      .backward();
  EXPECT_EQ(values_of(leaf.grad()), (Values{0, 0, 2, 0, 4, 0}));
  EXPECT_EQ(values_of(src.grad()), (Values{1, 3}));
}

TEST(Parity, QuantilesDependOnTheirPlace) {
  const Tensor q = floats({0.25f, 0.5f}).requires_grad_();
  quantile(floats({1, 2, 4, 8}), q).sum().backward();
  EXPECT_EQ(values_of(q.grad()), (Values{3, 6}));
}

TEST(Parity, ALogitWithoutBoundsHasNoSlopeOutsideOfItsRange) {
  const Tensor x = floats({0.25f, 2}).requires_grad_();
  logit(x, -1.0).sum().backward();
  EXPECT_NEAR(x.grad()[0].item<float>(), 16.0 / 3, 1e-5);
  EXPECT_TRUE(std::isnan(x.grad()[1].item<float>()));
}

TEST(Parity, LossesTakeBoolsAsTargets) {
  const Tensor x = floats({3, 0}).requires_grad_(), target = tensor({true, false});
  mse_loss(x, target, Reduction::Sum).backward();
  EXPECT_EQ(values_of(x.grad()), (Values{4, 0}));
}

TEST(Parity, WhatAnEmptyIndexDoesNotReadHasAGradientOfItsOwnShape) {
  const Tensor nothing = zeros({0}, kLong);
  for (const bool add : {false, true})
    for (const Tensor& shape : {ones({}), ones({2, 3})}) {
      const Tensor x = zeros({3}).requires_grad_(), src = shape.clone().requires_grad_();
      (add ? x.scatter_add(0, nothing, src) : x.scatter(0, nothing, src)).sum().backward();
      EXPECT_EQ(values_of(x.grad()), (Values{1, 1, 1}));
      EXPECT_TRUE(equal(src.grad(), zeros_like(src)));
    }
  const Tensor x = zeros({3}).requires_grad_(), src = ones({2}).requires_grad_();
  x.scatter(0, scalar_tensor(1, kLong), src).mul(floats({5, 6, 7})).sum().backward();
  EXPECT_EQ(values_of(src.grad()), (Values{6, 0}));
}

TEST(Parity, ADimensionOfOneMayHaveAnyStrideInAComplexView) {
  const Tensor z = view_as_complex(arange(6.0f).as_strided({1, 3, 2}, {1, 2, 1}));
  EXPECT_EQ(values_of(view_as_real(z)), (Values{0, 1, 2, 3, 4, 5}));
}

TEST(Parity, TolerancesHoldForBools) {
  EXPECT_TRUE(allclose(tensor({true, false}), tensor({true, true}), 0, 1));
  EXPECT_FALSE(allclose(tensor({true, false}), tensor({true, true}), 0, 0.5));
}

TEST(Parity, NoNumberIsNotPositiveDefinite) {
  try {
    linalg::inv(eye(2));
  } catch (const NotImplementedError&) {
    GTEST_SKIP() << "no LAPACK";
  }
  const Tensor a = floats({4, kNan, kNan, 1}).reshape({2, 2});
  EXPECT_EQ(std::get<1>(linalg::cholesky_ex(a)).item<int64_t>(), 2);
  EXPECT_THAT(error_of([&] { linalg::cholesky(a); }), HasSubstr("leading minor of order 2"));
}

TEST(Parity, LogisticLossesHaveTheirSlopeAtZero) {
  const Tensor x = floats({0, 2}).requires_grad_(), y = floats({2, -1});
  soft_margin_loss(x, y, Reduction::Sum).backward();
  EXPECT_NEAR(x.grad()[0].item<float>(), -1, 1e-6);
  const Tensor logits = zeros({1}).requires_grad_(), one = ones({1});
  binary_cross_entropy_with_logits(logits, one, Tensor(), full({1}, 3.0)).backward();
  EXPECT_NEAR(logits.grad().item<float>(), -1.5, 1e-6);
}

}  // namespace
}  // namespace taeda::parity
