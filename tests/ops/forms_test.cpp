// The forms that are made from declarations - in place, with `out`, second names - give what the
// operation gives.
#include <gmock/gmock.h>

#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "taeda/base/error.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/operations.h"
#include "taeda/ops/out.h"
#include "taeda/tensor/grad_mode.h"
#include "tests/error_of.h"
#include "tests/ops/forms.h"

namespace taeda {
namespace {

using testing::find_inputs, testing::Form, testing::forms, testing::Tensors;

Tensors cloned(const Tensors& list) {
  Tensors out;
  for (const Tensor& t : list) out.push_back(t.clone());
  return out;
}

void expect_equal(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.sizes(), b.sizes());
  ASSERT_EQ(a.dtype(), b.dtype());
  EXPECT_TRUE(a.is_complex() || a.dtype() == kBool ? a.equal(b) : a.allclose(b, 1e-5, 1e-6, true))
      << a.repr() << b.repr();
}

TEST(Forms, GiveWhatTheOperationGives) {
  std::set<std::string> untested;
  int in_place = 0, with_out = 0;
  for (const Form& form : forms()) {
    SCOPED_TRACE(form.name);
    Tensors inputs, expected;
    if (!find_inputs(form, inputs, expected)) {
      untested.insert(form.name);
      continue;
    }
    if (form.out) {
      ++with_out;
      Tensors out;
      for (const Tensor& e : expected) out.push_back(empty({0}, e.dtype()));
      const Tensors same = out;
      form.out(out, inputs);
      for (size_t i = 0; i < out.size(); ++i) {
        EXPECT_TRUE(out[i].is_same(same[i]));
        expect_equal(out[i], expected[i]);
      }
      Tensors again = cloned(inputs);  // the first input takes the result
      const bool apart = form.rule.memory == detail::OutRule::Memory::None;
      if (!apart && out.size() == 1 && again[0].dtype() == expected[0].dtype()) {
        out = {again[0]};
        form.out(out, again);
        expect_equal(again[0], expected[0]);
      }
    }
    if (form.in_place &&
        (expected[0].dtype() == inputs[0].dtype() || expected[0].dtype() == kBool) &&
        inputs[0].sizes() == expected[0].sizes()) {
      ++in_place;
      const Tensors changed = cloned(inputs);
      Tensor& result = form.in_place(changed);
      expect_equal(result, expected[0].to(result.dtype()));
      EXPECT_GT(result._version(), 0);
    }
  }
  EXPECT_GT(with_out, 280);
  EXPECT_GT(in_place, 90);
  EXPECT_THAT(untested, ::testing::IsEmpty());
  // Their other overloads are tested, and these by name in the tests of their families.
  EXPECT_THAT(testing::forms_without_row(),
              ::testing::ElementsAre("index", "index_put", "index_reduce", "linalg.cond",
                                     "linalg.norm", "norm", "scatter", "scatter_reduce", "sort",
                                     "std", "std_mean", "var", "var_mean"));
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

/// The kinds of dtype that the operation takes in place of its floating inputs, or, without any, of
/// all.
std::string dtypes_taken(const Form& form, const Tensors& inputs) {
  const std::pair<const char*, ScalarType> kinds[] = {
      {"floating", kFloat}, {"complex", kComplexFloat}, {"integral", kLong}, {"bool", kBool}};
  bool any = false;
  for (const Tensor& t : inputs) any = any || t.is_floating_point();
  std::string taken;
  for (const auto& [kind, dtype] : kinds) {
    Tensors cast;
    for (const Tensor& t : inputs) {
      const Tensor whole = t.is_floating_point() ? t.mul(8).add(1) : t;  // no integer is zero
      const bool as_it_is = dtype == kFloat || dtype == kComplexFloat;
      cast.push_back(any && !t.is_floating_point() ? t : (as_it_is ? t : whole).to(dtype));
    }
    try {
      form.plain(cast);
      taken += (taken.empty() ? "" : " ") + std::string(kind);
    } catch (const Error&) {
    }
  }
  return taken;
}

TEST(Forms, TakeTheDtypesThatAreDeclared) {
  // Overloads share a declaration's comment, so they are compared together.
  std::map<std::string, std::set<std::string>> taken, declared;
  for (const Form& form : forms()) {
    Tensors inputs, results;
    if (!find_inputs(form, inputs, results)) continue;
    const std::string label = form.name, name = label.substr(0, label.find('/'));
    for (const std::string& kind : words(dtypes_taken(form, inputs))) taken[name].insert(kind);
    const std::string stated = *form.dtypes ? form.dtypes : "floating complex integral bool";
    for (const std::string& kind : words(stated)) declared[name].insert(kind);
  }
  for (const auto& [name, kinds] : taken) EXPECT_EQ(kinds, declared[name]) << name;
}

TEST(OutForms, KeepTheirDtypeAndRefuseWhatDoesNotFit) {
  const Tensor a = tensor({1.5f, 2.5f}), b = tensor({1.f, 1.f});
  Tensor wide = empty({2}, kDouble);
  EXPECT_TRUE(add_out(wide, a, b).is_same(wide));
  EXPECT_TRUE(wide.equal(tensor({2.5, 3.5}, kDouble)));
  Tensor whole = empty({2}, kLong);
  EXPECT_THAT(
      error_of([&] { add_out(whole, a, b); }),
      ::testing::HasSubstr("result type Float can't be cast to the desired output type Long"));
  Tensor small = empty({1, 7});
  add_out(small, a, b);
  EXPECT_EQ(small.sizes(), a.sizes());
}

TEST(OutForms, RecordNothing) {
  const Tensor a = tensor({1.5f}).requires_grad_();
  Tensor out = empty({1});
  const std::string refused =
      "add(): functions with out=... arguments don't support automatic differentiation, but one of "
      "the arguments requires grad.";
  EXPECT_THAT(error_of([&] { add_out(out, a, a); }), ::testing::HasSubstr(refused));
  EXPECT_THAT(error_of([&] { clamp_out(out, a.detach(), std::nullopt, a); }),
              ::testing::HasSubstr("clamp(): functions with out=..."));
  Tensor leaf = empty({1}).requires_grad_();
  EXPECT_THAT(error_of([&] { add_out(leaf, a.detach(), a.detach()); }),
              ::testing::HasSubstr(refused));
  {
    NoGradGuard guard;
    add_out(out, a, a);
  }
  EXPECT_EQ(out.item<float>(), 3.f);
  EXPECT_FALSE(out.requires_grad());
  Tensor undefined;
  EXPECT_THAT(error_of([&] { neg_out(undefined, out); }), ::testing::HasSubstr("defined tensor"));
}

TEST(OutForms, WriteIntoViews) {
  const Tensor base = zeros({2, 3});
  Tensor row = base[1];
  mul_out(row, ones({3}), Scalar(4));
  EXPECT_TRUE(base.equal(tensor({{0.f, 0.f, 0.f}, {4.f, 4.f, 4.f}})));
}

TEST(OutForms, OfSeveralResults) {
  const Tensor x = tensor({{1.f, 5.f}, {7.f, 2.f}});
  Tensor values = empty({0}), indices = empty({0}, kLong);
  const std::tuple<Tensor&, Tensor&> both = max_out(values, indices, x, 1);
  EXPECT_TRUE(std::get<0>(both).is_same(values));
  EXPECT_TRUE(values.equal(tensor({5.f, 7.f})));
  EXPECT_TRUE(indices.equal(tensor({1L, 0L})));
  Tensor l = empty({0});
  EXPECT_TRUE(linalg::cholesky_out(l, eye(2).mul(4)).equal(eye(2).mul(2)));
}

TEST(Operations, TableSaysWhatIsDeclared) {
  const Operation* found = nullptr;
  for (const Operation& o : operations())
    if (o.name == "add" && o.arguments[1].type == "const Scalar&") found = &o;
  ASSERT_TRUE(found);
  EXPECT_EQ(found->family, "arithmetic");
  EXPECT_EQ(found->signature(),
            "add(const Tensor& self, const Scalar& other, const Scalar& alpha = 1) -> Tensor");
  EXPECT_TRUE(found->function && found->method && found->in_place && found->out);
  EXPECT_EQ(found->receiver, 0);
  EXPECT_TRUE(found->arguments[2].keyword_only && found->arguments[2].has_default);
  EXPECT_EQ(found->doc, "self + alpha * other.");
}

TEST(Operations, MethodsAloneAreInTheTable) {
  int views = 0;
  for (const Operation& o : operations())
    if (o.name == "view") {
      ++views;
      EXPECT_TRUE(o.method && !o.function);
      EXPECT_EQ(o.view, "always");
    }
  EXPECT_EQ(views, 2);
}

}  // namespace
}  // namespace taeda
