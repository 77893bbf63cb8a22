// Special functions at PyTorch's numbers (tests/golden/special_functions.py), and their errors.
#include "taeda/ops/elementwise/torch_special.h"

#include <gtest/gtest.h>

#include <limits>

#include "taeda/autograd/engine.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/torch_special_names.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/reduce/reduce.h"
#include "tests/error_of.h"
#include "tests/ops/tensor_values.h"

namespace taeda::testing {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

using Doubles = std::vector<double>;
struct GoldenOfOne {
  const char* name;
  Tensor (*function)(const Tensor&);
  Doubles x, values, slopes;
};
struct GoldenOfTwo {
  const char* name;
  Tensor (*function)(const Tensor&, const Tensor&);
  Doubles a, b, values, slopes;
};
#include "tests/ops/special_functions_golden.inc"

void expect_numbers(const Tensor& got, const Doubles& want) {
  const Doubles have = values<double>(got);
  ASSERT_EQ(have.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    if ((std::isnan(have[i]) && std::isnan(want[i])) || have[i] == want[i]) continue;
    if (std::isnan(want[i]) && have[i] == 0) continue;  // a slope of xlog1py at (0, -1)
    // PyTorch's Bessel functions have nine digits between 0 and 5, and five at some places beyond.
    EXPECT_LE(std::fabs(have[i] - want[i]), 2e-8 * std::fabs(want[i]) + 1e-15)
        << "element " << i << ": got " << have[i] << ", want " << want[i];
  }
}

/// Values of `compute(x)` and, where there are any, its gradient by x.
template <class Compute>
void expect_golden(const Compute& compute, const Doubles& places, const Doubles& want,
                   const Doubles& slopes) {
  const Tensor x = tensor(places, kDouble).requires_grad_();
  const Tensor y = compute(x);
  expect_numbers(y.detach(), want);
  EXPECT_EQ(y.requires_grad(), !slopes.empty());
  if (slopes.empty()) return;
  y.sum().backward();
  expect_numbers(x.grad(), slopes);
}

TEST(SpecialFunctions, OfOneNumberAreAsPyTorchs) {
  for (const GoldenOfOne& g : kGoldenOfOne) {
    SCOPED_TRACE(g.name);
    expect_golden(g.function, g.x, g.values, g.slopes);
  }
}

TEST(SpecialFunctions, OfTwoNumbersAreAsPyTorchs) {
  for (const GoldenOfTwo& g : kGoldenOfTwo) {
    SCOPED_TRACE(g.name);
    const Tensor a = tensor(g.a, kDouble);
    expect_golden([&](const Tensor& b) { return g.function(a, b); }, g.b, g.values, g.slopes);
  }
}

TEST(SpecialFunctions, TakeNumbersForTensors) {
  const Tensor x = tensor({0.5, 0.25}, kDouble), n = tensor({2, 3});
  using namespace special;
  expect_same(zeta(x.add(1), 2), zeta(x.add(1), full({}, 2.0, kDouble)));
  expect_same(zeta(3, x), zeta(full({}, 3.0, kDouble), x));
  expect_same(xlog1py(2, x), x.log1p().mul(2), 1e-15);
  expect_same(xlog1py(x, 2), x.mul(std::log(3.0)), 1e-15);
  expect_same(legendre_polynomial_p(x, 2), x.square().mul(1.5).sub(0.5), 1e-15);
  expect_same(hermite_polynomial_h(0.5, n), tensor({-1.0, -5.0}, kDouble), 1e-6);
  EXPECT_EQ(hermite_polynomial_h(0.5, n).dtype(), kFloat);
  EXPECT_EQ(i0(n).dtype(), kFloat);
  EXPECT_EQ(i0(x.to(kHalf)).dtype(), kHalf);
  expect_same(expit(x), x.sigmoid());
  expect_same(gammaln(x), x.lgamma());
  expect_same(special::psi(x), x.digamma());
}

TEST(SpecialFunctions, RefuseAsPyTorchDoes) {
  const Tensor a = tensor({1.5, 2.5}).requires_grad_(), x = tensor({0.5, 4.0});
  EXPECT_EQ(error_of([&] { special::gammainc(a, x).sum().backward(); }),
            "the derivative for 'igamma: input' is not implemented.");
  EXPECT_EQ(error_of([&] { special::gammaincc(a, x).sum().backward(); }),
            "the derivative for 'igammac: input' is not implemented.");
  EXPECT_EQ(error_of([&] { special::zeta(a, x).sum().backward(); }),
            "the derivative for 'zeta' is not implemented.");
  EXPECT_EQ(error_of([&] { special::multigammaln(x, 0); }),
            "p has to be greater than or equal to 1");
  EXPECT_EQ(error_of([&] { special::i0(x.to(kComplexFloat)); }),
            "\"i0\" not implemented for 'ComplexFloat'");
}

}  // namespace
}  // namespace taeda::testing
