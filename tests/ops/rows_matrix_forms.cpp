// Rows of reflectors, of tensors as matrices, of the older names of factorisations, and of Fourier
// transforms with Hermitian symmetry.
#include <cmath>
#include <complex>

#include "taeda/ops/create/create.h"
#include "taeda/ops/linalg/linalg.h"
#include "taeda/ops/linalg/linalg_tensors.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/shape/rearrange.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/ops/spectral/fft_hermitian.h"
#include "tests/ops/op_table.h"
#include "tests/ops/reference_matrix.h"

namespace taeda::testing {

namespace {

OpRow form_row(const std::string& name, std::function<Tensors(const Tensors&)> call,
               std::vector<Sample> samples, std::function<Arrays(const Arrays&)> reference,
               bool needs_library = false) {
  OpRow row;
  row.name = name;
  row.call = std::move(call);
  row.samples = std::move(samples);
  row.reference = std::move(reference);
  row.dtypes = kWide;
  row.tolerance = 16;
  if (needs_library)
    row.unavailable = [](Device device) {
      try {
        linalg::inv(eye(2, TensorOptions(kDouble).device(device)));
      } catch (const NotImplementedError& e) {
        return std::string(e.message());
      }
      return std::string();
    };
  return row;
}

Mat as_matrix(const Array& a, int64_t m, int64_t n) {
  Mat out(m, n);
  out.x = a.data;
  return out;
}
Arrays as_arrays(const Mat& a, std::vector<int64_t> sizes) {
  return {array(std::move(sizes), a.x)};
}

/// A matrix far from singular, and the tensor that it is of.
Mat strong(Mat a) {
  for (int64_t i = 0; i < a.n; ++i) a(i, i) += 8;
  return a;
}
Tensor strong(const Tensor& t, int64_t n) {
  return t.reshape({n, n}).add(eye(n, t.options().requires_grad(false)).mul(8));
}

/// The product of the reflectors of a [4, 3] and tau [2], all its columns.
Mat all_reflections(const Mat& a, const std::vector<double>& tau) {
  Mat out = identity(a.m, a.m);
  for (size_t i = 0; i < tau.size(); ++i) {
    const auto c = static_cast<int64_t>(i);
    std::vector<double> v(static_cast<size_t>(a.m), 0.0);
    v[i] = 1;
    for (int64_t r = c + 1; r < a.m; ++r) v[static_cast<size_t>(r)] = a(r, c);
    Mat h = identity(a.m, a.m);
    for (int64_t r = 0; r < a.m; ++r)
      for (int64_t s = 0; s < a.m; ++s)
        h(r, s) -= tau[i] * v[static_cast<size_t>(r)] * v[static_cast<size_t>(s)];
    out = times(out, h);
  }
  return out;
}

Mat first_columns(const Mat& a, int64_t n) {
  Mat out(a.m, n);
  for (int64_t i = 0; i < a.m; ++i)
    for (int64_t j = 0; j < n; ++j) out(i, j) = a(i, j);
  return out;
}

std::vector<OpRow> reflector_rows() {
  const std::vector<Sample> reflectors = {{real({4, 3}), real({2})}};
  const auto product = [](const Arrays& in) {
    const Mat q = all_reflections(as_matrix(in[0], 4, 3), in[1].data);
    return as_arrays(first_columns(q, 3), {4, 3});
  };
  OpRow factored = form_row(
      "geqrf",
      [](const Tensors& t) {
        const auto [a, tau] = geqrf(t[0]);
        return Tensors{orgqr(a, tau).matmul(a.narrow(-2, 0, 3).triu())};
      },
      {{real({5, 3})}, {real({2, 3, 3})}}, [](const Arrays& in) { return in; }, true);
  factored.differentiable = false;
  std::vector<OpRow> rows = {
      form_row(
          "householder_product",
          [](const Tensors& t) { return Tensors{linalg::householder_product(t[0], t[1])}; },
          reflectors, product),
      form_row(
          "orgqr", [](const Tensors& t) { return Tensors{orgqr(t[0], t[1])}; }, reflectors,
          product),
      factored};
  for (const bool left : {true, false})
    for (const bool transpose : {false, true})
      rows.push_back(form_row(
          std::string("ormqr.") + (left ? "left" : "right") + (transpose ? "_transposed" : ""),
          [=](const Tensors& t) { return Tensors{ormqr(t[0], t[1], t[2], left, transpose)}; },
          {{real({4, 3}), real({3}), left ? real({4, 2}) : real({2, 4})}},
          [=](const Arrays& in) {
            Mat q = all_reflections(as_matrix(in[0], 4, 3), in[1].data);
            if (transpose) q = flipped(q);
            return left ? as_arrays(times(q, as_matrix(in[2], 4, 2)), {4, 2})
                        : as_arrays(times(as_matrix(in[2], 2, 4), q), {2, 4});
          }));
  return rows;
}

std::vector<OpRow> solver_rows() {
  const auto triangle = [](const Array& a) {
    Mat out = strong(as_matrix(a, 3, 3));
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t j = 0; j < i; ++j) out(i, j) = 0;
    return out;
  };
  return {
      form_row(
          "triangular_solve",
          [](const Tensors& t) {
            const Tensor a = strong(t[1], 3);
            const auto [x, same] = triangular_solve(t[0], a);
            const auto [y, other] = triangular_solve(t[0], a, true, true);
            return Tensors{x, y, same.sub(other)};
          },
          {{real({3, 2}), real({3, 3})}},
          [=](const Arrays& in) {
            const Mat a = triangle(in[1]), b = as_matrix(in[0], 3, 2);
            return Arrays{array({3, 2}, solution(a, b).x), array({3, 2}, solution(flipped(a), b).x),
                          array({3, 3}, Mat(3, 3).x)};
          },
          true),
      form_row(
          "lu_unpack",
          [](const Tensors& t) {
            const auto [lu, pivots, info] = linalg::lu_factor_ex(t[0]);
            const auto [p, l, u] = lu_unpack(lu, pivots);
            return Tensors{p.matmul(l).matmul(u)};
          },
          {{real({3, 3})}, {real({2, 3, 4})}, {real({4, 3})}}, [](const Arrays& in) { return in; },
          true),
      form_row(
          "lu_solve.of_factors",
          [](const Tensors& t) {
            const auto [lu, pivots] = linalg::lu_factor(strong(t[1], 3));
            return Tensors{lu_solve(t[0], lu, pivots)};
          },
          {{real({3, 2}), real({3, 3})}},
          [](const Arrays& in) {
            return as_arrays(solution(strong(as_matrix(in[1], 3, 3)), as_matrix(in[0], 3, 2)),
                             {3, 2});
          },
          true),
      form_row(
          "tensorsolve",
          [](const Tensors& t) {
            const Tensor a = strong(t[0], 6).reshape({2, 3, 6}), b = t[1].reshape({2, 3});
            const Tensor moved = a.movedim(2, 0).contiguous();
            return Tensors{linalg::tensorsolve(a, b),
                           linalg::tensorsolve(moved, b, IntArrayRef{0})};
          },
          {{real({6, 6}), real({6})}},
          [](const Arrays& in) {
            const Mat x = solution(strong(as_matrix(in[0], 6, 6)), as_matrix(in[1], 6, 1));
            return Arrays{array({6}, x.x), array({6}, x.x)};
          },
          true),
      form_row(
          "tensorinv",
          [](const Tensors& t) {
            return Tensors{linalg::tensorinv(strong(t[0], 6).reshape({2, 3, 6}), 2)};
          },
          {{real({6, 6})}},
          [](const Arrays& in) {
            const Mat x = solution(strong(as_matrix(in[0], 6, 6)), identity(6, 6));
            return as_arrays(x, {6, 2, 3});
          },
          true),
      form_row(
          "vecdot", [](const Tensors& t) { return Tensors{linalg::vecdot(t[0], t[1])}; },
          {{real({2, 3}), real({3})}},
          [](const Arrays& in) {
            Array out = array({2}, {0, 0});
            for (int64_t i = 0; i < 2; ++i)
              for (int64_t k = 0; k < 3; ++k)
                out.data[static_cast<size_t>(i)] +=
                    in[0].at({i, k}) * in[1].data[static_cast<size_t>(k)];
            return Arrays{out};
          }),
  };
}

// ---- transforms ----

using Number = std::complex<double>;

Number turned(double share) { return std::polar(1.0, -2 * std::acos(-1.0) * share); }

/// The real transform [2, 4] of [2, 3] complex numbers, of which the fourth column is given by
/// symmetry.
Arrays hermitian_forward(const Arrays& in) {
  Array out = array({2, 4}, {});
  for (int64_t a = 0; a < 2; ++a) {
    std::vector<Number> line;
    for (int64_t k = 0; k < 3; ++k) {
      Number sum = 0;
      for (int64_t i = 0; i < 2; ++i)
        sum += Number(in[0].at({i, k}), in[1].at({i, k})) * turned(double(a * i) / 2);
      line.push_back(sum);
    }
    for (int64_t b = 0; b < 4; ++b) {
      double sum = line[0].real() + (line[2] * turned(0.5 * double(b))).real();
      sum += 2 * (line[1] * turned(double(b) / 4)).real();
      out.data.push_back(sum);
    }
  }
  return {out};
}

/// The inverse of [2, 4] numbers: pairs [2, 3, 2].
Arrays hermitian_inverse(const Arrays& in) {
  Array out = array({2, 3, 2}, {});
  for (int64_t a = 0; a < 2; ++a)
    for (int64_t b = 0; b < 3; ++b) {
      Number sum = 0;
      for (int64_t i = 0; i < 2; ++i)
        for (int64_t k = 0; k < 4; ++k)
          sum += in[0].at({i, k}) * turned(-double(a * i) / 2) * turned(-double(b * k) / 4);
      out.data.push_back(sum.real() / 8);
      out.data.push_back(sum.imag() / 8);
    }
  return {out};
}

std::vector<OpRow> hermitian_rows() {
  const auto spectrum = [](const Tensors& t) { return make_complex(t[0], t[1]); };
  const std::vector<Sample> spectra = {{real({2, 3}), real({2, 3})}}, numbers = {{real({2, 4})}};
  return {form_row(
              "hfftn",
              [=](const Tensors& t) {
                return Tensors{fft::hfftn(spectrum(t), IntArrayRef{-1, 4})};
              },
              spectra, &hermitian_forward),
          form_row(
              "hfft2", [=](const Tensors& t) { return Tensors{fft::hfft2(spectrum(t))}; }, spectra,
              &hermitian_forward),
          form_row(
              "ihfftn",
              [](const Tensors& t) {
                return Tensors{view_as_real(fft::ihfftn(t[0], {}, IntArrayRef{0, 1}))};
              },
              numbers, &hermitian_inverse),
          form_row(
              "ihfft2", [](const Tensors& t) { return Tensors{view_as_real(fft::ihfft2(t[0]))}; },
              numbers, &hermitian_inverse)};
}

}  // namespace

std::vector<OpRow> matrix_form_rows() {
  std::vector<OpRow> rows;
  for (const auto& part : {&reflector_rows, &solver_rows, &hermitian_rows})
    for (OpRow& row : part()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace taeda::testing
