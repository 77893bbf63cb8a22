// Least squares, powers and the exponential of matrices, products of several.
#include "taeda/ops/linalg/linalg.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "bodies/linalg.h"
#include "taeda/base/warning.h"
#include "taeda/ops/autocast.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/linalg/linalg_common.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/rearrange.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/autocast_mode.h"
#include "taeda/tensor/iter.h"

namespace taeda::inline v0_2::linalg {

using namespace taeda::detail;

namespace {

/// min |A X - B| for A of full rank; the shortest X where there are several.
Tensor full_rank_solution(const Tensor& A, const Tensor& B) {
  if (A.size(-2) >= A.size(-1)) {
    const auto [q, r] = linalg::qr(A, "reduced");
    return solve_triangular(r, q.mH().matmul(B), true);
  }
  const auto [q, r] = linalg::qr(A.mH(), "reduced");
  return q.matmul(solve_triangular(r.mH(), B, false));
}

/// Where a product of several matrices is split so that it takes the fewest multiplications:
/// matrix i is sizes[i] by sizes[i + 1].
std::vector<std::vector<size_t>> best_splits(const std::vector<int64_t>& sizes) {
  const size_t n = sizes.size() - 1;
  std::vector<std::vector<size_t>> split(n, std::vector<size_t>(n));
  std::vector<std::vector<double>> cost(n, std::vector<double>(n));
  for (size_t length = 1; length < n; ++length)
    for (size_t i = 0; i + length < n; ++i) {
      const size_t j = i + length;
      cost[i][j] = -1;
      for (size_t k = i; k < j; ++k) {
        const double c = cost[i][k] + cost[k + 1][j] +
                         static_cast<double>(sizes[i]) * static_cast<double>(sizes[k + 1]) *
                             static_cast<double>(sizes[j + 1]);
        if (cost[i][j] >= 0 && c >= cost[i][j]) continue;
        cost[i][j] = c;
        split[i][j] = k;
      }
    }
  return split;
}

Tensor multiply_range(const std::vector<Tensor>& factors,
                      const std::vector<std::vector<size_t>>& split, size_t i, size_t j) {
  if (i == j) return factors[i];
  const size_t k = split[i][j];
  return multiply_range(factors, split, i, k).mm(multiply_range(factors, split, k + 1, j));
}

void check_multi_dot(TensorList tensors) {
  const size_t n = tensors.size();
  TAEDA_CHECK(n >= 2, "multi_dot(): expected at least 2 tensors but got ", n);
  for (size_t i = 0; i < n; ++i) {
    const int64_t dim = tensors[i].dim();
    if (i == 0 || i == n - 1)
      TAEDA_CHECK(dim == 1 || dim == 2, "multi_dot(): the ", i == 0 ? "first" : "last",
                  " tensor must be 1D or 2D but got ", dim, "D");
    else
      TAEDA_CHECK(dim == 2, "multi_dot(): tensor ", i, " must be 2D but got ", dim, "D");
    TAEDA_CHECK(tensors[i].dtype() == tensors[0].dtype(),
                "multi_dot(): all tensors must have be the same dtype but tensor 0 is ",
                tensors[0].dtype(), " and tensor ", i, " ", tensors[i].dtype());
    TAEDA_CHECK(tensors[i].device() == tensors[0].device(),
                "multi_dot(): all tensors must be on the same device but tensor 0 is on ",
                tensors[0].device(), " and tensor ", i, " on ", tensors[i].device());
    if (i == 0) continue;
    TAEDA_CHECK(tensors[i - 1].size(-1) == tensors[i].size(0), "multi_dot(): tensors ", i - 1,
                " and ", i, " with shapes ", tensors[i - 1].sizes(), " and ", tensors[i].sizes(),
                " cannot be multiplied");
  }
}

/// exp(A) for matrices of norm 5.37 at most: Higham (2005), the approximation of degree 13.
Tensor pade13(const Tensor& A) {
  constexpr double b[] = {64764752532480000.,
                          32382376266240000.,
                          7771770303897600.,
                          1187353796428800.,
                          129060195264000.,
                          10559470521600.,
                          670442572800.,
                          33522128640.,
                          1323241920.,
                          40840800.,
                          960960.,
                          16380.,
                          182.,
                          1.};
  const Tensor one = eye_like(A.size(-1), A.size(-1), A), a2 = A.matmul(A), a4 = a2.matmul(a2),
               a6 = a4.matmul(a2);
  // Coefficients are divided by the first one, so that they fit into a float.
  const auto sum = [&](int high, int middle, int low, int lowest) {
    return a6.mul(b[high] / b[0])
        .add(a4, b[middle] / b[0])
        .add(a2, b[low] / b[0])
        .add(one, lowest < 0 ? 0 : b[lowest] / b[0]);
  };
  const Tensor odd = A.matmul(a6.matmul(sum(13, 11, 9, -1)).add(sum(7, 5, 3, 1)));
  const Tensor even = a6.matmul(sum(12, 10, 8, -1)).add(sum(6, 4, 2, 0));
  return solve(even.sub(odd), even.add(odd));
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor, Tensor> do_lstsq(const Tensor& A, const Tensor& B,
                                                    std::optional<double> rcond,
                                                    std::optional<std::string_view> driver) {
  const char* const op = "torch.linalg.lstsq";
  const AutocastMode::Pause pause;
  check_same_device(op, {&A, &B});
  TAEDA_CHECK(A.dim() >= 2, op, ": input must have at least 2 dimensions.");
  TAEDA_CHECK(B.dim() >= 1, op, ": other must have at least 1 dimension.");
  TAEDA_CHECK(A.dtype() == B.dtype(), op,
              ": Expected input and other to have the same dtype, but got input's dtype ",
              A.dtype(), " and other's dtype ", B.dtype());
  check_solver_dtype("linalg.lstsq", A);
  const bool vector =
      B.dim() == 1 ||
      (A.dim() - 1 == B.dim() && B.sizes() == IntArrayRef(A.sizes().data(), B.sizes().size()));
  const Tensor right = vector ? B.unsqueeze(-1) : B;
  TAEDA_CHECK(A.size(-2) == right.size(-2), op, ": input.size(-2) should match other.size(",
              vector ? "-1)" : "-2)");
  const std::string_view name = driver.value_or(A.device().is_accelerator() ? "gels" : "gelsy");
  const bool gels = name == "gels", gelsy = name == "gelsy";
  TAEDA_CHECK(gels || gelsy || name == "gelsd" || name == "gelss", op,
              ": parameter `driver` should be one of (gels, gelsy, gelsd, gelss)");
  const int64_t m = A.size(-2), n = A.size(-1);
  const Tensor none = A.new_empty({0}, to_real_type(A.dtype()));
  Tensor x, residuals = none, rank = A.new_empty({0}, kLong), values = none;
  bool full_rank = true;
  if (gels) {
    x = full_rank_solution(A, right);
  } else {
    const NoGradGuard guard;
    const Tensor s = svdvals(A);
    rank = matrix_rank(A, {}, rcond);
    full_rank = A.is_meta() || rank.eq(n).all().item<bool>();
    if (!gelsy) values = s;
  }
  if (!gels) x = pinv(A, {}, rcond).matmul(right);
  if (m > n && full_rank && !gelsy) {
    const Tensor error = A.matmul(x).sub(right);
    residuals = (A.is_complex() ? error.abs() : error).square().sum({-2});
  }
  return {vector ? x.squeeze(-1) : x, residuals, rank, values};
}

Tensor matrix_power(const Tensor& A, int64_t n) {
  check_square("linalg.matrix_power", A);
  if (n == 0) {
    const Tensor one = eye_like(A.size(-1), A.size(-1), A);
    return A.masked_fill(ones({}, A.options().dtype(kBool).requires_grad(false)), 0).add(one);
  }
  Tensor square = n < 0 ? inv(A) : A, out;
  for (uint64_t rest = n < 0 ? -static_cast<uint64_t>(n) : static_cast<uint64_t>(n); rest > 0;
       rest /= 2) {
    if (rest % 2 == 1) out = out.defined() ? out.matmul(square) : square;
    if (rest > 1) square = square.matmul(square);
  }
  return out.is_same(A) ? out.clone() : out;
}

namespace {

/// By the real matrix [[Re, -Im], [Im, Re]], whose exponential is of the same form.
Tensor complex_matrix_exp(const Tensor& A) {
  const Tensor re = real(A), im = imag(A);
  const int64_t n = A.size(-1);
  const Tensor wide = cat({cat({re, im.neg()}, -1), cat({im, re}, -1)}, -2);
  const Tensor left = matrix_exp(wide).narrow(-1, 0, n);
  return view_as_complex(stack({left.narrow(-2, 0, n), left.narrow(-2, n, n)}, -1));
}

}  // namespace

Tensor do_matrix_exp(const Tensor& A) {
  if (A.is_complex() && A.dim() >= 2 && A.size(-1) == A.size(-2)) return complex_matrix_exp(A);
  if (A.dtype() == kHalf || A.dtype() == kBFloat16) return matrix_exp(A.to(kFloat)).to(A.dtype());
  check_square_input("linalg.matrix_exp", A);
  if (A.numel() == 0) return A.clone();
  const AutocastMode::Pause pause;
  Tensor halvings;  // how often each matrix is halved, and its exponential squared
  {
    const NoGradGuard guard;
    halvings = matrix_norm(A, 1, {-2, -1}, true).div(5.371920351148152).log2().ceil().clamp_min(0);
  }
  Tensor out = pade13(A.mul(halvings.neg().exp2()));
  // How often a result is squared changes nothing about its shape.
  const auto most = halvings.is_meta() ? 1 : static_cast<int64_t>(halvings.max().item<double>());
  for (int64_t i = 0; i < most; ++i) out = out.matmul(out).where(halvings.gt(i), out);
  return out;
}

Tensor multi_dot(TensorList tensors) {
  check_multi_dot(tensors);
  std::vector<Tensor> factors(tensors.begin(), tensors.end());
  const bool row = factors.front().dim() == 1, column = factors.back().dim() == 1;
  if (row) factors.front() = factors.front().unsqueeze(0);
  if (column) factors.back() = factors.back().unsqueeze(-1);
  std::vector<int64_t> sizes{factors[0].size(0)};
  for (const Tensor& t : factors) sizes.push_back(t.size(1));
  Tensor out = multiply_range(factors, best_splits(sizes), 0, factors.size() - 1);
  if (column) out = out.squeeze(-1);
  return row ? out.squeeze(0) : out;
}

Tensor cross(const Tensor& A, const Tensor& B, int64_t dim) {
  TAEDA_CHECK(A.dim() == B.dim(), "linalg.cross: inputs must have the same number of dimensions.");
  const int64_t d = wrap_dim(dim, A.dim());
  TAEDA_CHECK(A.size(d) == 3 && B.size(d) == 3, "linalg.cross: inputs dimension ", dim,
              " must have length 3. Got ", A.size(d), " and ", B.size(d));
  const auto turned = [d](const Tensor& t, int64_t by) { return t.roll({-by}, {d}); };
  return turned(A, 1).mul(turned(B, 2)).sub(turned(A, 2).mul(turned(B, 1)));
}

}  // namespace taeda::inline v0_2::linalg

namespace taeda::inline v0_2 {

Tensor cross(const Tensor& self, const Tensor& other, OptionalDim dim) {
  if (dim) return linalg::cross(self, other, *dim);
  TAEDA_WARN_ONCE(
      "Using torch.cross without specifying the dim arg is deprecated.\nPlease either pass the dim "
      "explicitly or simply use torch.linalg.cross.\nThe default value of dim will change to agree "
      "with that of linalg.cross in a future release.");
  for (int64_t d = 0; d < self.dim(); ++d)
    if (self.size(d) == 3) return linalg::cross(self, other, d);
  throw Error("no dimension of size 3 in input");
}

}  // namespace taeda::inline v0_2
