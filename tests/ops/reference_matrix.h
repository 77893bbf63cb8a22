// Linear algebra as textbooks have it, in double: elimination, Gram-Schmidt, Jacobi's rotations.
// What the rows of rows_linalg.cpp are compared with.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace taeda::testing {

/// A small matrix of the references.
struct Mat {
  int64_t m = 0, n = 0;
  std::vector<double> x;

  Mat(int64_t rows, int64_t columns) : m(rows), n(columns), x(static_cast<size_t>(m * n)) {}
  double& operator()(int64_t i, int64_t j) { return x[static_cast<size_t>(i * n + j)]; }
  double operator()(int64_t i, int64_t j) const { return x[static_cast<size_t>(i * n + j)]; }
};

inline Mat identity(int64_t m, int64_t n) {
  Mat out(m, n);
  for (int64_t i = 0; i < std::min(m, n); ++i) out(i, i) = 1;
  return out;
}

inline Mat times(const Mat& a, const Mat& b) {
  Mat out(a.m, b.n);
  for (int64_t i = 0; i < a.m; ++i)
    for (int64_t j = 0; j < b.n; ++j)
      for (int64_t k = 0; k < a.n; ++k) out(i, j) += a(i, k) * b(k, j);
  return out;
}

inline Mat flipped(const Mat& a) {
  Mat out(a.n, a.m);
  for (int64_t i = 0; i < a.m; ++i)
    for (int64_t j = 0; j < a.n; ++j) out(j, i) = a(i, j);
  return out;
}

/// P, L and U of elimination with the largest pivots; the sign of P.
struct Elimination {
  Mat p, l, u;
  double sign = 1;
};
inline Elimination eliminate(Mat a) {
  const int64_t k = std::min(a.m, a.n);
  Elimination e{identity(a.m, a.m), identity(a.m, k), Mat(k, a.n)};
  std::vector<int64_t> row(static_cast<size_t>(a.m));
  std::iota(row.begin(), row.end(), 0);
  for (int64_t c = 0; c < k; ++c) {
    int64_t best = c;
    for (int64_t i = c; i < a.m; ++i)
      if (std::fabs(a(i, c)) > std::fabs(a(best, c))) best = i;
    if (best != c) {
      e.sign = -e.sign;
      std::swap(row[static_cast<size_t>(c)], row[static_cast<size_t>(best)]);
      for (int64_t j = 0; j < a.n; ++j) std::swap(a(c, j), a(best, j));
    }
    for (int64_t i = c + 1; i < a.m; ++i) {
      a(i, c) /= a(c, c);
      for (int64_t j = c + 1; j < a.n; ++j) a(i, j) -= a(i, c) * a(c, j);
    }
  }
  for (int64_t i = 0; i < a.m; ++i)
    for (int64_t j = 0; j < a.n; ++j) {
      if (j < i && j < k) e.l(i, j) = a(i, j);
      if (j >= i && i < k) e.u(i, j) = a(i, j);
    }
  e.p = Mat(a.m, a.m);
  for (int64_t i = 0; i < a.m; ++i) e.p(row[static_cast<size_t>(i)], i) = 1;
  return e;
}

inline Mat solution(const Mat& a, const Mat& b) {
  const Elimination e = eliminate(a);
  Mat x = times(flipped(e.p), b);
  for (int64_t j = 0; j < x.n; ++j) {
    for (int64_t i = 0; i < x.m; ++i)
      for (int64_t k = 0; k < i; ++k) x(i, j) -= e.l(i, k) * x(k, j);
    for (int64_t i = x.m - 1; i >= 0; --i) {
      for (int64_t k = i + 1; k < x.m; ++k) x(i, j) -= e.u(i, k) * x(k, j);
      x(i, j) /= e.u(i, i);
    }
  }
  return x;
}

inline double determinant(const Mat& a) {
  const Elimination e = eliminate(a);
  double out = e.sign;
  for (int64_t i = 0; i < a.n; ++i) out *= e.u(i, i);
  return out;
}

inline Mat inverse_of(const Mat& a) { return solution(a, identity(a.m, a.m)); }

/// Least squares by the normal equations; the shortest solution of a wide system.
inline Mat left_inverse(const Mat& a) {
  const Mat t = flipped(a);
  return a.m >= a.n ? solution(times(t, a), t) : times(t, inverse_of(times(a, t)));
}

inline Mat lower_root(const Mat& a) {
  Mat l(a.m, a.m);
  for (int64_t j = 0; j < a.m; ++j)
    for (int64_t i = j; i < a.m; ++i) {
      double sum = a(i, j);
      for (int64_t k = 0; k < j; ++k) sum -= l(i, k) * l(j, k);
      l(i, j) = i == j ? std::sqrt(sum) : sum / l(j, j);
    }
  return l;
}

/// Q and R with a positive diagonal; `columns` of Q.
inline std::pair<Mat, Mat> gram_schmidt(const Mat& a) {
  const int64_t k = std::min(a.m, a.n);
  Mat q(a.m, k);
  for (int64_t j = 0; j < k; ++j) {
    for (int64_t i = 0; i < a.m; ++i) q(i, j) = a(i, j);
    for (int round = 0; round < 2; ++round)
      for (int64_t c = 0; c < j; ++c) {
        double dot = 0;
        for (int64_t i = 0; i < a.m; ++i) dot += q(i, c) * q(i, j);
        for (int64_t i = 0; i < a.m; ++i) q(i, j) -= dot * q(i, c);
      }
    double length = 0;
    for (int64_t i = 0; i < a.m; ++i) length += q(i, j) * q(i, j);
    for (int64_t i = 0; i < a.m; ++i) q(i, j) /= std::sqrt(length);
  }
  return {q, times(flipped(q), a)};
}

/// Eigenvalues in ascending order and eigenvectors, by Jacobi's rotations.
inline std::pair<std::vector<double>, Mat> jacobi(Mat a) {
  Mat v = identity(a.m, a.m);
  for (int sweep = 0; sweep < 30; ++sweep)
    for (int64_t p = 0; p < a.m; ++p)
      for (int64_t q = p + 1; q < a.m; ++q) {
        const double angle = 0.5 * std::atan2(2 * a(p, q), a(q, q) - a(p, p));
        Mat r = identity(a.m, a.m);
        r(p, p) = r(q, q) = std::cos(angle);
        r(p, q) = std::sin(angle);
        r(q, p) = -r(p, q);
        a = times(flipped(r), times(a, r));
        v = times(v, r);
      }
  std::vector<int64_t> order(static_cast<size_t>(a.m));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int64_t i, int64_t j) { return a(i, i) < a(j, j); });
  std::vector<double> values;
  Mat sorted(a.m, a.m);
  for (size_t j = 0; j < order.size(); ++j) {
    values.push_back(a(order[j], order[j]));
    for (int64_t i = 0; i < a.m; ++i) sorted(i, static_cast<int64_t>(j)) = v(i, order[j]);
  }
  return {values, sorted};
}

/// Singular values in descending order, from the smaller of A^T A and A A^T.
inline std::vector<double> singular_values(const Mat& a) {
  std::vector<double> out = jacobi(a.m < a.n ? times(a, flipped(a)) : times(flipped(a), a)).first;
  std::reverse(out.begin(), out.end());
  for (double& s : out) s = std::sqrt(std::max(s, 0.0));
  return out;
}

inline Mat exponential(Mat a) {
  for (double& x : a.x) x /= 1024;
  Mat out = identity(a.m, a.m), term = out;
  for (int i = 1; i < 20; ++i) {
    term = times(term, a);
    for (double& x : term.x) x /= i;
    for (size_t j = 0; j < out.x.size(); ++j) out.x[j] += term.x[j];
  }
  for (int i = 0; i < 10; ++i) out = times(out, out);
  return out;
}

}  // namespace taeda::testing
