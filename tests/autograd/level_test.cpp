// Where transforms of functions end: what is left of their results outside.
#include "taeda/autograd/level.h"

#include <gtest/gtest.h>

#include "taeda/autograd/engine.h"
#include "taeda/autograd/node.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/unary.h"
#include "tests/autograd/leaves.h"

namespace taeda {
namespace {

using autograd::Level;

/// How many leaves a history ends at.
int ends_of(const autograd::Node& node) {
  if (node.edges.empty()) return 1;
  int n = 0;
  for (const autograd::Edge& e : node.edges) n += e ? ends_of(*e.node) : 0;
  return n;
}

TEST(Level, WhatDependsOnItsLeavesAloneIsDetached) {
  const Level level;
  const Tensor x = leaf(2), y = x.mul(x);
  EXPECT_FALSE(level.reaches_outside({y}, {x}));
  EXPECT_TRUE(level.reaches_outside({y}, {})) << "the leaf is somebody's";
  const std::vector<Tensor> left = level.close({y, x, full({1}, 3)}, {x}, true, true);
  for (const Tensor& t : left) EXPECT_FALSE(t.requires_grad());
  EXPECT_TRUE(left[0].equal(full({2}, 4)));
}

TEST(Level, WhatOthersWantStaysTheirsAndComputesNothingElse) {
  const Tensor w = leaf(3), before = w.mul(2);
  const Level level;
  const Tensor x = leaf(2), y = x.mul(before).add(x.exp());
  EXPECT_TRUE(level.reaches_outside({x.exp(), y}, {x}));
  EXPECT_EQ(ends_of(*y.grad_fn()), 3);
  const std::vector<Tensor> left = level.close({y, before, w}, {x}, true, true);
  EXPECT_TRUE(left[0].requires_grad() && left[1].is_same(before) && left[2].is_same(w));
  EXPECT_EQ(ends_of(*left[0].grad_fn()), 1);
  left[0].sum().backward();
  EXPECT_TRUE(w.grad().equal(full({2}, 4)));
  EXPECT_FALSE(x.grad().defined());
}

TEST(Level, OneThatIsKeptStaysUsable) {
  const Tensor w = leaf(3);
  const Level level;
  const Tensor x = leaf(2), y = x.mul(w);
  const Tensor out = level.close({y}, {x}, true, false)[0];
  EXPECT_TRUE(autograd::grad({y}, {x}, {ones({2})}, true)[0].equal(w.detach()));
  EXPECT_TRUE(out.requires_grad());
}

TEST(Level, WhoRecordsNothingGetsNoHistory) {
  const Tensor w = leaf(3), before = w.mul(2);
  const Level level;
  const Tensor x = leaf(2);
  const std::vector<Tensor> left = level.close({x.mul(w), before, w}, {x}, false, true);
  EXPECT_FALSE(left[0].requires_grad());
  EXPECT_TRUE(left[1].is_same(before) && left[2].is_same(w));
}

TEST(Level, LongHistoriesNeedNoDeepStack) {
  const Level level;
  const Tensor x = leaf(1);
  Tensor y = x;
  for (int i = 0; i < 200000; ++i) y = y.neg();
  EXPECT_FALSE(level.close({y}, {x}, true, true)[0].requires_grad());
}

}  // namespace
}  // namespace taeda
