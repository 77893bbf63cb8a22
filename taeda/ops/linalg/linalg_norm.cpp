// Norms, condition and rank of matrices, and the pseudo-inverse.
#include <algorithm>
#include <limits>
#include <utility>

#include "bodies/linalg.h"
#include "taeda/ops/autocast.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/linalg/linalg.h"
#include "taeda/ops/linalg/linalg_common.h"
#include "taeda/ops/linalg/linalg_tolerances.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/tensor/autocast_mode.h"
#include "taeda/tensor/iter.h"

namespace taeda::inline v0_2::linalg {

using namespace taeda::detail;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void check_norm_dtypes(const char* op, const Tensor& A, OptionalDtype dtype) {
  const ScalarType s = A.dtype();
  TAEDA_CHECK(is_floating_point(s) || is_complex(s), op,
              ": Expected a floating point or complex tensor as input. Got ", s);
  TAEDA_CHECK(!dtype || is_floating_point(*dtype) || is_complex(*dtype), op,
              ": dtype should be floating point or complex, but got ", *dtype);
}

/// The two dimensions of a matrix norm, not negative.
std::pair<int64_t, int64_t> matrix_dims(const Tensor& A, IntArrayRef dim) {
  const char* const op = "linalg.matrix_norm";
  check_matrix(op, A);
  std::string list;
  for (const int64_t d : dim) list += (list.empty() ? "" : ", ") + std::to_string(d);
  TAEDA_CHECK(dim.size() == 2, op, ": dim must be a 2-tuple. Got ", list);
  const int64_t first = wrap_dim(dim[0], A.dim()), second = wrap_dim(dim[1], A.dim());
  TAEDA_CHECK(first != second, op, ": dims must be different. Got (", list, ")");
  return {first, second};
}

/// Without the two dimensions, which have size 1.
Tensor drop_dims(const Tensor& t, std::pair<int64_t, int64_t> dims) {
  return t.squeeze(std::max(dims.first, dims.second)).squeeze(std::min(dims.first, dims.second));
}

/// Singular values of the matrices in two dimensions, as the last dimension.
Tensor singular_values_of(const Tensor& A, std::pair<int64_t, int64_t> dims) {
  check_solver_dtype("linalg.matrix_norm", A);
  DimVector order;
  for (int64_t d = 0; d < A.dim(); ++d)
    if (d != dims.first && d != dims.second) order.push_back(d);
  order.push_back(dims.first);
  order.push_back(dims.second);
  return svdvals(A.permute(order));
}

/// A reduction of singular values in the shape of a norm.
Tensor restore_dims(const Tensor& t, std::pair<int64_t, int64_t> dims, bool keepdim) {
  if (!keepdim) return t;
  return t.unsqueeze(std::min(dims.first, dims.second))
      .unsqueeze(std::max(dims.first, dims.second));
}

Tensor converted(const Tensor& A, OptionalDtype dtype) { return dtype ? A.to(*dtype) : A; }

bool is_one_of(double x, std::initializer_list<double> list) {
  return std::find(list.begin(), list.end(), x) != list.end();
}

double epsilon_of(const Tensor& t) {
  return to_real_type(t.dtype()) == kDouble ? std::numeric_limits<double>::epsilon()
                                            : std::numeric_limits<float>::epsilon();
}

/// What counts as zero beside `values`, [.., 1]: max(atol, rtol * the largest of them).
Tensor tolerance(const Tensor& A, const Tensor& values, std::optional<double> atol,
                 std::optional<double> rtol) {
  const double least = atol.value_or(0);
  const double relative =
      rtol        ? *rtol
      : least > 0 ? 0
                  : epsilon_of(A) * static_cast<double>(std::max(A.size(-1), A.size(-2)));
  return values.amax({-1}, true).mul(relative).clamp_min(least);
}

/// A^+ of symmetric or any matrices, without a history.
/// The same with tolerances for each matrix; undefined ones are not given.
Tensor tolerance(const Tensor& A, const Tensor& values, const Tensor& atol, const Tensor& rtol) {
  const auto column = [](const Tensor& t) { return t.detach().unsqueeze(-1); };
  const double usual = epsilon_of(A) * static_cast<double>(std::max(A.size(-1), A.size(-2)));
  const Tensor largest = values.amax({-1}, true);
  if (!atol.defined()) return largest.mul(rtol.defined() ? column(rtol) : full({}, usual));
  const Tensor relative = rtol.defined() ? largest.mul(column(rtol))
                                         : largest.mul(usual).masked_fill(column(atol).gt(0), 0);
  return relative.maximum(column(atol).to(relative.dtype()));
}

template <class Limit>
Tensor pseudo_inverse(const Tensor& A, const Limit& atol, const Limit& rtol, bool hermitian) {
  const NoGradGuard guard;
  const AutocastMode::Pause pause;
  Tensor left, values, right, size;
  if (hermitian) {
    std::tie(values, left) = eigh(A);
    right = left.mH();
    size = values.abs();
  } else {
    std::tie(left, values, right) = linalg::svd(A, false);
    size = values;
  }
  const Tensor zero = size.le(tolerance(A, size, atol, rtol));
  const Tensor inverse = values.reciprocal().masked_fill(zero, 0);
  return right.mH().mul(inverse.unsqueeze(-2)).matmul(left.mH());
}

}  // namespace

Tensor vector_norm(const Tensor& A, const Scalar& ord, IntArrayRef dim, bool keepdim,
                   OptionalDtype dtype) {
  check_norm_dtypes("linalg.vector_norm", A, dtype);
  return taeda::vector_norm(converted(A, dtype), ord, dim, keepdim);
}

Tensor matrix_norm(const Tensor& A, const Scalar& ord, IntArrayRef dim, bool keepdim,
                   OptionalDtype dtype) {
  const auto dims = matrix_dims(A, dim);
  check_norm_dtypes("linalg.matrix_norm", A, dtype);
  const double order = ord.to<double>(), size = std::abs(order);
  TAEDA_CHECK(is_one_of(size, {1, 2, kInfinity}), "linalg.matrix_norm: Order ", ord,
              " not supported.");
  const Tensor x = converted(A, dtype);
  if (size == 2) {
    const Tensor s = singular_values_of(x, dims);
    return restore_dims(order > 0 ? s.amax({-1}) : s.amin({-1}), dims, keepdim);
  }
  // Sums over rows for 1, over columns for infinity.
  const int64_t summed = size == 1 ? dims.first : dims.second,
                other = size == 1 ? dims.second : dims.first;
  const Tensor sums = taeda::vector_norm(x, 1, {summed}, true);
  const Tensor out = order > 0 ? sums.amax({other}, true) : sums.amin({other}, true);
  return keepdim ? out : drop_dims(out, dims);
}

Tensor matrix_norm(const Tensor& A, std::string_view ord, IntArrayRef dim, bool keepdim,
                   OptionalDtype dtype) {
  const auto dims = matrix_dims(A, dim);
  check_norm_dtypes("linalg.matrix_norm", A, dtype);
  const std::string name(ord);
  TAEDA_CHECK(name == "fro" || name == "nuc", "linalg.matrix_norm: Order ", name,
              " not supported.");
  const Tensor x = converted(A, dtype);
  if (name == "fro") return taeda::vector_norm(x, 2, {dims.first, dims.second}, keepdim);
  return restore_dims(singular_values_of(x, dims).sum({-1}), dims, keepdim);
}

Tensor norm(const Tensor& A, const OptionalScalar& ord, IntArrayRef dim, bool keepdim,
            OptionalDtype dtype) {
  TAEDA_CHECK(dim.size() <= 2,
              "linalg.norm: If dim is specified, it must be of length 1 or 2. Got ", dim);
  TAEDA_CHECK(!dim.empty() || !ord || A.dim() == 1 || A.dim() == 2,
              "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got ",
              A.dim(), "D.");
  if (ord && (dim.size() == 2 || (dim.empty() && A.dim() == 2)))
    return dim.empty() ? matrix_norm(A, *ord, {-2, -1}, keepdim, dtype)
                       : matrix_norm(A, *ord, dim, keepdim, dtype);
  return linalg::vector_norm(A, ord.value_or(2), dim, keepdim, dtype);
}

Tensor norm(const Tensor& A, std::string_view ord, IntArrayRef dim, bool keepdim,
            OptionalDtype dtype) {
  return dim.empty() ? matrix_norm(A, ord, {-2, -1}, keepdim, dtype)
                     : matrix_norm(A, ord, dim, keepdim, dtype);
}

Tensor cond(const Tensor& A, const OptionalScalar& p) {
  check_matrix("linalg.cond", A, "");
  const double order = p ? p->to<double>() : 2;
  TAEDA_CHECK(is_one_of(std::abs(order), {1, 2, kInfinity}),
              "linalg.cond got an invalid norm type: ", *p);
  if (std::abs(order) == 2) {
    const Tensor s = svdvals(A);
    if (s.size(-1) == 0) return s.sum({-1});
    const Tensor large = s.select(-1, 0), small = s.select(-1, s.size(-1) - 1);
    return order > 0 ? large.div(small) : small.div(large);
  }
  check_square(concat("linalg.cond(ord=", *p, ")").c_str(), A);
  if (A.numel() == 0) return A.sum({-2, -1});
  const auto [inverse, info] = inv_ex(A);
  const Tensor failed = info.ne(0).unsqueeze(-1).unsqueeze(-1);
  return matrix_norm(A, *p).mul(matrix_norm(inverse.masked_fill(failed, kInfinity), *p));
}

Tensor cond(const Tensor& A, std::string_view p) {
  check_matrix("linalg.cond", A, "");
  const std::string name(p);
  TAEDA_CHECK(name == "fro" || name == "nuc", "linalg.cond got an invalid norm type: ", name);
  check_square(concat("linalg.cond(ord=", name, ")").c_str(), A);
  if (name == "nuc") {
    const Tensor s = svdvals(A);
    return s.sum({-1}).mul(s.reciprocal().sum({-1}));
  }
  const auto [inverse, info] = inv_ex(A);
  const Tensor failed = info.ne(0).unsqueeze(-1).unsqueeze(-1);
  return matrix_norm(A).mul(matrix_norm(inverse.masked_fill(failed, kInfinity)));
}

namespace {

template <class Limit>
Tensor recorded_pinv(const Tensor& A, const Limit& atol, const Limit& rtol, bool hermitian) {
  check_matrix("linalg.pinv", A);
  if (hermitian && A.numel() > 0) check_square("linalg.pinv", A);
  check_solver_dtype("linalg.pinv", A);
  Tensor out;
  if (A.numel() == 0)
    out = zeros(shape_of(batch_of(A), {A.size(-1), A.size(-2)}),
                TensorOptions().dtype(A.dtype()).device(A.device()));
  else
    out = pseudo_inverse(A, atol, rtol, hermitian);
  if (wants_grad(A))
    record("LinalgPinvBackward0", out, {A},
           [A = save_tensor(A, "A"), p = save_output(out)](const Tensor& g) {
             const Tensor a = A.unpack(), P = p.unpack(), ph = P.mH(), gh = g.mH();
             // A projection is subtracted rather than multiplied with, which takes less memory.
             const Tensor left = gh.matmul(P).matmul(ph), right = ph.matmul(P).matmul(gh);
             return left.sub(a.matmul(P.matmul(left)))
                 .add(right.sub(right.matmul(P).matmul(a)))
                 .sub(ph.matmul(g).matmul(ph));
           });
  return out;
}

template <class Limit>
Tensor rank_of(const Tensor& A, const Limit& atol, const Limit& rtol, bool hermitian) {
  check_matrix("torch.linalg.matrix_rank", A, "input");
  check_solver_dtype("linalg.matrix_rank", A);
  const NoGradGuard guard;
  if (A.numel() == 0) return zeros(batch_of(A), TensorOptions().dtype(kLong).device(A.device()));
  const Tensor size = hermitian ? eigvalsh(A).abs() : svdvals(A);
  return size.gt(tolerance(A, size, atol, rtol)).sum({-1});
}

}  // namespace

Tensor do_pinv(const Tensor& A, std::optional<double> atol, std::optional<double> rtol,
               bool hermitian) {
  return recorded_pinv(A, atol, rtol, hermitian);
}
Tensor detail::pinv_within(const Tensor& A, const Tensor& atol, const Tensor& rtol,
                           bool hermitian) {
  return recorded_pinv(A, atol, rtol, hermitian);
}

Tensor do_matrix_rank(const Tensor& A, std::optional<double> atol, std::optional<double> rtol,
                      bool hermitian) {
  return rank_of(A, atol, rtol, hermitian);
}
Tensor detail::rank_within(const Tensor& A, const Tensor& atol, const Tensor& rtol,
                           bool hermitian) {
  return rank_of(A, atol, rtol, hermitian);
}

}  // namespace taeda::inline v0_2::linalg
