// Interpolation whose elements are means of what they cover, compared with values that PyTorch 2.15
// gave for F.interpolate(x, size, mode=..., antialias=True, align_corners=...).
#include <gtest/gtest.h>

#include "taeda/nn/functional/upsampling.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/reduce/reduce.h"
#include "tests/error_of.h"

namespace taeda {
namespace {

namespace F = nn::functional;

/// arange(24)^1.5 as a picture of 4 x 6.
Tensor picture() { return arange(24).to(kFloat).reshape({1, 1, 4, 6}).pow(1.5); }

F::InterpolateFuncOptions to(std::vector<int64_t> size, Interpolation mode, bool corners) {
  return {.size = size, .mode = mode, .align_corners = corners, .antialias = true};
}

void expect_values(const Tensor& y, std::vector<float> want) {
  ASSERT_EQ(y.numel(), static_cast<int64_t>(want.size()));
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(y.flatten()[static_cast<int64_t>(i)].item<float>(), want[i], 2e-4) << i;
}

TEST(Antialias, ShrinksAsPyTorch) {
  const Tensor x = picture();
  expect_values(F::interpolate(x, to({2, 3}, kBilinear, false)),
                {14.32714f, 20.3322f, 27.39868f, 56.6614f, 67.05463f, 78.0118f});
  expect_values(F::interpolate(x, to({2, 3}, kBilinear, true)),
                {29.40257f, 39.24254f, 46.27832f, 70.90347f, 85.18228f, 94.86807f});
  expect_values(F::interpolate(x, to({2, 3}, kBicubic, false)),
                {10.27697f, 16.3905f, 23.87697f, 59.00569f, 70.74709f, 83.14053f});
  expect_values(F::interpolate(x, to({2, 3}, kBicubic, true)),
                {28.12208f, 39.19422f, 47.15586f, 75.81602f, 92.91277f, 104.39886f});
}

TEST(Antialias, GrowsAsPyTorch) {
  const Tensor x = picture();
  expect_values(F::interpolate(x, to({7, 4}, kBilinear, false)).slice(2, 0, 2),
                {0.375f, 2.48203f, 5.86769f, 9.98771f, 6.00203f, 9.36138f, 13.79176f, 18.79937f});
  expect_values(
      F::interpolate(x, to({7, 4}, kBicubic, false)).slice(2, 5, 7),
      {68.64552f, 77.52666f, 87.83404f, 97.4567f, 81.0015f, 90.41722f, 101.29536f, 111.41109f});
}

TEST(Antialias, KeepsWhatIsConstantAndItsGradient) {
  const Tensor x = full({1, 2, 9, 7}, 3.0).requires_grad_();
  const Tensor y = F::interpolate(x, to({4, 3}, kBicubic, false));
  EXPECT_TRUE(y.allclose(full({1, 2, 4, 3}, 3.0)));
  y.sum().backward();
  EXPECT_NEAR(x.grad().sum().item<double>(), 24, 1e-3) << "the weights of each element sum to 1";
}

TEST(Antialias, OfOtherModesIsAnError) {
  EXPECT_EQ(error_of([] {
              F::interpolate(picture(), {.size = {{2, 3}}, .antialias = true});
            }),
            "Anti-alias option is only supported for bilinear and bicubic modes, but got nearest");
}

}  // namespace
}  // namespace taeda
