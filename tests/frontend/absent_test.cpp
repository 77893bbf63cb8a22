// Absent values where libtorch's programs write c10::nullopt: dimensions, sizes, tolerances.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <tuple>
#include <type_traits>

namespace {

torch::Tensor numbers() { return torch::tensor({-1.0f, -0.5f, 0.25f, 3.0f}).view({2, 2}); }

TEST(Absent, DimensionsAreAll) {
  const torch::Tensor x = numbers();
  EXPECT_TRUE(torch::sum(x, c10::nullopt, true).equal(x.sum().view({1, 1})));
  EXPECT_TRUE(x.sum(c10::nullopt, false, torch::kDouble).equal(x.sum(torch::kDouble)));
  EXPECT_TRUE(torch::mean(x, c10::nullopt, true).equal(x.mean().view({1, 1})));
  EXPECT_TRUE(x.nansum(c10::nullopt, true).equal(x.sum().view({1, 1})));
  EXPECT_TRUE(torch::nanmean(x, c10::nullopt).equal(x.mean()));
  EXPECT_TRUE(torch::std(x, c10::nullopt, false).equal(x.std(false)));
  EXPECT_TRUE(x.var(c10::nullopt, 0, true).equal(x.var(false).view({1, 1})));
  EXPECT_TRUE(std::get<0>(torch::var_mean(x, c10::nullopt, 1)).equal(x.var()));
  EXPECT_TRUE(std::get<1>(torch::std_mean(x, c10::nullopt, 1)).equal(x.mean()));
  EXPECT_TRUE(torch::linalg_norm(x, c10::nullopt, c10::nullopt).equal(torch::linalg_norm(x)));
  EXPECT_TRUE(
      torch::linalg_norm(x, 1, c10::nullopt, true).equal(torch::linalg_norm(x, 1, {}, true)));
  EXPECT_TRUE(torch::linalg_vector_norm(x, 1, c10::nullopt).equal(x.abs().sum()));
  torch::Tensor out = torch::empty({0});
  EXPECT_TRUE(torch::sum_out(out, x, c10::nullopt, true).is_same(out));
  EXPECT_TRUE(out.equal(x.sum().view({1, 1})));
  EXPECT_TRUE(torch::fft::fftn(x, c10::nullopt, c10::nullopt).equal(torch::fft::fft2(x)));
}

TEST(Absent, SizesOfWhatGrowsByFactors) {
  const torch::Tensor x = torch::arange(2.0f).view({1, 1, 2});
  const torch::Tensor twice = torch::tensor({0.0f, 0.0f, 1.0f, 1.0f}).view({1, 1, 4});
  EXPECT_TRUE(torch::upsample_nearest1d(x, c10::nullopt, std::vector<double>{2}).equal(twice));
  EXPECT_TRUE(torch::upsample_nearest1d(x, {4}).equal(twice));
}

TEST(Absent, OneOfTwoTolerances) {
  const torch::Tensor x = torch::diag(torch::tensor({4.0, 1.0, 0.1})), half = torch::tensor(0.5);
  EXPECT_EQ(torch::linalg_matrix_rank(x, half, c10::nullopt).item<int64_t>(), 2);
  EXPECT_EQ(torch::linalg_matrix_rank(x, c10::nullopt, half).item<int64_t>(), 1);
  EXPECT_EQ(torch::linalg_matrix_rank(x, c10::nullopt, c10::nullopt).item<int64_t>(), 3);
  EXPECT_TRUE(torch::linalg_pinv(x, half, c10::nullopt)
                  .allclose(torch::diag(torch::tensor({0.25, 1.0, 0.0}))));
}

TEST(Absent, NoOtherListsAreEmptyByIt) {
  EXPECT_TRUE((std::is_convertible_v<std::nullopt_t, torch::IntArrayRef>));
  EXPECT_FALSE((std::is_convertible_v<std::nullopt_t, torch::ArrayRef<double>>));
  EXPECT_FALSE((std::is_convertible_v<std::nullopt_t, torch::TensorList>));
}

}  // namespace
