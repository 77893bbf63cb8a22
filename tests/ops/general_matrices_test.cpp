// Eigenvalues of any matrix and L D L^T of symmetric ones: PyTorch's numbers and gradients, complex
// matrices, batches, errors.
#include <gtest/gtest.h>

#include <algorithm>

#include "taeda/autograd/gradcheck.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/linalg/linalg.h"
#include "taeda/ops/linalg/linalg_tolerances.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/join.h"
#include "tests/error_of.h"
#include "tests/ops/golden_operations.h"

namespace taeda {
namespace {

using testing::expect_golden;

/// Whether LAPACK is missing here, which these tests need.
bool without_lapack() {
  try {
    linalg::inv(eye(2));
    return false;
  } catch (const NotImplementedError&) {
    return true;
  }
}
class GeneralMatrices : public ::testing::Test {
 protected:
  void SetUp() override {
    if (without_lapack()) GTEST_SKIP() << "no LAPACK";
  }
};

Tensor matrix() {
  return tensor({{0.5, -1.25, 2.0}, {1.5, 0.25, -0.75}, {-0.5, 1.0, 1.75}}, kDouble);
}
Tensor complex_matrix() { return make_complex(matrix(), matrix().flip({1}).mul(0.5)); }

/// By real part, then imaginary part.
Tensor ascending(const Tensor& w) {
  std::vector<std::pair<double, int64_t>> keys;
  for (int64_t i = 0; i < w.numel(); ++i)
    keys.emplace_back(real(w)[i].item<double>() + 1e-6 * imag(w)[i].item<double>(), i);
  std::sort(keys.begin(), keys.end());
  std::vector<int64_t> order;
  for (const auto& [key, i] : keys) order.push_back(i);
  return view_as_real(w).index_select(0, tensor(order));
}

TEST_F(GeneralMatrices, EigenvaluesArePyTorchs) {
  expect_golden("eigenvalues", {ascending(linalg::eigvals(matrix()))});
  expect_golden("complex_eigenvalues", {ascending(linalg::eigvals(complex_matrix()))});
  EXPECT_EQ(linalg::eigvals(matrix().to(kFloat)).dtype(), kComplexFloat);
}

TEST_F(GeneralMatrices, EigenvectorsAreOfLengthOne) {
  for (const Tensor& a : {matrix(), complex_matrix()}) {
    const auto [w, v] = linalg::eig(a);
    const Tensor whole = a.to(kComplexDouble);
    EXPECT_LT(whole.matmul(v).sub(v.mul(w.unsqueeze(-2))).abs().max().item<double>(), 1e-12);
    EXPECT_TRUE(v.abs().square().sum({-2}).allclose(ones({3}, kDouble)));
  }
}

/// A loss of eigenvalues, or of them and the sizes of vectors' elements, and its gradient.
std::vector<Tensor> with_gradient(const Tensor& a, bool vectors) {
  const Tensor leaf = a.clone().requires_grad_();
  const auto [w, v] = linalg::eig(leaf);
  const Tensor sizes = v.abs();
  const Tensor loss = vectors ? sizes.pow(3).sum().add(sizes.square().mul(w.abs()).sum())
                              : real(w.mul(w).mul(w).sum()).add(w.abs().sum());
  loss.backward();
  return {loss, leaf.grad()};
}

TEST_F(GeneralMatrices, GradientsArePyTorchs) {
  expect_golden("values_gradient", with_gradient(matrix(), false));
  expect_golden("vectors_gradient", with_gradient(matrix(), true));
  expect_golden("complex_gradient", with_gradient(complex_matrix(), true));
}

TEST_F(GeneralMatrices, BatchesAndNothing) {
  const Tensor several = stack({matrix(), matrix().mT()}, 0);
  const auto [w, v] = linalg::eig(several);
  EXPECT_EQ(w.sizes(), IntArrayRef({2, 3}));
  EXPECT_EQ(v.sizes(), IntArrayRef({2, 3, 3}));
  EXPECT_TRUE(real(w.sum({1})).allclose(full({2}, 2.5, kDouble)));
  EXPECT_EQ(std::get<1>(linalg::eig(zeros({0, 2, 2}))).sizes(), IntArrayRef({0, 2, 2}));
  EXPECT_EQ(linalg::eigvals(zeros({3, 0, 0})).sizes(), IntArrayRef({3, 0}));
}

TEST_F(GeneralMatrices, EigRefuses) {
  EXPECT_EQ(error_of([] { linalg::eig(ones({3})); }),
            "linalg.eig: The input tensor A must have at least 2 dimensions.");
  EXPECT_EQ(error_of([] {
              linalg::eigvals(ones({3, 2}));
            }),
            "linalg.eig: A must be batches of square matrices, but they are 3 by 2 matrices");
  EXPECT_EQ(error_of([] {
              linalg::eig(full({2, 2}, NAN));
            }),
            "torch.linalg.eig: input tensor should not contain infs or NaNs.");
  const Tensor a = matrix().requires_grad_();
  const Tensor phase = real(std::get<1>(linalg::eig(a))).sum();
  EXPECT_NE(error_of([&] { phase.backward(); }).find("so it is ill-defined."), std::string::npos);
}

Tensor symmetric_matrix() {
  return tensor({{0.0, 1.0, 2.0}, {1.0, 0.0, 0.5}, {2.0, 0.5, 0.0}}, kDouble);
}
Tensor right_side() { return tensor({{1.0, 2.0}, {-1.0, 0.5}, {3.0, 0.25}}, kDouble); }

TEST_F(GeneralMatrices, LdlIsPyTorchs) {
  const auto [LD, pivots] = linalg::ldl_factor(symmetric_matrix());
  EXPECT_EQ(pivots.dtype(), kInt);
  expect_golden("ldl", {LD, pivots});
  expect_golden("ldl_solved", {linalg::ldl_solve(LD, pivots, right_side())});
  const Tensor several = stack({right_side(), right_side().mul(2)}, 0);
  const Tensor solved = linalg::ldl_solve(LD, pivots, several);
  EXPECT_TRUE(symmetric_matrix().matmul(solved).allclose(several));
}

TEST_F(GeneralMatrices, LdlOfComplexMatrices) {
  const Tensor a = complex_matrix(), b = right_side().to(kComplexDouble);
  const Tensor symmetric = a.add(a.mT()), hermitian = a.add(a.mH());
  for (const bool adjoint : {false, true}) {
    const Tensor& m = adjoint ? hermitian : symmetric;
    const auto [LD, pivots, info] = linalg::ldl_factor_ex(m, adjoint);
    EXPECT_EQ(info.item<int>(), 0);
    const Tensor x = linalg::ldl_solve(LD, pivots, b, adjoint);
    EXPECT_LT(m.matmul(x).sub(b).abs().max().item<double>(), 1e-12);
  }
}

TEST_F(GeneralMatrices, LdlRefuses) {
  EXPECT_NE(error_of([] {
              linalg::ldl_factor(zeros({2, 2}));
            }).find("torch.linalg.ldl_factor: The factorization has been completed, but"),
            std::string::npos);
  EXPECT_EQ(std::get<2>(linalg::ldl_factor_ex(zeros({2, 2}))).item<int>(), 1);
  EXPECT_NE(error_of([] { linalg::ldl_factor_ex(zeros({2, 2}), false, true); }), "no error");
  const auto [LD, pivots] = linalg::ldl_factor(symmetric_matrix());
  const Tensor l = LD, p = pivots;
  EXPECT_EQ(error_of([&] { linalg::ldl_solve(l, p.to(kFloat), right_side()); }),
            "torch.linalg.ldl_solve: Expected pivots to be integers. Got Float");
  EXPECT_EQ(error_of([&] { linalg::ldl_solve(l, p.narrow(0, 0, 2), right_side()); }),
            "torch.linalg.ldl_solve: Expected LD.shape[:-1] and pivots.shape to be the same, but "
            "got pivots with shape [2] instead");
  EXPECT_EQ(error_of([&] {
              linalg::ldl_solve(l, p, ones({2, 1}, kDouble));
            }),
            "Incompatible matrix sizes for torch.linalg.ldl_solve: each A matrix is 3 by 3 but "
            "each b matrix is 2 by 1");
  EXPECT_EQ(error_of([&] {
              linalg::ldl_solve(l, p, ones({3, 1}));
            }),
            "Expected b and A to have the same dtype, but found b of type Float and A of type "
            "Double instead.");
  for (const Tensor& wrong :
       {tensor({0, 1, 2}), tensor({1, 2, 4}), tensor({1, 2, -3}), tensor({-1, -2, 3})})
    EXPECT_NE(error_of([&] {
                linalg::ldl_solve(l, wrong, right_side());
              }).find("pivots are not ldl_factor's: for 3 rows"),
              std::string::npos)
        << wrong;
  const Tensor leaf = symmetric_matrix().requires_grad_();
  const Tensor made = std::get<0>(linalg::ldl_factor(leaf));
  EXPECT_EQ(error_of([&] { made.sum().backward(); }),
            "the derivative for 'linalg_ldl_factor_ex' is not implemented.");
  EXPECT_EQ(error_of([&] { linalg::ldl_solve(made, p, right_side()).sum().backward(); }),
            "the derivative for 'linalg_ldl_solve' is not implemented.");
}

TEST_F(GeneralMatrices, OlderNames) {
  const auto [w, v] = symeig(symmetric_matrix(), true, false);
  EXPECT_TRUE(w.allclose(linalg::eigvalsh(symmetric_matrix())));
  EXPECT_EQ(std::get<1>(symmetric_matrix().symeig()).sizes(), IntArrayRef({0}));
  const auto [U, S, V] = right_side().svd(true, false);
  EXPECT_TRUE(U.equal(zeros({3, 3}, kDouble)) && V.equal(zeros({2, 2}, kDouble)));
  EXPECT_TRUE(S.allclose(linalg::svdvals(right_side())));
}

TEST_F(GeneralMatrices, TolerancesAreTensors) {
  const Tensor a = stack({eye(3, kDouble), tensor({1.0, 0.1, 0.001}).to(kDouble).diag()}, 0);
  const auto rank = [](const Tensor& t) { return testing::all_numbers({t}); };
  const Tensor each = tensor({0.5, 0.01}).to(kDouble);
  EXPECT_EQ(rank(linalg::matrix_rank(a, each)), (std::vector<double>{3, 2}));
  EXPECT_EQ(rank(linalg::matrix_rank(a, std::optional<Tensor>(), std::optional<Tensor>(each))),
            (std::vector<double>{3, 2}));
  EXPECT_EQ(rank(linalg::matrix_rank(a, each, zeros({}, kDouble), true)),
            (std::vector<double>{3, 2}));
  EXPECT_EQ(rank(linalg::matrix_rank(a, 0.05)), (std::vector<double>{3, 2}));
  EXPECT_EQ(rank(linalg::matrix_rank(a, {}, {}, true)), (std::vector<double>{3, 3}));
  EXPECT_TRUE(linalg::pinv(a, each)[1].allclose(tensor({1.0, 10.0, 0.0}).to(kDouble).diag()));
  EXPECT_TRUE(linalg::pinv(a, each, std::optional<Tensor>())[1].allclose(
      tensor({1.0, 10.0, 0.0}).to(kDouble).diag()));
}

}  // namespace
}  // namespace taeda
