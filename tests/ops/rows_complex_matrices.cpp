// Decompositions of complex matrices, compared with those of real ones of twice the size.
#include <cmath>

#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "tests/ops/matrix_rows.h"

namespace taeda::testing::matrices {

namespace {

/// Each number as the block [[re, -im], [im, re]], which sums, products, inverses and adjoints
/// keep, and triangles with real diagonals.
Mat embedded(const Mat& re, const Mat& im) {
  Mat out(2 * re.m, 2 * re.n);
  for (int64_t i = 0; i < re.m; ++i)
    for (int64_t j = 0; j < re.n; ++j) {
      out(2 * i, 2 * j) = out(2 * i + 1, 2 * j + 1) = re(i, j);
      out(2 * i + 1, 2 * j) = im(i, j);
      out(2 * i, 2 * j + 1) = -im(i, j);
    }
  return out;
}
Tensor embedded(const Tensor& t) {
  const Tensor re = taeda::real(t), im = imag(t);
  const Tensor blocks = stack({stack({re, im.neg()}, -1), stack({im, re}, -1)}, -3);
  std::vector<int64_t> sizes(t.sizes().begin(), t.sizes().end());
  for (size_t d = sizes.size() - 2; d < sizes.size(); ++d) sizes[d] *= 2;
  return blocks.reshape(sizes);
}
Mat hermitian(const Mat& re, Mat im) {
  const Mat t = flipped(im);
  for (size_t i = 0; i < im.x.size(); ++i) im.x[i] -= t.x[i];
  return embedded(symmetric(re), im);
}
Tensor hermitian(const Tensor& re, const Tensor& im) {
  return make_complex(symmetric(re), im.sub(im.mT()));
}
/// a b a / 1000
Mat cubed(const Mat& a, const Mat& b) {
  Mat out = times(a, times(b, a));
  for (double& x : out.x) x *= 1e-3;
  return out;
}
Tensor norm_squared(const Tensor& t) { return taeda::real(t.mul(t.conj())); }

/// On CUDA matrices of complex numbers have no kernels yet.
std::string no_complex_kernel(Device device) {
  if (device.type() != kCUDA) return no_library(device);
  return "linear algebra of complex matrices runs on the CPU and on simulated devices";
}

const std::vector<Sample> one_matrix = {{entries({3, 3}), entries({3, 3})},
                                        {entries({2, 4, 4}), entries({2, 4, 4})},
                                        {entries({0, 3, 3}), entries({0, 3, 3})}};
const std::vector<Sample> any_matrix = {{entries({4, 3}), entries({4, 3})},
                                        {entries({2, 3, 4}), entries({2, 3, 4})}};

std::vector<OpRow> complex_system_rows() {
  const auto full = [](const Tensors& t) { return make_complex(reversed(t[0]), t[1]); };
  const auto full_reference = [](const std::vector<Mat>& a) {
    return embedded(reversed(a[0]), a[1]);
  };
  return {
      solver_row(
          "inv.complex", one_matrix,
          [=](const Tensors& t) { return Tensors{embedded(linalg::inv(full(t)))}; },
          [=](const std::vector<Mat>& a) { return Result{inverse_of(full_reference(a))}; }),
      solver_row(
          "solve.complex",
          {{entries({3, 3}), entries({3, 3}), entries({3, 2})},
           {entries({2, 3, 3}), entries({2, 3, 3}), entries({2, 3, 2})}},
          [=](const Tensors& t) {
            const Tensor b = make_complex(t[2], t[2].mul(-0.5));
            const auto [lu, pivots] = linalg::lu_factor(full(t));
            return Tensors{embedded(linalg::solve(full(t), b)),
                           embedded(linalg::lu_solve(lu, pivots, b, true, true)),
                           embedded(linalg::lu_solve(lu, pivots, b.mH(), false)),
                           embedded(linalg::lu_solve(lu, pivots, b.mH(), false, true))};
          },
          [=](const std::vector<Mat>& a) {
            Mat im = a[2];
            for (double& x : im.x) x *= -0.5;
            const Mat A = full_reference(a), b = embedded(a[2], im);
            const Mat x = solution(A, b), y = solution(flipped(A), b);
            return Result{x, y, flipped(y), flipped(x)};
          }),
      solver_row(
          "det.complex", one_matrix,
          [=](const Tensors& t) {
            const auto [sign, logarithm] = linalg::slogdet(full(t));
            const Tensor det = linalg::det(full(t));
            return Tensors{norm_squared(det.mul(1e-3)), logarithm.mul(2), norm_squared(sign),
                           taeda::real(det.div(sign.mul(logarithm.exp()))),
                           taeda::real(logdet(full(t)))};
          },
          [=](const std::vector<Mat>& a) {
            const double d = determinant(full_reference(a));
            return Result{number(d * 1e-6), number(std::log(d)), number(1), number(1),
                          number(std::log(d) / 2)};
          },
          2),
      solver_row(
          "cholesky.complex", one_matrix,
          [](const Tensors& t) {
            const Tensor a = hermitian(t[0], t[1]), l = linalg::cholesky(a);
            return Tensors{embedded(l), embedded(linalg::cholesky(a, true)),
                           embedded(cholesky_inverse(l)), embedded(cholesky_inverse(l.mH(), true))};
          },
          [](const std::vector<Mat>& a) {
            const Mat A = hermitian(a[0], a[1]), l = lower_root(A), inverse = inverse_of(A);
            return Result{l, flipped(l), inverse, inverse};
          }),
  };
}

std::vector<OpRow> complex_factor_rows() {
  return {
      solver_row(
          "qr.complex", any_matrix,
          [](const Tensors& t) {
            const auto [q, r] = linalg::qr(make_complex(regular(t[0]), t[1]));
            const Tensor sign = taeda::real(r.diagonal(0, -2, -1)).sign();
            return Tensors{embedded(q.mul(sign.unsqueeze(-2))),
                           embedded(r.mul(sign.unsqueeze(-1)))};
          },
          [](const std::vector<Mat>& a) {
            const auto [q, r] = gram_schmidt(embedded(regular(a[0]), a[1]));
            return Result{q, r};
          }),
      solver_row(
          "eigh.complex", one_matrix,
          [](const Tensors& t) {
            const Tensor a = hermitian(t[0], t[1]);
            const auto [w, v] = linalg::eigh(a);
            const auto [w2, v2] = linalg::eigh(a, "U");
            const auto cube = [](const Tensor& values, const Tensor& vectors) {
              return embedded(
                  vectors.mul(values.mul(0.1).pow(3).unsqueeze(-2)).matmul(vectors.mH()));
            };
            return Tensors{linalg::eigvalsh(a).repeat_interleave(2, -1).unsqueeze(-2), cube(w, v),
                           cube(w2, v2)};
          },
          [](const std::vector<Mat>& a) {
            const Mat A = hermitian(a[0], a[1]), cube = cubed(A, A);
            return Result{row_of(jacobi(A).first), cube, cube};
          }),
      solver_row(
          "svd.complex", any_matrix,
          [](const Tensors& t) {
            const Tensor a = make_complex(regular(t[0]), t[1]);
            const auto [u, s, vh] = linalg::svd(a, false);
            return Tensors{linalg::svdvals(a).repeat_interleave(2, -1).unsqueeze(-2),
                           embedded(u.mul(s.mul(0.1).pow(3).unsqueeze(-2)).matmul(vh))};
          },
          [](const std::vector<Mat>& a) {
            const Mat A = embedded(regular(a[0]), a[1]);
            return Result{row_of(singular_values(A)), cubed(A, flipped(A))};
          }),
      solver_row(
          "pinv.complex", any_matrix,
          [](const Tensors& t) {
            return Tensors{embedded(linalg::pinv(make_complex(regular(t[0]), t[1])))};
          },
          [](const std::vector<Mat>& a) {
            return Result{left_inverse(embedded(regular(a[0]), a[1]))};
          }),
      solver_row(
          "lstsq.complex",
          {{entries({4, 3}), entries({4, 3}), entries({4, 2})},
           {entries({3, 4}), entries({3, 4}), entries({3, 1})}},
          [](const Tensors& t) {
            const Tensor a = make_complex(regular(t[0]), t[1]), b = make_complex(t[2], t[2]);
            return Tensors{embedded(std::get<0>(linalg::lstsq(a, b, {}, "gels"))),
                           embedded(std::get<0>(linalg::lstsq(a, b, {}, "gelsd")))};
          },
          [](const std::vector<Mat>& a) {
            const Mat x = times(left_inverse(embedded(regular(a[0]), a[1])), embedded(a[2], a[2]));
            return Result{x, x};
          }),
  };
}

}  // namespace

}  // namespace taeda::testing::matrices

namespace taeda::testing {

std::vector<OpRow> complex_matrix_rows() {
  using namespace matrices;
  std::vector<OpRow> rows = complex_system_rows();
  for (OpRow& row : complex_factor_rows()) rows.push_back(std::move(row));
  for (OpRow& row : rows) row.unavailable = no_complex_kernel;
  return rows;
}

}  // namespace taeda::testing
