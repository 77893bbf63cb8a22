// What operations make of operands of another kind: wider integers, complex numbers, no elements.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>

#include "taeda/taeda.h"
#include "tests/error_of.h"
#include "tests/ops/tensor_values.h"

namespace taeda {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using Complex = std::complex<double>;

TEST(OperandKinds, AThresholdOfBytesBesideWiderIntegersIsComparedInTheirDtype) {
  const Tensor bytes = tensor({7, 0, 255}, kByte), wide = tensor({5, -5, 3}, kShort);
  const Tensor of_wide = threshold_backward(wide, bytes, -1);
  EXPECT_EQ(of_wide.dtype(), kShort);
  EXPECT_TRUE(equal(of_wide, wide));
  const Tensor of_bytes = threshold_backward(bytes, wide, 3.7);
  EXPECT_EQ(of_bytes.dtype(), kShort);
  EXPECT_TRUE(equal(of_bytes, tensor({7, 0, 0}, kShort)));
}

TEST(OperandKinds, AComplexWeightOfRealEndsIsItsRealPartOrNone) {
  const Tensor start = ones({2}), end = start.mul(3);
  EXPECT_EQ(lerp(start, end, Complex(1, 0)).dtype(), kFloat);
  EXPECT_TRUE(equal(lerp(start, end, Complex(0.5, 0)), tensor({2.f, 2.f})));
  EXPECT_TRUE(equal(start.clone().lerp_(end, Complex(0.5, 0)), tensor({2.f, 2.f})));
  EXPECT_THAT(error_of([&] { lerp(start, end, Complex(0.5, 2)); }),
              HasSubstr("value cannot be converted to type float without overflow"));
}

TEST(OperandKinds, AComplexWeightHasGradients) {
  const Tensor start = ones({1}, kComplexDouble).requires_grad_();
  const Tensor end = zeros({1}, kComplexDouble).requires_grad_();
  view_as_real(lerp(start, end, Complex(0.5, 2))).sum().backward();
  const Complex g(1, 1), w(0.5, 2);  // of both parts; slopes are conjugated
  EXPECT_TRUE(equal(start.grad(), full({1}, g * std::conj(1.0 - w), kComplexDouble)));
  EXPECT_TRUE(equal(end.grad(), full({1}, g * std::conj(w), kComplexDouble)));
}

TEST(OperandKinds, SamplesAtAComplexDistanceHaveComplexSlopes) {
  const Tensor x = tensor({1.0, 4.0, 9.0, 16.0}, kDouble);
  const Tensor slopes = gradient(x, Scalar(Complex(0, 2)), IntArrayRef({0}), 2)[0];
  const Tensor want = tensor({-1.0, -2.0, -3.0, -4.0}, kDouble);
  EXPECT_TRUE(equal(imag(slopes), want));
  EXPECT_TRUE(equal(real(slopes).abs(), zeros({4}, kDouble)));
}

TEST(OperandKinds, MatricesWithoutElementsNeedNotBeSquareToHaveAnInverse) {
  EXPECT_EQ(linalg::pinv(ones({2, 0}), {}, {}, true).sizes(), IntArrayRef({0, 2}));
  EXPECT_THAT(error_of([] {
                linalg::pinv(ones({2, 3}), {}, {}, true);
              }),
              HasSubstr("must be batches of square matrices"));
}

TEST(OperandKinds, AnOuterProductOfBoolsHasTheShapeOfItsFactors) {
  const Tensor yes = ones({3}, kBool), one = ones({1}, kBool), bools = ones({3, 2}, kBool);
  EXPECT_THAT(error_of([&] { addr(bools, yes, one); }), HasSubstr("expanded size of the tensor"));
  EXPECT_THAT(error_of([&] { bools.clone().addr_(yes, one); }),
              HasSubstr("expanded size of the tensor"));
  EXPECT_EQ(addr(one, yes, yes, false).sizes(), IntArrayRef({3, 3}));
}

TEST(OperandKinds, RepetitionsAreCountedByIntegersOfAnySize) {
  const Tensor x = arange(3), counts = tensor({2, 0, 1});
  for (const ScalarType t : {kByte, kChar, kShort, kInt, kLong}) {
    EXPECT_TRUE(equal(x.repeat_interleave(counts.to(t)), tensor({0, 0, 2}))) << t;
    EXPECT_EQ(repeat_interleave(counts.to(t)).dtype(), t);
  }
  // There are more places than a byte has numbers.
  EXPECT_EQ(arange(300).repeat_interleave(ones({300}, kByte))[299].item<int64_t>(), 299);
  EXPECT_THAT(error_of([&] { x.repeat_interleave(counts.to(kFloat)); }),
              HasSubstr("\"repeat_interleave_cpu\" not implemented for 'Float'"));
}

TEST(OperandKinds, OnePointStandsForNoTrapezoid) {
  EXPECT_THAT(error_of([] { trapezoid(ones({2}), tensor(4.0)); }),
              HasSubstr("There must be one `x` value for each sample point"));
}

}  // namespace
}  // namespace taeda
