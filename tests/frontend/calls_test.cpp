// Calls that several overloads could take: braces of one element or none, numbers, enumerators.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <type_traits>

#include "tests/error_of.h"

namespace {

using taeda::error_of;
namespace F = torch::nn::functional;

torch::Tensor floats(std::vector<float> values) { return torch::tensor(values); }
torch::Tensor input() { return floats({-1, -0.4f, 0.2f, 3}).view({2, 2}); }
torch::Tensor target() { return floats({1, -1, 1, 1}).view({2, 2}); }

TEST(Calls, FromBlobTakesStridesInBraces) {
  float data[] = {1, 2, 3, 4, 5, 6};
  EXPECT_TRUE(torch::from_blob(data, {3}, {2}).equal(floats({1, 3, 5})));
  EXPECT_TRUE(torch::from_blob(data, {3}, {2}, torch::kFloat).equal(floats({1, 3, 5})));
  EXPECT_TRUE(torch::from_blob(data, {2, 2}, {1, 3}).equal(floats({1, 4, 2, 5}).view({2, 2})));
  EXPECT_TRUE(torch::from_blob(data, {3}, {}).equal(floats({1, 2, 3})));
  EXPECT_TRUE(torch::from_blob(data, {3}, torch::kFloat).equal(floats({1, 2, 3})));
  int freed = 0;
  {
    torch::from_blob(data, {3}, {2}, [&](void*) { ++freed; });
  }
  EXPECT_EQ(freed, 1);
}

TEST(Calls, ListsThatAreObjectsOrHaveOneElement) {
  const std::vector<int64_t> padding{1, 1}, shape{2};
  EXPECT_TRUE(F::pad(input(), padding).equal(F::pad(input(), {1, 1})));
  EXPECT_TRUE(F::pad(input(), F::PadFuncOptions({1, 1}).value(3))
                  .equal(F::pad(input(), padding, torch::kConstant, 3)));
  EXPECT_TRUE(F::layer_norm(input(), shape).equal(F::layer_norm(input(), {2})));
  const torch::Tensor image = torch::arange(16.0f).view({1, 1, 4, 4});
  EXPECT_TRUE(F::max_pool2d(image, {2}).equal(F::max_pool2d(image, 2)));
  EXPECT_TRUE(F::avg_pool2d(image, {2}).equal(F::avg_pool2d(image, {2, 2})));
  EXPECT_TRUE(F::adaptive_avg_pool2d(image, {2}).equal(F::adaptive_avg_pool2d(image, 2)));
}

TEST(Calls, PaddingInBraces) {
  const torch::Tensor image = torch::arange(4.0f).view({1, 2, 2});
  torch::nn::ZeroPad2dImpl zeros({1, 1, 1, 1});
  EXPECT_TRUE(zeros.forward(image).equal(F::pad(image, {1, 1, 1, 1})));
  torch::nn::ReflectionPad1d mirrored(torch::nn::ReflectionPad1dImpl({1, 0}));
  EXPECT_EQ(mirrored->forward(image).sizes(), at::IntArrayRef({1, 2, 3}));
  torch::nn::ReplicationPad2dImpl one({1});
  EXPECT_EQ(one.forward(image).sizes(), at::IntArrayRef({1, 4, 4}));
  EXPECT_EQ(error_of([] { torch::nn::ZeroPad2dImpl wrong({1, 2}); }),
            "Expected 4 values, but instead got 2");
}

TEST(Calls, ClampWithoutBoundsSaysSo) {
  torch::Tensor x = input(), out = torch::empty({0});
  const std::string words = "torch.clamp: At least one of 'min' or 'max' must not be None";
  EXPECT_EQ(error_of([&] { torch::clamp(x); }), words);
  EXPECT_EQ(error_of([&] { x.clip_(); }), words);
  EXPECT_EQ(error_of([&] { torch::clamp_out(out, x); }), words);
}

TEST(Calls, NumbersAsFlagsOrSizes) {
  const torch::Tensor x = floats({1, 3, 2, 5, 4, 6}).view({2, 3});
  const torch::Tensor order = torch::argsort(x, 1, true);
  EXPECT_TRUE(torch::argsort(x, 0, 1, true).equal(order));
  EXPECT_TRUE(x.argsort(0, 1, true).equal(order));
  EXPECT_TRUE(torch::argsort(x, false, 1, true).equal(order));
  torch::Tensor out = torch::empty({0}, torch::kLong);
  EXPECT_TRUE(torch::argsort_out(out, x, 1, 1, true).equal(order));
  torch::nn::ConvTranspose1d line(torch::nn::ConvTranspose1dOptions(1, 1, 2).stride(2));
  EXPECT_EQ(line->forward(torch::ones({1, 1, 2}), 5).size(2), 5);
}

TEST(Calls, NothingForGeneratorsDistancesAndFactors) {
  torch::Tensor out = torch::empty({2});
  EXPECT_TRUE(torch::bernoulli_out(out, torch::ones({2}), c10::nullopt).equal(torch::ones({2})));
  EXPECT_TRUE(torch::bernoulli(torch::zeros({2}), c10::nullopt).equal(torch::zeros({2})));
  torch::Tensor matrix = torch::ones({2, 2}), product = torch::empty({0});
  EXPECT_NE(error_of([&] { torch::linalg::multi_dot_out(matrix, product); }), "");
  const torch::Tensor x = floats({1, 2, 4, 8});
  const torch::Tensor slopes = torch::gradient(x)[0];
  EXPECT_TRUE(torch::gradient(x, c10::nullopt, c10::nullopt, 1)[0].equal(slopes));
  EXPECT_TRUE(torch::gradient(x, 1, c10::nullopt, 1)[0].equal(slopes));
  EXPECT_TRUE(torch::gradient(x, {floats({0, 1, 2, 3})}, c10::nullopt)[0].equal(slopes));
  const torch::Tensor image = torch::ones({1, 1, 2, 2});
  const std::vector<int64_t> size{4, 4};
  EXPECT_EQ(torch::upsample_nearest2d(image, size, c10::nullopt).size(3), 4);
  EXPECT_EQ(torch::upsample_bilinear2d(image, size, true, c10::nullopt).size(3), 4);
}

TEST(Calls, ComplexNumbersKeepTheirPrecision) {
  EXPECT_EQ(torch::tensor(c10::complex<double>(1, 2)).scalar_type(), torch::kComplexDouble);
  EXPECT_EQ(torch::tensor(c10::complex<float>(1, 2)).scalar_type(), torch::kComplexFloat);
  EXPECT_EQ(torch::tensor({c10::complex<double>(1, 2)}).scalar_type(), torch::kComplexDouble);
}

TEST(Calls, SecondNamesTakeBraces) {
  const torch::Tensor x = input();
  EXPECT_TRUE(torch::fft_fftn(x, {4}, {1}).equal(torch::fft::fftn(x, {4}, {1})));
  EXPECT_TRUE(torch::fft_rfft2(x, {}, {0, 1}).equal(torch::fft::rfft2(x)));
  EXPECT_TRUE(torch::fft_fftshift(x, {0}).equal(torch::fft::fftshift(x, {0})));
  EXPECT_TRUE(torch::linalg_norm(x, 1, {0}).equal(torch::linalg::norm(x, 1, {0})));
  EXPECT_TRUE(
      torch::linalg_matrix_norm(x, "nuc", {0, 1}).equal(torch::linalg::matrix_norm(x, "nuc")));
  EXPECT_TRUE(torch::linalg::linalg_norm(x, 2, {1}).equal(torch::linalg_vector_norm(x, 2, {1})));
  EXPECT_TRUE(torch::linalg_multi_dot({x, x}).equal(x.mm(x)));
  EXPECT_TRUE(torch::special_logsumexp(x, {1}).equal(x.logsumexp({1})));
  torch::Tensor out = torch::empty({0});
  EXPECT_TRUE(torch::linalg_norm_out(out, x, 1, {0}).is_same(out));
  EXPECT_TRUE(out.equal(torch::linalg::norm(x, 1, {0})));
  torch::Tensor rank = torch::empty({0}, torch::kLong);
  torch::linalg_matrix_rank_out(rank, x, torch::tensor(0.5), torch::tensor(0.0));
  EXPECT_TRUE(rank.equal(torch::linalg_matrix_rank(x, torch::tensor(0.5), torch::tensor(0.0))));
  EXPECT_TRUE(torch::linalg_pinv(x, 1e-6).equal(torch::linalg::pinv(x, 1e-6)));
}

TEST(Calls, FormsInPlaceTakeAbsentValues) {
  torch::Tensor x = input(), strided = torch::arange(4.0f);
  EXPECT_TRUE(torch::clamp_(x, {}, 1).equal(input().clamp_max(1)));
  EXPECT_TRUE(torch::clamp_(x, 0, {}).equal(input().clamp(0, 1)));
  EXPECT_TRUE(torch::nan_to_num_(x, {}, 1.0).is_same(x));
  EXPECT_TRUE(torch::as_strided_(strided, {2}, {2}).equal(floats({0, 2})));
}

TEST(Calls, NegativeLogLikelihoodOfPicturesIsOfFourDimensions) {
  const torch::Tensor x = torch::zeros({1, 2, 1, 1}), y = torch::zeros({1, 1, 1}, torch::kLong);
  EXPECT_TRUE(torch::nll_loss2d(x, y).equal(F::nll_loss(x, y)));
  EXPECT_EQ(error_of([&] { torch::nll_loss2d(x.flatten(1), y); }),
            "only batches of spatial inputs supported (4D tensors), but got input of dimension: 2");
  EXPECT_EQ(
      error_of([&] { torch::nll_loss2d(x, y.flatten()); }),
      "only batches of spatial targets supported (3D tensors) but got targets of dimension: 1");
}

TEST(Calls, AReductionOrANumberStandsForOptions) {
  const torch::Tensor x = input(), y = target();
  EXPECT_TRUE(F::mse_loss(x, y, torch::kSum).equal(torch::mse_loss(x, y, at::Reduction::Sum)));
  EXPECT_TRUE(F::l1_loss(x, y, torch::kSum).equal(torch::l1_loss(x, y, at::Reduction::Sum)));
  EXPECT_TRUE(F::huber_loss(x, y, torch::kNone).equal(torch::huber_loss(x, y, 0)));
  EXPECT_TRUE(F::soft_margin_loss(x, y, torch::kSum)
                  .equal(torch::soft_margin_loss(x, y, at::Reduction::Sum)));
  EXPECT_TRUE(
      F::smooth_l1_loss(x, y, torch::kSum).equal(torch::smooth_l1_loss(x, y, at::Reduction::Sum)));
  EXPECT_TRUE(F::smooth_l1_loss(x, y, torch::kSum, 0.5)
                  .equal(torch::smooth_l1_loss(x, y, at::Reduction::Sum, 0.5)));
  EXPECT_TRUE(F::smooth_l1_loss(x, y, F::SmoothL1LossFuncOptions(torch::kSum), 0.5)
                  .equal(torch::smooth_l1_loss(x, y, at::Reduction::Sum, 0.5)));
  const torch::Tensor p = y.abs();
  EXPECT_TRUE(F::kl_div(x, p, torch::kBatchMean).equal(F::kl_div(x, p, torch::kSum) / 2));
  EXPECT_TRUE(F::softshrink(x, 0.25).equal(torch::softshrink(x, 0.25)));
  EXPECT_TRUE(F::softshrink(x, 1).equal(torch::softshrink(x, 1)));
  EXPECT_TRUE(F::hardshrink(x, 0.25f).equal(torch::hardshrink(x, 0.25)));
  EXPECT_TRUE(F::gelu(x, std::string("tanh")).equal(F::gelu(x, "tanh")));
  EXPECT_EQ(error_of([&] { torch::mse_loss(x, y, 7); }),
            "a reduction is 0 (none), 1 (mean) or 2 (sum), but got 7");
  EXPECT_EQ(error_of([&] { torch::mse_loss(x, y, static_cast<taeda::Reduction>(7)); }),
            "a reduction is 0 (none), 1 (mean) or 2 (sum), but got 7");
}

TEST(Calls, EmptyBracesAreDefaultOptions) {
  const torch::Tensor x = input(), y = target();
  EXPECT_TRUE(F::elu(x, {}).equal(F::elu(x, F::ELUFuncOptions())));
  EXPECT_TRUE(F::celu(x, {}).equal(F::celu(x, F::CELUFuncOptions())));
  EXPECT_TRUE(F::leaky_relu(x, {}).equal(F::leaky_relu(x, F::LeakyReLUFuncOptions())));
  EXPECT_TRUE(F::hardtanh(x, {}).equal(F::hardtanh(x, F::HardtanhFuncOptions())));
  EXPECT_TRUE(F::softplus(x, {}).equal(F::softplus(x, F::SoftplusFuncOptions())));
  EXPECT_TRUE(F::softshrink(x, {}).equal(F::softshrink(x, F::SoftshrinkFuncOptions())));
  EXPECT_TRUE(F::glu(x, {}).equal(F::glu(x, F::GLUFuncOptions())));
  EXPECT_TRUE(F::gelu(x, {}).equal(F::gelu(x, F::GELUFuncOptions())));
  EXPECT_TRUE(F::normalize(x, {}).equal(F::normalize(x, F::NormalizeFuncOptions())));
  EXPECT_TRUE(F::smooth_l1_loss(x, y, {}).equal(torch::smooth_l1_loss(x, y)));
  EXPECT_TRUE(F::cross_entropy(x, y, {}).equal(torch::cross_entropy(x, y)));
  EXPECT_TRUE(F::hinge_embedding_loss(x, y, {}).equal(torch::hinge_embedding_loss(x, y)));
  EXPECT_TRUE(F::poisson_nll_loss(x, y, {}).equal(torch::poisson_nll_loss(x, y)));
  EXPECT_TRUE(F::pairwise_distance(x, y, {}).equal(torch::pairwise_distance(x, y)));
  EXPECT_TRUE(F::cosine_similarity(x, y, {}).equal(torch::cosine_similarity(x, y)));
  EXPECT_TRUE(F::triplet_margin_loss(x, y, -y, {}).equal(torch::triplet_margin_loss(x, y, -y)));
  torch::manual_seed(3);
  const torch::Tensor dropped = F::dropout(torch::ones({64}), {});
  torch::manual_seed(3);
  EXPECT_TRUE(dropped.equal(F::dropout(torch::ones({64}), F::DropoutFuncOptions())));
  EXPECT_TRUE(dropped.eq(0).any().item<bool>());
}

TEST(Calls, BinaryCrossEntropyOfAColumnAndAVector) {
  const torch::Tensor x = floats({0.1f, 0.5f, 0.8f}).view({3, 1}).requires_grad_();
  const torch::Tensor y = floats({0, 1, 1}), weight = floats({1, 2, 3});
  const torch::Tensor loss = torch::binary_cross_entropy(x, y, weight);
  EXPECT_TRUE(loss.equal(torch::binary_cross_entropy(x.flatten(), y, weight)));
  EXPECT_EQ(torch::binary_cross_entropy(x, y, {}, at::Reduction::None).sizes(), x.sizes());
  loss.backward();
  EXPECT_EQ(x.grad().sizes(), x.sizes());
  EXPECT_EQ(error_of([&] { F::binary_cross_entropy(x, y); }),
            "Using a target size ([3]) that is different to the input size ([3, 1]) is deprecated. "
            "Please ensure they have the same size.");
  EXPECT_NE(error_of([&] { torch::binary_cross_entropy(x, floats({0, 1})); }), "no error");
}

TEST(Calls, WhatAModuleCannotBeCalledWithIsNoError) {
  EXPECT_FALSE((std::is_invocable_v<torch::nn::Linear&, int>));
  EXPECT_FALSE((std::is_invocable_v<torch::nn::Linear&, std::vector<torch::Tensor>>));
  EXPECT_TRUE((std::is_invocable_v<torch::nn::Linear&, torch::Tensor>));
  EXPECT_TRUE((std::is_invocable_v<torch::nn::Sequential&, torch::Tensor>));
}

TEST(Calls, IndicesOfOtherIntegers) {
  const torch::Tensor x = torch::arange(6).view({2, 3});
  EXPECT_TRUE(x.index({torch::tensor(1, torch::kShort)}).equal(x[1]));
  EXPECT_TRUE(x.index({torch::tensor(-1, torch::kChar)}).equal(x[1]));
  EXPECT_EQ(error_of([&] { x.index({}); }),
            "Passing an empty index list to Tensor::index() is not valid syntax");
  EXPECT_EQ(error_of([&] { x.clone().index_put_({}, 1); }),
            "Passing an empty index list to Tensor::index_put_() is not valid syntax");
  EXPECT_EQ(error_of([&] { x.index({torch::tensor({1}, torch::kShort)}); }),
            "tensors used as indices must be long, int, byte or bool tensors");
}

}  // namespace
