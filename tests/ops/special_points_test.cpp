// Gradients where formulas go wrong: at zeros, ties, infinities, subnormal and largest numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "taeda/taeda.h"
#include "tests/ops/op_inputs.h"
#include "tests/ops/row_test.h"

namespace taeda::testing {
namespace {

/// Where a finite value may have a gradient that is no number.
struct Exception {
  const char* reason;
  std::function<bool(const std::vector<double>& at)> holds;
};

const std::map<std::string, Exception>& exceptions() {
  static const std::map<std::string, Exception> all = {
      {"pow", {"a negative base has no real logarithm", [](auto& at) { return at[0] < 0; }}},
  };
  return all;
}

std::vector<double> points(ScalarType dtype) {
  const double inf = std::numeric_limits<double>::infinity();
  const double tiny = dtype == kDouble ? 0x1p-1022 : dtype == kFloat ? 0x1p-126 : 0x1p-14;
  const double largest = dtype == kDouble  ? std::numeric_limits<double>::max()
                         : dtype == kFloat ? std::numeric_limits<float>::max()
                                           : 65504;
  return {0.0,   -0.0, 1.0,   -1.0,     0.5,     2.0,      1e-4, 30.0,
          -30.0, tiny, -tiny, tiny / 4, largest, -largest, inf,  -inf};
}

/// All inputs of `count` operands from the points: tensors of equal length.
Tensors combinations(size_t count, ScalarType dtype) {
  std::vector<double> list = points(dtype);
  if (count > 2) list = {0.0, 1.0, -1.0, 1e-4, list[12], list[14]};
  size_t total = 1;
  for (size_t k = 0; k < count; ++k) total *= list.size();
  Tensors inputs;
  for (size_t k = 0, step = 1; k < count; ++k, step *= list.size()) {
    std::vector<double> numbers(total);
    for (size_t i = 0; i < total; ++i) numbers[i] = list[i / step % list.size()];
    inputs.push_back(tensor(numbers, kDouble).to(dtype).requires_grad_());
  }
  return inputs;
}

/// Fails for finite values with a gradient that is NaN.
void expect_numbers(const OpRow& row, const Tensors& inputs, bool elementwise) {
  const Tensors results = row.call(inputs);
  for (const Tensor& y : results) {
    if (!y.requires_grad()) continue;
    const Tensors slopes = autograd::grad({y}, inputs, {ones_like(y)}, true, false, true);
    for (size_t k = 0; k < inputs.size(); ++k) {
      if (!slopes[k].defined()) continue;
      const Tensor finite = elementwise ? isfinite(y.detach()) : isfinite(y.detach()).all();
      const Tensor wrong = isnan(slopes[k]).logical_and(finite);
      if (!wrong.any().item<bool>()) continue;
      const auto exception = exceptions().find(row.name);
      const Tensor where = wrong.reshape({-1}).nonzero();
      for (int64_t i = 0; i < where.size(0); ++i) {
        std::vector<double> at;
        for (const Tensor& t : inputs)
          at.push_back(
              t.detach().reshape({-1})[where[i].item<int64_t>() % t.numel()].item<double>());
        if (exception != exceptions().end() && exception->second.holds(at)) continue;
        ADD_FAILURE() << row.name << ": no gradient by operand " << k << " at "
                      << ::testing::PrintToString(at) << " in " << to_string(y.dtype());
        break;
      }
    }
  }
}

bool takes_numbers_alone(const OpRow& row) {
  for (const Arg& a : row.samples[0])
    if (a.kind != Arg::Kind::Real) return false;
  return row.differentiable;
}
bool is_checked(const OpRow& row) { return row.specials && takes_numbers_alone(row); }

class SpecialPoints : public RowTest {};

TEST_P(SpecialPoints, FiniteValuesHaveGradients) {
  const size_t operands = row().samples[0].size();
  for (const ScalarType dtype : {kDouble, kFloat, kHalf})
    expect_numbers(row(), combinations(operands, dtype), true);
}

INSTANTIATE_TEST_SUITE_P(OpTable, SpecialPoints, rows_where(is_checked), name_of_row);

/// Reductions of what has zeros, ties, and numbers at the ends of the range among it.
TEST(SpecialPoints, LogSumExpSharesInfinities) {
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor x =
      tensor({{-inf, -inf, -inf, -inf}, {inf, 1.0, inf, -inf}, {0.0, -inf, 0.0, -inf}}, kDouble)
          .requires_grad_();
  logsumexp(x, {1}).backward(ones({3}, kDouble));
  const Tensor shares = tensor(
      {{0.25, 0.25, 0.25, 0.25}, {0.5, 0.0, 0.5, 0.0}, {0.5, 0.0, 0.5, 0.0}}, kDouble);
  EXPECT_TRUE(x.grad().allclose(shares, 1e-15, 1e-15)) << x.grad();
  x.mutable_grad() = Tensor();
  logsumexp(x, {0, 1}, true).sum().backward();
  EXPECT_TRUE(x.grad().equal(x.detach().eq(inf).to(kDouble).mul(0.5))) << x.grad();
  const Tensor bad = tensor({1.0, std::nan("")}, kDouble).requires_grad_();
  logsumexp(bad, {0}).backward();
  EXPECT_TRUE(bad.grad().isnan().all().item<bool>());
}

TEST(SpecialPoints, ReductionsOfSpecialNumbersHaveGradients) {
  for (const auto& rows : {reduce_rows(), norm_rows()})
    for (const OpRow& row : rows) {
      if (row.specials || !takes_numbers_alone(row)) continue;
      for (const ScalarType dtype : dtypes_of(row)) {
        if (!is_floating_point(dtype) || dtype == kBFloat16) continue;
        const std::vector<double> list = points(dtype);
        for (size_t round = 0; round < list.size(); ++round) {
          Tensors inputs;
          for (const Arg& a : row.samples[0]) {
            const Tensor t = zeros(a.sizes, kDouble);
            for (int64_t i = 0; i < t.numel(); ++i)
              t.data_ptr<double>()[i] = list[(round + (i % 3 == 2 ? 0 : i)) % list.size()];
            inputs.push_back(t.to(dtype).requires_grad_());
          }
          try {
            expect_numbers(row, inputs, false);
          } catch (const Error&) {  // what refuses such numbers has no gradient of them
          }
        }
      }
    }
}

TEST(SpecialGradients, AreThoseOfManyDigits) {
  struct Row {
    const char* name;
    std::vector<std::pair<double, double>> points;
  };
  const std::vector<Row> rows = {
#include "tests/ops/special_gradients_golden.inc"
  };
  using Of = std::function<Tensor(const Tensor&)>;
  const std::map<std::string, Of> functions = {
      {"sinc", [](auto& x) { return sinc(x); }},
      {"tanh", [](auto& x) { return tanh(x); }},
      {"sigmoid", [](auto& x) { return sigmoid(x); }},
      {"log_sigmoid", [](auto& x) { return log_sigmoid(x); }},
      {"softplus", [](auto& x) { return softplus(x); }},
      {"silu", [](auto& x) { return silu(x); }},
      {"gelu", [](auto& x) { return gelu(x); }},
      {"gelu_tanh", [](auto& x) { return gelu(x, "tanh"); }},
      {"erf", [](auto& x) { return erf(x); }},
      {"erfcx", [](auto& x) { return special::erfcx(x); }},
      {"log1p", [](auto& x) { return log1p(x); }},
      {"expm1", [](auto& x) { return expm1(x); }},
      {"sqrt", [](auto& x) { return sqrt(x); }},
      {"asinh", [](auto& x) { return asinh(x); }},
      {"atan", [](auto& x) { return atan(x); }},
      {"logaddexp_with_1", [](auto& x) { return logaddexp(x, ones_like(x)); }},
      {"hypot_with_1", [](auto& x) { return hypot(x, ones_like(x)); }},
      {"hypot_with_itself", [](auto& x) { return hypot(x, x.detach()); }},
      {"atan2_of_itself", [](auto& x) { return atan2(x, x.detach()); }},
      {"xlogy_by_2", [](auto& x) { return xlogy(full_like(x, 2), x); }},
      {"norm_3_of_twins",
       [](auto& x) {
         return norm(stack({x, x}, 0), 3, {0}).div(2);
       }},
  };
  for (const Row& row : rows) {
    std::vector<double> at, slopes;
    for (const auto& [x, slope] : row.points) at.push_back(x), slopes.push_back(slope);
    const Tensor x = tensor(at, kDouble).requires_grad_(), want = tensor(slopes, kDouble);
    functions.at(row.name)(x).sum().backward();
    for (size_t i = 0; i < at.size(); ++i) {
      const double got = x.grad()[static_cast<int64_t>(i)].item<double>();
      EXPECT_NEAR(got, slopes[i], std::abs(slopes[i]) * 2e-13 + 4e-16)
          << row.name << " at " << at[i];
    }
  }
}

TEST(SpecialGradients, EqualInfinitiesShareASum) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const ScalarType dtype : {kDouble, kFloat, kHalf}) {
    const Tensor a = tensor({-inf, inf, -inf}, kDouble).to(dtype).requires_grad_(),
                 b = tensor({-inf, inf, 0.0}, kDouble).to(dtype).requires_grad_();
    logaddexp(a, b).sum().backward();
    EXPECT_TRUE(equal(a.grad(), tensor({0.5, 0.5, 0.0}, kDouble).to(dtype))) << a.grad();
    EXPECT_TRUE(equal(b.grad(), tensor({0.5, 0.5, 1.0}, kDouble).to(dtype))) << b.grad();
  }
}

TEST(SpecialGradients, NormsOfSmallHalves) {
  const Tensor x = full({2}, 1e-4, kHalf).requires_grad_();
  for (const double p : {1.5, 2.0, 3.0, 4.0}) {
    x.mutable_grad() = Tensor();
    norm(x, p).backward();
    EXPECT_NEAR(x.grad()[0].item<double>(), std::pow(2, 1 / p - 1), 2e-2) << p;
  }
}

TEST(SpecialGradients, NormsOfNothingAndOfInfinity) {
  const auto slopes = [](std::vector<double> at, double p) {
    const Tensor x = tensor(at, kDouble).requires_grad_();
    norm(x, p).backward();
    return x.grad();
  };
  for (const double p : {-2.0, -0.5, 0.5, 1.5, 2.0, 3.0, 4.0})
    EXPECT_TRUE(equal(slopes({0.0, 0.0}, p), zeros({2}, kDouble))) << p;
  EXPECT_TRUE(equal(slopes({0.0, 3.0}, -2), zeros({2}, kDouble)));  // the norm is 0
  EXPECT_TRUE(isinf(slopes({1.0, 2.0}, 1e-5)).all().item<bool>());  // the norm is infinite
}

TEST(SpecialGradients, NaNOfAQuantileAndTiesOfAMedian) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor x = tensor({1.0, nan, 2.0, 3.0}, kDouble).requires_grad_();
  const Tensor q = quantile(x, 0.5);
  q.backward();
  EXPECT_TRUE(std::isnan(q.item<double>()));
  EXPECT_TRUE(equal(x.grad(), tensor({0.0, 1.0, 0.0, 0.0}, kDouble))) << x.grad();
  const Tensor y = tensor({1.0, nan, 2.0, 2.0, 2.0, 3.0}, kDouble).requires_grad_();
  nanmedian(y).backward();
  EXPECT_TRUE(allclose(y.grad(), tensor({0.0, 0.0, 1.0 / 3, 1.0 / 3, 1.0 / 3, 0.0}, kDouble)))
      << y.grad();
}

TEST(SpecialGradients, RootsOfPooledPowersOfNothing) {
  const Tensor x = zeros({1, 1, 4}).requires_grad_();
  nn::functional::lp_pool1d(x, {.norm_type = 2, .kernel_size = 2}).sum().backward();
  EXPECT_TRUE(equal(x.grad(), zeros_like(x)));
}

TEST(SpecialPoints, ShrinkingHasBoundsOfItsDtype) {
  for (const ScalarType dtype : {kBFloat16, kHalf, kFloat, kDouble})
    for (const double bound : {0.1, 0.3, 0.7, 0.9}) {
      const Tensor x = full({40}, bound, dtype), none = zeros({40}, dtype);
      EXPECT_TRUE(hardshrink(x, bound).equal(none)) << dtype << " " << bound;
      EXPECT_TRUE(softshrink(x, bound).equal(none)) << dtype << " " << bound;
      const Tensor leaf = x.clone().requires_grad_();
      (hardshrink(leaf, bound) + softshrink(leaf, bound)).sum().backward();
      EXPECT_TRUE(leaf.grad().equal(none)) << dtype << " " << bound;
    }
}

}  // namespace
}  // namespace taeda::testing
