// What nodes tell of themselves, and what hooks make of saved tensors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "taeda/autograd/engine.h"
#include "taeda/autograd/graph.h"
#include "taeda/base/error.h"
#include "taeda/device/sim.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/tensor/wrapper.h"
#include "tests/autograd/leaves.h"
#include "tests/error_of.h"

namespace taeda {
namespace {

using autograd::graph::saved_tensors_hooks;
using ::testing::HasSubstr;

TEST(GraphNode, NamesItsSuccessorsAndWhatItSaved) {
  const Tensor x = leaf({2}, 3), y = x.exp(), z = y * x;
  const auto product = z.grad_fn();
  ASSERT_EQ(product->next_functions().size(), 2u);
  EXPECT_EQ(product->next_functions()[0].node.get(), y.grad_fn().get());
  EXPECT_STREQ(product->next_functions()[1].node->name(), "AccumulateGrad");
  const auto saved = product->saved_tensors();
  ASSERT_EQ(saved.size(), 2u);
  const auto result = y.grad_fn()->saved_tensors();
  ASSERT_EQ(result.size(), 1u);
  EXPECT_EQ(result[0].name, "result");
  EXPECT_EQ(at(result[0].value), at(y));
  EXPECT_EQ(result[0].value.grad_fn().get(), y.grad_fn().get());
  z.sum().backward();
  EXPECT_THAT(error_of([&] { y.grad_fn()->saved_tensors(); }),
              HasSubstr("Trying to backward through the graph a second time"));
}

/// As in PyTorch, where a number becomes a tensor.
TEST(GraphNode, NumbersAreInputsWithoutANode) {
  const Tensor x = leaf({2}, 3);
  for (const Tensor& y : {x.add(1), x.sub(1), x.mul(2), x.div(2), x.div(2, "floor"),
                          x.clone().add_(1), x.clone().mul_(2)}) {
    const auto& next = y.grad_fn()->next_functions();
    ASSERT_EQ(next.size(), 2u) << y.grad_fn()->name();
    EXPECT_NE(next[0].node.get(), nullptr);
    EXPECT_EQ(next[1].node.get(), nullptr);
  }
  EXPECT_EQ(rsub(x, 1).grad_fn()->next_functions().size(), 1u);
  x.mul(2).add(1).div(4).sum().backward();
  EXPECT_EQ(x.grad().sum().item<float>(), 1);
}

TEST(GraphNode, ShowsThatASavedTensorChanged) {
  const Tensor x = leaf({2}, 3), y = x.exp();
  y.add_(1);
  EXPECT_THAT(error_of([&] { y.grad_fn()->next_functions()[0].node->saved_tensors(); }),
              HasSubstr("modified by an inplace operation"));
}

TEST(GraphNode, KeepsNotes) {
  const Tensor y = leaf({2}, 3).exp();
  autograd::graph::metadata(*y.grad_fn())["layer"] = 7;
  EXPECT_EQ(std::any_cast<int>(autograd::graph::metadata(*y.grad_fn())["layer"]), 7);
}

TEST(SavedHooks, PackWhatIsSavedAndUnpackWhatIsNeeded) {
  const Tensor x = leaf({2}, 3);
  std::vector<Tensor> packed;
  int unpacked = 0;
  Tensor y;
  {
    saved_tensors_hooks hooks(
        [&](const Tensor& t) -> std::any {
          packed.push_back(t.clone());
          return packed.size() - 1;
        },
        [&](const std::any& i) {
          ++unpacked;
          return packed[std::any_cast<size_t>(i)];
        });
    y = (x * x).exp();
  }
  EXPECT_EQ(packed.size(), 3u) << "two operands and a result";
  y.sum().backward();
  EXPECT_EQ(unpacked, 3);
  EXPECT_FLOAT_EQ(static_cast<float>(at(x.grad())), static_cast<float>(6 * std::exp(9.0)));
}

TEST(SavedHooks, SecondDerivativesGoThroughThem) {
  const Tensor x = tensor({2.0}).requires_grad_();
  Tensor y;
  {
    saved_tensors_hooks hooks([](const Tensor& t) -> std::any { return t.clone(); },
                              [](const std::any& t) { return std::any_cast<Tensor>(t); });
    y = (x * x * x).exp();
  }
  const Tensor first = autograd::grad({y}, {x}, {}, true, true)[0];
  const Tensor second = autograd::grad({first}, {x})[0];
  EXPECT_FLOAT_EQ(static_cast<float>(at(second)), static_cast<float>(156 * std::exp(8.0)))
      << "(6x + 9x^4) exp(x^3)";
}

TEST(SavedHooks, TheInnermostCountsAndEndsWithItsScope) {
  const Tensor x = leaf({2}, 3);
  std::string log;
  const auto logging = [&](char c) {
    return [&log, c](const Tensor& t) -> std::any {
      log += c;
      return t;
    };
  };
  const auto back = [](const std::any& t) { return std::any_cast<Tensor>(t); };
  {
    saved_tensors_hooks outer(logging('o'), back);
    x.exp();
    {
      saved_tensors_hooks inner(logging('i'), back);
      x.exp();
    }
    x.exp();
  }
  x.exp();
  EXPECT_EQ(log, "oio");
}

TEST(SavedHooks, MistakesAreNamed) {
  const Tensor x = leaf({2}, 3);
  const auto back = [](const std::any& t) { return std::any_cast<Tensor>(t); };
  {
    saved_tensors_hooks hooks([](const Tensor& t) -> std::any { return t.mul_(2); }, back);
    EXPECT_THAT(error_of([&] { (x * 1).exp(); }),
                HasSubstr("A saved tensor pack hook is modifying its input in place"));
  }
  Tensor y;
  {
    saved_tensors_hooks hooks([](const Tensor&) -> std::any { return ones({3}); }, back);
    y = x.exp();
  }
  EXPECT_THAT(error_of([&] { y.sum().backward(); }),
              HasSubstr("returned a tensor of shape [3], dtype Float on cpu for one of shape [2]"));
  EXPECT_THAT(error_of([&] { saved_tensors_hooks hooks({}, back); }),
              HasSubstr("expects a pack and an unpack hook"));
}

TEST(SavedHooks, ActivationsWaitOnTheHost) {
  if (device_count(kSim) == 0) sim::configure(1);
  const Tensor host = leaf({1 << 18}, 0.5), x = host.to("sim:0");
  const auto allocated = [] { return sim::memory_allocated(0); };
  const auto chain = [&] {
    Tensor y = x;
    for (int i = 0; i < 8; ++i) y = y.sigmoid();
    return y;
  };
  Tensor y = chain();
  const int64_t kept = static_cast<int64_t>(allocated());
  y.sum().backward();
  const double expected = at(host.grad());
  host.mutable_grad().reset();
  y.reset();
  {
    autograd::graph::save_on_cpu scope;
    y = chain();
  }
  EXPECT_LT(static_cast<int64_t>(allocated()), kept - 6 * (1 << 20));
  y.sum().backward();
  EXPECT_EQ(at(host.grad()), expected);
}

int ended = 0;
void end_wrapper(void* wrapper) noexcept {
  ++ended;
  *static_cast<int*>(wrapper) = 0;
}

TEST(Wrapper, OneForEachTensorAndEndedByItsOwner) {
  alignas(8) static int first = 1, second = 2;
  Tensor x = ones({2});
  const Tensor same = x;
  EXPECT_EQ(wrapper_of(x), nullptr);
  EXPECT_THAT(error_of([&] { set_owns_wrapper(x, true); }), HasSubstr("has no wrapper"));
  EXPECT_EQ(offer_wrapper(x, &first), &first);
  EXPECT_EQ(offer_wrapper(same, &second), &first) << "the tensor has one already";
  set_wrapper_hook(end_wrapper);
  set_owns_wrapper(x, true);
  EXPECT_TRUE(owns_wrapper(same));
  EXPECT_EQ(wrapper_of(same), &first);
  {
    Tensor borrowed = ones({1});
    offer_wrapper(borrowed, &second);
  }
  EXPECT_EQ(ended, 0) << "a tensor does not end what it only borrows";
  x.reset();
  const_cast<Tensor&>(same).reset();
  EXPECT_EQ(ended, 1);
  EXPECT_EQ(first, 0);
}

}  // namespace
}  // namespace taeda
