#include "taeda/ops/reduce/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bodies/statistics.h"
#include "taeda/autograd/record.h"
#include "taeda/base/error.h"
#include "taeda/ops/assign.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/pointwise.h"
#include "taeda/ops/elementwise/special.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/reduce/reduce_common.h"
#include "taeda/ops/reduce/scan.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/observer.h"

namespace taeda::inline v0_2 {

// ---- NaN left out ----

namespace {

Tensor without_nan(const Tensor& t) {
  return t.is_floating_point() ? t.masked_fill(isnan(t), 0) : t;
}

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

}  // namespace

Tensor compose_nansum(const Tensor& self, IntArrayRef dims, bool keepdim, OptionalDtype dtype) {
  return without_nan(self).sum(dims, keepdim, dtype);
}

Tensor do_nansum(const Tensor& self, IntArrayRef dims, bool keepdim, OptionalDtype dtype) {
  TAEDA_CHECK(!self.is_complex(), "nansum does not support complex inputs");
  if (!self.is_floating_point() || (dtype && !is_floating_point(*dtype)))
    return compose_nansum(self, dims, keepdim, dtype);
  const Tensor x = dtype ? self.to(*dtype) : self;
  const detail::Reduced r(x, dims, keepdim);
  const Tensor out = r.make_output("nansum", x, x.dtype());
  if (out.numel() > 0) nansum_slot(x.device().type(), out, x, r.mask);
  if (wants_grad(x))
    record("NansumBackward0", out, {x}, [r, x = save_tensor(x)](const Tensor& g) {
      return r.restore(g).mul(logical_not(isnan(x.unpack())));
    });
  return out;
}

Tensor nanmean(const Tensor& self, IntArrayRef dims, bool keepdim, OptionalDtype dtype) {
  TAEDA_CHECK(self.is_floating_point(),
              "nanmean(): expected input to have floating point dtype but got ",
              to_string(self.dtype()));
  const Tensor count = logical_not(isnan(self)).sum(dims, keepdim);
  return nansum(self, dims, keepdim, dtype).div(count);
}

namespace {

void check_no_bools(const Tensor& self) {
  if (self.dtype() == kBool) detail::throw_no_dtype("median", kBool);
}

}  // namespace

std::tuple<Tensor, Tensor> do_nanmedian(const Tensor& self, int64_t dim, bool keepdim) {
  check_no_bools(self);
  if (self.dim() == 0) return {self.clone(), zeros({}, self.options().dtype(kLong))};
  return detail::select_nanmedian(self, dim, keepdim);
}

std::tuple<Tensor, Tensor> compose_nanmedian(const Tensor& self, int64_t dim, bool keepdim) {
  if (self.dim() == 0) return {self.clone(), zeros({}, self.options().dtype(kLong))};
  const int64_t d = wrap_dim(dim, self.dim());
  TAEDA_CHECK_INDEX(self.sizes()[d] > 0, "median(): Expected reduction dim ", d,
                    " to have non-zero size.");
  // NaN sorts behind every number.
  const auto [values, order] = self.sort(d);
  const Tensor count = logical_not(isnan(self)).sum(d, true);
  const Tensor middle = count.sub(1).clamp_min(0).div(2, "floor");
  const Tensor value = values.gather(d, middle), index = order.gather(d, middle);
  if (keepdim) return {value, index};
  return {value.squeeze(d), index.squeeze(d)};
}

Tensor do_nanmedian(const Tensor& self) {
  if (self.numel() == 0) return full({}, kNoNumber, self.options());
  check_no_bools(self);
  return detail::select_nanmedian(self);
}

Tensor compose_nanmedian(const Tensor& self) {
  if (self.numel() == 0) return full({}, kNoNumber, self.options());
  return std::get<0>(compose_nanmedian(self.reshape({-1}), 0, false));
}

// ---- quantiles ----

namespace {

void check_quantile(const Tensor& self, const Tensor& q, std::string_view interpolation) {
  TAEDA_CHECK(self.numel() > 0, "quantile() input tensor must be non-empty");
  TAEDA_CHECK(q.dim() <= 1, "quantile() q must be a scalar or 1D tensor");
  TAEDA_CHECK(self.dtype() == kFloat || self.dtype() == kDouble,
              "quantile() input tensor must be either float or double dtype");
  TAEDA_CHECK(self.dtype() == q.dtype(),
              "quantile() q tensor must be same dtype as the input tensor");
  TAEDA_CHECK(self.device() == q.device(),
              "quantile() q tensor must be on the same device as the input tensor");
  const char* names[] = {"linear", "lower", "higher", "midpoint", "nearest"};
  TAEDA_CHECK(std::find(std::begin(names), std::end(names), interpolation) != std::end(names),
              "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, "
              "but got ",
              interpolation);
  // Reading an accelerator's numbers would make the host wait: the CPU's alone are looked at.
  if (q.is_cpu())
    TAEDA_CHECK(logical_and(ge(q, 0), le(q, 1)).all().item<bool>(),
                "quantile() q values must be in the range [0, 1]");
}

/// The values of `sorted` (last dimension) at the fractional positions `ranks`.
Tensor interpolate(const Tensor& sorted, Tensor ranks, std::string_view interpolation) {
  if (interpolation == "lower") ranks = floor(ranks);
  if (interpolation == "higher") ranks = ceil(ranks);
  if (interpolation == "nearest") ranks = round(ranks);
  const Tensor below = floor(ranks).to(kLong);
  const Tensor lower = sorted.gather(-1, below);
  if (interpolation != "linear" && interpolation != "midpoint") return lower;
  const Tensor upper = sorted.gather(-1, ceil(ranks).to(kLong));
  if (interpolation == "midpoint") return lower.lerp(upper, 0.5);
  return lower.lerp(upper, ranks.sub(below));  // by which a quantile depends on q, too
}

Tensor quantile_of(const Tensor& self, const Tensor& q, OptionalDim dim, bool keepdim,
                   std::string_view interpolation, bool skip_nan) {
  check_quantile(self, q, interpolation);
  // The dimension comes last; q's is added behind it and moved to the front at the end.
  const bool flat = !dim || self.dim() == 0;
  const int64_t d = flat ? -1 : wrap_dim(*dim, self.dim());
  const Tensor columns = flat ? self.reshape({-1}) : self.movedim(d, -1);
  const Tensor sorted = std::get<0>(columns.sort(-1));
  DimVector shape(sorted.sizes());
  shape.back() = q.numel();
  Tensor ranks;
  Tensor fill;  // NaN sorts last
  {
    NoGradGuard guard;
    const Tensor missing = isnan(sorted).sum(-1, true), n = rsub(missing, sorted.size(-1));
    const Tensor last = n.sub(1).clamp_min(0).to(q.dtype());
    ranks = skip_nan ? last : full({}, static_cast<double>(sorted.size(-1) - 1), last.options());
    if (!skip_nan) fill = missing.gt(0);
  }
  ranks = ranks.mul(q.reshape({-1})).expand(shape).contiguous();
  if (fill.defined()) ranks = ranks.masked_fill(fill, static_cast<double>(sorted.size(-1) - 1));
  Tensor out = interpolate(sorted, ranks, interpolation);
  out = out.movedim(-1, 0);
  if (keepdim) {
    if (flat) {
      DimVector ones(static_cast<size_t>(self.dim()), 1);
      ones.insert(0, q.numel());
      out = out.reshape(ones);
    } else {
      out = out.unsqueeze(d + 1);
    }
  }
  return q.dim() == 0 ? out.squeeze(0) : out;
}

Tensor number_like(const Tensor& self, double q) {
  TAEDA_CHECK(q >= 0 && q <= 1, "quantile() q must be in the range [0, 1] but got ", q);
  return full({}, q, self.options());
}

}  // namespace

Tensor do_quantile(const Tensor& self, const Tensor& q, OptionalDim dim, bool keepdim,
                   std::string_view interpolation) {
  return quantile_of(self, q, dim, keepdim, interpolation, false);
}
Tensor do_quantile(const Tensor& self, double q, OptionalDim dim, bool keepdim,
                   std::string_view interpolation) {
  return quantile_of(self, number_like(self, q), dim, keepdim, interpolation, false);
}
Tensor do_nanquantile(const Tensor& self, const Tensor& q, OptionalDim dim, bool keepdim,
                      std::string_view interpolation) {
  return quantile_of(self, q, dim, keepdim, interpolation, true);
}
Tensor do_nanquantile(const Tensor& self, double q, OptionalDim dim, bool keepdim,
                      std::string_view interpolation) {
  return quantile_of(self, number_like(self, q), dim, keepdim, interpolation, true);
}

// ---- counts, scans, traces ----

Tensor logcumsumexp(const Tensor& self, int64_t dim) {
  if (!self.is_complex()) check_floating("logcumsumexp", self);
  const int64_t d = wrap_dim(dim, self.dim());
  if (self.dim() == 0) return self.clone();
  Tensor sums = self;
  // After each step a number holds the sum of twice as many.
  for (int64_t step = 1, n = self.size(d); step < n; step *= 2)
    sums = cat({sums.narrow(d, 0, step),
                logaddexp(sums.narrow(d, step, n - step), sums.narrow(d, 0, n - step))},
               d);
  return sums.is_same(self) ? self.clone() : sums;
}

Tensor do_trace(const Tensor& self) {
  TAEDA_CHECK(self.dim() == 2, "trace: expected a matrix, but got tensor with dim ", self.dim());
  return self.diagonal().sum();
}

// ---- covariances ----

namespace {

void check_weights_of(const char* name, const Tensor& weights, int64_t observations,
                      bool integers) {
  TAEDA_CHECK(weights.dim() <= 1, "cov(): expected ", name,
              " to have one or fewer dimensions but got ", name, " with ", weights.dim(),
              " dimensions");
  TAEDA_CHECK(integers ? is_integral(weights.dtype()) : weights.is_floating_point(),
              "cov(): expected ", name, " to have ", integers ? "integral" : "floating point",
              " dtype but got ", name, " with ", to_string(weights.dtype()), " dtype");
  TAEDA_CHECK(weights.numel() == observations, "cov(): expected ", name,
              " to have the same numel as there are observations in the input but got ",
              weights.numel(), " != ", observations);
  TAEDA_CHECK(weights.numel() == 0 || weights.is_meta() || weights.min().item<double>() >= 0,
              "cov(): ", name, " cannot be negative");
}

}  // namespace

Tensor cov(const Tensor& self, int64_t correction, const Tensor& fweights, const Tensor& aweights) {
  TAEDA_CHECK(self.dim() <= 2,
              "cov(): expected input to have two or fewer dimensions but got an input with ",
              self.dim(), " dimensions");
  TAEDA_CHECK_NOT_IMPLEMENTED(self.dtype() != kBool,
                              "cov(): bool dtype is not supported for input");
  Tensor x = self.dim() < 2 ? self.reshape({1, -1}) : self;
  if (is_integral(x.dtype())) x = x.to(aweights.defined() ? aweights.dtype() : get_default_dtype());
  const int64_t n = x.size(1);
  Tensor w = fweights;
  if (fweights.defined()) check_weights_of("fweights", fweights, n, true);
  if (aweights.defined()) {
    check_weights_of("aweights", aweights, n, false);
    w = w.defined() ? w.mul(aweights) : aweights;
  }
  const Tensor total = w.defined() ? w.sum() : full({}, n, x.options().dtype(kLong));
  TAEDA_CHECK(!w.defined() || w.is_meta() || total.item<double>() != 0,
              "cov(): weights sum to zero, can't be normalized");
  const auto mean = [&](const Tensor& t) {
    return (w.defined() ? t.mul(w) : t).sum(1, true).div(total);
  };
  Tensor freedom = total.sub(correction);
  if (w.defined() && aweights.defined()) {
    // w holds the product of both weights.
    freedom = total.sub(w.mul(aweights).sum().div(total).mul(correction));
  }
  // A mean far from 0 is rounded to fewer digits than deviations have: what is left of it goes,
  // too.
  const Tensor almost = x.sub(mean(x)), centred = almost.sub(mean(almost));
  const Tensor right = (w.defined() ? centred.mul(w) : centred).t().conj();
  const Tensor out = mm(centred, right.to(centred.dtype())).div(freedom.to(x.dtype()).clamp_min(0));
  return out.squeeze();
}

Tensor corrcoef(const Tensor& self) {
  TAEDA_CHECK(self.dim() <= 2,
              "corrcoef(): expected input to have two or fewer dimensions but got an input with ",
              self.dim(), " dimensions");
  const Tensor c = cov(self);
  if (c.dim() == 0) return c.div(c);
  const Tensor deviation = real(c.diagonal()).sqrt();
  const Tensor out = c.div(deviation.unsqueeze(1)).div(deviation.unsqueeze(0));
  return out.is_complex() ? out : out.clamp(-1, 1);
}

// ---- differences and integrals ----

namespace {

void check_end(const Tensor& self, const Tensor& end, int64_t dim) {
  if (!end.defined()) return;
  TAEDA_CHECK(end.dim() == self.dim(),
              "diff expects prepend or append to be the same dimension as input");
  for (int64_t d = 0; d < self.dim(); ++d)
    TAEDA_CHECK(d == dim || end.sizes()[d] == self.sizes()[d],
                "diff expects the shape of tensor to prepend or append to match that of input "
                "except along the differencing dimension; input.size(",
                d, ") = ", self.sizes()[d], ", but got tensor.size(", d, ") = ", end.sizes()[d]);
}

}  // namespace

Tensor diff(const Tensor& self, int64_t n, int64_t dim, const Tensor& prepend,
            const Tensor& append) {
  TAEDA_CHECK(n >= 0, "diff: order must be non-negative but got ", n);
  TAEDA_CHECK(self.dim() >= 1, "diff expects input to be at least one-dimensional");
  const int64_t d = wrap_dim(dim, self.dim());
  check_end(self, prepend, d);
  check_end(self, append, d);
  if (n == 0) return self.clone();
  std::vector<Tensor> parts;
  if (prepend.defined()) parts.push_back(prepend);
  parts.push_back(self);
  if (append.defined()) parts.push_back(append);
  Tensor out = parts.size() == 1 ? self : cat(parts, d);
  for (int64_t i = 0; i < n && out.size(d) > 0; ++i) {
    const int64_t left = out.size(d) - 1;
    const Tensor after = out.narrow(d, 1, left), before = out.narrow(d, 0, left);
    out = out.dtype() == kBool ? logical_xor(after, before) : after.sub(before);
  }
  return out.is_same(self) ? self.clone() : out;
}

namespace {

/// The areas of the trapezoids between neighbours along `dim`, times two.
Tensor trapezoids(const char* name, const Tensor& y, int64_t dim, const Tensor* x) {
  TAEDA_CHECK_NOT_IMPLEMENTED(y.dtype() != kBool, name,
                              ": received a bool input for `y`, but bool is not supported");
  const int64_t d = wrap_dim(dim, y.dim());
  TAEDA_CHECK_INDEX(y.dim() > 0, "Dimension specified as ", dim, " but tensor has no dimensions");
  const int64_t n = y.size(d);
  const Tensor sums = n == 0 ? y : y.narrow(d, 1, n - 1).add(y.narrow(d, 0, n - 1));
  if (!x) return sums;
  TAEDA_CHECK_NOT_IMPLEMENTED(x->dtype() != kBool, name,
                              ": received a bool input for `x` or `y`, but bool is not supported");
  DimVector shape(static_cast<size_t>(y.dim()), 1);
  shape[static_cast<size_t>(d)] = x->numel();
  const Tensor points = x->dim() == 1 ? x->view(shape) : *x;
  TAEDA_CHECK(points.dim() == y.dim() && points.size(d) == n, name,
              ": There must be one `x` value for each sample point");
  return sums.mul(points.diff(1, d));
}

}  // namespace

Tensor trapezoid(const Tensor& y, const Tensor& x, int64_t dim) {
  return trapezoids("trapezoid", y, dim, &x).sum(dim).div(2);
}
Tensor trapezoid(const Tensor& y, const Scalar& dx, int64_t dim) {
  return trapezoids("trapezoid", y, dim, nullptr).sum(dim).mul(dx).div(2);
}
Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, int64_t dim) {
  return trapezoids("cumulative_trapezoid", y, dim, &x).cumsum(dim).div(2);
}
Tensor cumulative_trapezoid(const Tensor& y, const Scalar& dx, int64_t dim) {
  return trapezoids("cumulative_trapezoid", y, dim, nullptr).cumsum(dim).mul(dx).div(2);
}

// ---- products and norms of parts ----

Tensor inner(const Tensor& self, const Tensor& other) {
  if (self.dim() == 0 || other.dim() == 0) return self.mul(other);
  TAEDA_CHECK(self.size(-1) == other.size(-1),
              "inner() the last dimension must match on both input tensors but got shapes ",
              self.sizes(), " and ", other.sizes());
  DimVector shape(self.sizes());
  shape.pop_back();
  for (int64_t d = 0; d + 1 < other.dim(); ++d) shape.push_back(other.sizes()[d]);
  const int64_t n = self.size(-1);
  const auto rows = [n](const Tensor& t) {
    return t.reshape(
        {n == 0 ? product(t.sizes().slice(0, t.sizes().size() - 1)) : t.numel() / n, n});
  };
  return mm(rows(self), rows(other).t()).reshape(shape);
}

Tensor renorm(const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm) {
  TAEDA_CHECK(p.to<double>() > 0, "renorm: non-positive-norm not supported");
  TAEDA_CHECK(maxnorm.to<double>() >= 0, "renorm: expected maxnorm to be >= 0 but got ",
              maxnorm.to<double>());
  TAEDA_CHECK(self.dim() > 1, "renorm: input needs at least 2 dimensions, got ", self.dim(),
              " dimensions");
  const int64_t d = wrap_dim(dim, self.dim());
  DimVector others;
  for (int64_t i = 0; i < self.dim(); ++i)
    if (i != d) others.push_back(i);
  const Tensor size = vector_norm(self, p, others, true);
  const Tensor factor = size.add(1e-7).reciprocal().mul(maxnorm);
  return self.mul(where(gt(size, maxnorm), factor, Scalar(1.0)));
}

}  // namespace taeda::inline v0_2
