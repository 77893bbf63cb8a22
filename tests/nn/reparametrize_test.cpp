// Weight and spectral normalisation, compared with PyTorch 1.13 from the same seed: its values for
// Linear(3, 2) and x = arange(6).reshape(2, 3) / 3, the loss being the sum of squares.
#include "taeda/nn/reparametrize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "taeda/nn/modules/conv.h"
#include "taeda/nn/modules/linear.h"
#include "taeda/taeda.h"
#include "tests/error_of.h"

namespace taeda {
namespace {

using ::testing::ElementsAre;

Tensor input() { return arange(6).to(kFloat).reshape({2, 3}).div(3); }

void expect_values(const Tensor& got, const std::vector<float>& want) {
  EXPECT_TRUE(got.flatten().allclose(tensor(want), 1e-5, 1e-6)) << got;
}

TEST(WeightNorm, IsPyTorchs) {
  manual_seed(0);
  nn::Linear linear(3, 2);
  nn::utils::ComputedWeight computed = nn::utils::weight_norm(linear);
  EXPECT_THAT(linear->named_parameters().keys(), ElementsAre("bias", "weight_g", "weight_v"));
  const Tensor y = linear(input());
  expect_values(y, {-0.22499078512f, 0.48686575889f, -0.39478281140f, -0.00557708740f});
  y.square().sum().backward();
  const auto parameters = linear->named_parameters();
  expect_values(parameters["weight_g"].grad(), {0.70301830768f, 0.06646654754f});
  expect_values(parameters["weight_v"].grad(), {-0.78420841693f, -1.58661019802f, -1.02698576450f,
                                                0.04488708078f, 0.33903419971f, 0.61014407873f});
  computed.remove();
  computed.remove();
  EXPECT_THAT(linear->named_parameters().keys(), ElementsAre("bias", "weight"));
  EXPECT_TRUE(linear(input()).allclose(y));
  EXPECT_TRUE(linear->weight.is_leaf() && linear->weight.requires_grad());
}

TEST(WeightNorm, OfEverything) {
  manual_seed(0);
  nn::Linear linear(3, 2);
  nn::utils::weight_norm(linear, std::nullopt);
  expect_values(linear(input()),
                {-0.22499077022f, 0.48686575889f, -0.39478272199f, -0.0055770874f});
  EXPECT_EQ(linear->named_parameters()["weight_g"].dim(), 0);
}

TEST(WeightNorm, OfAConvolution) {
  nn::Conv2d conv(2, 3, 3);
  const Tensor x = randn({1, 2, 5, 5}), before = conv(x);
  nn::utils::weight_norm(conv);
  EXPECT_EQ(conv->named_parameters()["weight_g"].sizes(), IntArrayRef({3, 1, 1, 1}));
  EXPECT_TRUE(conv(x).allclose(before, 1e-4, 1e-5));
}

TEST(SpectralNorm, IsPyTorchs) {
  manual_seed(0);
  nn::Linear linear(3, 2);
  nn::utils::spectral_norm(linear);
  EXPECT_THAT(linear->named_parameters().keys(), ElementsAre("bias", "weight_orig"));
  EXPECT_THAT(linear->named_buffers().keys(), ElementsAre("weight_u", "weight_v"));
  (void)linear(input());
  const Tensor y = linear(input());
  expect_values(y, {-0.57484519481f, 0.53452426195f, -1.02280163764f, -0.76467102766f});
  y.square().sum().backward();
  expect_values(linear->named_parameters()["weight_orig"].grad(),
                {0.87593746185f, -8.35829830169f, -8.05425167083f, 5.16358041763f, -4.66167545318f,
                 -0.50002288818f});
  expect_values(linear->named_buffers()["weight_u"], {-0.56340748071f, -0.82617914676f});
  linear->eval();
  const Tensor quiet = linear(input());
  EXPECT_TRUE(linear(input()).equal(quiet)) << "no iteration outside of training";
}

TEST(SpectralNorm, BringsTheLargestSingularValueToOne) {
  manual_seed(1);
  nn::ConvTranspose2d conv(3, 4, 2);
  nn::utils::spectral_norm(conv, 50, 1e-12, /*dim=*/1);
  (void)conv(randn({1, 3, 3, 3}));
  const Tensor matrix = conv->weight.detach().movedim(1, 0).flatten(1);
  EXPECT_NEAR(linalg::svdvals(matrix)[0].item<float>(), 1, 1e-4);
}

TEST(SpectralNorm, Errors) {
  EXPECT_EQ(error_of([] { nn::utils::spectral_norm(nn::Linear(2, 2), 0); }),
            "Expected n_power_iterations to be positive, but got n_power_iterations=0");
  nn::Linear linear(2, 2);
  nn::utils::weight_norm(linear);
  EXPECT_EQ(error_of([&] { nn::utils::weight_norm(linear); }),
            "Parameter 'weight_g' already defined");
  EXPECT_THROW(linear->clone(), Error);
}

}  // namespace
}  // namespace taeda
