// What an operation keeps for its gradient: no more than the gradients that are wanted read.
#include <gtest/gtest.h>

#include <functional>

#include "taeda/autograd/engine.h"
#include "taeda/autograd/function.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/names.h"
#include "tests/error_of.h"

namespace taeda {
namespace {

struct Case {
  const char* name;
  /// Of `x`, which wants a gradient that needs neither `a` nor `b`.
  std::function<Tensor(const Tensor& x, const Tensor& a, const Tensor& b, const Tensor& index)> f;
};

const Case kCases[] = {
    {"addcmul", [](const auto& x, const auto& a, const auto& b, auto&) { return x.addcmul(a, b); }},
    {"addcdiv", [](const auto& x, const auto& a, const auto& b, auto&) { return x.addcdiv(a, b); }},
    {"addcmul_",
     [](const auto& x, const auto& a, const auto& b, auto&) { return x.add(1).addcmul_(a, b, 2); }},
    {"addcdiv_",
     [](const auto& x, const auto& a, const auto& b, auto&) { return x.add(1).addcdiv_(a, b, 2); }},
    {"remainder", [](const auto& x, const auto& a, auto&, auto&) { return x.remainder(a); }},
    {"fmod", [](const auto& x, const auto& a, auto&, auto&) { return x.fmod(a); }},
    {"index_add", [](const auto& x, const auto& a, auto&,
                     const auto& index) { return x.index_add(0, index, a); }},
    {"index_add_", [](const auto& x, const auto& a, auto&,
                      const auto& index) { return x.add(1).index_add_(0, index, a); }},
    {"scatter_add", [](const auto& x, const auto& a, auto&,
                       const auto& index) { return x.scatter_add(0, index, a); }},
};

TEST(SavedTensors, WhatIsNotNeededIsNotKept) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    const Tensor x = tensor({1.0, 2.0, 3.0}).requires_grad_();
    const Tensor a = tensor({4.0, 5.0, 6.0}), b = tensor({7.0, 8.0, 9.0}), index = arange(3);
    const Tensor y = c.f(x, a, b, index).sum();
    a.zero_(), b.zero_(), index.zero_();  // changes that no gradient may notice
    EXPECT_EQ(error_of([&] { y.backward(); }), "no error");
    EXPECT_EQ(error_of([&] { y.backward(); }), "no error") << "there is nothing to release";
    EXPECT_TRUE(x.grad().equal(full({3}, 2)));
  }
}

TEST(SavedTensors, WhatIsNeededIs) {
  const Tensor x = ones({2}).requires_grad_(), a = tensor({2.0, 3.0}).requires_grad_();
  const Tensor b = tensor({5.0, 7.0});
  const Tensor y = x.addcmul(a, b).sum();
  y.backward();
  EXPECT_TRUE(a.grad().equal(b));
  EXPECT_NE(error_of([&] { y.backward(); }), "no error");
  const Tensor z = x.addcdiv(b, a).sum();
  b.zero_();
  EXPECT_NE(error_of([&] { z.backward(); }), "no error");
  // A weight's gradient reads the ends, theirs the weight.
  const Tensor w = full({2}, 0.25), end = full({2}, 3.0), by_weight = x.lerp(end, w).sum();
  end.zero_();
  by_weight.backward();
  EXPECT_TRUE(x.grad().equal(full({2}, 1.75)));
}

/// x * y, whose backward differentiates by what it saved.
struct Looking : autograd::Function<Looking> {
  static Tensor forward(autograd::AutogradContext* ctx, const Tensor& x, const Tensor& y) {
    const Tensor out = x.mul(y);
    ctx->save_for_backward({x, y, out});
    kept = ctx;
    return out;
  }
  static autograd::variable_list backward(autograd::AutogradContext* ctx,
                                          autograd::variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    for (const Tensor& t : saved) EXPECT_TRUE(t.requires_grad());
    EXPECT_FALSE(saved[0].is_leaf() || saved[2].is_leaf());
    const AutoGradMode recorded(true);
    return autograd::grad({saved[0].clone().mul(saved[1])}, {saved[0], saved[1]}, grads);
  }
  static inline autograd::AutogradContext* kept = nullptr;
};

TEST(SavedTensors, ComeBackToFunctionsAsWhatTheyWere) {
  const Tensor p = full({2}, 3.0).requires_grad_(), q = full({2}, 5.0).requires_grad_();
  const Tensor out = Looking::apply(p.mul(1), q);
  {
    const NoGradGuard guard;  // and no pass runs
    const auto context = Looking::kept->get_saved_variables();
    EXPECT_TRUE(context[0].requires_grad() && context[1].is_same(q));
    EXPECT_TRUE(context[2].equal(out)) << "of whose history the node knows more";
    const auto node = out.grad_fn()->saved_tensors();
    EXPECT_TRUE(node[0].value.requires_grad() && node[1].value.is_same(q));
    EXPECT_TRUE(node[2].value.requires_grad() && node[2].value.grad_fn() == out.grad_fn());
  }
  out.sum().backward();
  EXPECT_TRUE(p.grad().equal(q.detach()) && q.grad().equal(p.detach()));
}

TEST(SavedTensors, ANumberCountsAsOne) {
  const Tensor x = ones({2}).requires_grad_();
  for (const Tensor& y : {x.mul(2), x.div(2), x.clone().mul_(2), x.clone().div_(2)}) {
    y.backward(ones({2}));
    EXPECT_NE(error_of([&] { y.backward(ones({2})); }), "no error") << y.grad_fn()->name();
  }
  for (const Tensor& y : {x.add(2), x.neg(), x.sum(), x.add(x, 2)}) {
    y.backward(ones(y.sizes()));
    EXPECT_EQ(error_of([&] { y.backward(ones(y.sizes())); }), "no error") << y.grad_fn()->name();
  }
}

TEST(SavedTensors, AMarkedInputCountsAsChanged) {
  struct Same : autograd::Function<Same> {
    static Tensor forward(autograd::AutogradContext* ctx, const Tensor& x) {
      ctx->mark_dirty({x});
      return x;
    }
    static autograd::variable_list backward(autograd::AutogradContext*,
                                            autograd::variable_list grads) {
      return grads;
    }
  };
  const Tensor plain = ones({2});
  Same::apply(plain);
  EXPECT_EQ(plain._version(), 1);
  const Tensor p = ones({2}).requires_grad_(), x = p.mul(p), y = x.mul(x);
  Same::apply(x);
  EXPECT_NE(error_of([&] { y.sum().backward(); }).find("modified by an inplace"),
            std::string::npos);
  EXPECT_NE(error_of([&] { Same::apply(p); }).find("a leaf Variable that requires grad"),
            std::string::npos);
}

}  // namespace
}  // namespace taeda
