// What the op table cannot say about comparison, clamping and activations: errors and whole-tensor
// answers.
#include "taeda/ops/elementwise/compare.h"

#include <gtest/gtest.h>

#include <cmath>

#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/activation.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/unary.h"
#include "tests/error_of.h"
#include "tests/ops/tensor_values.h"

namespace taeda {
namespace {

using testing::floats;

TEST(Compare, ComplexNumbersHaveNoOrder) {
  const Tensor z = ones({2}, kComplexFloat);
  EXPECT_EQ(error_of([&] { z.lt(z); }), "\"lt\" not implemented for 'ComplexFloat'");
  EXPECT_TRUE(equal(z, z));
}

TEST(Compare, NumbersPromote) {
  EXPECT_TRUE((ones({1}, kLong) < 1.5).item<bool>());
  EXPECT_TRUE((1.5 > ones({1}, kLong)).item<bool>());
  EXPECT_FALSE((full({1}, 2, kByte) == 2.5).item<bool>());
}

TEST(Equal, ComparesSizesAndElements) {
  EXPECT_TRUE(equal(ones({2, 3}), ones({2, 3})));
  EXPECT_FALSE(equal(ones({2, 3}), ones({3, 2})));
  EXPECT_FALSE(equal(ones({2}), zeros({2})));
  EXPECT_FALSE(equal(full({1}, std::nan("")), full({1}, std::nan(""))));
  EXPECT_TRUE(equal(ones({0}), ones({0})));
}

TEST(AllClose, UsesBothTolerances) {
  EXPECT_TRUE(allclose(full({2}, 1.0), full({2}, 1.000001)));
  EXPECT_FALSE(allclose(full({2}, 1.0), full({2}, 1.1)));
  EXPECT_TRUE(allclose(full({1}, std::nan("")), full({1}, std::nan("")), 1e-5, 1e-8, true));
  EXPECT_EQ(error_of([] { isclose(ones({1}), ones({1}, kDouble)); }), "Float did not match Double");
  EXPECT_EQ(error_of([] { isclose(ones({1}), ones({1}), -1); }),
            "rtol must be greater than or equal to zero, but got -1");
  EXPECT_EQ(error_of([] { isclose(ones({1}), ones({1}), 0, -1); }),
            "atol must be greater than or equal to zero, but got -1");
}

/// Where the rounding of float, float16 and the default dtype decides, as in PyTorch 2.15.
TEST(IsClose, IsComputedInTheTypeOfTheTensors) {
  const auto close = [](const Tensor& a, const Tensor& b) { return isclose(a, b).item<bool>(); };
  EXPECT_FALSE(close(tensor(7.389902114868164f), tensor(7.3899760246276855f)));
  EXPECT_TRUE(close(tensor(3.0984103679656982f), tensor(3.0984413623809814f)));
  EXPECT_TRUE(isclose(tensor(0.00022351741790771484).to(kHalf),
                      tensor(0.0002237558364868164).to(kHalf), 1e-3)
                  .item<bool>());
  const Tensor n = tensor({int64_t{1} << 30, int64_t{1} << 24});
  EXPECT_TRUE(isclose(n, n.add(1), 0, 0.5).all().item<bool>());
  EXPECT_FALSE(isclose(n, n.add(1), 0, 0).any().item<bool>());
}

/// PyTorch refuses their gradient in place, because it computes it from the output; here the input
/// is kept.
TEST(Activations, InPlaceWithANegativeSlopeHaveTheirGradient) {
  using Form = Tensor (*)(const Tensor&, bool);
  const Form forms[] = {
      [](const Tensor& t, bool in_place) { return in_place ? elu_(t, -1) : elu(t, -1); },
      [](const Tensor& t, bool in_place) { return in_place ? celu_(t, -1) : celu(t, -1); },
      [](const Tensor& t, bool in_place) {
        return in_place ? leaky_relu_(t, -1) : leaky_relu(t, -1);
      }};
  for (const Form form : forms) {
    const auto gradient = [&](bool in_place) {
      const Tensor x = tensor({-1.0f, 2.0f, -0.25f}).requires_grad_();
      form(x.mul(1), in_place).sum().backward();
      return x.grad();
    };
    EXPECT_TRUE(equal(gradient(true), gradient(false)));
  }
}

TEST(Where, ConditionMustBeBool) {
  EXPECT_EQ(error_of([] { where(ones({2}, kLong), ones({2}), ones({2})); }),
            "where expected condition to be a boolean tensor, but got a tensor with dtype Long");
  EXPECT_EQ(where(ones({2}, kBool), 1.5, 2).dtype(), kFloat);
  EXPECT_EQ(where(ones({2}, kBool), 1, 2).dtype(), kLong);
}

TEST(Where, UnselectedNanDoesNotReachTheGradient) {
  const Tensor x = zeros({1});
  x.requires_grad_();
  where(ones({1}, kBool), x.mul(2), x.div(0)).backward(ones({1}));
  // 0 * inf of the other branch is PyTorch's well-known NaN; the mask itself adds none.
  EXPECT_TRUE(std::isnan(x.grad().item<float>()));
  const Tensor y = ones({1});
  y.requires_grad_();
  where(ones({1}, kBool), y, full({1}, std::nan(""))).backward(ones({1}));
  EXPECT_EQ(y.grad().item<float>(), 1);
}

TEST(Clamp, NeedsABound) {
  EXPECT_EQ(error_of([] { ones({2}).clamp(OptionalScalar()); }),
            "torch.clamp: At least one of 'min' or 'max' must not be None");
  EXPECT_EQ(ones({2}, kLong).clamp(0.5).dtype(), kFloat);
  EXPECT_EQ(full({1}, 9, kByte).clamp_max(4).item<int>(), 4);
}

TEST(Clamp, HardtanhHasNoGradientAtItsBounds) {
  const Tensor y = full({1}, 1.0);
  y.requires_grad_();
  hardtanh(y).backward(ones({1}));
  EXPECT_EQ(y.grad().item<float>(), 0);
}

TEST(Unary, FloatsOnlyWhereNeeded) {
  EXPECT_EQ(ones({2}, kLong).exp().dtype(), kFloat);
  EXPECT_EQ(ones({2}, kLong).abs().dtype(), kLong);
  EXPECT_EQ(ones({2}, kLong).floor().dtype(), kLong);
  EXPECT_EQ(error_of([] { ones({2}, kLong).exp_(); }),
            "result type Float can't be cast to the desired output type Long");
}

TEST(Sine, OfLargeArgumentsIsTheLibrarys) {
  Tensor x = full({64}, 0.5f);
  x.data_ptr<float>()[17] = 1e9f;
  x.data_ptr<float>()[40] = INFINITY;
  const std::vector<float> y = floats(x.sin());
  EXPECT_NEAR(y[17], std::sin(1e9), 1e-6);
  EXPECT_TRUE(std::isnan(y[40]));
  EXPECT_NEAR(y[0], std::sin(0.5), 1e-7);
}

TEST(Activation, RefusesWhatItCannotDo) {
  const Tensor i = ones({2}, kLong);
  EXPECT_EQ(error_of([&] { gelu(i); }), "\"gelu\" not implemented for 'Long'");
  EXPECT_EQ(error_of([] { gelu(ones({2}), "fast"); }),
            "approximate argument must be either none or tanh.");
  EXPECT_EQ(error_of([] { celu(ones({2}), 0); }), "ZeroDivisionError: alpha cannot be 0 for CELU");
  EXPECT_EQ(error_of([] { softshrink(ones({2}), -1); }),
            "lambda must be in range [0, 3.40282e+38] for input dtype Float, but found -1");
  EXPECT_EQ(error_of([] { glu(ones({3})); }),
            "Halving dimension must be even, but dimension 0 is size 3");
  EXPECT_EQ(error_of([] { glu(ones({})); }), "glu does not support 0-dimensional tensors");
  EXPECT_EQ(error_of([] {
              prelu(ones({2, 3}), ones({2}));
            }),
            "Mismatch of parameter numbers and input channel size. Found parameter numbers = 2 and "
            "channel size = 3.");
}

TEST(Relu, GradientAtZeroIsZero) {
  const Tensor x = zeros({1});
  x.requires_grad_();
  x.relu().backward(ones({1}));
  EXPECT_EQ(x.grad().item<float>(), 0);
}

TEST(Relu, InPlaceNeedsNoCopy) {
  const Tensor x = full({3}, -1.0);
  x.requires_grad_();
  const Tensor y = x.mul(-2);
  const void* memory = y.data_ptr();
  y.relu_();
  EXPECT_EQ(y.data_ptr(), memory);
  y.sum().backward();
  EXPECT_EQ(floats(x.grad()), (std::vector<float>{-2, -2, -2}));
}

}  // namespace
}  // namespace taeda
