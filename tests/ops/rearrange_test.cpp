// Repeating, reversing, shifting, triangles; gradients of these and of views and joins.
#include "taeda/ops/shape/rearrange.h"

#include <gtest/gtest.h>

#include "taeda/autograd/gradcheck.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "tests/error_of.h"
#include "tests/ops/tensor_values.h"

namespace taeda {
namespace {

using namespace testing;
using Sizes = std::vector<int64_t>;
using Tensors = std::vector<Tensor>;

TEST(Repeat, Forms) {
  const Tensor x = arange(4).view({2, 2});
  EXPECT_EQ(longs(x.repeat({1, 2})), (Sizes{0, 1, 0, 1, 2, 3, 2, 3}));
  EXPECT_EQ(shape(x.repeat({3, 1, 2})), (Sizes{3, 2, 4}));
  EXPECT_EQ(shape(x.repeat({0, 1})), (Sizes{0, 2}));
  EXPECT_FALSE(x.repeat({1, 1}).is_view());
  EXPECT_FALSE(x.repeat_interleave(1).is_alias_of(x));
  EXPECT_FALSE(x.repeat_interleave(1, 0).is_alias_of(x));
  EXPECT_EQ(longs(x.tile(IntArrayRef{2})), (Sizes{0, 1, 0, 1, 2, 3, 2, 3}));
  EXPECT_EQ(longs(x.repeat_interleave(2)), (Sizes{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(longs(x.repeat_interleave(2, 0)), (Sizes{0, 1, 0, 1, 2, 3, 2, 3}));
  EXPECT_EQ(longs(repeat_interleave(x, tensor({2, 1}), 1)), (Sizes{0, 0, 1, 2, 2, 3}));
  EXPECT_EQ(longs(repeat_interleave(tensor({1, 0, 2}))), (Sizes{0, 2, 2}));
  EXPECT_EQ(error_of([&] { x.repeat(IntArrayRef{2}); }),
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
            "tensor");
  EXPECT_EQ(error_of([&] { x.repeat_interleave(-1); }), "Repeats must be non-negative");
}

TEST(Flip, DimensionsAndRotation) {
  const Tensor x = arange(6).view({2, 3});
  EXPECT_EQ(longs(x.flip({0})), (Sizes{3, 4, 5, 0, 1, 2}));
  EXPECT_EQ(longs(x.t().flip({0, -1})), (Sizes{5, 2, 4, 1, 3, 0}));
  EXPECT_EQ(longs(fliplr(x)), (Sizes{2, 1, 0, 5, 4, 3}));
  EXPECT_EQ(longs(rot90(x)), (Sizes{2, 5, 1, 4, 0, 3}));
  EXPECT_EQ(longs(rot90(x, -1)), (Sizes{3, 0, 4, 1, 5, 2}));
  EXPECT_EQ(error_of([&] { x.flip({0, 0}); }), "dim 0 appears multiple times in the list of dims");
}

TEST(Roll, FlatAndDimensions) {
  const Tensor x = arange(6).view({2, 3});
  EXPECT_EQ(longs(x.roll({1})), (Sizes{5, 0, 1, 2, 3, 4}));
  EXPECT_EQ(longs(x.roll({1, -1}, {0, 1})), (Sizes{4, 5, 3, 1, 2, 0}));
  EXPECT_EQ(error_of([&] {
              x.roll({1, 2}, {0});
            }),
            "shifts and dimensions must align. shifts: 2, dims:1");
}

TEST(Triangle, BothSides) {
  const Tensor x = ones({2, 3}, kLong);
  EXPECT_EQ(longs(x.tril()), (Sizes{1, 0, 0, 1, 1, 0}));
  EXPECT_EQ(longs(x.triu(1)), (Sizes{0, 1, 1, 0, 0, 1}));
  EXPECT_EQ(longs(x.tril(-2)), (Sizes(6, 0)));
  EXPECT_EQ(longs(arange(4).view({1, 2, 2}).mT().tril()), (Sizes{0, 0, 1, 3}));
  EXPECT_EQ(error_of([] { zeros({3}).tril(); }),
            "tril: input tensor must have at least 2 dimensions");
}

TEST(Diag, BothWays) {
  EXPECT_EQ(longs(tensor({1, 2}).diag(1)), (Sizes{0, 1, 0, 0, 0, 2, 0, 0, 0}));
  EXPECT_EQ(longs(arange(4).view({2, 2}).diag()), (Sizes{0, 3}));
  EXPECT_EQ(shape(diag_embed(ones({2, 3}), -1)), (Sizes{2, 4, 4}));
  EXPECT_EQ(error_of([] { zeros({2, 2, 2}).diag(); }), "diag(): Supports 1D or 2D tensors. Got 3D");
}

/// Checks first and second derivatives of a function of one or two matrices.
void check(const std::function<Tensor(const Tensor&)>& f, IntArrayRef sizes = {2, 3}) {
  manual_seed(4);
  const Tensor x = randn(sizes, dtype(kDouble).requires_grad(true));
  const auto squared = [&](const Tensors& t) { return Tensors{f(t[0]).square()}; };
  EXPECT_TRUE(autograd::gradcheck(squared, {x}));
  EXPECT_TRUE(autograd::gradgradcheck(squared, {x}));
}

TEST(ViewGradients, Views) {
  check([](const Tensor& x) { return x.view({3, 2}).t(); });
  check([](const Tensor& x) { return x.t().reshape({6}); });
  check([](const Tensor& x) { return x.permute({1, 0}).unsqueeze(1).squeeze(); });
  check([](const Tensor& x) { return x.select(1, -1); });
  check([](const Tensor& x) { return x.slice(1, 0, 3, 2).narrow(0, 1, 1); });
  check([](const Tensor& x) { return x.unsqueeze(0).expand({2, 2, 3}); });
  check([](const Tensor& x) { return x.diagonal(1); });
  check([](const Tensor& x) { return x.unfold(1, 2, 1); });
  check([](const Tensor& x) { return x.as_strided({2, 2}, {1, 2}, 1); });
  check([](const Tensor& x) { return x.as_strided({2, 4}, {0, 1}); });
  check([](const Tensor& x) { return x.t().as_strided({3}, {2}); });
  check([](const Tensor& x) { return x.movedim(0, -1).flatten(); });
}

TEST(ViewGradients, InPlaceLayoutChange) {
  check([](const Tensor& x) {
    const Tensor y = x.mul(1);
    y.transpose_(0, 1).unsqueeze_(0);
    return y.mul(x.t());
  });
  check([](const Tensor& x) {
    const Tensor base = x.mul(1);
    const Tensor row = base.select(0, 0);
    row.unsqueeze_(0);
    row.mul_(2);
    return base;
  });
}

TEST(ViewGradients, JoinsAndParts) {
  check([](const Tensor& x) { return cat({x, x.mul(2)}, 1); });
  check([](const Tensor& x) { return stack({x, x.square()}, -1); });
  check([](const Tensor& x) { return x.split(2, 1)[1]; });
  check([](const Tensor& x) { return x.split({1, 2}, 1)[0].mul(x.unbind(1)[2].unsqueeze(1)); });
  check([](const Tensor& x) { return x.chunk(2)[1]; });
  check([](const Tensor& x) { return meshgrid({x.select(0, 0), x.select(1, 0)})[1]; });
}

TEST(ViewGradients, Copies) {
  check([](const Tensor& x) { return x.repeat({2, 1, 2}); });
  check([](const Tensor& x) { return x.repeat_interleave(2, 1); });
  check([](const Tensor& x) { return repeat_interleave(x, tensor({2, 0, 1}), 1); });
  check([](const Tensor& x) { return x.flip({1}); });
  check([](const Tensor& x) { return x.roll({1, 1}, {0, 1}); });
  check([](const Tensor& x) { return x.tril().add(x.triu(1)); });
  check([](const Tensor& x) { return x.select(0, 0).diag(1); });
}

}  // namespace
}  // namespace taeda
