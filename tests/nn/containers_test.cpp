// Sequential, lists and dictionaries.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "taeda/nn/containers/functional.h"
#include "taeda/nn/containers/lists.h"
#include "taeda/nn/containers/sequential.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"

namespace taeda::nn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

struct PlusImpl : Cloneable<PlusImpl> {
  explicit PlusImpl(double amount = 1) : value(amount) { reset(); }
  void reset() override { amount = register_parameter("amount", full({}, value)); }
  Tensor forward(const Tensor& x) { return x.add(amount); }
  double value;
  Tensor amount;
};
TAEDA_MODULE(Plus);

struct SplitImpl : Module {
  std::tuple<Tensor, int64_t> forward(const Tensor& x, int64_t n) { return {x, n}; }
};
TAEDA_MODULE(Split);

struct JoinImpl : Module {
  Tensor forward(std::tuple<Tensor, int64_t> parts) {
    return std::get<0>(parts).mul(std::get<1>(parts));
  }
};
TAEDA_MODULE(Join);

/// Two forwards: callable with one tensor only.
struct OverloadedImpl : Module {
  Tensor forward(const Tensor& x) { return x; }
  Tensor forward(const Tensor& x, int64_t n) { return x.mul(n); }
};
TAEDA_MODULE(Overloaded);

double run(Sequential s) { return s(full({}, 1.0)).item<double>(); }

TEST(Sequential, RunsModulesInOrder) {
  EXPECT_EQ(run(Sequential(Plus(1), Plus(2))), 4);
  Sequential named{{"first", Plus(1)}, {"second", Plus(2)}};
  EXPECT_THAT(named->named_children().keys(), ElementsAre("first", "second"));
  EXPECT_EQ(run(named), 4);
  EXPECT_EQ(
      run(Sequential(OrderedDict<std::string, AnyModule>{{"a", Plus(5)}, {"b", Overloaded()}})), 6);
  Sequential grown;
  grown->push_back(Plus(3));
  grown->push_back("four", Plus(4));
  grown->push_back(std::make_shared<PlusImpl>(5));
  grown->extend(*named);
  EXPECT_THAT(grown->named_children().keys(), ElementsAre("0", "four", "2", "3", "4"));
  EXPECT_EQ(run(grown), 16);
  EXPECT_EQ(grown->size(), 5u);
  EXPECT_EQ(grown->at<Plus>(1).value, 4);
  EXPECT_EQ(grown[2]->name(), "Plus");
}

TEST(Sequential, TakesAndPassesAnyTypes) {
  Sequential s{Split(), Join()};
  EXPECT_EQ(s(full({}, 3.0), int64_t{4}).item<double>(), 12);
  Sequential first{Split()};
  const auto parts = first->forward<std::tuple<Tensor, int64_t>>(full({}, 3.0), int64_t{4});
  EXPECT_EQ(std::get<1>(parts), 4);
}

TEST(Sequential, Errors) {
  Sequential empty_one;
  EXPECT_THAT(
      [&] { empty_one(ones({1})); },
      ThrowsMessage<Error>("Cannot call forward() on an empty Sequential\nin module Sequential"));
  EXPECT_THAT([&] { empty_one->ptr(0); }, ThrowsMessage<IndexError>("Index out of range"));
  Sequential s{Split(), Join()};
  EXPECT_THAT([&] { s->at<Plus>(0); },
              ThrowsMessage<TypeError>(HasSubstr("Attempted to cast module of type Split")));
  EXPECT_THAT([&] { s(ones({1})); }, ThrowsMessage<TypeError>(HasSubstr(
                                         "Split's forward() method expects 2 argument(s), but "
                                         "received 1.")));
  EXPECT_THAT([&] { s(ones({1}), 1.5); },
              ThrowsMessage<TypeError>(HasSubstr("Expected argument #1 to be of type long, but "
                                                 "received value of type double")));
  EXPECT_THAT([&] { s->forward<int>(ones({1}), int64_t{1}); },
              ThrowsMessage<TypeError>(HasSubstr(
                  "The type of the return value is taeda::Tensor, but you asked for type int")));
  Sequential o{Overloaded()};
  EXPECT_THAT([&] { o(ones({1}), int64_t{2}); },
              ThrowsMessage<Error>(HasSubstr("can be called with one tensor only")));
  AnyModule none;
  EXPECT_THAT([&] { none.forward(ones({1})); },
              ThrowsMessage<Error>("Cannot call forward() on an empty AnyModule"));
}

TEST(Sequential, ClonesItsModules) {
  Sequential s{{"a", Plus(1)}, {"b", Sequential(Plus(2))}};
  s->eval();
  const auto copy = std::dynamic_pointer_cast<SequentialImpl>(s->clone());
  copy->at<Plus>(0).amount.set_data(full({}, 10.0));
  EXPECT_EQ(run(s), 4);
  EXPECT_EQ(copy->forward(full({}, 1.0)).item<double>(), 13);
  EXPECT_FALSE(copy->is_training());
  EXPECT_EQ(copy->repr(), s->repr());
}

TEST(ModuleList, HoldsModulesByPosition) {
  ModuleList list(Plus(1), Plus(2));
  list->append(Plus(3));
  list->insert(1, Plus(9).ptr());
  std::vector<double> amounts;
  for (const auto& m : *list) amounts.push_back(m->as<Plus>()->value);
  EXPECT_THAT(amounts, ElementsAre(1, 9, 2, 3));
  EXPECT_THAT(list->named_parameters().keys(),
              ElementsAre("0.amount", "1.amount", "2.amount", "3.amount"));
  EXPECT_EQ(list->at<Plus>(1).value, 9);
  EXPECT_EQ(list[3]->key(), "3");
  EXPECT_THAT([&] { list->ptr(4); }, ThrowsMessage<IndexError>("Index out of range"));
  EXPECT_THAT([&] { list->at<Split>(0); },
              ThrowsMessage<TypeError>(HasSubstr("Unable to cast module[0] to ")));
  EXPECT_THAT([&] { list->insert(7, Plus().ptr()); },
              ThrowsMessage<IndexError>("Index out of range"));
  EXPECT_EQ(list->clone()->repr(), list->repr());
}

TEST(ModuleDict, HoldsModulesByName) {
  ModuleDict dict;
  dict->insert("b", Plus(1));
  dict->insert("a", Plus(2));
  EXPECT_THAT(dict->keys(), ElementsAre("b", "a"));
  EXPECT_TRUE(dict->contains("a"));
  dict->update({{"a", Plus(5).ptr()}, {"c", Plus(6).ptr()}});
  EXPECT_EQ(dict->at<Plus>("a").value, 5);
  EXPECT_EQ(dict->size(), 3u);
  EXPECT_EQ(dict->pop("b")->name(), "Plus");
  EXPECT_THAT(dict->keys(), ElementsAre("a", "c"));
  EXPECT_THAT([&] { (*dict)["b"]; }, ThrowsMessage<Error>("Key 'b' is not defined"));
  EXPECT_THAT([&] { dict->at<Split>("a"); },
              ThrowsMessage<TypeError>(HasSubstr("Unable to cast module[a] to ")));
  EXPECT_EQ(dict->clone()->repr(), dict->repr());
  dict->clear();
  EXPECT_TRUE(dict->empty());
}

TEST(ParameterList, HoldsTensors) {
  ParameterList list(zeros({2}, requires_grad()), ones({3}));
  EXPECT_THAT(list->named_parameters().keys(), ElementsAre("0", "1"));
  EXPECT_TRUE(list->at(0).requires_grad());
  EXPECT_FALSE(list[1].requires_grad());
  const auto copy = std::dynamic_pointer_cast<ParameterListImpl>(list->clone());
  EXPECT_FALSE(copy->at(0).is_same(list->at(0)));
  EXPECT_TRUE(copy->at(0).requires_grad());
  EXPECT_THAT([&] { list->at(2); }, ThrowsMessage<IndexError>("Index 2 is out of bounds"));
}

TEST(ParameterDict, HoldsTensors) {
  ParameterDict dict;
  dict->insert("left", zeros({2}, requires_grad()));
  dict->insert("right", ones({3}));
  EXPECT_THAT(dict->keys(), ElementsAre("left", "right"));
  EXPECT_EQ(dict->pop("right").numel(), 3);
  EXPECT_FALSE(dict->contains("right"));
  EXPECT_THAT([&] { dict->get("right"); },
              ThrowsMessage<Error>("Parameter 'right' is not defined"));
  EXPECT_EQ(dict->clone()->repr(), dict->repr());
}

TEST(Functional, IsAFunctionAmongModules) {
  Sequential net{Functional([](const Tensor& x) { return x * 3; }), Plus(1),
                 Functional([](const Tensor& x, double by) { return x * by; }, 2.)};
  EXPECT_EQ(net->forward(full({1}, 2.)).item<double>(), 14);
  const auto copy = std::dynamic_pointer_cast<SequentialImpl>(net->clone());
  EXPECT_EQ(copy->forward(full({1}, 2.)).item<double>(), 14);
  EXPECT_EQ(net->repr(), "Sequential(\n  (0): Functional()\n  (1): Plus()\n  (2): Functional()\n)");
  EXPECT_THAT([] { Functional empty{FunctionalImpl::Function()}; },
              ThrowsMessage<Error>(HasSubstr("Functional: expected a function, got an empty one")));
}

TEST(OrderedDict, AnEmptyOneHasNoFirstItem) {
  const OrderedDict<std::string, int> none;
  EXPECT_THROW(none.front(), IndexError);
  EXPECT_THROW(none.back(), IndexError);
  OrderedDict<std::string, int> two = {{"a", 1}, {"b", 2}};
  EXPECT_EQ(two.front().key(), "a");
  EXPECT_EQ(two.back().value(), 2);
}

}  // namespace
}  // namespace taeda::nn
