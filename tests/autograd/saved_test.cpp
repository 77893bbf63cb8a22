// What an operation keeps for its gradient: no more than the gradients that are wanted read.
#include <gtest/gtest.h>

#include <functional>

#include "taeda/autograd/engine.h"
#include "taeda/ops/arithmetic.h"
#include "taeda/ops/create.h"
#include "taeda/ops/names.h"
#include "taeda/ops/unary.h"
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

}  // namespace
}  // namespace taeda
