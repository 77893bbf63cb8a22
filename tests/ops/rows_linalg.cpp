#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "taeda/ops/create/create.h"
#include "taeda/ops/linalg/linalg.h"
#include "tests/ops/matrix_rows.h"

namespace taeda::testing::matrices {

namespace {

std::vector<OpRow> system_rows() {
  const std::vector<Sample> systems = {{entries({3, 3}), entries({3, 2})},
                                       {entries({2, 3, 3}), entries({2, 3, 1})},
                                       {entries({2, 3, 3}), entries({3, 2})},
                                       {entries({0, 3, 3}), entries({0, 3, 2})}};
  const auto triangle = [](Mat a, bool upper, bool unit) {
    a = regular(a);
    for (int64_t i = 0; i < a.m; ++i)
      for (int64_t j = 0; j < a.n; ++j) {
        if (upper ? i > j : i < j) a(i, j) = 0;
        if (unit && i == j) a(i, j) = 1;
      }
    return a;
  };
  return {
      solver_row(
          "solve", systems,
          [](const Tensors& t) { return Tensors{linalg::solve(reversed(t[0]), t[1])}; },
          [](const std::vector<Mat>& a) { return Result{solution(reversed(a[0]), a[1])}; }, 0,
          {"solve_ex"}),
      solver_row(
          "solve.right",
          {{entries({3, 3}), entries({3, 2})}, {entries({2, 3, 3}), entries({3, 4})}},
          [](const Tensors& t) { return Tensors{linalg::solve(reversed(t[0]), t[1].mT(), false)}; },
          [](const std::vector<Mat>& a) {
            return Result{flipped(solution(flipped(reversed(a[0])), a[1]))};
          }),
      solver_row(
          "solve_triangular", systems,
          [](const Tensors& t) {
            return Tensors{linalg::solve_triangular(regular(t[0]), t[1], true)};
          },
          [=](const std::vector<Mat>& a) {
            return Result{solution(triangle(a[0], true, false), a[1])};
          }),
      solver_row(
          "solve_triangular.right_lower_unit", systems,
          [](const Tensors& t) {
            return Tensors{linalg::solve_triangular(regular(t[0]), t[1].mT(), false, false, true)};
          },
          [=](const std::vector<Mat>& a) {
            return Result{flipped(solution(flipped(triangle(a[0], false, true)), a[1]))};
          }),
      solver_row(
          "lu_solve", systems,
          [](const Tensors& t) {
            const auto [lu, pivots] = linalg::lu_factor(reversed(t[0]));
            return Tensors{linalg::lu_solve(lu, pivots, t[1]),
                           linalg::lu_solve(lu, pivots, t[1], true, true)};
          },
          [](const std::vector<Mat>& a) {
            return Result{solution(reversed(a[0]), a[1]), solution(flipped(reversed(a[0])), a[1])};
          }),
      solver_row(
          "cholesky_solve", systems,
          [](const Tensors& t) {
            return Tensors{cholesky_solve(t[1], linalg::cholesky(symmetric(t[0])))};
          },
          [](const std::vector<Mat>& a) { return Result{solution(symmetric(a[0]), a[1])}; }),
      solver_row(
          "lstsq", {{entries({4, 3}), entries({4, 2})}, {entries({2, 3, 4}), entries({2, 3, 1})}},
          [](const Tensors& t) {
            const Tensor a = regular(t[0]);
            return Tensors{std::get<0>(linalg::lstsq(a, t[1], {}, "gels")),
                           std::get<0>(linalg::lstsq(a, t[1], {}, "gelsd"))};
          },
          [](const std::vector<Mat>& a) {
            const Mat x = times(left_inverse(regular(a[0])), a[1]);
            return Result{x, x};
          }),
  };
}

std::vector<OpRow> inverse_rows() {
  return {
      solver_row(
          "inv", squares, [](const Tensors& t) { return Tensors{linalg::inv(reversed(t[0]))}; },
          [](const std::vector<Mat>& a) { return Result{inverse_of(reversed(a[0]))}; }, 0,
          {"inverse", "inv_ex"}),
      solver_row(
          "det", squares, [](const Tensors& t) { return Tensors{linalg::det(reversed(t[0]))}; },
          [](const std::vector<Mat>& a) { return Result{number(determinant(reversed(a[0])))}; }, 2),
      solver_row(
          "slogdet", squares,
          [](const Tensors& t) {
            const auto [sign, logarithm] = linalg::slogdet(reversed(t[0]));
            return Tensors{logarithm, sign.mul(logarithm)};
          },
          [](const std::vector<Mat>& a) {
            const double d = determinant(reversed(a[0])), l = std::log(std::fabs(d));
            return Result{number(l), number(d < 0 ? -l : l)};
          },
          2),
      solver_row(
          "logdet", squares, [](const Tensors& t) { return Tensors{logdet(symmetric(t[0]))}; },
          [](const std::vector<Mat>& a) {
            return Result{number(std::log(determinant(symmetric(a[0]))))};
          },
          2),
      solver_row(
          "cholesky_inverse", squares,
          [](const Tensors& t) {
            return Tensors{cholesky_inverse(linalg::cholesky(symmetric(t[0])))};
          },
          [](const std::vector<Mat>& a) { return Result{inverse_of(symmetric(a[0]))}; }),
      solver_row(
          "pinv", rectangles, [](const Tensors& t) { return Tensors{linalg::pinv(regular(t[0]))}; },
          [](const std::vector<Mat>& a) { return Result{left_inverse(regular(a[0]))}; }, 0,
          {"pinverse"}),
      solver_row(
          "pinv.hermitian", squares,
          [](const Tensors& t) { return Tensors{linalg::pinv(symmetric(t[0]), {}, {}, true)}; },
          [](const std::vector<Mat>& a) { return Result{inverse_of(symmetric(a[0]))}; }),
      solver_row(
          "matrix_power", squares,
          [](const Tensors& t) {
            return Tensors{linalg::matrix_power(reversed(t[0]), -3), linalg::matrix_power(t[0], 5)};
          },
          [](const std::vector<Mat>& a) {
            const Mat i = inverse_of(reversed(a[0])), s = times(a[0], a[0]);
            return Result{times(i, times(i, i)), times(a[0], times(s, s))};
          }),
      solver_row(
          "matrix_exp", squares,
          [](const Tensors& t) { return Tensors{linalg::matrix_exp(t[0].mul(3))}; },
          [](const std::vector<Mat>& a) {
            Mat x = a[0];
            for (double& v : x.x) v *= 3;
            return Result{exponential(x)};
          }),
  };
}

std::vector<OpRow> factor_rows() {
  return {
      solver_row(
          "cholesky", squares,
          [](const Tensors& t) {
            return Tensors{linalg::cholesky(symmetric(t[0])),
                           linalg::cholesky(symmetric(t[0]), true)};
          },
          [](const std::vector<Mat>& a) {
            const Mat l = lower_root(symmetric(a[0]));
            return Result{l, flipped(l)};
          },
          0, {"cholesky_ex"}),
      solver_row(
          "lu", rectangles,
          [](const Tensors& t) {
            const auto [p, l, u] = linalg::lu(reversed(t[0]));
            return Tensors{p.add(l.sum().mul(0)), l, u};
          },
          [](const std::vector<Mat>& a) {
            const Elimination e = eliminate(reversed(a[0]));
            return Result{e.p, e.l, e.u};
          },
          0, {"lu_factor", "lu_factor_ex"}),
      solver_row(
          "qr", rectangles,
          [](const Tensors& t) {
            const auto [q, r] = linalg::qr(regular(t[0]));
            const Tensor sign = r.diagonal(0, -2, -1).sign();
            return Tensors{q.mul(sign.unsqueeze(-2)), r.mul(sign.unsqueeze(-1))};
          },
          [](const std::vector<Mat>& a) {
            const auto [q, r] = gram_schmidt(regular(a[0]));
            return Result{q, r};
          }),
      solver_row(
          "eigh", squares,
          [](const Tensors& t) {
            const auto [w, v] = linalg::eigh(symmetric(t[0]));
            return Tensors{w.unsqueeze(-2), v.square()};
          },
          [](const std::vector<Mat>& a) {
            auto [w, v] = jacobi(symmetric(a[0]));
            for (double& x : v.x) x *= x;
            return Result{row_of(w), v};
          }),
      solver_row(
          "eigvalsh", squares,
          [](const Tensors& t) {
            const Tensor a = symmetric(t[0]);
            return Tensors{linalg::eigvalsh(a), linalg::eigvalsh(a, "U")};
          },
          [](const std::vector<Mat>& a) {
            const Mat w = row_of(jacobi(symmetric(a[0])).first);
            return Result{w, w};
          },
          1),
      solver_row(
          "svd", rectangles,
          [](const Tensors& t) {
            const auto [u, s, vh] = linalg::svd(regular(t[0]), false);
            return Tensors{u.square(), s.unsqueeze(-2), vh.square()};
          },
          [](const std::vector<Mat>& in) {
            const Mat a = regular(in[0]), small = a.m < a.n ? flipped(a) : a;
            const auto [w, ascending] = jacobi(times(flipped(small), small));
            Mat v(small.n, small.n);
            for (int64_t i = 0; i < v.m; ++i)
              for (int64_t j = 0; j < v.n; ++j) v(i, j) = ascending(i, v.n - 1 - j);
            const std::vector<double> s = singular_values(a);
            Mat u = times(small, v);
            for (int64_t i = 0; i < u.m; ++i)
              for (int64_t j = 0; j < u.n; ++j)
                u(i, j) = std::pow(u(i, j) / s[static_cast<size_t>(j)], 2);
            for (double& x : v.x) x *= x;
            return a.m < a.n ? Result{v, row_of(s), flipped(u)} : Result{u, row_of(s), flipped(v)};
          }),
      solver_row(
          "svdvals", rectangles,
          [](const Tensors& t) { return Tensors{linalg::svdvals(regular(t[0]))}; },
          [](const std::vector<Mat>& a) { return Result{row_of(singular_values(regular(a[0])))}; },
          1),
  };
}

/// Largest or smallest sum of absolute values of a column.
double column_sums(const Mat& a, bool largest) {
  double out = largest ? 0 : std::numeric_limits<double>::infinity();
  for (int64_t j = 0; j < a.n; ++j) {
    double sum = 0;
    for (int64_t i = 0; i < a.m; ++i) sum += std::fabs(a(i, j));
    out = largest ? std::max(out, sum) : std::min(out, sum);
  }
  return out;
}

std::vector<OpRow> norm_of_matrix_rows() {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const std::vector<Sample> samples = {
      {entries({4, 3})}, {entries({2, 3, 4})}, {entries({0, 2, 3})}};
  OpRow rank = solver_row(
      "matrix_rank", samples,
      [](const Tensors& t) {
        const Tensor a = regular(t[0]);
        return Tensors{linalg::matrix_rank(a.matmul(a.mT()), 1e-3)};
      },
      [](const std::vector<Mat>& a) {
        return Result{number(static_cast<double>(std::min(a[0].m, a[0].n)))};
      },
      2);
  rank.differentiable = false;
  return {
      rank,
      solver_row(
          "matrix_norm", samples,
          [=](const Tensors& t) {
            const Tensor a = regular(t[0]);
            return Tensors{linalg::matrix_norm(a),
                           linalg::matrix_norm(a, "nuc"),
                           linalg::matrix_norm(a, 2),
                           linalg::matrix_norm(a, -2),
                           linalg::matrix_norm(a, 1),
                           linalg::matrix_norm(a, -1),
                           linalg::matrix_norm(a, inf),
                           linalg::matrix_norm(a, -inf),
                           linalg::norm(a, OptionalScalar(), {-2, -1})};
          },
          [](const std::vector<Mat>& in) {
            const Mat a = regular(in[0]);
            const std::vector<double> s = singular_values(a);
            double squares = 0;
            for (const double x : a.x) squares += x * x;
            return Result{number(std::sqrt(squares)),
                          number(std::accumulate(s.begin(), s.end(), 0.0)),
                          number(s.front()),
                          number(s.back()),
                          number(column_sums(a, true)),
                          number(column_sums(a, false)),
                          number(column_sums(flipped(a), true)),
                          number(column_sums(flipped(a), false)),
                          number(std::sqrt(squares))};
          },
          2, {"norm", "vector_norm"}),
      solver_row(
          "cond", {{entries({3, 3})}, {entries({2, 4, 4})}},
          [](const Tensors& t) {
            const Tensor a = regular(t[0]);
            return Tensors{linalg::cond(a), linalg::cond(a, -2), linalg::cond(a, 1),
                           linalg::cond(a, "nuc")};
          },
          [](const std::vector<Mat>& in) {
            const Mat a = regular(in[0]);
            const std::vector<double> s = singular_values(a);
            double sum = 0, inverse = 0;
            for (const double x : s) sum += x, inverse += 1 / x;
            return Result{number(s.front() / s.back()), number(s.back() / s.front()),
                          number(column_sums(a, true) * column_sums(inverse_of(a), true)),
                          number(sum * inverse)};
          },
          2),
  };
}

std::vector<OpRow> product_rows() {
  OpRow chain = solver_row(
      "multi_dot", {{entries({2, 5}), entries({5, 3}), entries({3, 4}), entries({4, 1})}},
      [](const Tensors& t) { return Tensors{linalg::multi_dot(t)}; },
      [](const std::vector<Mat>& a) {
        return Result{times(times(a[0], a[1]), times(a[2], a[3]))};
      });
  OpRow cross = solver_row(
      "cross", {{entries({2, 3}), entries({2, 3})}, {entries({4, 3}), entries({1, 3})}},
      [](const Tensors& t) { return Tensors{linalg::cross(t[0], t[1])}; },
      [](const std::vector<Mat>& a) {
        Mat out(a[0].m, 3);
        for (int64_t i = 0; i < out.m; ++i)
          for (int64_t j = 0; j < 3; ++j) {
            const int64_t b = a[1].m == 1 ? 0 : i, next = (j + 1) % 3, last = (j + 2) % 3;
            out(i, j) = a[0](i, next) * a[1](b, last) - a[0](i, last) * a[1](b, next);
          }
        return Result{out};
      });
  chain.unavailable = cross.unavailable = nullptr;
  chain.dtypes = cross.dtypes = kReals;
  return {chain, cross};
}

}  // namespace

}  // namespace taeda::testing::matrices

namespace taeda::testing {

std::vector<OpRow> linalg_rows() {
  using namespace matrices;
  std::vector<OpRow> rows;
  for (const auto& family :
       {&system_rows, &inverse_rows, &factor_rows, &norm_of_matrix_rows, &product_rows})
    for (OpRow& row : family()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace taeda::testing
