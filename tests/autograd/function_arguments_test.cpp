// What arguments of a user-defined function may hold: tensors, also in lists, optionals and tuples.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "taeda/autograd/engine.h"
#include "taeda/autograd/function.h"
#include "taeda/base/ordered_dict.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "tests/values.h"

namespace taeda {
namespace {

using autograd::AutogradContext;
using autograd::variable_list;

template <class List>
Tensor total_of(const List& list) {
  Tensor out = zeros({2});
  for (const Tensor& t : list) out = out + t;
  return out;
}

/// Multiplies the k-th tensor of the list by k + 1, and the gradient likewise.
template <class List>
struct Weighted : autograd::Function<Weighted<List>> {
  static Tensor forward(AutogradContext* ctx, double scale, const List& list, const Tensor& last) {
    Tensor out = last * scale;
    int64_t k = 0;
    for (const Tensor& t : list) out = out + t * static_cast<double>(++k);
    ctx->saved_data["n"] = k;
    return out;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    variable_list out{Tensor()};
    for (int64_t k = 1; k <= ctx->saved_data["n"].toInt(); ++k)
      out.push_back(grads[0] * static_cast<double>(k));
    out.push_back(grads[0] * 10.0);
    return out;
  }
};

Tensor two_ones() { return ones({2}).requires_grad_(); }

template <class List>
void expect_weighted(const List& list, const std::vector<Tensor>& tensors) {
  const Tensor last = two_ones();
  const Tensor y = Weighted<List>::apply(10.0, list, last);
  ASSERT_TRUE(y.requires_grad());
  ASSERT_TRUE(y.grad_fn());
  y.sum().backward();
  float k = 0;
  for (const Tensor& t : tensors) EXPECT_EQ(values<float>(t.grad()), (std::vector<float>(2, ++k)));
  EXPECT_EQ(values<float>(last.grad()), (std::vector<float>{10, 10}));
}

TEST(FunctionArguments, ListsOfTensorsKeepTheGraph) {
  const Tensor a = two_ones(), b = two_ones(), c = two_ones();
  expect_weighted(std::vector<Tensor>{a, b, c}, {a, b, c});
  const Tensor d = two_ones(), e = two_ones();
  expect_weighted(std::array<Tensor, 2>{d, e}, {d, e});
  const std::vector<Tensor> held{two_ones(), two_ones()};
  expect_weighted(TensorList(held), held);
  const std::list<Tensor> linked{two_ones()};
  expect_weighted(linked, {linked.front()});
  expect_weighted(std::vector<Tensor>{}, {});
}

/// The sum of everything in an argument; each tensor's gradient is that of the sum times its place.
template <class Argument>
struct Everything : autograd::Function<Everything<Argument>> {
  static Tensor forward(AutogradContext* ctx, const Argument& argument, int /*other*/) {
    Tensor out = zeros({2});
    int64_t n = 0;
    autograd::detail::for_each_tensor(argument, [&](const Tensor& t) {
      if (t.defined()) out = out + t;
      ++n;
    });
    ctx->saved_data["n"] = n;
    return out;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    variable_list out;
    for (int64_t k = 1; k <= ctx->saved_data["n"].toInt(); ++k)
      out.push_back(grads[0] * static_cast<double>(k));
    out.emplace_back();
    return out;
  }
};

template <class Argument>
void expect_places(const Argument& argument, const std::vector<Tensor>& tensors) {
  const Tensor y = Everything<Argument>::apply(argument, 7);
  ASSERT_TRUE(y.requires_grad());
  y.sum().backward();
  float k = 0;
  for (const Tensor& t : tensors) {
    ++k;
    if (t.defined()) {
      EXPECT_EQ(values<float>(t.grad()), (std::vector<float>(2, k)));
    }
  }
}

TEST(FunctionArguments, NestedListsKeepTheGraph) {
  const Tensor a = two_ones(), b = two_ones(), c = two_ones();
  expect_places(std::vector<variable_list>{{a, b}, {}, {c}}, {a, b, c});
  const Tensor d = two_ones(), e = two_ones();
  expect_places(std::map<std::string, variable_list>{{"x", {d}}, {"y", {e}}}, {d, e});
}

TEST(FunctionArguments, PairsTuplesOptionalsAndDictionariesKeepTheGraph) {
  const Tensor a = two_ones(), b = two_ones(), c = two_ones(), d = two_ones(), e = two_ones(),
               f = two_ones();
  expect_places(std::tuple<Tensor, int, variable_list>(a, 3, {b}), {a, b});
  expect_places(std::pair<std::string, Tensor>("x", c), {c});
  expect_places(std::optional<variable_list>(variable_list{d}), {d});
  expect_places(std::vector<std::optional<Tensor>>{std::nullopt, e}, {Tensor(), e});
  OrderedDict<std::string, Tensor> named;
  named.insert("weight", f);
  expect_places(named, {f});
}

/// Takes no tensor but the first, which is doubled.
template <class Other>
struct Doubled : autograd::Function<Doubled<Other>> {
  static Tensor forward(AutogradContext*, const Tensor& x, const Other&) { return x * 2.0; }
  static variable_list backward(AutogradContext*, variable_list grads) {
    return {grads[0] * 2.0, Tensor()};
  }
};

template <class Other>
void expect_one_place(const Other& other) {
  const Tensor x = two_ones();
  Doubled<Other>::apply(x, other).sum().backward();
  EXPECT_EQ(values<float>(x.grad()), (std::vector<float>{2, 2}));
}

TEST(FunctionArguments, WhatHoldsNoTensorIsOnePlace) {
  expect_one_place(std::vector<int64_t>{1, 2, 3});
  expect_one_place(std::string("three"));
  expect_one_place(std::filesystem::path("a/b/c"));
  expect_one_place(std::vector<std::string>{"a", "b"});
  expect_one_place(std::pair<int, double>(1, 2.0));
  expect_one_place(std::optional<double>());
  expect_one_place(std::tuple<>());
}

struct Asking : autograd::Function<Asking> {
  static Tensor forward(AutogradContext*, const variable_list& list) { return total_of(list); }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    variable_list out;
    for (size_t i = 0; i < 3; ++i) {
      asked.push_back(ctx->needs_input_grad(i));
      out.push_back(grads[0]);
    }
    return out;
  }
  static inline std::vector<bool> asked;
};

TEST(FunctionArguments, EachTensorOfAListIsAskedForByItsPlace) {
  const Tensor a = two_ones(), b = ones({2}), c = two_ones();
  Asking::apply(variable_list{a, b, c}).sum().backward();
  EXPECT_EQ(Asking::asked, (std::vector<bool>{true, false, true}));
  EXPECT_FALSE(b.grad().defined());
}

}  // namespace
}  // namespace taeda
