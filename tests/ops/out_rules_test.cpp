// What the form with `out` of every operation takes for it: memory of all kinds, memory that an
// input shares, other dtypes, other devices.
#include <gmock/gmock.h>

#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/out.h"
#include "taeda/ops/shape/shape.h"
#include "tests/error_of.h"
#include "tests/ops/forms.h"

namespace taeda {
namespace {

using detail::OutRule;
using testing::Form, testing::Tensors;
using ::testing::HasSubstr;

/// A form with inputs that it takes and the results that it gives.
struct Case {
  const Form& form;
  Tensors inputs, expected;

  /// The inputs, none of which shares memory with another or was written by an earlier call.
  Tensors fresh() const {
    Tensors out;
    for (const Tensor& t : inputs) out.push_back(t.clone());
    return out;
  }
  Tensors empty_results() const {
    Tensors out;
    for (const Tensor& t : expected) out.push_back(empty({0}, t.dtype()));
    return out;
  }
  /// What the form says with `to` for result i, or how far it is from right.
  std::string outcome(size_t i, const Tensor& to, const Tensors& from, double tolerance = 1e-5) {
    Tensors out = empty_results();
    out[i] = to;
    const std::string error = error_of([&] { form.out(out, from); });
    if (error != "no error") return error;
    const Tensor want = expected[i].to(to.dtype());
    if (!out[i].is_same(to) || to.sizes() != want.sizes()) return "another tensor";
    const ScalarType wide = to.is_complex() ? kComplexDouble : kDouble;
    const Tensor a = to.to(wide), b = want.to(wide);
    const Tensor near = a.sub(b).abs().le(b.abs().mul(tolerance).add(tolerance));
    return a.eq(b).logical_or(near).logical_or(a.ne(a).logical_and(b.ne(b))).all().item<bool>()
               ? "right"
               : "wrong";
  }
};

/// Calls `check(case)` for every form with `out`.
template <class Check>
int for_each_form(Check check) {
  int count = 0;
  for (const Form& form : testing::forms()) {
    Case c{form, {}, {}};
    if (!form.out || !find_inputs(form, c.inputs, c.expected)) continue;
    SCOPED_TRACE(form.name);
    for (size_t i = 0; i < c.expected.size(); ++i) check(c, i);
    ++count;
  }
  return count;
}

TEST(OutRules, MemoryOfAllKindsIsWritten) {
  const int forms = for_each_form([](Case& c, size_t i) {
    const Tensor& e = c.expected[i];
    EXPECT_EQ(c.outcome(i, empty(e.sizes(), e.dtype()), c.fresh()), "right");
    EXPECT_EQ(c.outcome(i, empty({0}, e.dtype()), c.fresh()), "right") << "no elements";
    if (e.dim() == 0 || e.numel() == 0) return;
    DimVector twice = e.sizes();
    twice.back() *= 2;
    const Tensor whole = zeros(twice, e.dtype());
    EXPECT_EQ(c.outcome(i, whole.slice(-1, 0, std::nullopt, 2), c.fresh()), "right") << "gaps";
    EXPECT_TRUE(whole.slice(-1, 1, std::nullopt, 2).equal(zeros(e.sizes(), e.dtype())));
    if (e.numel() < 2) return;
    const Tensor repeated = zeros(DimVector(e.sizes().size(), 1), e.dtype()).expand(e.sizes());
    EXPECT_THAT(c.outcome(i, repeated, c.fresh()),
                HasSubstr("more than one element of the written-to tensor"));
  });
  EXPECT_GT(forms, 280);
}

/// A row of memory that begins with a copy of `in`, which it puts in place of that, and behind it
/// has room for `more` elements.
Tensor memory_with(Tensor& in, int64_t more) {
  const Tensor memory = zeros({in.numel() + more}, in.dtype());
  const Tensor part = memory.narrow(0, 0, in.numel()).view(in.sizes());
  part.copy_(in);
  in = part;
  return memory;
}

TEST(OutRules, APartOfAnInputIsRefusedOrWrittenLast) {
  int refused = 0, written = 0;
  for_each_form([&](Case& c, size_t i) {
    const Tensor& e = c.expected[i];
    for (size_t k = 0; k < c.inputs.size(); ++k) {
      if (c.inputs[k].dtype() != e.dtype() || c.inputs[k].numel() < 2 || e.numel() == 0) continue;
      Tensors from = c.fresh();
      const Tensor memory = memory_with(from[k], e.numel());
      const Tensor out = memory.narrow(0, 1, e.numel()).view(e.sizes());
      const std::string outcome = c.outcome(i, out, from);
      if (c.form.rule.memory == OutRule::Memory::Any) {
        EXPECT_EQ(outcome, "right") << "input " << k;
        ++written;
      } else {
        EXPECT_THAT(outcome, HasSubstr("some elements of the input tensor")) << "input " << k;
        ++refused;
      }
    }
  });
  EXPECT_GT(refused, 150);
  EXPECT_GT(written, 40);
}

TEST(OutRules, AnInputItselfIsWrittenLast) {
  int refused = 0, written = 0;
  for_each_form([&](Case& c, size_t i) {
    const Tensor& e = c.expected[i];
    for (size_t k = 0; k < c.inputs.size(); ++k) {
      if (c.inputs[k].dtype() != e.dtype() || c.inputs[k].sizes() != e.sizes()) continue;
      const Tensors from = c.fresh();
      const std::string outcome = c.outcome(i, from[k], from);
      const bool apart = c.form.rule.memory == OutRule::Memory::None;
      EXPECT_THAT(outcome, HasSubstr(apart ? "some elements of the input tensor" : "right"))
          << "input " << k;
      ++(apart ? refused : written);
    }
  });
  EXPECT_GT(refused, 4);
  EXPECT_GT(written, 200);
}

/// What the rule says of an `out` of dtype `out`; "" if the form takes it.
std::string refusal(const Form& form, ScalarType result, ScalarType out) {
  switch (form.rule.dtype) {
    case OutRule::Dtype::Same: return out == result ? "" : "type ";
    case OutRule::Dtype::Truth:
      return out == kBool || out == kByte ? "" : "only supports bool tensor for result, got: ";
    case OutRule::Dtype::Floating:
      return is_floating_point(out) ? "" : "expects a floating point output tensor, but got ";
    default: return can_cast(result, out) ? "" : "can't be cast to the desired output type ";
  }
}

TEST(OutRules, OtherDtypesAreConvertedOrRefused) {
  for_each_form([](Case& c, size_t i) {
    const Tensor& e = c.expected[i];
    for (const ScalarType dtype :
         {kFloat, kDouble, kHalf, kLong, kInt, kByte, kBool, kComplexFloat}) {
      const bool summed = c.form.in_dtype_of_out;
      if (summed && !is_floating_point(dtype)) continue;  // another result
      const std::string refused = summed ? "" : refusal(c.form, e.dtype(), dtype);
      const Tensor out = empty(e.sizes(), dtype);
      const std::string outcome = c.outcome(i, out, c.fresh(), dtype == kHalf ? 1e-2 : 1e-5);
      EXPECT_THAT(outcome, HasSubstr(refused.empty() ? "right" : refused))
          << "result " << e.dtype() << ", out " << dtype;
    }
  });
}

TEST(OutRules, AnotherDeviceIsRefused) {
  for_each_form([](Case& c, size_t i) {
    const Tensor& e = c.expected[i];
    const Tensor out = empty(e.sizes(), TensorOptions(e.dtype()).device("meta"));
    EXPECT_THAT(c.outcome(i, out, c.fresh()), HasSubstr("device"));
  });
}

TEST(OutRules, ErrorsNameDtypesAsPyTorchDoes) {
  Tensor out = empty({2}, kLong);
  EXPECT_EQ(error_of([&] { relu_out(out, ones({2})); }),
            "Expected out tensor to have dtype float, but got long int instead");
  EXPECT_EQ(error_of([&] {
              any_out(out, ones({2, 2}), 0);
            }),
            "any only supports bool tensor for result, got: Long");
  Tensor wide = empty({2}, kDouble), square = empty({2, 2}, kDouble);
  const Tensor x = ones({2}), m = ones({2, 2});
  const std::pair<std::string, std::string> own[] = {
      {error_of([&] { lerp_out(wide, x, x, x); }), "Found dtype Double but expected Float"},
      {error_of([&] {
         linalg::multi_dot_out(square, {m, m});
       }),
       "multi_dot(): expected out tensor to have dtype float but got double"},
      {error_of([&] { tensordot_out(square, m, m, 1); }),
       "tensordot: Expected the output tensor to have dtype Float, but got an output tensor with "
       "dtype Double"},
      {error_of([&] { ormqr_out(square, m, x, m); }),
       "torch.ormqr: Expected input and result to have the same dtype, but input has dtypeFloat "
       "and result has dtype Double"},
      {error_of([&] { polar_out(wide, x, x); }),
       "Expected object of scalar type ComplexFloat but got scalar type Double for argument "
       "'out'"}};
  for (const auto& [got, want] : own) EXPECT_EQ(got, want);
  EXPECT_TRUE(lerp_out(wide, x, x, 0.5).equal(x.to(kDouble)));
  EXPECT_TRUE(inner_out(wide, x, ones({})).equal(x.to(kDouble)));
}

TEST(OutRules, SumsAreComputedInTheDtypeOfOut) {
  Tensor wide = empty({}, kDouble), whole = empty({}, kLong);
  const Tensor x = tensor({16777216.f, 1.f, 1.f, 0.75f});
  EXPECT_EQ(sum_out(wide, x).item<double>(), 16777218.75);
  EXPECT_EQ(sum_out(whole, x).item<int64_t>(), 16777218);
}

}  // namespace
}  // namespace taeda
