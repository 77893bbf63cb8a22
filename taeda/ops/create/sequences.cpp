#include "taeda/ops/create/sequences.h"

#include <cmath>

#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/pointwise.h"
#include "taeda/ops/elementwise/torch_special.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/rearrange.h"
#include "taeda/ops/shape/shape.h"

namespace taeda::inline v0_2 {

Tensor range(const Scalar& start, const Scalar& end, const Scalar& step,
             const TensorOptions& options) {
  const double first = start.toDouble(), last = end.toDouble(), by = step.toDouble();
  TAEDA_CHECK(by != 0, "step must be nonzero");
  TAEDA_CHECK(std::isfinite(first) && std::isfinite(last), "unsupported range: ", first, " -> ",
              last);
  TAEDA_CHECK(by > 0 ? last >= first : last <= first,
              "upper bound and lower bound inconsistent with step sign");
  const auto count = static_cast<int64_t>(std::floor((last - first) / by)) + 1;
  const TensorOptions wanted = options.has_dtype() ? options : options.dtype(get_default_dtype());
  TAEDA_CHECK_NOT_IMPLEMENTED(wanted.dtype() != kBool && !is_complex(wanted.dtype()),
                              "\"range\" not implemented for '", wanted.dtype(), "'");
  const Tensor numbers = arange(count, TensorOptions(kDouble).device(wanted.device()));
  Tensor out = numbers.mul(by).add(first).to(wanted.dtype());
  return wanted.requires_grad() ? out.requires_grad_() : out;
}
Tensor range(const Scalar& start, const Scalar& end, const TensorOptions& options) {
  return range(start, end, 1, options);
}

Tensor vander(const Tensor& x, OptionalDim N, bool increasing) {
  TAEDA_CHECK(x.dim() == 1, "x must be a one-dimensional tensor.");
  const int64_t columns = N ? int64_t{*N} : x.size(0);
  TAEDA_CHECK(columns >= 0, "N must be non-negative.");
  const Tensor base = is_integral(x.dtype(), true) ? x.to(kLong) : x;
  if (columns == 0) return base.unsqueeze(1).narrow(1, 0, 0);
  empty({x.size(0), columns},
        base.options().requires_grad(false));  // what cannot be had is refused
  std::vector<Tensor> powers = {ones_like(base.detach())};
  for (int64_t k = 1; k < columns; ++k) powers.push_back(powers.back().mul(base));
  const Tensor out = stack(powers, 1);
  return increasing ? out : out.flip({1});
}

// ---- slopes ----

namespace {

Tensor slice_of(const Tensor& x, int64_t dim, int64_t start, int64_t length) {
  return x.narrow(dim, start, length);
}

/// The slopes along `dim` of samples `h` apart, a distance that may be complex.
Tensor even_slopes(const Tensor& f, int64_t dim, const Scalar& h, int64_t edge_order) {
  const int64_t n = f.size(dim);
  const auto at = [&](int64_t i) { return f.narrow(dim, i < 0 ? n + i : i, 1); };
  const Scalar across =
      h.is_complex() ? Scalar(2.0 * h.to<std::complex<double>>()) : Scalar(2 * h.toDouble());
  const Tensor inner = slice_of(f, dim, 2, n - 2).sub(slice_of(f, dim, 0, n - 2)).div(across);
  if (edge_order == 1) return cat({at(1).sub(at(0)).div(h), inner, at(-1).sub(at(-2)).div(h)}, dim);
  // The parabola through the three samples at an end.
  const Tensor left = at(0).mul(-1.5).add(at(1).mul(2)).sub(at(2).mul(0.5));
  const Tensor right = at(-1).mul(1.5).sub(at(-2).mul(2)).add(at(-3).mul(0.5));
  return cat({left.div(h), inner, right.div(h)}, dim);
}

/// The slopes along `dim` of samples at `x`.
Tensor uneven_slopes(const Tensor& f, int64_t dim, const Tensor& x, int64_t edge_order) {
  const int64_t n = f.size(dim);
  DimVector shape(static_cast<size_t>(f.dim()), 1);
  shape[static_cast<size_t>(dim)] = n - 1;
  const Tensor step = x.narrow(0, 1, n - 1).sub(x.narrow(0, 0, n - 1)).reshape(shape);
  const Tensor chord = slice_of(f, dim, 1, n - 1).sub(slice_of(f, dim, 0, n - 1)).div(step);
  const Tensor before = slice_of(step, dim, 0, n - 2), behind = slice_of(step, dim, 1, n - 2);
  // The slope of the parabola through three samples: the chords' mean, each by the other's step.
  const Tensor weighted =
      slice_of(chord, dim, 0, n - 2).mul(behind).add(slice_of(chord, dim, 1, n - 2).mul(before));
  const Tensor inner = weighted.div(before.add(behind));
  const Tensor first = slice_of(chord, dim, 0, 1), last = slice_of(chord, dim, n - 2, 1);
  if (edge_order == 1) return cat({first, inner, last}, dim);
  const Tensor left = first.mul(2).sub(slice_of(inner, dim, 0, 1));
  const Tensor right = last.mul(2).sub(slice_of(inner, dim, n - 3, 1));
  return cat({left, inner, right}, dim);
}

DimVector all_dims(const Tensor& self, OptionalDim dim) {
  if (dim) return {int64_t{*dim}};
  DimVector dims;
  for (int64_t d = 0; d < self.dim(); ++d) dims.push_back(d);
  return dims;
}

/// `slopes(f, dim, i)` for the i-th of `dims`.
template <class Slopes>
std::vector<Tensor> slopes_along(const Tensor& self, IntArrayRef dims, size_t spacings,
                                 int64_t edge_order, const Slopes& slopes) {
  TAEDA_CHECK(spacings == dims.size(),
              "torch.gradient expected spacing to be unspecified, a scalar,",
              " or a list of length ", dims.size(), ", but got a list of length ", spacings);
  TAEDA_CHECK(edge_order == 1 || edge_order == 2,
              "torch.gradient only supports edge_order=1 and edge_order=2.");
  const Tensor f = is_integral(self.dtype(), true) ? self.to(get_default_dtype()) : self;
  std::vector<Tensor> out;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t dim = wrap_dim(dims[i], self.dim());
    TAEDA_CHECK(self.size(dim) >= edge_order + 1,
                "torch.gradient expected each dimension size to be at least edge_order+1");
    out.push_back(slopes(f, dim, i));
  }
  return out;
}

}  // namespace

std::vector<Tensor> gradient(const Tensor& self, ArrayRef<Scalar> spacing, IntArrayRef dim,
                             int64_t edge_order) {
  return slopes_along(self, dim, spacing.size(), edge_order,
                      [&](const Tensor& f, int64_t along, size_t i) {
                        return even_slopes(f, along, spacing[i], edge_order);
                      });
}
std::vector<Tensor> gradient(const Tensor& self, ArrayRef<Scalar> spacing, OptionalDim dim,
                             int64_t edge_order) {
  return gradient(self, spacing, IntArrayRef(all_dims(self, dim)), edge_order);
}
std::vector<Tensor> gradient(const Tensor& self, const Scalar& spacing, IntArrayRef dim,
                             int64_t edge_order) {
  const std::vector<Scalar> each(dim.size(), spacing);
  return gradient(self, ArrayRef<Scalar>(each), dim, edge_order);
}
std::vector<Tensor> gradient(const Tensor& self, IntArrayRef dim, int64_t edge_order) {
  return gradient(self, Scalar(1), dim, edge_order);
}
std::vector<Tensor> gradient(const Tensor& self, const OptionalScalar& spacing, OptionalDim dim,
                             int64_t edge_order) {
  return gradient(self, spacing ? *spacing : Scalar(1), IntArrayRef(all_dims(self, dim)),
                  edge_order);
}
std::vector<Tensor> gradient(const Tensor& self, TensorList spacing, IntArrayRef dim,
                             int64_t edge_order) {
  return slopes_along(
      self, dim, spacing.size(), edge_order, [&](const Tensor& f, int64_t along, size_t i) {
        TAEDA_CHECK(spacing[i].dim() == 1 && spacing[i].numel() == f.size(along),
                    "torch.gradient expected each element of spacing to have one dimension, of the "
                    "size of the dimension that it is for (",
                    f.size(along), "), but got ", spacing[i].sizes());
        return uneven_slopes(f, along, spacing[i], edge_order);
      });
}
std::vector<Tensor> gradient(const Tensor& self, TensorList spacing, OptionalDim dim,
                             int64_t edge_order) {
  return gradient(self, spacing, IntArrayRef(all_dims(self, dim)), edge_order);
}

// ---- windows ----

Tensor kaiser_window(int64_t window_length, bool periodic, double beta,
                     const TensorOptions& options) {
  TAEDA_CHECK(window_length >= 0, "kaiser_window requires non-negative window_length, got ",
              "window_length=", window_length);
  const TensorOptions wanted = options.has_dtype() ? options : options.dtype(get_default_dtype());
  TAEDA_CHECK(is_floating_point(wanted.dtype()),
              "kaiser_window expects floating point dtypes, got: ", wanted.dtype());
  if (window_length <= 1) return ones({window_length}, wanted);
  const double last = static_cast<double>(periodic ? window_length : window_length - 1);
  const Tensor t =
      arange(window_length, TensorOptions(kDouble).device(wanted.device())).mul(2 / last).sub(1);
  const Tensor inside = t.square().neg().add(1).clamp_min(0);
  const Tensor peak = full({}, beta, t.options());
  const Tensor out = special::i0(inside.sqrt().mul(beta)).div(special::i0(peak)).to(wanted.dtype());
  return wanted.requires_grad() ? out.detach().requires_grad_() : out;
}
Tensor kaiser_window(int64_t window_length, bool periodic, const TensorOptions& options) {
  return kaiser_window(window_length, periodic, 12, options);
}
Tensor kaiser_window(int64_t window_length, const TensorOptions& options) {
  return kaiser_window(window_length, true, 12, options);
}

}  // namespace taeda::inline v0_2
