// Distances between vectors.
#include <algorithm>

#include "taeda/autograd/record.h"
#include "taeda/base/error.h"
#include "taeda/ops/arithmetic.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/create.h"
#include "taeda/ops/join.h"
#include "taeda/ops/matmul.h"
#include "taeda/ops/pointwise.h"
#include "taeda/ops/reduce.h"
#include "taeda/ops/reduce_common.h"
#include "taeda/ops/shape.h"
#include "taeda/ops/statistics.h"
#include "taeda/ops/unary.h"

namespace taeda::inline v0_2 {

namespace {

/// How `cdist` finds Euclidean distances: by a product of matrices if there are many, always, or
/// never; the numbers are the argument's.
enum class Product : int64_t { IfMany = 0, Always = 1, Never = 2 };

constexpr int64_t kMany = 25;  // PyTorch's documented number of rows

bool by_product(const Tensor& x1, const Tensor& x2, double p, Product mode) {
  if (p != 2 || mode == Product::Never || x1.dtype() != x2.dtype()) return false;
  if (x1.dtype() != kFloat && x1.dtype() != kDouble) return false;  // squares need the digits
  return mode == Product::Always || x1.size(-2) > kMany || x2.size(-2) > kMany;
}

/// |a - b| = sqrt(a a - 2 a b + b b), the three terms as one product: [-2 a, a a, 1] [b, 1, b b]^T.
/// Distances that are small beside the vectors keep few digits.
Tensor product_distances(const Tensor& a, const Tensor& b) {
  const Tensor aa = a.square().sum(-1, true), bb = b.square().sum(-1, true);
  const Tensor left = cat({a.mul(-2), aa, ones_like(aa)}, -1),
               right = cat({b, ones_like(bb), bb}, -1);
  return left.matmul(right.mT()).clamp_min_(0).sqrt_();
}

/// d/da |a - b| = (a - b) / |a - b|, and 0 where that has no limit.
Tensor euclidean_distances(const Tensor& x1, const Tensor& x2) {
  Tensor out;
  {
    const NoGradGuard guard;
    out = product_distances(x1, x2);
  }
  if (wants_grad(x1, x2))
    record("EuclideanDistBackward0", out, {x1, x2},
           [a = save_tensor(x1, "x1"), b = save_tensor(x2, "x2"), y = save_output(out)](
               const Tensor& g, Needs needs) {
             const Tensor x = a.unpack(), z = b.unpack(), distance = y.unpack();
             const Tensor ratio = g.div(distance).masked_fill(distance.eq(0), 0);
             return TensorVec{needs[0] ? x.mul(ratio.sum(-1, true)).sub(ratio.matmul(z)) : Tensor(),
                              needs[1]
                                  ? z.mul(ratio.sum(-2).unsqueeze(-1)).sub(ratio.mT().matmul(x))
                                  : Tensor()};
           });
  return out;
}

/// The norms of all differences at once.
Tensor distances(const Tensor& x1, const Tensor& x2, double p) {
  return detail::distance_norm(x1.unsqueeze(-2).sub(x2.unsqueeze(-3)), p, -1);
}

/// The same of short vectors: a matrix of differences for each of their numbers.
Tensor short_distances(const Tensor& x1, const Tensor& x2, double p) {
  return detail::distance_norm(x1.mT().unsqueeze(-1).sub(x2.mT().unsqueeze(-2)), p, -3);
}

/// Some rows at a time, so that their differences stay in the cache.
Tensor distances_by_parts(const Tensor& x1, const Tensor& x2, double p) {
  constexpr int64_t kPart = 16384;  // differences
  constexpr int64_t kShort = 24;    // numbers of a vector, below which rows of them are slow
  const NoGradGuard guard;
  const int64_t rows = x1.size(-2), width = x1.size(-1), columns = x2.size(-2);
  const bool is_short = 0 < width && width < kShort && width < columns;
  const auto part = is_short ? short_distances : distances;
  const int64_t each =  // differences of a row
      std::max(x2.numel(), x1.numel() / std::max<int64_t>(1, rows) * columns);
  const int64_t step = std::max<int64_t>(1, kPart / std::max<int64_t>(1, each));
  if (step >= rows) return part(x1, x2, p);
  const Tensor second = is_short ? x2.mT().contiguous().mT() : x2;
  TensorVec parts;
  for (int64_t i = 0; i < rows; i += step)
    parts.push_back(part(x1.narrow(-2, i, std::min(step, rows - i)), second, p));
  return cat(parts, -2);
}

}  // namespace

Tensor dist(const Tensor& self, const Tensor& other, const Scalar& p) {
  return vector_norm(self.sub(other), p);
}

Tensor cdist(const Tensor& x1, const Tensor& x2, double p, OptionalDim compute_mode) {
  TAEDA_CHECK(x1.is_floating_point(),
              "cdist only supports floating-point dtypes, X1 got: ", to_string(x1.dtype()));
  TAEDA_CHECK(x2.is_floating_point(),
              "cdist only supports floating-point dtypes, X2 got: ", to_string(x2.dtype()));
  TAEDA_CHECK(x1.dim() >= 2, "cdist only supports at least 2D tensors, X1 got: ", x1.dim(), "D");
  TAEDA_CHECK(x2.dim() >= 2, "cdist only supports at least 2D tensors, X2 got: ", x2.dim(), "D");
  TAEDA_CHECK(x1.size(-1) == x2.size(-1),
              "X1 and X2 must have the same number of columns. X1: ", x1.size(-1),
              " X2: ", x2.size(-1));
  TAEDA_CHECK(p >= 0, "cdist only supports non-negative p values");
  const int64_t mode = compute_mode.value_or(0);
  TAEDA_CHECK(mode >= 0 && mode <= 2, "possible modes: 0, 1, 2, but was: ", mode);
  if (by_product(x1, x2, p, static_cast<Product>(mode))) return euclidean_distances(x1, x2);
  return wants_grad(x1, x2) ? distances(x1, x2, p) : distances_by_parts(x1, x2, p);
}

}  // namespace taeda::inline v0_2
