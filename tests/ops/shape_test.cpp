// Views: layouts, sharing of memory, errors in PyTorch's words.
#include "taeda/ops/shape/shape.h"

#include <gtest/gtest.h>

#include <numeric>

#include "taeda/base/error.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "tests/error_of.h"
#include "tests/ops/tensor_values.h"

namespace taeda {
namespace {

Tensor counting(IntArrayRef sizes) {
  Tensor out = empty(sizes);
  std::iota(out.data_ptr<float>(), out.data_ptr<float>() + out.numel(), 0.0f);
  return out;
}

TEST(Shape, ViewSharesMemory) {
  const Tensor x = counting({2, 3});
  const Tensor v = x.view({3, -1});
  EXPECT_EQ(v.sizes().vec(), (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(v.data_ptr(), x.data_ptr());
  EXPECT_TRUE(v.is_view());
  v.fill_(7);
  EXPECT_EQ(testing::floats(x), std::vector<float>(6, 7.0f));
}

TEST(Shape, ViewOfTransposedFails) {
  EXPECT_EQ(
      error_of([] {
        counting({2, 3}).t().view({6});
      }),
      "view size is not compatible with input tensor's size and stride (at least one dimension "
      "spans across two contiguous subspaces). Use .reshape(...) instead.");
  EXPECT_EQ(error_of([] {
              counting({2, 3}).view({4, -1});
            }),
            "shape '[4, -1]' is invalid for input of size 6");
}

TEST(Shape, ReshapeCopiesOnlyWhenItMust) {
  const Tensor x = counting({2, 3});
  EXPECT_EQ(x.reshape({6}).data_ptr(), x.data_ptr());
  const Tensor r = x.t().reshape({6});
  EXPECT_NE(r.data_ptr(), x.data_ptr());
  EXPECT_EQ(testing::floats(r), (std::vector<float>{0, 3, 1, 4, 2, 5}));
}

TEST(Shape, SelectSliceNarrow) {
  const Tensor x = counting({3, 4});
  EXPECT_EQ(testing::floats(x.select(0, -1)), (std::vector<float>{8, 9, 10, 11}));
  EXPECT_EQ(testing::floats(x[1]), (std::vector<float>{4, 5, 6, 7}));
  EXPECT_EQ(testing::floats(x.slice(1, 1, {}, 2)), (std::vector<float>{1, 3, 5, 7, 9, 11}));
  EXPECT_EQ(testing::floats(x.slice(0, -2, 100).select(1, 0)), (std::vector<float>{4, 8}));
  EXPECT_EQ(x.slice(0, 2, 1).numel(), 0);
  EXPECT_EQ(testing::floats(x.narrow(0, -2, 1)), (std::vector<float>{4, 5, 6, 7}));
  EXPECT_EQ(error_of([&] { x.narrow(0, 2, 4); }),
            "start (2) + length (4) exceeds dimension size (3).");
  EXPECT_THROW(x.select(0, 3), IndexError);
  EXPECT_THROW(x.select(2, 0), IndexError);
  EXPECT_THROW(x.slice(0, 0, 1, 0), ValueError);
}

TEST(Shape, PermuteAndMovedim) {
  const Tensor x = counting({2, 3, 4});
  EXPECT_EQ(x.permute({2, 0, -2}).sizes().vec(), (std::vector<int64_t>{4, 2, 3}));
  EXPECT_EQ(x.movedim(0, -1).sizes().vec(), (std::vector<int64_t>{3, 4, 2}));
  EXPECT_EQ(movedim(x, {0, 1}, {1, 2}).sizes().vec(), (std::vector<int64_t>{4, 2, 3}));
  EXPECT_EQ(x.mT().sizes().vec(), (std::vector<int64_t>{2, 4, 3}));
  EXPECT_EQ(error_of([&] { x.t(); }), "t() expects a tensor with <= 2 dimensions, but self is 3D");
}

TEST(Shape, FlattenAndUnflatten) {
  const Tensor x = counting({2, 3, 4});
  EXPECT_EQ(x.flatten(1).sizes().vec(), (std::vector<int64_t>{2, 12}));
  EXPECT_EQ(x.select(0, 0).select(0, 0).select(0, 0).flatten().sizes().vec(),
            (std::vector<int64_t>{1}));
  EXPECT_EQ(x.unflatten(-1, {2, -1}).sizes().vec(), (std::vector<int64_t>{2, 3, 2, 2}));
  EXPECT_EQ(error_of([&] { x.flatten(1, 0); }),
            "flatten() has invalid args: start_dim cannot come after end_dim");
  EXPECT_EQ(
      error_of([&] {
        x.unflatten(1, {2, 2});
      }),
      "unflatten: Provided sizes [2, 2] don't multiply up to the size of dim 1 (3) in the input "
      "tensor");
}

TEST(Shape, SqueezeUnsqueezeExpand) {
  const Tensor x = counting({1, 3, 1});
  EXPECT_EQ(x.squeeze().sizes().vec(), (std::vector<int64_t>{3}));
  EXPECT_EQ(x.squeeze(1).sizes().vec(), (std::vector<int64_t>{1, 3, 1}));
  EXPECT_EQ(x.squeeze(-1).sizes().vec(), (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(x.unsqueeze(-1).sizes().vec(), (std::vector<int64_t>{1, 3, 1, 1}));
  EXPECT_EQ(testing::floats(x.expand({2, -1, 1})), (std::vector<float>{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(error_of([&] {
              x.expand({2, 4, 1});
            }),
            "The expanded size of the tensor (4) must match the existing size (3) at non-singleton "
            "dimension 1.  Target sizes: [2, 4, 1].  Tensor sizes: [1, 3, 1]");
}

TEST(Shape, InPlaceLayoutChanges) {
  Tensor x = counting({1, 3});
  x.unsqueeze_(0).transpose_(0, 2);
  EXPECT_EQ(x.sizes().vec(), (std::vector<int64_t>{3, 1, 1}));
  x.squeeze_();
  EXPECT_EQ(x.sizes().vec(), (std::vector<int64_t>{3}));
}

TEST(Shape, DiagonalAndUnfold) {
  const Tensor x = counting({3, 4});
  EXPECT_EQ(testing::floats(x.diagonal()), (std::vector<float>{0, 5, 10}));
  EXPECT_EQ(testing::floats(x.diagonal(2)), (std::vector<float>{2, 7}));
  EXPECT_EQ(testing::floats(x.diagonal(-1)), (std::vector<float>{4, 9}));
  EXPECT_EQ(testing::floats(counting({5}).unfold(0, 3, 1)),
            (std::vector<float>{0, 1, 2, 1, 2, 3, 2, 3, 4}));
  EXPECT_EQ(error_of([&] { x.unfold(0, 5, 1); }),
            "maximum size for tensor at dimension 0 is 3 but size is 5");
}

TEST(Shape, AsStridedStaysInsideTheStorage) {
  const Tensor x = counting({6});
  EXPECT_EQ(testing::floats(x.as_strided({2, 2}, {1, 2}, 1)), (std::vector<float>{1, 3, 2, 4}));
  EXPECT_EQ(
      error_of([&] {
        x.as_strided({5, 5}, {5, 5});
      }),
      "setStorage: sizes [5, 5], strides [5, 5], storage offset 0, and itemsize 4 requiring a "
      "storage size of 164 are out of bounds for storage of size 24");
}

TEST(Shape, ViewAsDtype) {
  const Tensor x = ones({2, 4});
  EXPECT_EQ(x.view(kInt).data_ptr<int32_t>()[0], 0x3f800000);
  EXPECT_EQ(x.view(kDouble).sizes().vec(), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(x.view(kByte).sizes().vec(), (std::vector<int64_t>{2, 16}));
  EXPECT_EQ(
      error_of([] {
        ones({2, 3}).view(kDouble);
      }),
      "self.size(-1) must be divisible by 2 to view Float as Double (different element sizes), "
      "but got 3");
  EXPECT_FALSE(ones({2}, requires_grad()).view(kInt).requires_grad());
}

TEST(Shape, ComplexParts) {
  const Tensor pairs = counting({2, 2});
  const Tensor z = view_as_complex(pairs);
  EXPECT_EQ(z.dtype(), kComplexFloat);
  EXPECT_EQ(testing::floats(real(z)), (std::vector<float>{0, 2}));
  EXPECT_EQ(testing::floats(imag(z)), (std::vector<float>{1, 3}));
  EXPECT_EQ(view_as_real(z).data_ptr(), pairs.data_ptr());
}

TEST(Shape, BroadcastTensors) {
  const std::vector<Tensor> out = broadcast_tensors({counting({3, 1}), counting({2})});
  EXPECT_EQ(testing::floats(out[0]), (std::vector<float>{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(testing::floats(out[1]), (std::vector<float>{0, 1, 0, 1, 0, 1}));
}

}  // namespace
}  // namespace taeda
