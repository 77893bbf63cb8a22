// Recording, running and releasing graphs.
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

using ::testing::HasSubstr;

TEST(Graph, ComputesAndAccumulates) {
  const Tensor x = leaf(3);
  (x * x).sum().backward();
  EXPECT_EQ(at(x.grad()), 6);
  (x * 2).sum().backward();
  EXPECT_EQ(at(x.grad()), 8) << "a second pass adds to the gradient";
}

TEST(Graph, LeavesAndHistory) {
  const Tensor x = leaf(1), y = x * 2;
  EXPECT_TRUE(x.is_leaf());
  EXPECT_FALSE(x.grad_fn());
  EXPECT_FALSE(y.is_leaf());
  EXPECT_TRUE(y.requires_grad());
  EXPECT_STREQ(y.grad_fn()->name(), "MulBackward0");
  EXPECT_FALSE(ones({2}).requires_grad());
  EXPECT_FALSE(x.grad().defined());
}

TEST(Graph, ATensorUsedTwiceGetsTheSum) {
  const Tensor x = leaf(2);
  const Tensor y = x * x + x * 3;
  y.sum().backward();
  EXPECT_EQ(at(x.grad()), 7);
}

TEST(Graph, BroadcastGradientsAreSummed) {
  const Tensor row = ones({3}).requires_grad_(), matrix = ones({2, 3}).requires_grad_();
  (row * matrix).sum().backward();
  EXPECT_EQ(row.grad().sizes(), IntArrayRef({3}));
  EXPECT_EQ(at(row.grad()), 2);
}

TEST(Graph, SecondBackwardNeedsRetainGraph) {
  const Tensor x = leaf(2);
  const Tensor y = (x * x).sum();
  y.backward({}, true);
  y.backward();
  EXPECT_EQ(at(x.grad()), 8);
  EXPECT_THAT(error_of([&] { y.backward(); }),
              HasSubstr("Trying to backward through the graph a second time"));
  const Tensor linear = (x + x).sum();
  linear.backward();
  EXPECT_NO_THROW(linear.backward()) << "nothing was saved, so nothing was freed";
}

TEST(Graph, OnlyScalarsHaveAnImplicitGradient) {
  const Tensor x = leaf(2);
  EXPECT_THAT(error_of([&] { (x * 2).backward(); }),
              HasSubstr("grad can be implicitly created only for scalar outputs"));
  (x * 2).backward(full({2}, 10.0));
  EXPECT_EQ(at(x.grad()), 20);
  EXPECT_THAT(error_of([&] { (x * 2).backward(ones({3})); }), HasSubstr("Mismatch in shape"));
  EXPECT_THAT(error_of([&] { ones({1}).backward(); }),
              HasSubstr("element 0 of tensors does not require grad and does not have a grad_fn"));
}

TEST(Graph, GradLeavesLeavesAlone) {
  const Tensor x = leaf(3), unused = leaf(1);
  const Tensor y = (x * x).sum();
  const Tensor g = autograd::grad({y}, {x}, {}, true)[0];
  EXPECT_EQ(at(g), 6);
  EXPECT_FALSE(x.grad().defined());
  EXPECT_THAT(error_of([&] { autograd::grad({y}, {unused}, {}, true); }),
              HasSubstr("appears to not have been used in the graph"));
  EXPECT_FALSE(autograd::grad({y}, {unused}, {}, true, false, true)[0].defined());
}

TEST(Graph, GradOfAnIntermediate) {
  const Tensor x = leaf(3), y = x * x, z = (y * y).sum();
  EXPECT_EQ(at(autograd::grad({z}, {y})[0]), 18);
}

TEST(Graph, BackwardWithInputsReachesOnlyThem) {
  const Tensor a = leaf(2), b = leaf(3);
  (a * b).sum().backward({}, {}, false, std::vector<Tensor>{a});
  EXPECT_EQ(at(a.grad()), 3);
  EXPECT_FALSE(b.grad().defined());
}

TEST(Graph, HigherDerivatives) {
  const Tensor x = leaf(2);
  const Tensor y = (x * x * x).sum();
  const Tensor first = autograd::grad({y}, {x}, {}, {}, true)[0];
  EXPECT_EQ(at(first), 12);
  EXPECT_TRUE(first.requires_grad());
  const Tensor second = autograd::grad({first.sum()}, {x}, {}, {}, true)[0];
  EXPECT_EQ(at(second), 12);
  second.sum().backward();
  EXPECT_EQ(at(x.grad()), 6);
}

TEST(Graph, NoGradAndInferenceMode) {
  const Tensor x = leaf(1);
  {
    NoGradGuard guard;
    EXPECT_FALSE((x * 2).requires_grad());
    AutoGradMode on(true);
    EXPECT_TRUE((x * 2).requires_grad());
  }
  EXPECT_TRUE((x * 2).requires_grad());
  Tensor made;
  {
    InferenceMode mode;
    made = ones({2}) * 2;
    EXPECT_TRUE(made.is_inference());
    made.add_(1);
  }
  EXPECT_THAT(error_of([&] { made.add_(1); }), HasSubstr("Inplace update to inference tensor"));
  EXPECT_THAT(error_of([&] { made.set_(x.detach()); }),
              HasSubstr("Inplace update to inference tensor"));
  EXPECT_THAT(error_of([&] { made.resize_({3}); }),
              HasSubstr("Inplace update to inference tensor"));
  EXPECT_THAT(error_of([&] { made._version(); }),
              HasSubstr("Inference tensors do not track version counter."));
  EXPECT_THAT(error_of([&] { x* made; }),
              HasSubstr("Inference tensors cannot be saved for backward"));
}

TEST(Graph, ViewsOfInferenceTensorsHaveNoHistory) {
  Tensor made;
  {
    InferenceMode mode;
    made = ones({2}).requires_grad_();
    EXPECT_FALSE(made[0].requires_grad());
  }
  EXPECT_TRUE(made.requires_grad());
  for (const Tensor& view : {made[0], made.view({1, 2}), made.unbind()[1]}) {
    EXPECT_TRUE(view.is_inference() && view.is_leaf());
    EXPECT_FALSE(view.requires_grad() || view.is_view());
    EXPECT_FALSE((view * 2).requires_grad());
  }
}

TEST(Graph, DetachSharesDataNotHistory) {
  const Tensor x = leaf(2), y = x * 3, d = y.detach();
  EXPECT_FALSE(d.requires_grad());
  EXPECT_EQ(d.data_ptr(), y.data_ptr());
  (d * x).sum().backward();
  EXPECT_EQ(at(x.grad()), 6);
}

TEST(Graph, OnlyFloatingLeavesRequireGradients) {
  EXPECT_THAT(error_of([] { ones({2}, kLong).requires_grad_(); }),
              HasSubstr("only Tensors of floating point and complex dtype can require gradients"));
  const Tensor x = leaf(1);
  EXPECT_THAT(error_of([&] { (x * 2).requires_grad_(false); }),
              HasSubstr("you can only change requires_grad flags of leaf variables"));
}

TEST(Graph, RetainGrad) {
  const Tensor x = leaf(2), y = x * 3;
  y.retain_grad();
  EXPECT_TRUE(y.retains_grad());
  (y * y).sum().backward();
  EXPECT_EQ(at(y.grad()), 12);
  EXPECT_EQ(at(x.grad()), 36);
}

TEST(Graph, UndefinedTensorsAreNamed) {
  EXPECT_THAT(error_of([] { Tensor().sizes(); }), HasSubstr("undefined Tensor"));
  EXPECT_THAT(error_of([] { Tensor().backward(); }), HasSubstr("does not require grad"));
}

TEST(Graph, AChainOfAMillionNodesRunsAndDies) {
  const Tensor x = ones({1}).requires_grad_();
  {
    Tensor y = x;
    for (int i = 0; i < 1'000'000; ++i) y = y + 1;
    y.backward();
    EXPECT_EQ(at(x.grad()), 1);
  }
  Tensor never_run = x;
  for (int i = 0; i < 1'000'000; ++i) never_run = never_run * 1;
  never_run.reset();
  SUCCEED();
}

TEST(Graph, AnOwnOutputSavedMakesNoCycle) {
  const Tensor x = leaf(1);
  Tensor y = x.exp();
  const Storage storage = y.storage();
  y.reset();
  EXPECT_EQ(storage.use_count(), 1u) << "the node must not keep its own output alive in a cycle";
}

TEST(Graph, ASavedInputChangedInPlaceLaterMakesNoCycle) {
  const Tensor x = leaf(1), w = leaf(2);
  Tensor y = x * 2;
  const Storage storage = y.storage();
  {
    const Tensor z = y * w;
    y.mul_(z);
  }
  y.reset();
  EXPECT_EQ(storage.use_count(), 1u);
}

TEST(Graph, ALeafMayDieBeforeBackward) {
  const Tensor w = leaf(2);
  Tensor y;
  {
    const Tensor x = leaf(3);
    y = (x * w).sum();
  }
  y.backward();
  EXPECT_EQ(at(w.grad()), 3);
}

TEST(Graph, DtypeOfGradientsFollowsTheInput) {
  const Tensor x = ones({2}).requires_grad_();
  (x.to(kDouble) * 2.0).sum().backward();
  EXPECT_EQ(x.grad().dtype(), kFloat);
}

}  // namespace
}  // namespace taeda
