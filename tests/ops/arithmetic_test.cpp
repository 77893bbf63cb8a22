// What the op table cannot say about arithmetic: type promotion, errors, complex numbers, ties.
#include "taeda/ops/elementwise/arithmetic.h"

#include <gtest/gtest.h>

#include <cmath>

#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/unary.h"
#include "tests/error_of.h"
#include "tests/ops/promotion_golden.h"
#include "tests/ops/tensor_values.h"

namespace taeda {
namespace {

using testing::floats;
using testing::longs;

Tensor ones_of(int dims, const char* dtype) {
  return dims ? ones({2}, dtype_from_name(dtype)) : ones({}, dtype_from_name(dtype));
}

TEST(Promotion, OfTwoTensorsIsPyTorchs) {
  for (const auto& c : testing::kPromotion) {
    const Tensor a = ones_of(c.a_dims, c.a), b = ones_of(c.b_dims, c.b);
    const std::string where =
        std::string(c.a) + std::to_string(c.a_dims) + " " + c.b + std::to_string(c.b_dims);
    EXPECT_STREQ(dtype_name((a + b).dtype()), c.sum) << where;
    EXPECT_STREQ(dtype_name((b + a).dtype()), c.sum) << where;
    EXPECT_STREQ(dtype_name((a / b).dtype()), c.quotient) << where;
  }
}

TEST(Promotion, WithANumberIsPyTorchs) {
  const Scalar numbers[] = {true, 2, 2.5, std::complex<double>(2.5, 1)};
  for (const auto& c : testing::kNumberPromotion)
    for (int i = 0; i < 4; ++i) {
      if (!*c.products[i]) continue;
      const Tensor t = ones_of(c.dims, c.dtype);
      EXPECT_STREQ(dtype_name((t * numbers[i]).dtype()), c.products[i])
          << c.dtype << c.dims << " number " << i;
      EXPECT_STREQ(dtype_name((numbers[i] * t).dtype()), c.products[i])
          << c.dtype << c.dims << " number " << i;
    }
}

TEST(Promotion, MixedDtypesComputeInTheCommonOne) {
  const Tensor a = full({2}, 7, kLong), b = full({2}, 2, kByte);
  EXPECT_EQ(longs(a - b), (std::vector<int64_t>{5, 5}));
  EXPECT_EQ(floats(a / b), (std::vector<float>{3.5f, 3.5f}));
  EXPECT_EQ(floats(a * 0.5), (std::vector<float>{3.5f, 3.5f}));
}

TEST(InPlace, ResultMustFitTheDtype) {
  const Tensor integers = ones({2}, kLong);
  EXPECT_EQ(error_of([&] { integers.add_(1.5); }),
            "result type Float can't be cast to the desired output type Long");
  EXPECT_EQ(error_of([&] { integers.div_(2); }),
            "result type Float can't be cast to the desired output type Long");
  EXPECT_EQ(error_of([&] { ones({2}).mul_(ones({2}, kComplexFloat)); }),
            "result type ComplexFloat can't be cast to the desired output type Float");
  EXPECT_EQ(longs(integers), (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(floats(ones({2}).add_(ones({2}, kLong))), (std::vector<float>{2, 2}));
  EXPECT_EQ(floats(ones({2}).add_(ones({2}, kDouble))), (std::vector<float>{2, 2}));
}

TEST(InPlace, ShapeCannotGrow) {
  EXPECT_EQ(error_of([] {
              ones({3}).add_(ones({2, 3}));
            }),
            "output with shape [3] doesn't match the broadcast shape [2, 3]");
}

TEST(InPlace, RepeatedMemoryIsRefused) {
  const Tensor repeated = ones({1, 3}).expand({2, 3});
  EXPECT_NE(
      error_of([&] { repeated.add_(1); }).find("more than one element of the written-to tensor"),
      std::string::npos);
}

TEST(Arithmetic, ShapesMustBroadcast) {
  EXPECT_EQ(
      error_of([] {
        ones({2, 3}) + ones({4});
      }),
      "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1");
}

TEST(Arithmetic, AlphaMustSuitTheResult) {
  EXPECT_EQ(error_of([] { ones({2}, kLong).add(ones({2}, kLong), 0.5); }),
            "For integral input tensors, argument alpha must not be a floating point number.");
  EXPECT_EQ(error_of([] { ones({2}).add(ones({2}), true); }),
            "Boolean alpha only supported for Boolean results.");
  EXPECT_EQ(error_of([] { ones({2}).add(ones({2}), std::complex<double>(0, 1)); }),
            "For non-complex input tensors, argument alpha must not be a complex number.");
}

TEST(Arithmetic, BoolCannotBeSubtractedOrNegated) {
  const Tensor yes = ones({2}, kBool);
  EXPECT_EQ(error_of([&] { yes - yes; }),
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
            "`logical_xor()` "
            "operator instead.");
  EXPECT_EQ(error_of([&] { ones({2}) - yes; }),
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying "
            "to invert a mask, "
            "use the `~` or `logical_not()` operator instead.");
  EXPECT_EQ(error_of([&] { -yes; }),
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to "
            "invert a mask, use "
            "the `~` or `logical_not()` operator instead.");
  EXPECT_EQ((yes + yes).dtype(), kBool);
}

/// As in PyTorch, which is why `x * 0.1` of bfloat16 is not 0.1001 x.
TEST(Arithmetic, NumbersKeepFloatsDigitsBesideShortFloats) {
  for (const ScalarType t : {kHalf, kBFloat16}) {
    const Tensor x = arange(1, 200, TensorOptions(t)), wide = x.to(kFloat);
    for (const double n : {0.1, 1.7, 3.3e-5, -7.0 / 3}) {
      const Tensor product = wide.mul(n).to(t), quotient = wide.mul(1 / n).to(t);
      EXPECT_TRUE(equal(x.mul(n), product)) << n;
      EXPECT_TRUE(equal(x.clone().mul_(n), product)) << n;
      EXPECT_TRUE(equal(x.div(n), quotient)) << n;
      EXPECT_TRUE(equal(x.clone().div_(n), quotient)) << n;
    }
    const Tensor two = full({1}, 2, t);
    EXPECT_EQ(two.div(0.1, "floor").item<float>(), 19);  // 0.1f is more than a tenth
    EXPECT_EQ(two.clone().div_(0.1, "floor").item<float>(), 19);
    EXPECT_EQ(floor_divide(two, 0.1).item<float>(), 19);
    EXPECT_EQ(x.div(1e6)[0].item<float>(), full({}, 1e-6, t).item<float>());
    const Tensor ends = tensor({-0.f, 0.f, INFINITY}).to(t);
    EXPECT_TRUE(equal(ends.mul(-2).signbit(), tensor({0, 1, 1}).to(kBool)));
    EXPECT_TRUE(equal(ends.div(-2.0).signbit(), tensor({0, 1, 1}).to(kBool)));
    EXPECT_TRUE(ends.mul(0.0)[2].isnan().item<bool>());
    EXPECT_TRUE(ends.div(0.0)[0].isnan().item<bool>());
  }
}

TEST(Division, RoundingModeIsNamed) {
  EXPECT_EQ(error_of([] { ones({2}).div(ones({2}), "up"); }),
            "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found 'up'");
}

TEST(Division, OfIntegersByZeroIsAnError) {
  const Tensor one = ones({2}, kLong), zero = zeros({2}, kLong);
  for (const auto& f : std::vector<std::function<Tensor()>>{
           [&] { return one.floor_divide(zero); }, [&] { return one.div(zero, "trunc"); },
           [&] { return one % zero; }, [&] { return one.fmod(zero); },
           [&] { return one.remainder(0); }, [&] { return one.floor_divide(0); }})
    EXPECT_EQ(error_of(f), "ZeroDivisionError");
  EXPECT_TRUE(std::isinf((ones({}) / 0).item<float>()));
}

TEST(Division, SmallestIntegerByMinusOneWraps) {
  const Tensor smallest = full({1}, INT64_MIN, kLong);
  EXPECT_EQ(longs(smallest.div(-1, "trunc")), std::vector<int64_t>{INT64_MIN});
  EXPECT_EQ(longs(smallest.remainder(-1)), std::vector<int64_t>{0});
}

TEST(Power, NegativeWholeExponentNeedsFloats) {
  EXPECT_EQ(error_of([] { ones({2}, kLong).pow(-1); }),
            "Integers to negative integer powers are not allowed.");
  EXPECT_EQ(longs(full({2}, -3, kLong).pow(3)), (std::vector<int64_t>{-27, -27}));
  EXPECT_EQ(floats(full({1}, 4, kLong).pow(0.5)), std::vector<float>{2});
}

TEST(Power, GradientAtZeroIsFinite) {
  const Tensor x = zeros({2}, kDouble), e = full({2}, 2.0, kDouble);
  x.requires_grad_();
  e.requires_grad_();
  x.pow(e).sum().backward();
  EXPECT_TRUE(equal(x.grad(), zeros({2}, kDouble)));
  EXPECT_TRUE(equal(e.grad(), zeros({2}, kDouble)));
}

TEST(Maximum, EqualOnesShareTheGradient) {
  for (auto op : {&maximum, &minimum}) {
    const Tensor a = ones({2}), b = ones({2});
    a.requires_grad_();
    b.requires_grad_();
    op(a, b).sum().backward();
    EXPECT_EQ(floats(a.grad()), (std::vector<float>{0.5f, 0.5f}));
    EXPECT_EQ(floats(b.grad()), (std::vector<float>{0.5f, 0.5f}));
  }
}

TEST(Maximum, NanPassesTheGradientToBoth) {
  const Tensor a = full({1}, std::nan("")), b = ones({1});
  a.requires_grad_();
  b.requires_grad_();
  maximum(a, b).backward(ones({1}));
  EXPECT_EQ(floats(a.grad()), std::vector<float>{1});
  EXPECT_EQ(floats(b.grad()), std::vector<float>{1});
}

TEST(Lerp, NeedsOneDtypeAndReachesItsEnds) {
  EXPECT_EQ(error_of([] { ones({2}).lerp(ones({2}, kDouble), 0.5); }),
            "expected dtype float for `end` but got dtype double");
  const Tensor a = full({1}, 1e8), b = full({1}, 0.1);
  EXPECT_TRUE(equal(a.lerp(b, 1), b));
  EXPECT_TRUE(equal(a.lerp(b, 0), a));
}

TEST(Addcdiv, RefusesIntegers) {
  const Tensor i = ones({2}, kLong);
  EXPECT_NE(error_of([&] {
              i.addcdiv(i, i);
            }).find("Integer division with addcdiv is no longer supported"),
            std::string::npos);
}

TEST(Complex, ArithmeticAndConjugateGradients) {
  using C = complex<double>;
  const Scalar z(std::complex<double>(3, 4));
  const Tensor a = full({1}, z, kComplexDouble),
               b = full({1}, Scalar(std::complex<double>(1, -2)), kComplexDouble);
  const auto value = [](const Tensor& t) { return *t.data_ptr<C>(); };
  EXPECT_EQ(value(a * b), C(11, -2));
  EXPECT_EQ(value(a / b), C(-1, 2));
  EXPECT_EQ(value(a.conj()), C(3, -4));
  EXPECT_EQ(a.abs().dtype(), kDouble);
  EXPECT_EQ(a.abs().item<double>(), 5);
  EXPECT_NEAR(value(a.exp()).re, std::exp(3) * std::cos(4), 1e-12);
  const Tensor x = a.clone();
  x.requires_grad_();
  (x * b).backward(ones({1}, kComplexDouble));
  EXPECT_EQ(value(x.grad()), C(1, 2));
}

TEST(Arithmetic, OneElementAtATimeEqualsAllAtOnce) {
  // Vector loops, their tails and blocks of threads must agree to the bit.
  const int64_t n = 70001;
  Tensor x = empty({n});
  for (int64_t i = 0; i < n; ++i) x.data_ptr<float>()[i] = static_cast<float>(i) * 1e-4f - 3.5f;
  for (auto f : {&exp, &tanh, &erf, &sin, &sigmoid, &expm1}) {
    const Tensor all = f(x);
    for (int64_t i : {int64_t{0}, int64_t{1}, int64_t{1023}, int64_t{35001}, n - 2, n - 1})
      EXPECT_EQ(f(x.narrow(0, i, 1)).item<float>(), all.data_ptr<float>()[i]) << i;
  }
}

}  // namespace
}  // namespace taeda
