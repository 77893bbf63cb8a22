// What the library warns of, and what it does not.
#include <gmock/gmock.h>

#include "taeda/ops/out_forms.h"
#include "taeda/taeda.h"
#include "tests/kept_warnings.h"

namespace taeda {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

Tensor learned() { return ones({3}, TensorOptions().requires_grad(true)); }

TEST(LibraryWarnings, ReadingTheGradientOfATensorWithAHistory) {
  KeptWarnings kept;
  const Tensor leaf = learned(), inner = leaf.mul(2), retained = leaf.mul(2);
  retained.retain_grad();
  leaf.grad();
  retained.grad();
  leaf.detach().grad();
  inner.mutable_grad();
  EXPECT_THAT(kept.take(), IsEmpty());
  inner.grad();
  EXPECT_THAT(
      kept.take(),
      ElementsAre(StartsWith("UserWarning: The .grad attribute of a Tensor that is not a leaf")));
}

TEST(LibraryWarnings, AGraphThatBackwardPutsIntoGradients) {
  KeptWarnings kept;
  Warning::set_warnAlways(true);
  const Tensor leaf = learned();
  autograd::grad({leaf.pow(2).sum()}, {leaf}, {}, {}, true);
  leaf.pow(2).sum().backward();
  EXPECT_THAT(kept.take(), IsEmpty());
  leaf.pow(2).sum().backward({}, {}, true);
  Warning::set_warnAlways(false);
  leaf.mutable_grad().reset();
  EXPECT_THAT(kept.take(),
              ElementsAre(StartsWith("UserWarning: Using backward() with create_graph=True")));
}

TEST(LibraryWarnings, MasksOfBytes) {
  KeptWarnings kept;
  const Tensor x = arange(3.0), mask = tensor({1, 0, 1}).to(kByte);
  x.index({mask.to(kBool)});
  Tensor y = x.clone();
  y.index_put_({mask}, 5);
  EXPECT_THAT(kept.take(), IsEmpty()) << "one number through a mask is masked_fill_";
  x.index({mask});
  y.index_put_({mask}, ones({2}));
  EXPECT_THAT(kept.take(),
              ElementsAre(StartsWith("UserWarning: indexing with dtype torch.uint8 is now"),
                          StartsWith("UserWarning: indexing with dtype torch.uint8 is now")));
}

TEST(LibraryWarnings, ElementsThatAnExpandedTensorShares) {
  KeptWarnings kept;
  const Tensor one = zeros({1}), mask = ones({3}, kBool), at = tensor({0});
  one.expand({3}).masked_fill_(mask, 2);
  one.expand({3}).index_fill_(0, at, 3);
  one.expand({3}).index_put_({at}, tensor({4.0f}));
  EXPECT_THAT(kept.take(),
              ElementsAre(StartsWith("UserWarning: Use of masked_fill_ on expanded tensors"),
                          StartsWith("UserWarning: Use of index_fill_ on expanded tensors"),
                          StartsWith("UserWarning: Use of index_put_ on expanded tensors")));
  EXPECT_EQ(one.item<float>(), 4);
  zeros({3}).masked_fill_(mask, 2).index_fill_(0, at, 3);
  EXPECT_THAT(kept.take(), IsEmpty());
}

TEST(LibraryWarnings, LossesOfTwoSizes) {
  KeptWarnings kept;
  for (int i = 0; i < 2; ++i) mse_loss(ones({2, 3}), ones({2, 1}));
  const auto text = StartsWith(
      "UserWarning: Using a target size (torch.Size([2, 1])) that is different to the input size "
      "(torch.Size([2, 3])).");
  EXPECT_THAT(kept.take(), ElementsAre(text, text));
  mse_loss(ones({2, 3}), ones({2, 3}));
  EXPECT_THAT(kept.take(), IsEmpty());
}

TEST(LibraryWarnings, WhatIsMadeOfSizesTakesAnyOutput) {
  KeptWarnings kept;
  Tensor out = zeros({3});
  ones_out(out, {5});
  EXPECT_THAT(kept.take(), IsEmpty());
  arange_out(out, 0, 4);
  EXPECT_THAT(kept.take(), ElementsAre(StartsWith(
                               "UserWarning: The number of elements in the out tensor of shape [5] "
                               "is 5 which does not match the computed number of elements 4.")));
}

TEST(LibraryWarnings, SpreadsOfFewerNumbersThanTheyTake) {
  KeptWarnings kept;
  std(ones({1}));
  var_mean(ones({3, 1}), {1});
  std(ones({2}));
  EXPECT_THAT(kept.take(), ElementsAre(StartsWith("UserWarning: std(): degrees of freedom is <= 0"),
                                       StartsWith("UserWarning: var_mean(): degrees of freedom")));
}

TEST(LibraryWarnings, NumbersThatLoseTheirImaginaryPart) {
  KeptWarnings kept;
  Warning::set_warnAlways(true);
  const Tensor z = view_as_complex(ones({2, 2}));
  real(z);
  z.to(kBool);
  EXPECT_THAT(kept.take(), IsEmpty());
  z.to(kFloat);
  zeros({2}).copy_(z);
  Warning::set_warnAlways(false);
  EXPECT_EQ(kept.take().size(), 2u);
}

}  // namespace
}  // namespace taeda
