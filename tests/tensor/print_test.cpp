// Printing, against what PyTorch prints.
#include "taeda/tensor/print.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "print_golden.h"
#include "print_stream_golden.h"
#include "taeda/base/error.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"

namespace taeda {
namespace {

const double inf = INFINITY, nan = NAN;

TEST(Repr, IsPythons) {
  const Tensor leaf = tensor({1.0, 2.0}).requires_grad_();
  const std::vector<Tensor> cases = {tensor(1.5),
                                     tensor(3),
                                     tensor(true),
                                     tensor({1, 2, 3}),
                                     tensor({1.0, 2.0, 3.0}),
                                     tensor({1.0, 2.5, -3.25}),
                                     tensor({{1, -2}, {3, 40}}),
                                     tensor({1e-5, 1.0}),
                                     tensor({1e10, 1.0}),
                                     tensor({1e5, 1.0}),
                                     tensor({0.0, 0.0}),
                                     tensor({nan, inf, 1.0}),
                                     tensor({nan, -inf, 1.5}),
                                     tensor({true, false}),
                                     tensor({1.5, 2.5}).to(kDouble),
                                     tensor({1, 2}).to(kInt),
                                     tensor({1.5}).to(kHalf),
                                     tensor({0.1}).to(kBFloat16),
                                     zeros({0}),
                                     zeros({2, 0}),
                                     zeros({0}, kLong),
                                     arange(8.0).reshape({2, 2, 2}),
                                     arange(24).reshape({1, 2, 3, 4}),
                                     arange(1001),
                                     arange(1001.0) / 7,
                                     arange(2000).reshape({2, 1000}),
                                     arange(30.0),
                                     arange(30) * 1000000,
                                     arange(1200.0).reshape({20, 20, 3}),
                                     tensor({complex<float>(1, 0), complex<float>(-2.5f, 3)}),
                                     tensor(complex<float>(1, -1)),
                                     leaf,
                                     leaf * 2,
                                     arange(24.0).requires_grad_() * 1.5,
                                     tensor({123456.0, 0.001}),
                                     tensor({-1.0, 2.0}),
                                     tensor({{0.1, 100.25}}),
                                     tensor({0, 255}).to(kByte),
                                     tensor({99999999.0}),
                                     tensor({999999999.0})};
  ASSERT_EQ(cases.size(), std::size(kPrintGolden));
  for (size_t i = 0; i < cases.size(); ++i)
    EXPECT_EQ(cases[i].repr(), kPrintGolden[i]) << "case " << i;
}

TEST(Repr, StridesDoNotMatter) {
  EXPECT_EQ(arange(6).reshape({2, 3}).t().repr(),
            "tensor([[0, 3],\n        [1, 4],\n        [2, 5]])");
}

TEST(Repr, Options) {
  const PrintOptions before = print_options();
  PrintOptions o = before;
  o.precision = 2;
  o.threshold = 4;
  o.edgeitems = 1;
  set_printoptions(o);
  EXPECT_EQ(tensor({1.2345, 2.0}).repr(), "tensor([1.23, 2.00])");
  EXPECT_EQ(arange(6).repr(), "tensor([0,  ..., 5])");
  set_printoptions(before);
  o.precision = -1;
  EXPECT_THROW(set_printoptions(o), ValueError);
}

TEST(Repr, Undefined) { EXPECT_EQ(Tensor().repr(), "tensor(<undefined>)"); }

TEST(PrintStream, IsLibtorchs) {
  const std::vector<Tensor> cases = {tensor(1.5),
                                     tensor({1.0, 2.0, 3.0}),
                                     tensor({1, -2, 30}),
                                     arange(6).reshape({2, 3}).to(kFloat),
                                     tensor({1.5, -2.25}),
                                     tensor({1e-5, 1.0}),
                                     tensor({123456.5, 1000.25}),
                                     tensor({0.001, 0.002}),
                                     arange(8).reshape({2, 2, 2}),
                                     arange(40).reshape({2, 20}) * 10000,
                                     zeros({0}),
                                     zeros({2, 0}),
                                     tensor({123456.5, 200000.25}).reshape({1, 2}),
                                     arange(16).reshape({2, 2, 2, 2}),
                                     tensor({0.5, 0.25}).reshape({2, 1}),
                                     tensor(7),
                                     tensor({true, false}),
                                     tensor({1e12, 1.0})};
  ASSERT_EQ(cases.size(), std::size(kPrintStreamGolden));
  for (size_t i = 0; i < cases.size(); ++i) {
    std::ostringstream text;
    text << cases[i];
    EXPECT_EQ(text.str(), kPrintStreamGolden[i]) << "case " << i;
  }
}

TEST(PrintStream, LeavesTheStreamAsItWas) {
  std::ostringstream text;
  text << tensor({1.5}) << '\n' << 0.1;
  EXPECT_EQ(text.str(), " 1.5000\n[ CPUFloatType{1} ]\n0.1");
  std::ostringstream complex_numbers;
  complex_numbers << tensor({complex<float>(1, 2)});
  EXPECT_EQ(complex_numbers.str(), "tensor([1.+2.j])");
  std::ostringstream undefined;
  undefined << Tensor();
  EXPECT_EQ(undefined.str(), "[ Tensor (undefined) ]");
}

}  // namespace
}  // namespace taeda
