// Hooks on tensors, on nodes and after accumulation; anomaly mode; user-defined functions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "taeda/autograd/anomaly.h"
#include "taeda/autograd/engine.h"
#include "taeda/autograd/function.h"
#include "taeda/autograd/gradcheck.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "tests/autograd/leaves.h"
#include "tests/error_of.h"

namespace taeda {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Hooks, TensorHooksSeeAndReplaceGradients) {
  const Tensor x = leaf(1), y = x * 2;
  double seen = 0;
  y.register_hook([&](const Tensor& g) {
    seen = at(g);
    return g * 10;
  });
  const unsigned handle = x.register_hook([](const Tensor& g) { return g + 1; });
  (y * 3).sum().backward();
  EXPECT_EQ(seen, 3);
  EXPECT_EQ(at(x.grad()), 61);
  x.remove_hook(handle);
  x.mutable_grad().zero_();
  (x * 1).sum().backward();
  EXPECT_EQ(at(x.grad()), 1);
}

TEST(Hooks, RemovingWhatIsNoHookIsAnError) {
  const Tensor x = leaf(1);
  EXPECT_THAT(error_of([&] { x.remove_hook(1); }),
              HasSubstr("Invalid index, no hook at position 1"));
  const unsigned handle = x.register_hook([](const Tensor& g) { return g; });
  EXPECT_THAT(error_of([&] { x.remove_hook(handle + 1'000'000); }),
              HasSubstr("no hook at position"));
  EXPECT_THAT(error_of([&] { ones({1}).remove_hook(handle); }), HasSubstr("no hook at position"));
  x.remove_hook(handle);
  EXPECT_THAT(error_of([&] { x.remove_hook(handle); }), HasSubstr("no hook at position"));
}

TEST(Hooks, AHookMayNotChangeTheDtype) {
  const Tensor x = leaf(1);
  x.register_hook([](const Tensor& g) { return g.to(kDouble); });
  EXPECT_THAT(error_of([&] { (x * 2).sum().backward(); }),
              HasSubstr("hook has changed the type of value (was Float"));
}

TEST(Hooks, AGradientThatNobodyElseHoldsIsNotCopied) {
  const Tensor bias = leaf({3}, 1), row = leaf({1, 3}, 1), held = leaf({3}, 1);
  const void *of_bias = nullptr, *of_row = nullptr;
  Tensor keeper;
  bias.register_hook([&](const Tensor& g) {
    of_bias = g.data_ptr();
    return g;
  });
  row.register_hook([&](const Tensor& g) {  // the view of a sum of another shape
    of_row = g.data_ptr();
    return g;
  });
  held.register_hook([&](const Tensor& g) { return keeper = g; });
  (ones({2, 4, 3}) + bias + row + held).sum().backward();
  EXPECT_EQ(bias.grad().data_ptr(), of_bias);
  EXPECT_EQ(row.grad().data_ptr(), of_row);
  EXPECT_EQ(row.grad().storage().use_count(), 1u);
  EXPECT_NE(held.grad().data_ptr(), keeper.data_ptr());
  for (const Tensor& t : {bias, row, held}) EXPECT_EQ(at(t.grad(), 2), 8);
}

TEST(Hooks, AnErrorSaysInWhichHookItWas) {
  const auto where = [](auto&& add) {
    const Tensor x = leaf(1), y = x * 2;
    add(x, y);
    return error_of([&] { y.sum().backward(); });
  };
  const auto fail = [](const Tensor&) -> Tensor { throw ValueError("no"); };
  EXPECT_EQ(where([&](const Tensor&, const Tensor& y) { y.register_hook(fail); }),
            "no\nCaught ValueError in a tensor hook of MulBackward0.");
  EXPECT_EQ(where([&](const Tensor& x, const Tensor&) { x.register_hook(fail); }),
            "no\nCaught ValueError in a tensor hook of AccumulateGrad.");
  EXPECT_EQ(where([&](const Tensor& x, const Tensor&) {
              x.register_post_accumulate_grad_hook(
                  [](const Tensor&) { throw std::runtime_error("of mine"); });
            }),
            "of mine\nCaught runtime_error in a post-accumulate-grad hook of a leaf of shape [2].");
  EXPECT_EQ(where([&](const Tensor&, const Tensor& y) {
              y.grad_fn()->add_pre_hook([](autograd::TensorVec g) {
                if (!g.empty()) throw std::out_of_range("mine");
                return g;
              });
            }),
            "mine\nCaught out_of_range in a pre-hook of MulBackward0.");
}

TEST(Hooks, AHookMayNotChangeTheShape) {
  const Tensor x = leaf(1);
  x.register_hook([](const Tensor&) { return ones({7}); });
  EXPECT_THAT(error_of([&] { (x * 2).sum().backward(); }),
              HasSubstr("hook has changed the size of value"));
}

TEST(Hooks, AHookNeedsATensorThatRequiresGrad) {
  EXPECT_THAT(error_of([] { ones({1}).register_hook([](const Tensor& g) { return g; }); }),
              HasSubstr("cannot register a hook on a variable that doesn't require gradient"));
}

TEST(Hooks, NodeHooks) {
  const Tensor x = leaf(1), y = x * 2;
  int pre = 0, post = 0;
  y.grad_fn()->add_pre_hook([&](autograd::TensorVec g) {
    ++pre;
    return g;
  });
  y.grad_fn()->add_post_hook([&](autograd::TensorVec given, const autograd::TensorVec& taken) {
    ++post;
    EXPECT_EQ(at(taken[0]), 1);
    given[0] = given[0] * 100;
    return given;
  });
  y.sum().backward();
  EXPECT_EQ(pre, 1);
  EXPECT_EQ(post, 1);
  EXPECT_EQ(at(x.grad()), 200);
}

TEST(Hooks, PostAccumulateHooksSeeTheLeaf) {
  const Tensor x = leaf(1);
  double seen = 0;
  x.register_post_accumulate_grad_hook([&](const Tensor& t) { seen = at(t.grad()); });
  (x * 4).sum().backward();
  EXPECT_EQ(seen, 4);
  EXPECT_THAT(error_of([&] { (x * 2).register_post_accumulate_grad_hook([](const Tensor&) {}); }),
              HasSubstr("cannot be registered on non-leaf tensors"));
}

TEST(Hooks, CallbacksRunAtTheEndOfThePass) {
  const Tensor x = leaf(1);
  std::vector<int> order;
  x.register_hook([&](const Tensor&) {
    autograd::queue_callback([&] { order.push_back(2); });
    order.push_back(1);
    return Tensor();
  });
  (x * 2).sum().backward();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
  EXPECT_THAT(error_of([] { autograd::queue_callback([] {}); }),
              HasSubstr("only be installed during backward"));
}

TEST(Hooks, AnErrorInAHookLeavesTheGraphUsable) {
  const Tensor x = leaf(1);
  bool fail = true;
  x.register_hook([&](const Tensor&) -> Tensor {
    if (fail) throw ValueError("from the hook");
    return {};
  });
  const Tensor y = (x + x).sum();
  EXPECT_THAT(error_of([&] { y.backward({}, true); }), HasSubstr("from the hook"));
  fail = false;
  y.backward();
  EXPECT_EQ(at(x.grad()), 2);
}

TEST(Anomaly, NamesTheFunctionThatReturnedNan) {
  autograd::DetectAnomalyGuard guard;
  const Tensor x = full({2}, -1.0).requires_grad_();
  const Tensor y = x.sqrt().sum();
  EXPECT_THAT(error_of([&] { y.backward(); }),
              AllOf(HasSubstr("Function 'SqrtBackward0"),
                    HasSubstr("returned nan values in its 0th output")));
}

std::string told;

TEST(Anomaly, LanguagesAboveKeepNotesOfTheirOwn) {
  autograd::DetectAnomalyGuard guard;
  autograd::set_origin_notes(
      {.note = [] { return std::string("line 3"); },
       .tell = [](const char* node, const std::string& note) { told = node + (": " + note); }});
  const Tensor x = full({2}, -1.0).requires_grad_();
  const Tensor y = x.sqrt().sum();
  const std::string error = error_of([&] { y.backward(); });
  autograd::set_origin_notes({});
  EXPECT_THAT(error, HasSubstr("Function 'SqrtBackward0' returned nan values"));
  EXPECT_EQ(told, "SqrtBackward0: line 3");
}

TEST(Anomaly, OffByDefault) {
  const Tensor x = full({2}, -1.0).requires_grad_();
  x.sqrt().sum().backward();
  EXPECT_TRUE(std::isnan(at(x.grad())));
}

struct Cube : autograd::Function<Cube> {
  static Tensor forward(autograd::AutogradContext* ctx, const Tensor& x, double factor) {
    ctx->save_for_backward({x});
    ctx->saved_data["factor"] = factor;
    return x * x * x * factor;
  }
  static autograd::variable_list backward(autograd::AutogradContext* ctx,
                                          autograd::variable_list g) {
    const Tensor x = ctx->get_saved_variables()[0];
    return {g[0] * x * x * (3 * ctx->saved_data["factor"].toDouble()), Tensor()};
  }
};

TEST(Function, UserDefinedDerivatives) {
  const Tensor x = leaf(2);
  const Tensor y = Cube::apply(x, 0.5);
  EXPECT_STREQ(y.grad_fn()->name(), "CubeBackward");
  y.sum().backward({}, true);
  EXPECT_EQ(at(x.grad()), 6);
  const Tensor d = full({3}, 0.7, kDouble).requires_grad_();
  const auto fn = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{Cube::apply(in[0], 2.0)};
  };
  EXPECT_TRUE(autograd::gradcheck(fn, {d}));
  EXPECT_TRUE(autograd::gradgradcheck(fn, {d}));
}

struct WrongCount : autograd::Function<WrongCount> {
  static Tensor forward(autograd::AutogradContext*, const Tensor& x) { return x * 1; }
  static autograd::variable_list backward(autograd::AutogradContext*, autograd::variable_list) {
    return {};
  }
};

TEST(Function, TheNumberOfGradientsIsChecked) {
  const Tensor x = leaf(2);
  EXPECT_THAT(error_of([&] { WrongCount::apply(x).sum().backward(); }),
              HasSubstr("returned an incorrect number of gradients (expected 1, got 0)"));
}

struct WrongGradient : autograd::Function<WrongGradient> {
  static Tensor forward(autograd::AutogradContext*, const Tensor& x) { return x * x; }
  static autograd::variable_list backward(autograd::AutogradContext*, autograd::variable_list g) {
    return {g[0] * 3};
  }
};

TEST(Gradcheck, FindsAWrongDerivative) {
  const Tensor x = full({2}, 0.5, kDouble).requires_grad_();
  const auto fn = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{WrongGradient::apply(in[0])};
  };
  EXPECT_THAT(error_of([&] { autograd::gradcheck(fn, {x}); }),
              HasSubstr("Jacobian mismatch for output 0 with respect to input 0"));
  const Tensor f = ones({1}).requires_grad_();
  EXPECT_THAT(error_of([&] { autograd::gradcheck(fn, {f}); }),
              HasSubstr("expects float64 or complex128 inputs, got Float"));
}

}  // namespace
}  // namespace taeda
