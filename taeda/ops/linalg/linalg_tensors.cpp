#include "taeda/ops/linalg/linalg_tensors.h"

#include "bodies/linalg_tensors.h"
#include "taeda/base/warning.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/elementwise.h"
#include "taeda/ops/elementwise/pointwise.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/linalg/linalg.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/rearrange.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2 {

using detail::conjugate;

namespace {

/// Reflector i of a QR decomposition's columns, [..., m, 1].
Tensor reflector(const Tensor& a, int64_t i) {
  const int64_t m = a.size(-2);
  const Tensor below = a.narrow(-1, i, 1).narrow(-2, i + 1, m - i - 1);
  DimVector sizes(below.sizes());
  sizes[sizes.size() - 2] = i;
  const Tensor above = zeros(sizes, below.options().requires_grad(false));
  sizes[sizes.size() - 2] = 1;
  return cat({above, ones(sizes, above.options()), below}, -2);
}

/// c less its part along the reflector.
Tensor reflected(const Tensor& c, const Tensor& v, const Tensor& tau) {
  return c.sub(tau.unsqueeze(-1).unsqueeze(-1).mul(v).matmul(v.mH().matmul(c)));
}

/// H_1 ... H_k c, or the product with the conjugate transpose of these, H_k^H ... H_1^H c.
Tensor reflected_by_all(const Tensor& a, const Tensor& tau, Tensor c, bool transpose) {
  const int64_t k = tau.size(-1);
  for (int64_t n = 0; n < k; ++n) {
    const int64_t i = transpose ? n : k - 1 - n;
    const Tensor factor = tau.select(-1, i);
    c = reflected(c, reflector(a, i), transpose ? conjugate(factor) : factor);
  }
  return c;
}

/// LAPACK's dtypes.
void check_factor_dtype(const char* op, const Tensor& a) {
  const ScalarType t = a.dtype();
  if (!is_differentiable(t) || computing_dtype(t) != t) detail::throw_no_dtype(op, t);
}

void check_reflectors(const char* op, const Tensor& a, const Tensor& tau) {
  check_factor_dtype(op, a);
  TAEDA_CHECK(a.dim() >= 2, op, ": input must have at least 2 dimensions.");
  TAEDA_CHECK(a.size(-2) >= a.size(-1), op,
              ": input.shape[-2] must be greater than or equal to input.shape[-1]");
  TAEDA_CHECK(tau.dim() >= 1 && tau.size(-1) <= a.size(-1), op,
              ": input.shape[-1] must be greater than or equal to tau.shape[-1]");
  TAEDA_CHECK(tau.dtype() == a.dtype(), op, ": tau dtype ", tau.dtype(),
              " does not match input dtype ", a.dtype());
}

int64_t product_of(IntArrayRef sizes) {
  int64_t product = 1;
  for (const int64_t s : sizes) product *= s;
  return product;
}

}  // namespace

namespace linalg {

Tensor do_householder_product(const Tensor& A, const Tensor& tau) {
  check_reflectors("torch.linalg.householder_product", A, tau);
  const Tensor start = eye(A.size(-2), A.size(-1), A.options().requires_grad(false));
  return reflected_by_all(A, tau, start.expand(A.sizes()), false);
}

Tensor tensorsolve(const Tensor& A, const Tensor& B, OptionalIntArrayRef dims) {
  Tensor a = A;
  if (dims.has_value()) {
    DimVector ends;
    for (size_t i = 0; i < (*dims).size(); ++i)
      ends.push_back(static_cast<int64_t>(i) - static_cast<int64_t>((*dims).size()));
    a = movedim(A, *dims, ends);
  }
  const auto rank = static_cast<size_t>(B.dim());
  TAEDA_CHECK(a.sizes().size() >= rank, "Expected self to have at least ", rank,
              " dimensions, but got ", a.sizes().size());
  const IntArrayRef sizes = a.sizes().slice(rank, a.sizes().size() - rank);
  const int64_t columns = product_of(sizes), rows = product_of(a.sizes().slice(0, rank));
  TAEDA_CHECK(columns == rows,
              "Expected self to satisfy the requirement prod(self.shape[other.ndim:"
              "]) == prod(self.shape[:other.ndim]), but got ",
              columns, " != ", rows);
  return solve(a.reshape({rows, columns}), B.reshape({rows})).reshape(sizes);
}

Tensor tensorinv(const Tensor& A, int64_t ind) {
  TAEDA_CHECK(ind > 0, "Expected a strictly positive integer for 'ind'");
  TAEDA_CHECK(ind <= A.dim(), "Expected 'ind' to be at most ", A.dim(), ", but got ", ind);
  const auto split = static_cast<size_t>(ind);
  const IntArrayRef head = A.sizes().slice(0, split),
                    tail = A.sizes().slice(split, A.sizes().size() - split);
  const int64_t rows = product_of(head), columns = product_of(tail);
  TAEDA_CHECK(rows == columns,
              "Expected self to satisfy the requirement prod(self.shape[ind:]) == "
              "prod(self.shape[:ind]), but got ",
              columns, " != ", rows);
  DimVector sizes(tail);
  for (const int64_t s : head) sizes.push_back(s);
  return inv(A.reshape({rows, columns})).reshape(sizes);
}

Tensor vecdot(const Tensor& x, const Tensor& y, int64_t dim) {
  TAEDA_CHECK(x.dtype() == y.dtype(),
              "linalg.vecdot: Expected x and y to have the same dtype, but ", "found x of type ",
              x.dtype(), " and y of type ", y.dtype(), " instead");
  TAEDA_CHECK_AS(NotImplementedError, is_differentiable(x.dtype()),
                 "linalg.vecdot: Expected a floating point or complex tensor as input. Got ",
                 to_string(x.dtype()));
  return (x.is_complex() ? x.conj() : x).mul(y).sum({dim});
}

Tensor vander(const Tensor& x, OptionalDim N) {
  if (x.dim() == 0) return vander(x.unsqueeze(0), N);
  const int64_t columns = N ? int64_t{*N} : x.size(-1);
  TAEDA_CHECK(columns > 1, "N must be greater than 1.");
  empty({x.numel(), columns}, x.options().requires_grad(false));  // what cannot be had is refused
  const Tensor base = is_integral(x.dtype(), true) ? x.to(kLong) : x;
  std::vector<Tensor> powers = {ones_like(base.detach())};
  for (int64_t k = 1; k < columns; ++k) powers.push_back(powers.back().mul(base));
  return stack(powers, -1);
}

Tensor diagonal(const Tensor& A, int64_t offset, int64_t dim1, int64_t dim2) {
  return taeda::diagonal(A, offset, dim1, dim2);
}

Tensor matmul(const Tensor& self, const Tensor& other) { return taeda::matmul(self, other); }

}  // namespace linalg

std::tuple<Tensor, Tensor> do_geqrf(const Tensor& self) {
  TAEDA_CHECK(self.dim() >= 2, "torch.geqrf: input must have at least 2 dimensions.");
  check_factor_dtype("geqrf", self);
  NoGradGuard guard;
  Tensor a = self.detach().clone(MemoryFormat::Contiguous);
  const int64_t m = a.size(-2), n = a.size(-1), k = std::min(m, n);
  DimVector sizes(a.sizes().slice(0, a.sizes().size() - 2));
  sizes.push_back(k);
  const Tensor tau = zeros(sizes, a.options());
  for (int64_t i = 0; i < k; ++i) {
    const Tensor column = a.narrow(-2, i, m - i).select(-1, i);  // [..., m - i]
    const Tensor head = column.select(-1, 0).clone(), tail = column.narrow(-1, 1, m - i - 1);
    Tensor done = tail.abs().square().sum({-1}).eq(0);  // nothing to clear: no reflection
    if (a.is_complex()) done = done.logical_and(imag(head).eq(0));
    const Tensor norm = linalg::vector_norm(column, 2, {-1}), part = real(head);
    const Tensor beta = where(done, head, where(part.lt(0), norm, norm.neg()));
    const Tensor factor = where(done, Scalar(0), beta.sub(head).div(beta));
    tail.div_(where(done, Scalar(1), head.sub(beta)).unsqueeze(-1));
    tau.select(-1, i).copy_(factor);
    column.select(-1, 0).copy_(beta);
    if (i + 1 == n) continue;
    const Tensor rest = a.narrow(-1, i + 1, n - i - 1);
    rest.copy_(reflected(rest, reflector(a, i), conjugate(factor)));
  }
  return {a, tau};
}

Tensor do_ormqr(const Tensor& self, const Tensor& tau, const Tensor& other, bool left,
                bool transpose) {
  check_reflectors("torch.ormqr", self, tau);
  TAEDA_CHECK(other.dim() >= 2, "torch.ormqr: other must have at least 2 dimensions.");
  TAEDA_CHECK(other.size(left ? -2 : -1) == self.size(-2), "torch.ormqr: other.shape[",
              left ? -2 : -1, "] must be equal to input.shape[-2]");
  if (left) return reflected_by_all(self, tau, other, transpose);
  return reflected_by_all(self, tau, other.mH(), !transpose).mH();
}

std::tuple<Tensor, Tensor> do_triangular_solve(const Tensor& self, const Tensor& A, bool upper,
                                               bool transpose, bool unitriangular) {
  TAEDA_WARN_ONCE(
      "torch.triangular_solve is deprecated in favor of torch.linalg.solve_triangular and will be "
      "removed in a future PyTorch release.\ntorch.linalg.solve_triangular has its arguments "
      "reversed and does not return a copy of one of the inputs.\nX = torch.triangular_solve(B, "
      "A).solution\nshould be replaced with\nX = torch.linalg.solve_triangular(A, B).");
  const Tensor a = transpose ? A.transpose(-2, -1) : A;
  return {linalg::solve_triangular(a, self, upper != transpose, true, unitriangular), A.clone()};
}

Tensor lu_solve(const Tensor& self, const Tensor& LU_data, const Tensor& LU_pivots) {
  TAEDA_WARN_ONCE(
      "torch.lu_solve is deprecated in favor of torch.linalg.lu_solve and will be removed in a "
      "future PyTorch release.\nNote that torch.linalg.lu_solve has its arguments reversed.\nX = "
      "torch.lu_solve(B, LU, pivots)\nshould be replaced with\nX = torch.linalg.lu_solve(LU, "
      "pivots, B)");
  return linalg::lu_solve(LU_data, LU_pivots, self);
}

namespace {

/// Row exchanges (counted from 1) as a matrix P, whose columns are exchanged in their order.
Tensor permutation_of(const Tensor& pivots, int64_t m, const TensorOptions& options) {
  const int64_t k = pivots.size(-1);
  DimVector sizes(pivots.sizes());
  sizes.back() = m;
  Tensor order = arange(m, options.dtype(kLong)).expand(sizes).clone(MemoryFormat::Contiguous);
  for (int64_t i = 0; i < k; ++i) {
    const Tensor other = pivots.narrow(-1, i, 1).to(kLong).sub(1);
    const Tensor here = order.narrow(-1, i, 1).clone(), there = order.gather(-1, other);
    order = order.scatter(-1, other, here);
    order.narrow(-1, i, 1).copy_(there);
  }
  const Tensor rows = arange(m, order.options()).unsqueeze(-1);
  return rows.eq(order.unsqueeze(-2)).to(options.dtype());
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> lu_unpack(const Tensor& LU_data, const Tensor& LU_pivots,
                                             bool unpack_data, bool unpack_pivots) {
  TAEDA_CHECK(LU_data.dim() >= 2, "torch.lu_unpack: Expected tensor with 2 or more dimensions. ",
              "Got size: ", LU_data.sizes(), " instead");
  TAEDA_CHECK(!unpack_pivots || LU_pivots.dtype() == kInt,
              "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 "
              "dtype.\nNote: this function is intended to be used with the output produced by "
              "torch.linalg.lu_factor");
  if (!LU_data.is_complex()) check_floating("torch.lu_unpack", LU_data);
  const int64_t m = LU_data.size(-2), n = LU_data.size(-1), k = std::min(m, n);
  const TensorOptions options = LU_data.options().requires_grad(false);
  Tensor P = empty({0}, options), L = P, U = P;
  if (unpack_data) {
    const Tensor lower = LU_data.narrow(-1, 0, k).tril(-1);
    L = lower.add(eye(m, k, options));
    U = LU_data.narrow(-2, 0, k).triu();
  }
  if (unpack_pivots) P = permutation_of(LU_pivots, m, options);
  return {P, L, U};
}

}  // namespace taeda::inline v0_2
