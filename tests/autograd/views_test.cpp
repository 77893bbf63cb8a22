// Views and the histories of their bases: each case once went wrong silently, or too late.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "taeda/autograd/engine.h"
#include "taeda/autograd/function.h"
#include "taeda/base/error.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/grad_mode.h"
#include "tests/autograd/leaves.h"
#include "tests/error_of.h"

namespace taeda {
namespace {

using ::testing::HasSubstr;

Tensor complex_leaf() {
  return make_complex(tensor({1.0, 2.0}), tensor({3.0, 4.0})).requires_grad_();
}

double real_at(const Tensor& t, int64_t i) { return at(view_as_real(t), i); }

TEST(Views, ThePartOfAComplexTensorTakesItsBaseAlong) {
  const Tensor z = complex_leaf(), y = z * 1;
  const Tensor r = real(y);
  r.mul_(2);
  EXPECT_FALSE(r.is_leaf());
  view_as_real(y).sum().backward();
  EXPECT_EQ(real_at(z.grad(), 0), 2);
  EXPECT_EQ(real_at(z.grad(), 1), 1);
}

TEST(Views, AnOlderViewOfAnotherDtypeFollowsItsBase) {
  const Tensor z = complex_leaf(), y = z * 1;
  const Tensor v = view_as_real(y);
  y.mul_(3);
  (v * v).sum().backward();  // 9 |z|^2, whose gradient is 18 z
  EXPECT_EQ(real_at(z.grad(), 0), 18);
  EXPECT_EQ(real_at(z.grad(), 1), 54);
}

TEST(Views, AViewOfAnotherDtypeMayBeChanged) {
  const Tensor z = complex_leaf(), y = z.clone();
  view_as_real(y).mul_(3);
  view_as_real(y).sum().backward();
  EXPECT_EQ(real_at(z.grad(), 3), 3);
  const Tensor x = leaf({2, 2}, 1), w = x * 1;
  view_as_complex(w).mul_(Scalar(std::complex<double>(0, 2)));
  (w * tensor({1.f, 2.f, 3.f, 4.f}).reshape({2, 2})).sum().backward();
  EXPECT_EQ(at(x.grad(), 0), 4) << "(a + bi) 2i = -2b + 2ai";
  EXPECT_EQ(at(x.grad(), 1), -2);
}

TEST(Views, WritingIntoTheImaginaryPartIsRecorded) {
  const Tensor z = complex_leaf(), w = tensor({5.0, 6.0}).requires_grad_();
  const Tensor y = z * 1;
  imag(y).copy_(w);
  (view_as_real(y) * tensor({1.0, 10.0})).sum().backward();
  EXPECT_EQ(at(w.grad(), 1), 10);
  EXPECT_EQ(real_at(z.grad(), 0), 1);
  EXPECT_EQ(real_at(z.grad(), 1), 0);
}

TEST(Views, AComplexTensorMadeOfPartsIsNoView) {
  const Tensor z = complex_leaf();
  EXPECT_FALSE(z.is_view());
  EXPECT_THAT(error_of([&] { view_as_real(z).mul_(2); }),
              HasSubstr("a view of a leaf Variable that requires grad"));
  EXPECT_TRUE(z.is_leaf());
}

TEST(Views, OverlappingViewsFollowTheirBase) {
  const Tensor x = leaf({3}, 1), y = x * 1;
  const Tensor wide = y.expand({2, 3}), windows = y.unfold(0, 2, 1);
  y.mul_(3);
  (wide.sum() + windows.sum()).backward();
  EXPECT_EQ(at(x.grad(), 0), 9) << "twice in the expanded view, once in the windows";
  EXPECT_EQ(at(x.grad(), 1), 12);
}

struct Tripled : autograd::Function<Tripled> {
  static Tensor forward(autograd::AutogradContext*, const Tensor& x) { return x; }
  static autograd::variable_list backward(autograd::AutogradContext*, autograd::variable_list g) {
    return {g[0] * 3};
  }
};
struct Flattened : autograd::Function<Flattened> {
  static Tensor forward(autograd::AutogradContext*, const Tensor& x) { return x.view({-1}); }
  static autograd::variable_list backward(autograd::AutogradContext*, autograd::variable_list g) {
    return {g[0].reshape({2, 2}) * 3};
  }
};

TEST(Views, WhatAUserFunctionReturnsKeepsItsBackward) {
  const Tensor x = leaf({2, 2}, 1), other = leaf({2, 2}, 1);
  const char* const text = "This view was created inside a custom Function";
  Tensor y = Tripled::apply(x * 1), flat = Flattened::apply(x * 1);
  EXPECT_THAT(error_of([&] { y.relu_(); }), HasSubstr(text));
  EXPECT_THAT(error_of([&] { y += other; }), HasSubstr(text));
  EXPECT_THAT(error_of([&] { flat.mul_(2); }), HasSubstr(text));
  EXPECT_THAT(error_of([&] { flat[0].mul_(2); }), HasSubstr(text)) << "views inherit";
  (y.sum() + flat.sum()).backward();
  EXPECT_EQ(at(x.grad()), 6);
}

TEST(Views, PartsAreOutOfDateOnceTheirBaseChanged) {
  const Tensor x = leaf({6}, 1), y = x * 1;
  const std::vector<Tensor> parts = y.chunk(3);
  const Tensor flat = parts[1].view({2, 1});
  y.mul_(2);
  EXPECT_THAT(error_of([&] { parts[0] * 2; }),
              HasSubstr("Output 0 of SplitBackward0 is a view and its base or another view of its "
                        "base has been modified inplace."));
  EXPECT_THAT(error_of([&] { flat.grad_fn(); }), HasSubstr("Output 0 of ViewBackward0 is a view"));
  EXPECT_THAT(parts[0].repr(), HasSubstr("grad_fn=<Invalid>")) << "but they can be looked at";
  NoGradGuard guard;
  EXPECT_EQ(at(parts[0] * 2), 4);
}

TEST(Views, GradModeAndViewsMadeWithoutItDoNotMix) {
  const Tensor x = leaf({4}, 1), y = x * 1, plain = ones({4});
  Tensor view, of_plain;
  {
    NoGradGuard guard;
    view = y.view({2, 2});
    of_plain = plain.view({2, 2});
  }
  const char* const text = "A view was created in no_grad mode and is being modified inplace";
  EXPECT_THAT(error_of([&] { view.mul_(2); }), HasSubstr(text));
  EXPECT_THAT(error_of([&] { of_plain.mul_(leaf({2, 2}, 3)); }), HasSubstr(text));
  EXPECT_EQ(at(y), 1);
  of_plain.mul_(2);
  plain.mul_(x);
  EXPECT_THAT(error_of([&] { of_plain.view({4}); }),
              HasSubstr("its base or another view of its base has been modified inplace with grad "
                        "mode enabled"));
  InferenceMode inference;
  const Tensor fast = y.view({4});
  {
    InferenceMode normal(false);
    EXPECT_THAT(error_of([&] { fast.mul_(2); }), HasSubstr("created in inference mode"));
  }
}

TEST(Views, AnUndefinedTensorIsNamedAsSuch) {
  EXPECT_THAT(error_of([] { Tensor().add_(1); }), HasSubstr("undefined Tensor"));
  EXPECT_THAT(error_of([] { Tensor().copy_(ones({1})); }), HasSubstr("undefined Tensor"));
  EXPECT_THAT(error_of([] { Tensor().unsqueeze_(0); }), HasSubstr("undefined Tensor"));
}

TEST(Views, ParametersInOneBufferDoNotDisturbEachOther) {
  const Tensor buffer = ones({4});
  const Tensor a = zeros({2}).requires_grad_(), b = zeros({2}).requires_grad_();
  a.set_data(buffer.narrow(0, 0, 2));
  b.set_data(buffer.narrow(0, 2, 2));
  const Tensor loss = (a * a).sum();
  {
    NoGradGuard guard;
    b.mul_(5);
  }
  loss.backward();
  EXPECT_EQ(at(a.grad()), 2);
  EXPECT_EQ(at(buffer, 2), 5);
  const Tensor spoilt = (a * a).sum();
  {
    NoGradGuard guard;
    a.view({2, 1}).mul_(5);
  }
  EXPECT_THAT(error_of([&] { spoilt.backward(); }), HasSubstr("modified by an inplace operation"))
      << "but views of one do";
}

TEST(Views, TakingOverMemoryEndsAView) {
  const Tensor base = ones({4}), v = base.view({2, 2});
  v.set_data(zeros({2, 2}));
  EXPECT_FALSE(v.is_view());
  v.add_(1);
  EXPECT_EQ(base._version(), 0);
}

TEST(Views, ATensorThatWasSavedBeforeItGotAHistoryEnds) {
  // y's history leads to the product, which saved y: no cycle may come of it.
  const Tensor x = leaf({2}, 3);
  int alive = 0;
  const auto memory = [&alive](double value) {
    ++alive;
    auto* numbers = new float[2]{static_cast<float>(value), static_cast<float>(value)};
    return from_blob(numbers, {2}, [&alive](void* p) {
      --alive;
      delete[] static_cast<float*>(p);
    });
  };
  {
    const Tensor y = memory(2), z = x * y;
    y.add_(z);
    const Tensor base = memory(2), part = base.view({2}), product = x * part;
    base.add_(product);
    EXPECT_EQ(alive, 2);
  }
  EXPECT_EQ(alive, 0);
}

TEST(Views, AChangeKnowsWhatItReadBefore) {
  // The edges of an in-place operation are taken before it counts: its own input is not out of
  // date.
  const Tensor x = leaf({4}, 2), y = x * 1, v = y.view({2, 2});
  v.mul_(v.detach() * 3);
  y.sum().backward();
  EXPECT_EQ(at(x.grad()), 6);
}

}  // namespace
}  // namespace taeda
