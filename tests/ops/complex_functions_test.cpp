// Functions of complex numbers: PyTorch's values, branches and gradients.
#include <gtest/gtest.h>

#include <complex>
#include <functional>
#include <map>
#include <string>

#include "taeda/taeda.h"
#include "tests/error_of.h"
#include "tests/ops/complex_functions_golden.h"
#include "tests/values.h"

namespace taeda {
namespace {

Tensor complex_numbers(const std::vector<double>& parts) {
  const Tensor flat = tensor(parts, kDouble);
  return view_as_complex(flat.view({-1, 2}));
}

using OfOne = Tensor (*)(const Tensor&);

const std::map<std::string, OfOne>& functions() {
  static const std::map<std::string, OfOne> all = {
      {"acos", acos},
      {"acosh", acosh},
      {"asin", asin},
      {"asinh", asinh},
      {"atan", atan},
      {"atanh", atanh},
      {"cos", cos},
      {"cosh", cosh},
      {"exp", exp},
      {"exp2", exp2},
      {"expm1", expm1},
      {"log", log},
      {"log10", log10},
      {"log1p", log1p},
      {"log2", log2},
      {"reciprocal", reciprocal},
      {"rsqrt", rsqrt},
      {"sigmoid", sigmoid},
      {"silu", silu},
      {"sin", sin},
      {"sinh", sinh},
      {"sqrt", sqrt},
      {"square", square},
      {"tan", tan},
      {"tanh", tanh},
      {"nan_to_num", [](const Tensor& z) { return nan_to_num(z); }},
      {"logsumexp", [](const Tensor& z) { return logsumexp(z, {0}); }},
      {"logcumsumexp", [](const Tensor& z) { return logcumsumexp(z, 0); }},
  };
  return all;
}

void expect_near(const Tensor& got, const std::vector<double>& want, const std::string& what,
                 double tolerance) {
  const Tensor wanted = complex_numbers(want).reshape(got.sizes());
  const Tensor distance = got.cpu().to(kComplexDouble).sub(wanted).abs();
  const Tensor allowed = wanted.abs().add(1).mul(tolerance);
  EXPECT_TRUE(distance.le(allowed).all().item<bool>()) << what << "\n" << got << "\n" << wanted;
}

void check_row(const ComplexRow& row, ScalarType dtype, Device device, double tolerance) {
  const std::string what = row.name;
  const auto leaf = [&](const std::vector<double>& parts) {
    return complex_numbers(parts).to(dtype).to(device).requires_grad_();
  };
  std::vector<Tensor> leaves{leaf(kComplexArguments)};
  if (row.gradients.size() > 1) leaves.push_back(leaf(kComplexSeconds));
  const Tensor y = what == "pow"         ? pow(leaves[0], leaves[1])
                   : what == "logaddexp" ? logaddexp(leaves[0], leaves[1])
                                         : functions().at(what)(leaves[0]);
  EXPECT_EQ(y.dtype(), dtype) << what;
  expect_near(y.detach(), row.result, what, tolerance);
  const Tensor direction = complex_numbers(kComplexSeconds).to(dtype).to(device);
  y.backward(y.dim() ? direction : direction[0]);
  for (size_t i = 0; i < leaves.size(); ++i)
    expect_near(leaves[i].grad(), row.gradients[i], what + "'s gradient", tolerance);
}

TEST(ComplexFunctions, GivePyTorchsNumbersAndGradients) {
  for (const ComplexRow& row : kComplexRows) check_row(row, kComplexDouble, kCPU, 1e-10);
}

TEST(ComplexFunctions, ServeSinglePrecisionAndDevices) {
  for (const ComplexRow& row : kComplexRows) {
    check_row(row, kComplexFloat, kCPU, 1e-4);
    check_row(row, kComplexDouble, Device("sim:0"), 1e-10);
  }
}

TEST(ComplexFunctions, WriteInPlaceAndIntoOut) {
  const Tensor z = complex_numbers(kComplexArguments);
  for (const auto& [function, in_place, out] :
       {std::tuple(&sin, &Tensor::sin_, &sin_out), std::tuple(&sqrt, &Tensor::sqrt_, &sqrt_out),
        std::tuple(&tanh, &Tensor::tanh_, &tanh_out)}) {
    Tensor changed = z.clone(), into = empty_like(z);
    (changed.*in_place)();
    out(into, z);
    EXPECT_TRUE(equal(changed, function(z)));
    EXPECT_TRUE(equal(into, function(z)));
    // Recorded in place, too.
    const Tensor x = z.clone().requires_grad_(), w = z.clone().requires_grad_();
    const Tensor y = x.mul(2);
    (y.*in_place)();
    y.abs().sum().backward();
    function(w.mul(2)).abs().sum().backward();
    EXPECT_TRUE(allclose(x.grad(), w.grad()));
  }
}

TEST(ComplexFunctions, PowersMixRealAndComplexNumbers) {
  const Tensor z = complex_numbers(kComplexArguments);
  EXPECT_TRUE(allclose(z.pow(2), z.mul(z)));
  EXPECT_TRUE(allclose(z.pow(3), z.mul(z).mul(z)));
  EXPECT_TRUE(allclose(z.pow(-1), z.reciprocal()));
  EXPECT_TRUE(allclose(z.pow(0.5), z.sqrt()));
  EXPECT_TRUE(allclose(pow(Scalar(std::complex<double>(0, 1)), tensor(2.0, kDouble)),
                       tensor(-1.0, kDouble).to(kComplexDouble)));
  EXPECT_EQ(float_power(z.to(kComplexFloat), 2).dtype(), kComplexDouble);
  const Tensor base = tensor({2.0, 3.0}, TensorOptions(kDouble).requires_grad(true));
  const Tensor exponent = complex_numbers({0.5, 1.0, -1.0, 0.25}).requires_grad_();
  pow(base, exponent).abs().sum().backward();
  EXPECT_EQ(base.grad().dtype(), kDouble);
  EXPECT_TRUE(autograd::gradcheck(
      [&](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{pow(in[0], exponent.detach()).abs()};
      },
      {base}));
}

TEST(ComplexFunctions, CompareByDistance) {
  const Tensor z = complex_numbers({1, 2, NAN, 1, INFINITY, 0});
  const Tensor near = complex_numbers({1, 2 + 1e-9, NAN, 1, INFINITY, 0});
  EXPECT_TRUE(equal(isclose(z, near), tensor({true, false, true})));
  EXPECT_TRUE(isclose(z, near, 1e-5, 1e-8, true).all().item<bool>());
  EXPECT_FALSE(allclose(z[0], z[0].add(0.1)));
  EXPECT_TRUE(allclose(tensor({true, false}), tensor({true, false})));
  EXPECT_FALSE(allclose(tensor({true, false}), tensor({true, true})));
}

TEST(ComplexFunctions, ExponentialOfAMatrix) {
  const Tensor a = complex_numbers({0, 1, 0, 0, 0, 0, 0, -1}).view({2, 2});
  const Tensor turned = linalg::matrix_exp(a);
  EXPECT_TRUE(allclose(turned[0][0], exp(a[0][0])));
  EXPECT_TRUE(allclose(turned[1][1], exp(a[1][1])));
  const Tensor b = complex_numbers(kComplexArguments).narrow(0, 0, 4).view({2, 2});
  EXPECT_TRUE(allclose(linalg::matrix_exp(b).matmul(linalg::matrix_exp(b.neg())),
                       eye(2, kDouble).to(kComplexDouble), 1e-8, 1e-8));
}

TEST(ComplexFunctions, SumsOfExponentialsOfInfinity) {
  const Tensor low = complex_numbers({-INFINITY, 0}), one = complex_numbers({1, 2});
  EXPECT_TRUE(allclose(logaddexp(low, one), one));
  EXPECT_TRUE(equal(real(logaddexp(low, low)), tensor({-INFINITY}).to(kDouble)));
}

}  // namespace
}  // namespace taeda
