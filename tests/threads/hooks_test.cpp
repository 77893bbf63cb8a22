// Hooks of all kinds that come and go while passes and calls run.
#include "taeda/nn/hooks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>
#include <utility>

#include "taeda/autograd/engine.h"
#include "taeda/nn/cloneable.h"
#include "taeda/nn/modules/linear.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/reduce/reduce.h"
#include "tests/error_of.h"
#include "tests/threads/together.h"

namespace taeda {
namespace {

using autograd::TensorVec;

TEST(HookHandles, RemoveExactlyTheirOwn) {
  const Tensor x = ones({1}).requires_grad_(), y = x * 1;
  int of_leaf = 0, of_y = 0, pre = 0, post = 0, after = 0;
  const unsigned a = x.register_hook([&](const Tensor&) { return ++of_leaf, Tensor(); });
  const unsigned b = x.register_post_accumulate_grad_hook([&](const Tensor&) { ++after; });
  const unsigned c = y.register_hook([&](const Tensor&) { return ++of_y, Tensor(); });
  const unsigned d = y.grad_fn()->add_pre_hook([&](TensorVec g) { return ++pre, g; });
  const unsigned e =
      y.grad_fn()->add_post_hook([&](TensorVec g, const TensorVec&) { return ++post, g; });
  EXPECT_EQ((std::set<unsigned>{a, b, c, d, e}).size(), 5u);
  const auto counts = [&] {
    of_leaf = of_y = pre = post = after = 0;
    y.backward({}, true);
    return std::vector<int>{of_leaf, after, of_y, pre, post};
  };
  EXPECT_EQ(counts(), (std::vector<int>{1, 1, 1, 1, 1}));
  for (const auto& [tensor, others] : {std::pair(y, a), std::pair(y, b), std::pair(x, c)})
    EXPECT_EQ(error_of([&, t = tensor, h = others] { t.remove_hook(h); }),
              "Invalid index, no hook at position " + std::to_string(others));
  EXPECT_EQ(counts(), (std::vector<int>{1, 1, 1, 1, 1}));
  x.remove_hook(b);
  EXPECT_EQ(counts(), (std::vector<int>{1, 0, 1, 1, 1}));
  y.remove_hook(d);
  EXPECT_EQ(counts(), (std::vector<int>{1, 0, 1, 0, 1}));
  x.remove_hook(a);
  y.remove_hook(c);
  y.grad_fn()->remove_hook(e);
  EXPECT_EQ(counts(), (std::vector<int>{0, 0, 0, 0, 0}));
}

TEST(HookHandles, OfModulesAreUniqueToo) {
  nn::Linear first(1, 1), second(1, 1);
  int calls = 0;
  const auto count = [&](nn::Module&, nn::ModuleHooks::Inputs&) { ++calls; };
  const unsigned a = nn::register_forward_pre_hook(*first, count);
  const unsigned b = nn::register_forward_pre_hook(*second, count);
  EXPECT_NE(a, b);
  nn::remove_hook(*second, a);
  second(ones({1, 1}));
  EXPECT_EQ(calls, 1);
}

TEST(HooksThatComeAndGo, AHookMayRemoveItselfAndAddAnother) {
  const Tensor x = ones({1}).requires_grad_();
  std::vector<int> order;
  unsigned self = 0;
  self = x.register_hook([&](const Tensor&) {
    order.push_back(1);
    x.remove_hook(self);
    x.register_hook([&](const Tensor&) { return order.push_back(3), Tensor(); });
    return Tensor();
  });
  x.register_hook([&](const Tensor&) { return order.push_back(2), Tensor(); });
  (x * 1).sum().backward();
  EXPECT_EQ(order, (std::vector<int>{1, 2})) << "the pass runs those that there were";
  order.clear();
  (x * 1).sum().backward();
  EXPECT_EQ(order, (std::vector<int>{2, 3}));
}

TEST(HooksThatComeAndGo, WhileOthersRun) {
  const Tensor x = ones({4}).requires_grad_(), y = x * 2;
  std::atomic<int> calls{0};
  constexpr int kRounds = 200;
  together(4, [&](int thread) {
    for (int i = 0; i < kRounds; ++i) {
      if (thread < 2) {
        y.sum().backward({}, true);
        continue;
      }
      const auto seen = [&](const Tensor&) { return ++calls, Tensor(); };
      const unsigned a = x.register_hook(seen), b = y.register_hook(seen);
      const unsigned c = y.grad_fn()->add_pre_hook([&](TensorVec g) { return ++calls, g; });
      const unsigned d =
          y.grad_fn()->add_post_hook([&](TensorVec g, const TensorVec&) { return ++calls, g; });
      const unsigned e = x.register_post_accumulate_grad_hook([&](const Tensor&) { ++calls; });
      for (const unsigned h : {a, e}) x.remove_hook(h);
      for (const unsigned h : {b, c, d}) y.remove_hook(h);
    }
  });
  EXPECT_TRUE(x.grad().eq(2 * 2 * kRounds).all().item<bool>());
  const int before = calls;
  y.sum().backward();
  EXPECT_EQ(calls, before) << "all were removed";
}

TEST(HooksThatComeAndGo, OfAModuleThatIsCalled) {
  nn::Linear m(2, 2);
  const Tensor x = ones({1, 2}), expected = m(x).detach();
  std::atomic<int> calls{0}, wrong{0};
  together(4, [&](int thread) {
    for (int i = 0; i < 100; ++i) {
      if (thread < 2) {
        const Tensor y = m(x);
        wrong += !y.eq(expected).all().item<bool>();
        y.sum().backward();
        continue;
      }
      const unsigned a = nn::register_forward_pre_hook(
          *m, [&](nn::Module&, nn::ModuleHooks::Inputs&) { ++calls; });
      const unsigned b =
          nn::register_forward_hook(*m, [&](nn::Module&, const nn::ModuleHooks::Inputs&,
                                            const Tensor&) { return ++calls, Tensor(); });
      const unsigned c = nn::register_full_backward_hook(
          *m, [&](nn::Module&, const nn::ModuleHooks::Inputs&, const Tensor&) {
            return ++calls, std::vector<Tensor>();
          });
      for (const unsigned h : {a, b, c}) nn::remove_hook(*m, h);
    }
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_TRUE(m->bias.grad().eq(200).all().item<bool>());
}

TEST(BackwardHooks, OfAModuleThatIsGoneAreNotRun) {
  int calls = 0;
  Tensor loss;
  const Tensor x = ones({1, 2}).requires_grad_();
  {
    nn::Linear m(2, 2);
    nn::register_full_backward_hook(
        *m, [&](nn::Module&, const nn::ModuleHooks::Inputs&, const Tensor&) {
          return ++calls, std::vector<Tensor>();
        });
    loss = m(x).sum();
    loss.backward({}, true);
    EXPECT_EQ(calls, 1);
  }
  loss.backward();
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(x.grad().defined());
}

TEST(BackwardHooks, KeepNoGradientBeyondThePass) {
  nn::Linear m(2, 2);
  auto alive = std::make_shared<int>(0);
  nn::register_full_backward_hook(
      *m, [](nn::Module&, const nn::ModuleHooks::Inputs&, const Tensor& grad_output) {
        EXPECT_TRUE(grad_output.defined());
        return std::vector<Tensor>();
      });
  {
    const Tensor x = ones({1, 2}).requires_grad_();
    const Tensor y = m(x * 1);
    y.register_hook([alive](const Tensor&) { return Tensor(); });
    const Tensor g = autograd::grad({(y * y).sum()}, {x}, {}, {}, true)[0];
    EXPECT_EQ(alive.use_count(), 2);
  }
  EXPECT_EQ(alive.use_count(), 1) << "the graph is gone with its last tensor";
}

}  // namespace
}  // namespace taeda
