// View maths, broadcasting and promotion.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "taeda/base/error.h"
#include "taeda/ops/create/create.h"
#include "taeda/tensor/promote.h"
#include "tests/error_of.h"

namespace taeda {
namespace {

using ::testing::HasSubstr;

TEST(Layout, ContiguousStrides) {
  EXPECT_EQ(contiguous_strides({2, 3, 4}), (DimVector{12, 4, 1}));
  EXPECT_EQ(contiguous_strides({2, 0, 4}), (DimVector{4, 4, 1}));
  EXPECT_EQ(contiguous_strides({}), DimVector());
  EXPECT_EQ(channels_last_strides({2, 3, 4, 5}), (DimVector{60, 1, 15, 3}));
  EXPECT_EQ(channels_last_3d_strides({2, 3, 4, 5, 6}), (DimVector{360, 1, 90, 18, 3}));
  EXPECT_EQ(strides_in({2, 3, 4, 5}, MemoryFormat::ChannelsLast), (DimVector{60, 1, 15, 3}));
  EXPECT_EQ(strides_in({2, 3}, MemoryFormat::Contiguous), (DimVector{3, 1}));
  EXPECT_THAT(error_of([] {
                strides_in({2, 3, 4, 5}, MemoryFormat::ChannelsLast3d);
              }),
              HasSubstr("required rank 5 tensor to use channels_last_3d format"));
}

// What PyTorch 2.15's empty_like gives.
TEST(Layout, StridesOfResults) {
  const auto of = [](DimVector sizes, DimVector strides) {
    return strides_like(Layout{std::move(sizes), std::move(strides), 0});
  };
  EXPECT_EQ(of({5, 12}, {0, 1}), (DimVector{12, 1}));
  EXPECT_EQ(of({12, 5}, {1, 0}), (DimVector{5, 1}));
  EXPECT_EQ(of({2, 4, 3}, {3, 0, 1}), (DimVector{12, 3, 1}));
  EXPECT_EQ(of({4, 2, 3}, {0, 3, 1}), (DimVector{6, 3, 1}));
  EXPECT_EQ(of({2, 3, 4, 5}, {0, 1, 0, 0}), (DimVector{60, 20, 5, 1}));
  EXPECT_EQ(of({2, 4, 3}, {1, 0, 2}), (DimVector{1, 2, 8}));
  EXPECT_EQ(of({2, 3, 4}, {4, 4, 1}), (DimVector{4, 8, 1}));
  EXPECT_EQ(of({3, 4}, {0, 0}), (DimVector{4, 1}));
  EXPECT_EQ(of({2, 4}, {1, 6}), (DimVector{1, 2}));
}

TEST(Layout, Predicates) {
  const Layout l = Layout::contiguous({2, 3, 4});
  EXPECT_TRUE(l.is_contiguous());
  EXPECT_FALSE(l.transpose(0, 1).is_contiguous());
  EXPECT_TRUE(l.transpose(0, 1).is_non_overlapping_and_dense());
  EXPECT_FALSE(l.slice(2, 0, 4, 2).is_non_overlapping_and_dense());
  EXPECT_FALSE(l.slice(2, 0, 4, 2).has_internal_overlap());
  EXPECT_TRUE(Layout::contiguous({1, 3}).expand({2, 3}).has_internal_overlap());
  EXPECT_TRUE((Layout{{2, 3, 4, 5}, channels_last_strides({2, 3, 4, 5}), 0}).is_channels_last());
  const DimVector last = channels_last_3d_strides({2, 3, 4, 5, 6});
  EXPECT_TRUE((Layout{{2, 3, 4, 5, 6}, last, 0}).is_channels_last_3d());
  EXPECT_FALSE((Layout{{2, 3, 4, 5, 6}, last, 0}).is_channels_last());
  EXPECT_FALSE(Layout::contiguous({2, 3, 4, 5, 6}).is_channels_last_3d());
  EXPECT_TRUE(Layout::contiguous({2, 1, 4, 5, 6}).is_channels_last_3d());
  EXPECT_EQ(l.transpose(0, 2).extent(), 24);
  EXPECT_EQ(Layout::contiguous({0, 3}).extent(), 0);
}

TEST(Layout, ViewsOfStridedMemory) {
  const Layout l = Layout::contiguous({2, 3, 4});
  EXPECT_EQ(l.view({6, 4})->strides, (DimVector{4, 1}));
  EXPECT_EQ(l.transpose(0, 1).view({3, 2, 2, 2})->strides, (DimVector{4, 12, 2, 1}));
  EXPECT_FALSE(l.transpose(0, 1).view({6, 4}));
  EXPECT_FALSE(l.transpose(1, 2).view({24}));
  EXPECT_TRUE(l.transpose(0, 1).view({3, 1, 2, 4}));
  EXPECT_TRUE(Layout::contiguous({0, 3}).transpose(0, 1).view({3, 0, 7}));
}

TEST(Layout, SliceFollowsPython) {
  const Layout l = Layout::contiguous({5});
  EXPECT_EQ(l.slice(0, -2, 100, 1).sizes, DimVector{2});
  EXPECT_EQ(l.slice(0, -2, 100, 1).offset, 3);
  EXPECT_EQ(l.slice(0, 4, 2, 1).sizes, DimVector{0});
  EXPECT_EQ(l.slice(0, 0, 5, 2).sizes, DimVector{3});
  EXPECT_THAT(error_of([&] { l.slice(0, 0, 5, 0); }), HasSubstr("slice step must be positive"));
}

TEST(Layout, ErrorsNameTheValues) {
  EXPECT_EQ(error_of([] { wrap_dim(2, 2); }),
            "Dimension out of range (expected to be in range of [-2, 1], but got 2)");
  EXPECT_THROW(wrap_dim(-3, 2), IndexError);
  EXPECT_EQ(error_of([] {
              wrap_dims({1, -1}, 2);
            }),
            "dim 1 appears multiple times in the list of dims");
  EXPECT_EQ(
      error_of([] {
        broadcast_sizes({2, 3}, {2, 4});
      }),
      "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1");
  EXPECT_EQ(error_of([] {
              infer_size({2, 3}, 8);
            }),
            "shape '[2, 3]' is invalid for input of size 8");
  EXPECT_EQ(error_of([] { infer_size({-1, -1}, 8); }), "only one dimension can be inferred");
  EXPECT_THAT(error_of([] { infer_size({-1, 0}, 0); }), HasSubstr("is ambiguous"));
  EXPECT_THAT(error_of([] { Layout::contiguous({2}).select(0, 2); }),
              HasSubstr("index 2 out of range for tensor of size [2] at dimension 0"));
  EXPECT_THAT(error_of([] { Layout::contiguous({3}).expand({4}); }),
              HasSubstr("The expanded size of the tensor (4) must match the existing size (3)"));
  EXPECT_EQ(infer_size({-1, 4}, 8), (DimVector{2, 4}));
}

TEST(Tensor, ImpossibleSizes) {
  EXPECT_THAT(error_of([] { empty({-1}); }), HasSubstr("negative dimension -1"));
  EXPECT_THAT(error_of([] {
                empty({int64_t{1} << 40, int64_t{1} << 40});
              }),
              HasSubstr("Storage size calculation overflowed"));
  EXPECT_THAT(error_of([] { empty({2}, kLong).data_ptr<float>(); }),
              HasSubstr("expected scalar type Float but found Long"));
}

TEST(Promotion, FollowsTorchResultType) {
  const auto type = [](ScalarType a, IntArrayRef sa, ScalarType b, IntArrayRef sb) {
    const Tensor x = empty(sa, a), y = empty(sb, b);
    return result_type({Operand(x), Operand(y)});
  };
  EXPECT_EQ(type(kInt, {1}, kLong, {1}), kLong);
  EXPECT_EQ(type(kInt, {1}, kLong, {}), kInt)
      << "a 0-dim tensor of the same category does not promote";
  EXPECT_EQ(type(kInt, {1}, kFloat, {}), kFloat);
  EXPECT_EQ(type(kHalf, {1}, kDouble, {}), kHalf);
  EXPECT_EQ(type(kHalf, {1}, kBFloat16, {1}), kFloat);
  EXPECT_EQ(type(kByte, {1}, kChar, {1}), kShort);
  EXPECT_EQ(type(kBool, {1}, kByte, {}), kByte);
  EXPECT_EQ(type(kDouble, {1}, kComplexFloat, {1}), kComplexDouble);
  const Tensor i = empty({1}, kInt), f = empty({1}, kHalf), b = empty({1}, kBool);
  EXPECT_EQ(result_type({Operand(i), Operand(1.5)}), kFloat);
  EXPECT_EQ(result_type({Operand(f), Operand(1.5)}), kHalf);
  EXPECT_EQ(result_type({Operand(b), Operand(2)}), kLong);
  EXPECT_EQ(result_type({Operand(f), Operand(2)}), kHalf);
}

TEST(Promotion, OfDtypesIsSymmetric) {
  for (ScalarType a : kAllDtypes)
    for (ScalarType b : kAllDtypes) {
      EXPECT_EQ(promote_types(a, b), promote_types(b, a));
      EXPECT_EQ(promote_types(a, promote_types(a, b)), promote_types(a, b));
    }
}

TEST(Half, RoundsToNearestEven) {
  EXPECT_EQ(float(Half(2049.0f)), 2048.0f);
  EXPECT_EQ(float(Half(2051.0f)), 2052.0f);
  EXPECT_EQ(float(Half(65520.0f)), INFINITY);
  EXPECT_EQ(float(Half(5.9604645e-8f)), 5.9604645e-8f);
  EXPECT_TRUE(std::isnan(float(Half(NAN))));
  EXPECT_EQ(float(BFloat16(1.00390625f)), 1.0f);
  EXPECT_TRUE(std::isnan(float(BFloat16(NAN))));
  for (uint32_t bits = 0; bits < 65536; ++bits) {  // every value survives the round trip
    Half h;
    h.bits = static_cast<uint16_t>(bits);
    if (std::isnan(float(h))) continue;
    EXPECT_EQ(Half(float(h)).bits, bits);
  }
}

}  // namespace
}  // namespace taeda
