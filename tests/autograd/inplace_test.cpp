// In-place changes, views and version counters: a gradient is right or there is an error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "taeda/autograd/engine.h"
#include "taeda/base/error.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/tensor/grad_mode.h"
#include "tests/autograd/leaves.h"
#include "tests/error_of.h"

namespace taeda {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Inplace, VersionsCountChangesOfTheStorage) {
  const Tensor x = ones({4});
  EXPECT_EQ(x._version(), 0);
  x.add_(1);
  EXPECT_EQ(x._version(), 1);
  const Tensor view = x.select(0, 1);
  view.zero_();
  EXPECT_EQ(x._version(), 2) << "a view shares its base's version";
  EXPECT_EQ(x.detach()._version(), 2);
}

TEST(Inplace, ALeafThatRequiresGradIsProtected) {
  const Tensor x = leaf({2}, 1);
  EXPECT_THAT(
      error_of([&] { x.add_(1); }),
      HasSubstr("a leaf Variable that requires grad is being used in an in-place operation"));
  EXPECT_THAT(
      error_of([&] { x.select(0, 0).zero_(); }),
      HasSubstr(
          "a view of a leaf Variable that requires grad is being used in an in-place operation"));
  NoGradGuard guard;
  x.add_(1);
  EXPECT_EQ(at(x, 0), 2);
}

TEST(Inplace, ChangingASavedTensorIsCaughtAtBackward) {
  const Tensor x = leaf({2}, 1);
  const Tensor y = x.exp();
  const Tensor z = y.sum();
  y.add_(1);
  EXPECT_THAT(error_of([&] { z.backward(); }),
              AllOf(HasSubstr("has been modified by an inplace operation: [taeda.FloatTensor [2]]"),
                    HasSubstr("is output 0 of ExpBackward0"),
                    HasSubstr("is at version 1; expected version 0")));
}

TEST(Inplace, ChangingAnUnsavedTensorIsFine) {
  const Tensor x = leaf({2}, 1);
  const Tensor y = x + 1;
  y.mul_(3);
  y.sum().backward();
  EXPECT_EQ(at(x.grad(), 0), 3);
}

TEST(Inplace, TheHistoryOfTheChangeIsKept) {
  const Tensor x = leaf({2}, 2), w = leaf({2}, 5);
  const Tensor y = x * 1;
  y.mul_(w);
  y.sum().backward();
  EXPECT_EQ(at(x.grad(), 0), 5);
  EXPECT_EQ(at(w.grad(), 0), 2);
}

TEST(Inplace, ANonGradTensorJoinsTheGraph) {
  const Tensor w = leaf({3}, 4);
  const Tensor y = zeros({3});
  y.add_(w);
  EXPECT_TRUE(y.requires_grad());
  (y * y).sum().backward();
  EXPECT_EQ(at(w.grad(), 0), 8);
}

TEST(Inplace, AViewChangesItsBase) {
  const Tensor x = leaf({3}, 2), w = leaf({}, 10);
  const Tensor base = x * 1;
  const Tensor view = base.select(0, 1);
  view.mul_(w);
  (base * base).sum().backward();
  EXPECT_EQ(at(x.grad(), 0), 4);
  EXPECT_EQ(at(x.grad(), 1), 400) << "d (10 x)^2 / dx";
  EXPECT_EQ(at(w.grad(), 0), 80) << "d (2 w)^2 / dw";
}

TEST(Inplace, ABaseChangesItsViews) {
  const Tensor x = leaf({3}, 2);
  const Tensor base = x * 1;
  const Tensor view = base.slice(0, 0, 2);
  base.mul_(3);
  view.sum().backward();
  EXPECT_EQ(at(x.grad(), 0), 3);
  EXPECT_EQ(at(x.grad(), 2), 0);
}

TEST(Inplace, AViewOfABaseWithoutHistoryFollowsIt) {
  const Tensor w = leaf({2}, 3);
  const Tensor base = zeros({2});
  const Tensor view = base.select(0, 0);
  EXPECT_FALSE(view.requires_grad());
  base.add_(w);
  EXPECT_TRUE(view.requires_grad());
  (view * view).backward();
  EXPECT_EQ(at(w.grad(), 0), 6);
  EXPECT_EQ(at(w.grad(), 1), 0);
}

TEST(Inplace, WritingIntoAViewOfABaseWithoutHistory) {
  const Tensor w = leaf({}, 3);
  const Tensor base = ones({2, 2});
  base.select(0, 1).select(0, 0).copy_(w);
  EXPECT_TRUE(base.requires_grad());
  (base * base).sum().backward();
  EXPECT_EQ(w.grad().item<double>(), 6);
}

TEST(Inplace, ViewsOfTransposedBases) {
  const Tensor x = leaf({2, 3}, 2);
  const Tensor base = (x * 1).t();
  const Tensor column = base.select(1, 0);
  column.mul_(5);
  base.sum().backward();
  EXPECT_EQ(at(x.grad(), 0), 5);
  EXPECT_EQ(at(x.grad(), 3), 1);
}

TEST(Inplace, ViewsMadeWithoutGradAreRejectedWithGrad) {
  const Tensor x = leaf({2}, 1);
  const Tensor y = x * 1;
  Tensor view;
  {
    NoGradGuard guard;
    view = y.select(0, 0);
  }
  EXPECT_TRUE(view.requires_grad()) << "a view follows its base";
  EXPECT_THAT(error_of([&] { view.mul_(2); }),
              HasSubstr("A view was created in no_grad mode and is being modified inplace with "
                        "grad mode enabled."));
  EXPECT_EQ(at(y, 0), 1);
}

TEST(Inplace, OverlappingOutputsAreRejected) {
  const Tensor wide = ones({1}).expand({4});
  EXPECT_THAT(
      error_of([&] { wide.add_(1); }),
      HasSubstr(
          "more than one element of the written-to tensor refers to a single memory location"));
}

TEST(Inplace, PartsOfInputsAreNotWritten) {
  const Tensor x = ones({3, 3});
  const auto refuses = [](auto f) {
    EXPECT_THAT(error_of(f), HasSubstr("some elements of the input tensor and the written-to "
                                       "tensor refer to a single memory location"));
  };
  refuses([&] { x.slice(0, 1).add_(x.slice(0, 0, 2)); });
  refuses([&] { x.div_(x.select(0, 0)); });
  refuses([&] { x.mul_(x.t()); });
  refuses([&] { x.slice(0, 0, 2).copy_(x.slice(0, 1)); });
  x.add_(x);
  x.select(0, 0).add_(x.select(0, 1));
  x.slice(1, 0, 1).mul_(x.slice(1, 1, 2));  // columns beside each other
  EXPECT_EQ(x.sum().item<double>(), 16 + 2 * 4 + 2 * (4 + 2 + 2));
}

TEST(Inplace, ShapesAndDtypesCannotChange) {
  EXPECT_THAT(error_of([] { ones({1}).add_(ones({3})); }),
              HasSubstr("doesn't match the broadcast shape [3]"));
  EXPECT_THAT(error_of([] { ones({2}, kLong).add_(ones({2})); }),
              HasSubstr("result type Float can't be cast to the desired output type Long"));
}

TEST(Inplace, FillAndZeroCutTheGradient) {
  const Tensor x = leaf({2}, 3);
  const Tensor y = x * 2;
  y.select(0, 0).zero_();
  y.sum().backward();
  EXPECT_EQ(at(x.grad(), 0), 0);
  EXPECT_EQ(at(x.grad(), 1), 2);
}

TEST(Inplace, CopyTakesTheSourcesHistory) {
  const Tensor x = leaf({2}, 3);
  const Tensor y = zeros({2}, kDouble);
  y.copy_(x);
  EXPECT_TRUE(y.requires_grad());
  (y * y).sum().backward();
  EXPECT_EQ(at(x.grad(), 0), 6);
  EXPECT_EQ(x.grad().dtype(), kFloat);
}

TEST(Inplace, RetainGradMovesToTheNewValue) {
  const Tensor x = leaf({2}, 1);
  const Tensor y = x * 2;
  y.retain_grad();
  y.mul_(3);
  (y * 5).sum().backward();
  EXPECT_EQ(at(y.grad(), 0), 5);
}

}  // namespace
}  // namespace taeda
