// What libtorch's programs find under c10 and at: macros, ranges, enumerators, functions of
// methods.
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <c10/util/StringUtil.h>
#include <c10/util/irange.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/nn/modules/conv.h>
#include <torch/torch.h>

#include "tests/error_of.h"

// A program may add to libtorch's namespaces.
namespace torch {
struct FrontendTestModule : nn::Module {
  Tensor forward(const Tensor& x) { return add(x, 1); }
};
}  // namespace torch

namespace {

using taeda::error_of;

at::Tensor doubled(const at::Tensor& x) {
  auto y = torch::empty_like(x);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kInt, x.scalar_type(), "doubled", [&] {
    const scalar_t* from = x.data_ptr<scalar_t>();
    scalar_t* to = y.data_ptr<scalar_t>();
    at::parallel_for(0, x.numel(), 2, [&](int64_t begin, int64_t end) {
      for (const auto i : c10::irange(begin, end)) to[i] = from[i] + from[i];
    });
  });
  return y;
}

TEST(Names, DispatchCallsWithTheElementType) {
  for (const auto dtype : {torch::kFloat, torch::kDouble, torch::kHalf, torch::kInt}) {
    const auto x = torch::arange(5, dtype);
    EXPECT_TRUE(doubled(x).equal(x + x)) << dtype;
  }
  EXPECT_EQ(error_of([] { doubled(torch::arange(5)); }), "\"doubled\" not implemented for 'Long'");
  const int bytes =
      AT_DISPATCH_INDEX_TYPES(at::kLong, "bytes", [&] { return int{sizeof(index_t)}; });
  EXPECT_EQ(bytes, 8);
}

TEST(Names, RangesAndTexts) {
  std::vector<int64_t> seen;
  for (const auto i : c10::irange(int64_t{2}, int64_t{5})) seen.push_back(i);
  for (const auto i : c10::irange(-3)) seen.push_back(i);
  EXPECT_EQ(seen, (std::vector<int64_t>{2, 3, 4}));
  EXPECT_EQ(c10::str("size ", 3, ' ', 1.5), "size 3 1.5");
  EXPECT_EQ(c10::Join(", ", seen), "2, 3, 4");
  EXPECT_EQ(error_of([] { TORCH_CHECK(false, "bad ", 3); }), "bad 3");
  EXPECT_EQ(error_of([] { AT_ERROR("worse ", 4); }), "worse 4");
}

TEST(Names, EnumeratorsHaveTypes) {
  const torch::nn::MSELossOptions options(torch::enumtype::kSum{});
  EXPECT_EQ(options.reduction(), torch::kSum);
  const c10::variant<torch::enumtype::kNone, torch::enumtype::kMean> v = torch::enumtype::kMean{};
  EXPECT_EQ(torch::enumtype::get_enum_name(v), "Mean");
  EXPECT_TRUE(c10::get_if<torch::enumtype::kMean>(&v));
}

TEST(Names, FunctionsUnderTheirSecondNames) {
  torch::manual_seed(0);
  const auto x = torch::rand({3, 3});
  EXPECT_TRUE(torch::special::expm1(x).equal(x.expm1()));
  EXPECT_TRUE(at::special_expm1(x).equal(x.expm1()));
  EXPECT_TRUE(at::linalg_det(x).equal(torch::linalg::det(x)));
  EXPECT_TRUE(at::fft_rfft(x).equal(torch::fft::rfft(x)));
  auto y = x.clone();
  EXPECT_TRUE(torch::exp_(y).is_same(y));
  EXPECT_TRUE(y.equal(x.exp()));
  EXPECT_TRUE(torch::sum(x, c10::OptionalIntArrayRef(1)).equal(x.sum(1)));
  EXPECT_TRUE(torch::sum(x, c10::OptionalIntArrayRef()).equal(x.sum()));
}

TEST(Names, FunctionsWithOtherArguments) {
  const auto x = torch::arange(4.0).reshape({1, 4});
  EXPECT_TRUE(at::pad(x, {1, 0}, "reflect").equal(torch::tensor({{1.0f, 0.0f, 1.0f, 2.0f, 3.0f}})));
  EXPECT_TRUE(
      at::constant_pad_nd(x, {0, 1}, 7).equal(torch::tensor({{0.0f, 1.0f, 2.0f, 3.0f, 7.0f}})));
  EXPECT_TRUE(at::replication_pad1d(x, {1, 1}).equal(
      torch::tensor({{0.0f, 0.0f, 1.0f, 2.0f, 3.0f, 3.0f}})));
  EXPECT_EQ(error_of([&] { at::replication_pad1d(x, {1}); }),
            "replication_pad1d: padding size is expected to be 2, but got 1");
  EXPECT_EQ(error_of([&] { at::pad(x, {1, 1}, "mirror"); }), "Unrecognised padding mode mirror");
  const auto image = torch::rand({1, 4, 2, 3});
  EXPECT_TRUE(at::pixel_unshuffle(at::pixel_shuffle(image, 2), 2).equal(image));
  EXPECT_TRUE(at::fill(x, 2).equal(torch::full({1, 4}, 2.0f)));
  EXPECT_TRUE(at::chain_matmul({x, x.t(), x}).equal(x.mm(x.t()).mm(x)));
  EXPECT_TRUE(torch::special::expit(x).equal(x.sigmoid()));
  EXPECT_TRUE(at::special_i0(x).equal(torch::special::i0(x)));
  EXPECT_TRUE(at::special_zeta(x + 2, 3).equal(torch::special::zeta(x + 2, 3)));
  EXPECT_TRUE(at::special_gammaln(x + 1).equal(torch::lgamma(x + 1)));
  EXPECT_TRUE(torch::nn::functional::one_hot(torch::tensor({1, 0}), 2)
                  .equal(torch::tensor({{0, 1}, {1, 0}})));
}

TEST(Names, QuestionsAboutDtypes) {
  const auto i = torch::ones(2, torch::kInt);
  EXPECT_EQ(at::result_type(i, torch::ones(2)), torch::kFloat);
  EXPECT_EQ(at::result_type(i, 1.5), torch::kFloat);
  EXPECT_EQ(at::result_type(i, at::Scalar(3)), torch::kInt);
  EXPECT_TRUE(c10::isIntegralType(torch::kBool, true));
  EXPECT_FALSE(c10::isIntegralType(torch::kBool, false));
  EXPECT_FALSE(c10::isSignedType(torch::kByte));
  EXPECT_EQ(c10::elementSize(torch::kF64), 8u);
  EXPECT_EQ(c10::promoteTypes(torch::kI32, torch::kF16), torch::kHalf);
  EXPECT_EQ(c10::get_default_complex_dtype(), torch::kComplexFloat);
  EXPECT_EQ(c10::DeviceTypeName(torch::kCPU), "CPU");
  EXPECT_EQ(at::device_of(i), torch::Device("cpu"));
  EXPECT_FALSE(at::device_of(torch::Tensor()));
  EXPECT_FALSE(c10::OptionalDeviceGuard().current_device());
  const torch::autograd::Variable variable = i;
  EXPECT_TRUE(variable.is_same(i));
}

TEST(Names, LayoutIsStrided) { EXPECT_TRUE(torch::ones(2).layout() == torch::kStrided); }

TEST(Names, NamespacesMayBeReopened) {
  torch::FrontendTestModule module;
  EXPECT_EQ(module.forward(torch::zeros(1)).item<float>(), 1);
  const torch::nn::Conv2dOptions options(1, 2, torch::ExpandingArray<2>({3, 4}));
  EXPECT_EQ(options.kernel_size()[1], 4);
}

}  // namespace
