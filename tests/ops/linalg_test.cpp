#include "taeda/ops/linalg/linalg.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "taeda/autograd/gradcheck.h"
#include "taeda/device/generator.h"
#include "taeda/device/registry.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/shape/join.h"
#include "tests/error_of.h"

namespace taeda {

namespace {

/// Tests that need LAPACK, on the CPU.
class Linalg : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      linalg::det(ones({1, 1}));
    } catch (const NotImplementedError& e) {
      GTEST_SKIP() << e.what();
    }
  }
};

const Tensor& singular_matrix() {
  static const Tensor a = tensor({{1., 2., 3.}, {2., 4., 6.}, {1., 0., 1.}}, kDouble);
  return a;
}

Tensor doubles(IntArrayRef sizes) {
  Generator generator(kCPU, 5);
  return empty(sizes, kDouble).uniform_(-1, 1, &generator);
}

double distance(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.sizes(), b.sizes());
  return a.sub(b).abs().max().item<double>();
}

// ---- what decompositions promise ----

TEST_F(Linalg, DecompositionsMultiplyBack) {
  for (const DimVector& sizes : {DimVector{5, 5}, DimVector{2, 7, 4}, DimVector{3, 4, 6}}) {
    const Tensor a = doubles(sizes);
    const int64_t m = a.size(-2), n = a.size(-1), k = std::min(m, n);
    const auto [p, l, u] = linalg::lu(a);
    EXPECT_LT(distance(p.matmul(l).matmul(u), a), 1e-13);
    for (const char* mode : {"reduced", "complete"}) {
      const auto [q, r] = linalg::qr(a, mode);
      EXPECT_EQ(q.size(-1), std::string(mode) == "reduced" ? k : m);
      EXPECT_LT(distance(q.matmul(r), a), 1e-13);
      EXPECT_LT(distance(q.mT().matmul(q), eye(q.size(-1), kDouble).expand_as(q.mT().matmul(q))),
                1e-13);
      EXPECT_LT(distance(r.triu(), r), 1e-300);
    }
    EXPECT_LT(distance(std::get<1>(linalg::qr(a, "r")), std::get<1>(linalg::qr(a))), 1e-13);
    EXPECT_EQ(std::get<0>(linalg::qr(a, "r")).numel(), 0);
    const auto [ul, s, vh] = linalg::svd(a);
    EXPECT_EQ(ul.size(-1), m);
    EXPECT_EQ(vh.size(-2), n);
    EXPECT_LT(distance(ul.narrow(-1, 0, k).mul(s.unsqueeze(-2)).matmul(vh.narrow(-2, 0, k)), a),
              1e-13);
    EXPECT_LT(distance(ul.matmul(ul.mT()), eye(m, kDouble).expand_as(ul)), 1e-13);
    EXPECT_LT(distance(vh.matmul(vh.mT()), eye(n, kDouble).expand_as(vh)), 1e-13);
    const auto [u2, s2, v2] = svd(a);
    EXPECT_LT(distance(u2.mul(s2.unsqueeze(-2)).matmul(v2.mT()), a), 1e-13);
    EXPECT_EQ(std::get<0>(qr(a, false)).size(-1), m);
  }
}

TEST_F(Linalg, ReflectorsOfComplexMatrices) {
  for (const auto& [m, n] : {std::pair{5, 3}, {3, 3}, {2, 4}}) {
    const Tensor a = make_complex(doubles({2, m, n}), doubles({2, m, n}));
    const int64_t k = std::min(m, n);
    const auto [packed, tau] = geqrf(a);
    const Tensor reflectors = packed.narrow(-1, 0, k), r = packed.narrow(-2, 0, k).triu(),
                 q = linalg::householder_product(reflectors, tau);
    EXPECT_LT(distance(real(q.mH().matmul(q)), eye(k, kDouble).expand({2, k, k})), 1e-13);
    EXPECT_LT(distance(view_as_real(q.matmul(r)), view_as_real(a)), 1e-13);
    EXPECT_EQ(imag(r.diagonal(0, -2, -1)).abs().max().item<double>(), 0);
    const Tensor back = ormqr(reflectors, tau, a, true, true);
    EXPECT_LT(distance(view_as_real(back.narrow(-2, 0, k)), view_as_real(r)), 1e-13);
    EXPECT_LT(
        distance(view_as_real(ormqr(reflectors, tau, a.mH(), false)), view_as_real(back.mH())),
        1e-13);
  }
}

TEST_F(Linalg, SymmetricDecompositionsReadOneTriangle) {
  const Tensor a = doubles({3, 5, 5}), s = a.matmul(a.mT()).add(eye(5, kDouble));
  const auto [w, v] = linalg::eigh(s.tril());
  EXPECT_LT(distance(v.mul(w.unsqueeze(-2)).matmul(v.mT()), s), 1e-12);
  EXPECT_LT(distance(std::get<0>(linalg::eigh(s.triu(), "u")), w), 1e-12);
  EXPECT_LT(distance(linalg::eigvalsh(s.triu(), "U"), w), 1e-12);
  const Tensor l = linalg::cholesky(s.tril()), u = linalg::cholesky(s.triu(), true);
  EXPECT_LT(distance(l.matmul(l.mT()), s), 1e-13);
  EXPECT_LT(distance(u, l.mT()), 1e-13);
  EXPECT_LT(distance(cholesky(s), l), 1e-13);
  EXPECT_LT(distance(cholesky_inverse(u, true), linalg::inv(s)), 1e-11);
}

TEST_F(Linalg, LuWithoutPivoting) {
  const Tensor a = doubles({2, 4, 3}).add(eye(4, 3, kDouble).mul(3));
  const auto [p, l, u] = linalg::lu(a, false);
  EXPECT_EQ(p.numel(), 0);
  EXPECT_LT(distance(l.matmul(u), a), 1e-13);
  EXPECT_TRUE(std::get<1>(linalg::lu_factor(a, false)).equal(tensor({{1, 2, 3}, {1, 2, 3}}, kInt)));
  EXPECT_TRUE(autograd::gradcheck(
      [](const std::vector<Tensor>& t) {
        return std::vector<Tensor>{std::get<0>(linalg::lu_factor(t[0], false))};
      },
      {a.clone().requires_grad_()}));
}

TEST_F(Linalg, LargeMatricesAndBatches) {
  const Tensor a = doubles({600, 600}), b = doubles({600, 3});
  EXPECT_LT(distance(a.matmul(linalg::solve(a, b)), b), 1e-9);
  const Tensor many = doubles({500, 8, 8}), x = linalg::inv(many);
  EXPECT_LT(distance(linalg::inv(many[321]), x[321]), 1e-15);
  EXPECT_LT(distance(linalg::svdvals(many)[77], linalg::svdvals(many[77])), 1e-13);
}

/// What PyTorch 1.13 gives for these matrices: tests/golden/linalg.py.
TEST_F(Linalg, AgreesWithPyTorch) {
  const Tensor a = tensor({{2., -1., 0.5}, {1., 3., -2.}, {0., 4., 1.}}, kDouble);
  EXPECT_NEAR(linalg::det(a).item<double>(), 25, 1e-12);
  EXPECT_LT(distance(linalg::svdvals(a),
                     tensor({5.13369746480161, 2.4127731489663438, 2.0183349750516055}, kDouble)),
            1e-13);
  EXPECT_LT(distance(linalg::matrix_exp(a),
                     tensor({{6.375640768869953, 0.8633026515530282, 3.2566553237274776},
                             {2.8250039979509642, -5.552581831195047, -1.0396246840219414},
                             {7.376613299007984, 3.9234026927958783, -5.670129852840992}},
                            kDouble)),
            1e-12);
  const auto [lu, pivots] = linalg::lu_factor(a);
  EXPECT_LT(distance(lu, tensor({{2., -1., 0.5}, {0., 4., 1.}, {0.5, 0.875, -3.125}}, kDouble)),
            1e-14);
  EXPECT_TRUE(pivots.equal(tensor({1, 3, 3}, kInt)));
  EXPECT_LT(distance(std::get<1>(linalg::qr(a)),
                     tensor({{-2.23606797749979, -0.447213595499958, 0.4472135954999579},
                             {0., -5.079370039680118, 0.45281205780094114},
                             {0., 0., 2.2011272658140593}},
                            kDouble)),
            1e-13);
  EXPECT_NEAR(linalg::cond(a, "fro").item<double>(), 4.062142291943994, 1e-13);
  EXPECT_LT(distance(linalg::pinv(singular_matrix()),
                     tensor({{-1., -2., 25.}, {2., 4., -20.}, {1., 2., 5.}}, kDouble).div(30)),
            1e-13);
}

TEST_F(Linalg, Methods) {
  const Tensor a = doubles({2, 3, 3}).add(eye(3, kDouble).mul(3)), s = a.matmul(a.mT());
  EXPECT_TRUE(a.inverse().equal(linalg::inv(a)));
  EXPECT_TRUE(a.det().equal(linalg::det(a)));
  EXPECT_TRUE(s.logdet().equal(logdet(s)));
  EXPECT_TRUE(s.cholesky(true).equal(linalg::cholesky(s, true)));
}

// ---- special matrices ----

TEST_F(Linalg, SingularMatrices) {
  const Tensor a = singular_matrix();
  EXPECT_EQ(linalg::det(a).item<double>(), 0);
  const auto [sign, logarithm] = linalg::slogdet(a);
  EXPECT_EQ(sign.item<double>(), 0);
  EXPECT_EQ(logarithm.item<double>(), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(logdet(eye(3, kDouble).neg()).item<double>()));
  EXPECT_EQ(linalg::matrix_rank(a).item<int64_t>(), 2);
  EXPECT_EQ(linalg::matrix_rank(a, 100.).item<int64_t>(), 0);
  EXPECT_EQ(linalg::matrix_rank(a.matmul(a.mT()), {}, {}, true).item<int64_t>(), 2);
  EXPECT_EQ(linalg::cond(a, 1).item<double>(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(std::get<1>(linalg::solve_ex(a, eye(3, kDouble))).item<int32_t>(), 3);
  EXPECT_EQ(std::get<1>(linalg::inv_ex(a)).item<int32_t>(), 3);
  EXPECT_EQ(std::get<2>(linalg::lu_factor_ex(a)).item<int32_t>(), 3);
  EXPECT_EQ(std::get<1>(linalg::cholesky_ex(eye(2, kDouble).neg())).item<int32_t>(), 1);
  const auto det_of = [](const std::vector<Tensor>& t) {
    return std::vector<Tensor>{linalg::det(t[0])};
  };
  EXPECT_TRUE(autograd::gradcheck(det_of, {a.clone().requires_grad_()}));
  // The pseudo-inverse has its four properties, and a derivative as long as the rank stays.
  const Tensor p = linalg::pinv(a);
  EXPECT_LT(distance(a.matmul(p).matmul(a), a), 1e-13);
  EXPECT_LT(distance(p.matmul(a).matmul(p), p), 1e-13);
  EXPECT_LT(distance(a.matmul(p), a.matmul(p).mT()), 1e-13);
  EXPECT_LT(distance(p.matmul(a), p.matmul(a).mT()), 1e-13);
  EXPECT_TRUE(autograd::gradcheck(
      [](const std::vector<Tensor>& t) {
        return std::vector<Tensor>{linalg::pinv(t[0].matmul(t[1]), {}, 1e-8)};
      },
      {doubles({4, 2}).requires_grad_(), doubles({2, 3}).add(1).requires_grad_()}));
}

TEST_F(Linalg, LeastSquares) {
  const Tensor a = doubles({2, 5, 3}), b = doubles({2, 5, 2});
  const auto [x, residuals, rank, values] = linalg::lstsq(a, b, {}, "gelsd");
  EXPECT_LT(distance(residuals, a.matmul(x).sub(b).square().sum({-2})), 1e-13);
  EXPECT_TRUE(rank.equal(tensor({3, 3})));
  EXPECT_LT(distance(values, linalg::svdvals(a)), 1e-13);
  EXPECT_LT(distance(std::get<0>(linalg::lstsq(a, b)), x), 1e-12);
  EXPECT_EQ(std::get<1>(linalg::lstsq(a, b)).numel(), 0);
  const auto by_qr = linalg::lstsq(a, b.select(-1, 0), {}, "gels");
  EXPECT_LT(distance(std::get<0>(by_qr), x.select(-1, 0)), 1e-12);
  EXPECT_EQ(std::get<2>(by_qr).numel() + std::get<3>(by_qr).numel(), 0);
  EXPECT_EQ(std::get<1>(by_qr).sizes(), IntArrayRef({2, 1}));
}

TEST_F(Linalg, ShapesOfEmptyMatrices) {
  EXPECT_TRUE(linalg::det(zeros({2, 0, 0})).equal(ones({2})));
  EXPECT_TRUE(std::get<0>(linalg::slogdet(zeros({2, 0, 0}))).equal(ones({2})));
  EXPECT_EQ(linalg::inv(zeros({2, 0, 0})).sizes(), IntArrayRef({2, 0, 0}));
  EXPECT_EQ(linalg::solve(zeros({0, 3, 3}), zeros({3, 2})).sizes(), IntArrayRef({0, 3, 2}));
  EXPECT_EQ(linalg::cholesky(zeros({0, 0})).numel(), 0);
  EXPECT_EQ(linalg::pinv(zeros({2, 0, 3})).sizes(), IntArrayRef({2, 3, 0}));
  EXPECT_TRUE(linalg::matrix_rank(zeros({2, 0, 3})).equal(zeros({2}, kLong)));
  EXPECT_TRUE(linalg::cond(zeros({3, 0, 0})).equal(zeros({3})));
  EXPECT_TRUE(linalg::cond(zeros({3, 0, 0}), 1).equal(zeros({3})));
  EXPECT_EQ(linalg::matrix_exp(zeros({2, 0, 0})).numel(), 0);
  EXPECT_TRUE(
      linalg::matrix_exp(eye(2).to(kBFloat16)).equal(linalg::matrix_exp(eye(2)).to(kBFloat16)));
  const auto [u, s, vh] = linalg::svd(zeros({2, 0, 3}));
  EXPECT_EQ(u.sizes(), IntArrayRef({2, 0, 0}));
  EXPECT_TRUE(vh.equal(eye(3).expand({2, 3, 3})));
  const auto [q, r] = linalg::qr(zeros({2, 3, 0}), "complete");
  EXPECT_TRUE(q.equal(eye(3).expand({2, 3, 3})));
  EXPECT_EQ(r.sizes(), IntArrayRef({2, 3, 0}));
  const auto [p, l, upper] = linalg::lu(zeros({2, 3, 0}));
  EXPECT_TRUE(p.equal(eye(3).expand({2, 3, 3})));
  EXPECT_EQ(l.sizes(), IntArrayRef({2, 3, 0}));
  EXPECT_EQ(std::get<0>(linalg::eigh(zeros({2, 0, 0}))).sizes(), IntArrayRef({2, 0}));
}

TEST_F(Linalg, VectorsAndBroadcasting) {
  const Tensor a = doubles({2, 3, 3}).add(eye(3, kDouble).mul(3));
  EXPECT_EQ(linalg::solve(a, doubles({2, 3})).sizes(), IntArrayRef({2, 3}));
  EXPECT_EQ(linalg::solve(a, doubles({3})).sizes(), IntArrayRef({2, 3}));
  EXPECT_EQ(linalg::solve(a, doubles({5, 1, 3, 4})).sizes(), IntArrayRef({5, 2, 3, 4}));
  const Tensor b = doubles({5, 1, 3, 4});
  EXPECT_LT(distance(linalg::solve(a, b)[3][1], linalg::solve(a[1], b[3][0])), 1e-14);
  EXPECT_LT(distance(linalg::solve_triangular(a, b, false)[3][1],
                     linalg::solve_triangular(a[1], b[3][0], false)),
            1e-14);
  const Tensor v = doubles({3});
  EXPECT_LT(distance(linalg::multi_dot({v, a[0], v}), v.dot(a[0].mv(v))), 1e-13);
  EXPECT_LT(distance(cross(doubles({2, 3}), v.expand({2, 3})),
                     linalg::cross(doubles({2, 3}), v.unsqueeze(0))),
            1e-15);
  EXPECT_TRUE(linalg::matrix_power(tensor({{1, 1}, {0, 1}}), 10).equal(tensor({{1, 10}, {0, 1}})));
  EXPECT_TRUE(linalg::matrix_power(a, 0).equal(eye(3, kDouble).expand({2, 3, 3})));
}

TEST_F(Linalg, Norms) {
  const Tensor a = doubles({2, 3, 4});
  EXPECT_LT(distance(linalg::norm(a), linalg::vector_norm(a)), 1e-15);
  EXPECT_LT(distance(linalg::norm(a, 2, {1}), linalg::vector_norm(a, 2, {1})), 1e-15);
  EXPECT_LT(distance(linalg::norm(a, "fro", {0, 2}), linalg::matrix_norm(a, "fro", {0, 2})), 1e-15);
  EXPECT_EQ(linalg::matrix_norm(a, 2, {0, 2}, true).sizes(), IntArrayRef({1, 3, 1}));
  EXPECT_EQ(linalg::matrix_norm(a, 1, {2, 0}, true).sizes(), IntArrayRef({1, 3, 1}));
  EXPECT_LT(
      distance(linalg::matrix_norm(a, 1, {2, 0}), linalg::matrix_norm(a.permute({1, 2, 0}), 1)),
      1e-15);
  EXPECT_EQ(linalg::matrix_norm(a, "nuc", {0, 1}).sizes(), IntArrayRef({4}));
  EXPECT_EQ(linalg::vector_norm(a, 2, {}, false, kFloat).dtype(), kFloat);
  const Tensor far = tensor({1e300, -1e-300}, kDouble);  // a number alone is its own norm
  for (const double p : {2.0, 3.0, -1.0, 0.5})
    EXPECT_TRUE(linalg::vector_norm(far.unsqueeze(1), p, {1}).equal(far.abs())) << p;
  EXPECT_LT(distance(linalg::norm(a[0], 2), linalg::svdvals(a[0])[0]), 1e-14);
}

// ---- errors ----

TEST_F(Linalg, SingularInputIsNamed) {
  const Tensor a = singular_matrix(), one = eye(3, kDouble), both = stack({one, a});
  const std::string inverse =
      "The diagonal element 3 is zero, the inversion could not be completed because the input "
      "matrix is singular.";
  EXPECT_THROW(linalg::inv(a), LinAlgError);
  EXPECT_EQ(error_of([&] { linalg::inv(a); }), "linalg.inv: " + inverse);
  EXPECT_EQ(error_of([&] { linalg::inv(both); }), "linalg.inv: (Batch element 1): " + inverse);
  EXPECT_EQ(error_of([&] { linalg::solve(both, one); }),
            "torch.linalg.solve: (Batch element 1): The solver failed because the input matrix is "
            "singular.");
  EXPECT_EQ(error_of([&] { linalg::cholesky(one.neg()); }),
            "linalg.cholesky: The factorization could not be completed because the input is not "
            "positive-definite (the leading minor of order 1 is not positive-definite).");
  EXPECT_EQ(error_of([&] { linalg::lu_factor(a); }),
            "torch.linalg.lu_factor: U[3,3] is zero and using it on lu_solve would result in a "
            "division by zero. If you still want to perform the factorization, consider calling "
            "linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)");
  EXPECT_EQ(error_of([] {
              linalg::svd(full({2, 2}, std::nan("")));
            }),
            "linalg.svd: The algorithm failed to converge because the input matrix contained "
            "non-finite values.");
}

TEST_F(Linalg, WrongInputIsNamed) {
  const Tensor i = eye(3), c = zeros({3, 2}), v = zeros({3});
  EXPECT_EQ(error_of([&] { linalg::inv(c); }),
            "linalg.inv: A must be batches of square matrices, but they are 3 by 2 matrices");
  EXPECT_EQ(error_of([&] { linalg::svd(v); }),
            "linalg.svd: The input tensor A must have at least 2 dimensions.");
  EXPECT_EQ(error_of([&] { linalg::inv(i.to(kHalf)); }),
            "linalg.inv: Low precision dtypes not supported. Got Half");
  EXPECT_EQ(error_of([&] { linalg::qr(i.to(kLong)); }),
            "linalg.qr: Expected a floating point or complex tensor as input. Got Long");
  EXPECT_EQ(error_of([&] { linalg::det(i.to(kHalf)); }),
            "linalg.det: Low precision dtypes not supported. Got Half");
  EXPECT_EQ(error_of([&] { logdet(c); }),
            "logdet: A must be batches of square matrices, but they are 3 by 2 matrices");
  EXPECT_EQ(error_of([&] { linalg::solve(i, c.to(kDouble)); }),
            "linalg.solve: Expected A and B to have the same dtype, but found A of type Float and "
            "B of type Double instead");
  EXPECT_EQ(error_of([&] {
              linalg::solve(i, zeros({4, 2}));
            }),
            "linalg.solve: Incompatible shapes of A and B for the equation AX = B (3x3 and 4x2)");
  EXPECT_EQ(error_of([&] {
              linalg::solve(i, zeros({2, 3, 4}), false);
            }),
            "linalg.solve: Incompatible shapes of A and B for the equation XA = B (3x3 and 3x4)");
  EXPECT_EQ(error_of([&] { linalg::solve(i, v, false); }),
            "linalg.solve: Vector broadcasting of the left hand side is not supported for "
            "left=False. In this case linalg.solve is equivalent to B / A.squeeze(-1)");
  EXPECT_EQ(error_of([&] { linalg::solve_triangular(i, v, true); }),
            "linalg.solve_triangular: The input tensor B must have at least 2 dimensions.");
  EXPECT_EQ(error_of([&] {
              linalg::solve(zeros({2, 3, 3}), zeros({4, 3, 3}));
            }),
            "The size of tensor a (4) must match the size of tensor b (2) at non-singleton "
            "dimension 0");
  EXPECT_EQ(error_of([&] { linalg::lu_factor(v); }),
            "torch.lu_factor: Expected tensor with 2 or more dimensions. Got size: [3] instead");
  EXPECT_EQ(error_of([&] { linalg::lu(v); }),
            "linalg.lu: Expected tensor with 2 or more dimensions. Got size: [3] instead");
  EXPECT_EQ(error_of([&] { linalg::lu_solve(i, zeros({3}, kLong), c); }),
            "linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32. Got Long");
  EXPECT_EQ(error_of([&] { linalg::lu_solve(i, zeros({2}, kInt), c); }),
            "linalg.lu_solve: Number of pivots per batch should be same as the dimension of the "
            "matrix");
  EXPECT_EQ(error_of([&] { linalg::qr(c, "foo"); }),
            "qr received unrecognized mode 'foo' but expected one of 'reduced' (default), 'r', or "
            "'complete'");
  EXPECT_EQ(error_of([&] { linalg::eigh(i, "X"); }),
            "Expected UPLO argument to be 'L' or 'U', but got X");
}

TEST_F(Linalg, WrongNormsAndProductsAreNamed) {
  const Tensor i = eye(3), c = zeros({3, 2}), v = zeros({3});
  EXPECT_EQ(error_of([&] { linalg::matrix_norm(i, "foo"); }),
            "linalg.matrix_norm: Order foo not supported.");
  EXPECT_EQ(error_of([&] { linalg::matrix_norm(i, 3); }),
            "linalg.matrix_norm: Order 3 not supported.");
  EXPECT_EQ(error_of([&] {
              linalg::matrix_norm(i, "fro", {0, 0});
            }),
            "linalg.matrix_norm: dims must be different. Got (0, 0)");
  EXPECT_EQ(error_of([&] { linalg::norm(i, "fro", {0}); }),
            "linalg.matrix_norm: dim must be a 2-tuple. Got 0");
  EXPECT_EQ(error_of([&] { linalg::vector_norm(i.to(kLong)); }),
            "linalg.vector_norm: Expected a floating point or complex tensor as input. Got Long");
  EXPECT_EQ(error_of([&] {
              linalg::matrix_norm(i, 1, {-2, -1}, false, kInt);
            }),
            "linalg.matrix_norm: dtype should be floating point or complex, but got Int");
  EXPECT_EQ(error_of([&] {
              linalg::norm(zeros({2, 2, 2}), 2);
            }),
            "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got 3D.");
  EXPECT_EQ(error_of([&] {
              linalg::norm(i, 2, {0, 1, 2});
            }),
            "linalg.norm: If dim is specified, it must be of length 1 or 2. Got [0, 1, 2]");
  EXPECT_EQ(error_of([&] { linalg::cond(i, 3); }), "linalg.cond got an invalid norm type: 3");
  EXPECT_EQ(error_of([&] { linalg::cond(i, "foo"); }), "linalg.cond got an invalid norm type: foo");
  EXPECT_EQ(error_of([&] { linalg::cond(v); }),
            "linalg.cond: The input tensor must have at least 2 dimensions.");
  EXPECT_EQ(error_of([&] { linalg::cond(c, 1); }),
            "linalg.cond(ord=1): A must be batches of square matrices, but they are 3 by 2 "
            "matrices");
  EXPECT_EQ(error_of([&] { linalg::multi_dot({i}); }),
            "multi_dot(): expected at least 2 tensors but got 1");
  EXPECT_EQ(error_of([&] {
              linalg::multi_dot({i, zeros({2, 3, 3}), i});
            }),
            "multi_dot(): tensor 1 must be 2D but got 3D");
  EXPECT_EQ(error_of([&] {
              linalg::multi_dot({zeros({}), i});
            }),
            "multi_dot(): the first tensor must be 1D or 2D but got 0D");
  EXPECT_EQ(error_of([&] {
              linalg::multi_dot({i, c.mT()});
            }),
            "multi_dot(): tensors 0 and 1 with shapes [3, 3] and [2, 3] cannot be multiplied");
  EXPECT_EQ(error_of([&] {
              linalg::multi_dot({i, c.to(kDouble)});
            }),
            "multi_dot(): all tensors must have be the same dtype but tensor 0 is Float and "
            "tensor 1 Double");
  EXPECT_EQ(error_of([&] { linalg::cross(c, c); }),
            "linalg.cross: inputs dimension -1 must have length 3. Got 2 and 2");
  EXPECT_EQ(error_of([&] { linalg::cross(v, i); }),
            "linalg.cross: inputs must have the same number of dimensions.");
  EXPECT_EQ(error_of([&] {
              cross(zeros({2, 2}), zeros({2, 2}));
            }),
            "no dimension of size 3 in input");
  EXPECT_EQ(error_of([&] {
              linalg::lstsq(c, zeros({4, 1}));
            }),
            "torch.linalg.lstsq: input.size(-2) should match other.size(-2)");
  EXPECT_EQ(error_of([&] { linalg::lstsq(v, v); }),
            "torch.linalg.lstsq: input must have at least 2 dimensions.");
  EXPECT_EQ(error_of([&] { linalg::lstsq(c, zeros({})); }),
            "torch.linalg.lstsq: other must have at least 1 dimension.");
  EXPECT_EQ(error_of([&] { linalg::lstsq(c, v, {}, "foo"); }),
            "torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)");
  EXPECT_EQ(error_of([&] { linalg::lstsq(c, v.to(kDouble)); }),
            "torch.linalg.lstsq: Expected input and other to have the same dtype, but got input's "
            "dtype Float and other's dtype Double");
}

TEST_F(Linalg, DerivativesThatDoNotExist) {
  const Tensor c = doubles({3, 2}).requires_grad_();
  EXPECT_EQ(
      error_of([&] { std::get<1>(linalg::qr(c, "r")).sum().backward(); }),
      "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please "
      "use linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr.");
  EXPECT_EQ(error_of([&] { std::get<0>(linalg::qr(c, "complete")).sum().backward(); }),
            "The QR decomposition is not differentiable when mode='complete' and nrows > ncols.");
}

TEST_F(Linalg, ErrorsReachSimulatedDevices) {
  if (device_count(kSim) == 0) GTEST_SKIP() << "no simulated device";
  const Tensor a = singular_matrix().to("sim:0");
  EXPECT_THROW(linalg::inv(a), LinAlgError);
  EXPECT_EQ(linalg::det(a).item<double>(), 0);
  EXPECT_EQ(std::get<1>(linalg::inv_ex(a)).item<int32_t>(), 3);
}

TEST(LinalgLibrary, MissingLapackIsNamed) {
  const char* before = std::getenv("TAEDA_LAPACK");
  const std::string kept = before ? before : "";
  setenv("TAEDA_LAPACK", "0", 1);
  EXPECT_THROW(linalg::inv(eye(2)), NotImplementedError);
  const std::string error = error_of([] { linalg::inv(eye(2)); });
  if (before)
    setenv("TAEDA_LAPACK", kept.c_str(), 1);
  else
    unsetenv("TAEDA_LAPACK");
  EXPECT_EQ(error, "linear algebra needs LAPACK, which TAEDA_LAPACK=0 turns off");
}

}  // namespace
}  // namespace taeda
