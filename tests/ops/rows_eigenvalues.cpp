// Rows of decompositions of any square or symmetric matrix, and of bins in several dimensions.
#include <cmath>
#include <functional>

#include "taeda/ops/create/create.h"
#include "taeda/ops/linalg/linalg.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/reduce/histogram.h"
#include "taeda/ops/shape/shape.h"
#include "tests/ops/matrix_rows.h"
#include "tests/ops/op_table.h"
#include "tests/ops/reference_matrix.h"

namespace taeda::testing {

namespace {

/// Rows of these families need a library of linear algebra.
OpRow lapack_row(const std::string& name, std::function<Tensors(const Tensors&)> call,
                 std::vector<Sample> samples, std::function<Arrays(const Arrays&)> reference) {
  OpRow row;
  row.name = name;
  row.call = std::move(call);
  row.samples = std::move(samples);
  row.reference = std::move(reference);
  row.dtypes = kWide;
  row.tolerance = 64;
  row.unavailable = matrices::no_library;
  return row;
}

Mat square_of(const Array& a) {
  Mat out(a.sizes[0], a.sizes[1]);
  out.x = a.data;
  return out;
}

double trace_of(const Mat& a) {
  double sum = 0;
  for (int64_t i = 0; i < a.m; ++i) sum += a(i, i);
  return sum;
}

/// The sums of the eigenvalues and of their squares, which are real.
Tensors power_sums(const Tensor& w) { return {real(w.sum()), real(w.mul(w).sum())}; }

/// A v - v w in real numbers: nothing, whatever the vectors' lengths and phases.
Tensors eig_residuals(const Tensor& a) {
  const auto [w, v] = linalg::eig(a);
  const Tensor re = real(v), im = imag(v), wr = real(w).unsqueeze(-2), wi = imag(w).unsqueeze(-2);
  return {a.matmul(re).sub(re.mul(wr).sub(im.mul(wi))),
          a.matmul(im).sub(re.mul(wi).add(im.mul(wr)))};
}

std::vector<OpRow> eigenvalue_rows() {
  const std::vector<Sample> squares = {{real({3, 3})}, {real({5, 5})}};
  return {
      lapack_row(
          "eigvals", [](const Tensors& t) { return power_sums(linalg::eigvals(t[0])); }, squares,
          [](const Arrays& in) {
            const Mat a = square_of(in[0]);
            return Arrays{array({}, {trace_of(a)}), array({}, {trace_of(times(a, a))})};
          }),
      lapack_row(
          "eig", [](const Tensors& t) { return eig_residuals(t[0]); }, squares,
          [](const Arrays& in) {
            const Array none{in[0].sizes, std::vector<double>(in[0].data.size(), 0.0)};
            return Arrays{none, none};
          })};
}

Tensor mirrored(const Tensor& t) { return t.add(t.mT()); }
Mat mirrored(const Mat& a) {
  Mat out = a;
  for (int64_t i = 0; i < a.m; ++i)
    for (int64_t j = 0; j < a.n; ++j) out(i, j) = a(i, j) + a(j, i);
  return out;
}

std::vector<OpRow> symmetric_rows() {
  OpRow factored = lapack_row(
      "ldl_factor",
      [](const Tensors& t) {
        const Tensor a = mirrored(t[0]).add(eye(3, t[0].options().requires_grad(false)).mul(8));
        const auto [LD, pivots] = linalg::ldl_factor(a);
        return Tensors{a.matmul(linalg::ldl_solve(LD, pivots, t[1]))};
      },
      {{real({3, 3}), real({3, 2})}}, [](const Arrays& in) { return Arrays{in[1]}; });
  factored.differentiable = false;
  factored.covers = {"ldl_factor_ex", "ldl_solve"};
  return {factored,
          lapack_row(
              "symeig",
              [](const Tensors& t) {
                const Tensor a = mirrored(t[0]);
                return Tensors{std::get<0>(symeig(a)), std::get<0>(symeig(a, false, false))};
              },
              {{real({4, 4})}},
              [](const Arrays& in) {
                const std::vector<double> w = jacobi(mirrored(square_of(in[0]))).first;
                return Arrays{array({4}, w), array({4}, w)};
              }),
          lapack_row(
              "symeig.vectors",
              [](const Tensors& t) {
                const auto [w, v] = symeig(mirrored(t[0]), true);
                return Tensors{v.mul(w.unsqueeze(-2)).matmul(v.mT())};
              },
              {{real({4, 4})}},
              [](const Arrays& in) {
                return Arrays{array({4, 4}, mirrored(square_of(in[0])).x)};
              })};
}

const std::vector<double> kAcross = {-1.5, -0.5, 0.25, 2.0}, kDown = {-2.0, 0.0, 1.0};

/// Which bin a number is in, or -1.
int bin_of(double x, const std::vector<double>& edges) {
  const int last = static_cast<int>(edges.size()) - 2;
  for (int b = 0; b <= last; ++b)
    if (x >= edges[static_cast<size_t>(b)] &&
        (x < edges[static_cast<size_t>(b) + 1] ||
         (b == last && x == edges[static_cast<size_t>(b) + 1])))
      return b;
  return -1;
}

OpRow bins_row() {
  OpRow row;
  row.name = "histogramdd";
  row.call = [](const Tensors& t) {
    const TensorOptions options = t[0].options().requires_grad(false);
    const Tensor edges[] = {tensor(kAcross).to(options), tensor(kDown).to(options)};
    return Tensors{std::get<0>(histogramdd(t[0], TensorList(edges, 2), {}, t[1]))};
  };
  row.samples = {{real({60, 2}), real({60}, 0, 1)}, {real({5, 4, 2}), real({5, 4}, 0, 1)}};
  row.reference = [](const Arrays& in) {
    Array hist{{3, 2}, std::vector<double>(6, 0.0)};
    for (size_t i = 0; i < in[1].data.size(); ++i) {
      const int a = bin_of(in[0].data[2 * i], kAcross), b = bin_of(in[0].data[2 * i + 1], kDown);
      if (a >= 0 && b >= 0) hist.data[static_cast<size_t>(2 * a + b)] += in[1].data[i];
    }
    return Arrays{hist};
  };
  row.dtypes = kWide;
  row.differentiable = false;
  return row;
}

}  // namespace

std::vector<OpRow> general_rows() {
  std::vector<OpRow> rows = eigenvalue_rows();
  for (OpRow& row : symmetric_rows()) rows.push_back(std::move(row));
  rows.push_back(bins_row());
  return rows;
}

}  // namespace taeda::testing
