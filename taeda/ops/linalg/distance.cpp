// Distances between vectors.
#include <algorithm>

#include "bodies/selection.h"
#include "bodies/statistics.h"
#include "taeda/autograd/record.h"
#include "taeda/base/error.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/pointwise.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/reduce/reduce_common.h"
#include "taeda/ops/reduce/selection.h"
#include "taeda/ops/reduce/statistics.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/grad_mode.h"

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

// Note [Differences]
// Distances that are no product, and their gradients, are made of the differences of all numbers.
// On the CPU some rows at a time, so that the differences stay in the cache, and short vectors as a
// matrix of differences for each of their numbers, because rows of a few numbers are slow. Only a
// derivative that is derived again has all of them at once.

/// The differences of the rows of two matrices, and how sums run over them.
class Differences {
 public:
  Differences(const Tensor& x1, const Tensor& x2, bool is_short)
      : is_short_(is_short),
        x_(is_short ? x1.mT().unsqueeze(-1).sub(x2.mT().unsqueeze(-2))
                    : x1.unsqueeze(-2).sub(x2.unsqueeze(-3))) {}

  Tensor norms(double p) const { return detail::distance_norm(x_, p, is_short_ ? -3 : -1); }
  /// What multiplies them in the gradients by the first rows, and with the other sign by the
  /// second.
  Tensor slopes(const Tensor& g, const Tensor& norms, double p) const {
    const int64_t along = is_short_ ? -3 : -1;
    return detail::distance_gradient(g.unsqueeze(along), x_, norms.unsqueeze(along), p);
  }
  Tensor by_first(const Tensor& slopes) const {
    return is_short_ ? slopes.sum(-1).mT() : slopes.sum(-2);
  }
  Tensor by_second(const Tensor& slopes) const {
    return is_short_ ? slopes.sum(-2).mT().neg() : slopes.sum(-3).neg();
  }

 private:
  bool is_short_;
  Tensor x_;
};

bool are_short(const Tensor& x1, const Tensor& x2) {
  constexpr int64_t kShort = 24;
  const int64_t width = x1.size(-1);
  return 0 < width && width < kShort && width < x2.size(-2);
}

/// How many of the first rows go together.
int64_t rows_together(const Tensor& x1, const Tensor& x2) {
  const int64_t part = x1.is_cpu() ? 16384 : int64_t{1} << 24;  // differences
  const int64_t each =                                          // differences of a row
      std::max(x2.numel(), x1.numel() / std::max<int64_t>(1, x1.size(-2)) * x2.size(-2));
  return std::max<int64_t>(1, part / std::max<int64_t>(1, each));
}

Tensor distances(const Tensor& x1, const Tensor& x2, double p) {
  const int64_t rows = x1.size(-2), step = rows_together(x1, x2);
  const bool is_short = are_short(x1, x2);
  if (step >= rows) return Differences(x1, x2, is_short).norms(p);
  const Tensor second = is_short ? x2.mT().contiguous().mT() : x2;
  TensorVec parts;
  for (int64_t i = 0; i < rows; i += step)
    parts.push_back(
        Differences(x1.narrow(-2, i, std::min(step, rows - i)), second, is_short).norms(p));
  return cat(parts, -2);
}

/// The gradients of `distances`.
TensorVec distance_gradients(const Tensor& g, const Tensor& x1, const Tensor& x2,
                             const Tensor& norms, double p, Needs needs) {
  const int64_t rows = x1.size(-2);
  const int64_t step = GradMode::is_enabled() ? std::max<int64_t>(1, rows) : rows_together(x1, x2);
  const bool is_short = are_short(x1, x2);
  TensorVec firsts;
  Tensor second;
  for (int64_t i = 0; i == 0 || i < rows; i += step) {
    const auto part = [&, n = std::min(step, rows - i)](const Tensor& t) {
      return t.narrow(-2, i, n);
    };
    const Differences differences(part(x1), x2, is_short);
    const Tensor slopes = differences.slopes(part(g), part(norms), p);
    if (needs[0]) firsts.push_back(differences.by_first(slopes));
    if (needs[1]) {
      const Tensor sums = differences.by_second(slopes);
      second = second.defined() ? second.add_(sums) : sums;
    }
  }
  const auto sized = [](const Tensor& t, const Tensor& x) {
    return t.sum_to_size(x.sizes()).to(x.dtype());
  };
  return {needs[0] ? sized(firsts.size() == 1 ? firsts[0] : cat(firsts, -2), x1) : Tensor(),
          needs[1] ? sized(second, x2) : Tensor()};
}

}  // namespace

Tensor dist(const Tensor& self, const Tensor& other, const Scalar& p) {
  return vector_norm(self.sub(other), p);
}

Tensor do_cdist(const Tensor& x1, const Tensor& x2, double p, OptionalDim compute_mode) {
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
  Tensor out;
  {
    const NoGradGuard guard;
    out = distances(x1, x2, p);
  }
  if (wants_grad(x1, x2))
    record("CdistBackward0", out, {x1, x2},
           [p, a = save_tensor(x1, "x1"), b = save_tensor(x2, "x2"), y = save_output(out)](
               const Tensor& g, Needs needs) {
             return distance_gradients(g, a.unpack(), b.unpack(), y.unpack(), p, needs);
           });
  return out;
}

namespace {

/// The pairs of rows [first, first + rows) of a matrix with those behind them: as a list that
/// begins at `begin`, and as a matrix with a column for each row behind `first`, in which row r's
/// pairs begin at column r.
struct PairBlock {
  int64_t first, rows, columns, begin;

  /// Calls f(row of the matrix, its part of the list).
  template <class F>
  void for_each_row(const Tensor& matrix, const Tensor& list, F&& f) const {
    int64_t at = begin;
    for (int64_t r = 0; r < rows; at += columns - r++)
      f(matrix.select(0, r).narrow(0, r, columns - r), list.narrow(0, at, columns - r));
  }
  /// A list's part as a matrix; 0 where there is no pair.
  Tensor spread(const Tensor& list) const {
    const Tensor out = zeros({rows, columns}, list.options());
    for_each_row(out, list, [](const Tensor& row, const Tensor& part) { row.copy_(part); });
    return out;
  }
};

/// Calls f(block, its rows, the rows behind its first, whether these are short).
template <class F>
void for_each_block(const Tensor& x, F&& f) {
  const int64_t n = x.size(0);
  for (int64_t first = 0, begin = 0; first + 1 < n;) {
    const int64_t columns = n - first - 1;
    const Tensor behind = x.narrow(0, first + 1, columns);
    const int64_t rows = std::min(rows_together(x, behind), columns);
    const Tensor those = x.narrow(0, first, rows);
    f(PairBlock{first, rows, columns, begin}, those, behind, are_short(those, behind));
    begin += rows * columns - rows * (rows - 1) / 2;
    first += rows;
  }
}

Tensor pair_distances(const Tensor& x, double p) {
  const int64_t n = x.size(0);
  const Tensor out = empty({n * std::max<int64_t>(n - 1, 0) / 2}, x.options().requires_grad(false));
  for_each_block(x, [&](PairBlock block, const Tensor& rows, const Tensor& behind, bool is_short) {
    block.for_each_row(Differences(rows, behind, is_short).norms(p), out,
                       [](const Tensor& row, const Tensor& part) { part.copy_(row); });
  });
  return out;
}

Tensor pair_gradient(const Tensor& g, const Tensor& x, const Tensor& norms, double p) {
  const Tensor out = zeros(x.sizes(), x.options().requires_grad(false));
  for_each_block(x, [&](PairBlock block, const Tensor& rows, const Tensor& behind, bool is_short) {
    const Differences differences(rows, behind, is_short);
    const Tensor slopes = differences.slopes(block.spread(g), block.spread(norms), p);
    out.narrow(0, block.first, block.rows).add_(differences.by_first(slopes));
    out.narrow(0, block.first + 1, block.columns).add_(differences.by_second(slopes));
  });
  return out;
}

/// The differences of all pairs at once, which accelerators take, and derivatives that are derived
/// again.
struct AllPairs {
  Tensor first, second, differences;

  explicit AllPairs(const Tensor& x) {
    const Tensor pairs = triu_indices(x.size(0), x.size(0), 1).to(x.device());
    first = pairs[0], second = pairs[1];
    differences = x.index_select(0, first).sub(x.index_select(0, second));
  }
  Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& norms, double p) const {
    const Tensor slopes =
        detail::distance_gradient(g.unsqueeze(1), differences, norms.unsqueeze(1), p);
    return zeros_like(x).index_add(0, first, slopes).index_add(0, second, slopes.neg());
  }
};

}  // namespace

Tensor do_pdist(const Tensor& self, double p) {
  TAEDA_CHECK(self.dim() == 2, "pdist only supports 2D tensors, got: ", self.dim(), "D");
  check_floating("pdist", self);
  TAEDA_CHECK(p >= 0, "pdist only supports non-negative p values");
  Tensor out;
  {
    const NoGradGuard guard;
    out = self.is_cpu() ? pair_distances(self, p)
                        : detail::distance_norm(AllPairs(self).differences, p, 1);
  }
  if (wants_grad(self))
    record("PdistBackward0", out, {self},
           [p, saved = save_tensor(self), y = save_output(out)](const Tensor& g) {
             const Tensor x = saved.unpack(), norms = y.unpack();
             return x.is_cpu() && !GradMode::is_enabled() ? pair_gradient(g, x, norms, p)
                                                          : AllPairs(x).gradient(g, x, norms, p);
           });
  return out;
}

}  // namespace taeda::inline v0_2
