#include <cmath>

#include "taeda/ops/elementwise/compare.h"
#include "tests/ops/op_table.h"

namespace taeda::testing {

namespace {

/// Values that are often equal.
const std::vector<Arg> kPair = {real({}, 0, 3), real({}, 0, 3)};

OpRow predicate(const std::string& name, Tensor (*op)(const Tensor&, const Tensor&),
                bool (*answer)(double, double), unsigned dtypes = kReals | kBools) {
  Elementwise e;
  e.name = name;
  e.call = [op](const Tensors& t) { return op(t[0], t[1]); };
  e.formula = [answer](const double* a) { return answer(a[0], a[1]) ? 1.0 : 0.0; };
  e.args = kPair;
  e.dtypes = dtypes;
  e.differentiable = false;
  return elementwise(e);
}

OpRow with_number(const std::string& name, Tensor (*op)(const Tensor&, const Scalar&),
                  bool (*answer)(double, double)) {
  Elementwise e;
  e.name = name + ".scalar";
  e.call = [op](const Tensors& t) { return op(t[0], 1); };
  e.formula = [answer](const double* a) { return answer(a[0], 1) ? 1.0 : 0.0; };
  e.args = {real({}, 0, 3)};
  e.dtypes = kReals;
  e.differentiable = false;
  return elementwise(e);
}

OpRow test_of(const std::string& name, Tensor (*op)(const Tensor&), bool (*answer)(double),
              unsigned dtypes) {
  Elementwise e;
  e.name = name;
  e.call = [op](const Tensors& t) { return op(t[0]); };
  e.formula = [answer](const double* a) { return answer(a[0]) ? 1.0 : 0.0; };
  e.dtypes = dtypes;
  e.differentiable = false;
  return elementwise(e);
}

OpRow bits(const std::string& name, Tensor (*op)(const Tensor&, const Tensor&),
           int64_t (*answer)(int64_t, int64_t)) {
  Elementwise e;
  e.name = name;
  e.call = [op](const Tensors& t) { return op(t[0], t[1]); };
  e.formula = [answer](const double* a) {
    return static_cast<double>(answer(static_cast<int64_t>(a[0]), static_cast<int64_t>(a[1])));
  };
  e.args = {real({}, 0, 100), real({}, 0, 100)};
  e.dtypes = kInts;
  e.differentiable = false;
  e.specials = false;
  return elementwise(e);
}

std::vector<OpRow> comparisons() {
  using B = Tensor (*)(const Tensor&, const Tensor&);
  using S = Tensor (*)(const Tensor&, const Scalar&);
  const auto is_eq = [](double a, double b) { return a == b; };
  const auto is_ne = [](double a, double b) { return a != b; };
  const auto is_lt = [](double a, double b) { return a < b; };
  const auto is_le = [](double a, double b) { return a <= b; };
  const auto is_gt = [](double a, double b) { return a > b; };
  const auto is_ge = [](double a, double b) { return a >= b; };
  return {
      predicate("eq", B(&eq), is_eq),
      predicate("ne", B(&ne), is_ne),
      predicate("lt", B(&lt), is_lt),
      predicate("le", B(&le), is_le),
      predicate("gt", B(&gt), is_gt),
      predicate("ge", B(&ge), is_ge),
      with_number("eq", S(&eq), is_eq),
      with_number("ne", S(&ne), is_ne),
      with_number("lt", S(&lt), is_lt),
      with_number("le", S(&le), is_le),
      with_number("gt", S(&gt), is_gt),
      with_number("ge", S(&ge), is_ge),
      predicate("logical_and", &logical_and, [](double a, double b) { return a != 0 && b != 0; }),
      predicate("logical_or", &logical_or, [](double a, double b) { return a != 0 || b != 0; }),
      predicate("logical_xor", &logical_xor,
                [](double a, double b) { return (a != 0) != (b != 0); }),
      predicate(
          "isclose", [](const Tensor& a, const Tensor& b) { return isclose(a, b, 0.1, 0.2); },
          [](double a, double b) {
            return a == b || (std::isfinite(b) && std::fabs(a - b) <= 0.2 + 0.1 * std::fabs(b));
          },
          kWide | kInts),
  };
}

std::vector<OpRow> logic() {
  using B = Tensor (*)(const Tensor&, const Tensor&);
  std::vector<OpRow> rows = {
      test_of(
          "logical_not", &logical_not, [](double a) { return a == 0; }, kReals | kBools),
      test_of(
          "isnan", &isnan, [](double a) { return std::isnan(a); }, kReals),
      test_of(
          "isinf", &isinf, [](double a) { return std::isinf(a); }, kReals),
      test_of(
          "isfinite", &isfinite, [](double a) { return std::isfinite(a); }, kReals),
      bits("bitwise_and", B(&bitwise_and), [](int64_t a, int64_t b) { return a & b; }),
      bits("bitwise_or", B(&bitwise_or), [](int64_t a, int64_t b) { return a | b; }),
      bits("bitwise_xor", B(&bitwise_xor), [](int64_t a, int64_t b) { return a ^ b; }),
      elementwise(
          {.name = "bitwise_and.scalar",
           .call = [](const Tensors& t) { return t[0] & 6; },
           .formula =
               [](const double* a) { return static_cast<double>(static_cast<int64_t>(a[0]) & 6); },
           .args = {real({}, 0, 100)},
           .dtypes = kInts,
           .differentiable = false,
           .specials = false}),
      elementwise({.name = "bitwise_not",
                   .call = [](const Tensors& t) { return ~t[0]; },
                   .formula = [](const double* a) { return a[0] == 0 ? 1.0 : 0.0; },
                   .args = {real({}, 0, 2)},
                   .dtypes = kBools,
                   .differentiable = false,
                   .specials = false}),
  };
  return rows;
}

std::vector<OpRow> choices() {
  return {
      elementwise({.name = "where",
                   .call = [](const Tensors& t) { return where(t[0], t[1], t[2]); },
                   .formula = [](const double* a) { return a[0] != 0 ? a[1] : a[2]; },
                   .args = {mask({}), real({}), real({})},
                   .dtypes = kReals | kBools}),
      elementwise({.name = "where.number_first",
                   .call = [](const Tensors& t) { return where(t[0], 2, t[1]); },
                   .formula = [](const double* a) { return a[0] != 0 ? 2 : a[1]; },
                   .args = {mask({}), real({})},
                   .dtypes = kReals}),
      elementwise({.name = "where.number_second",
                   .call = [](const Tensors& t) { return where(t[0], t[1], 2); },
                   .formula = [](const double* a) { return a[0] != 0 ? a[1] : 2; },
                   .args = {mask({}), real({})},
                   .dtypes = kReals}),
  };
}

}  // namespace

std::vector<OpRow> compare_rows() {
  std::vector<OpRow> rows = comparisons();
  for (auto& more : {logic(), choices()}) rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

}  // namespace taeda::testing
