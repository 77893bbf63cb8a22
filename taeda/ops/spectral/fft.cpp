#include "taeda/ops/spectral/fft.h"

#include <algorithm>
#include <cmath>

#include "bodies/fft.h"
#include "taeda/autograd/record.h"
#include "taeda/base/error.h"
#include "taeda/kernels/fft.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/meta_guard.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/spectral/fft_common.h"
#include "taeda/tensor/autocast_mode.h"

namespace taeda::inline v0_2 {

namespace {

DimVector with_size(IntArrayRef sizes, int64_t dim, int64_t n) {
  DimVector out(sizes);
  out[static_cast<size_t>(dim)] = n;
  return out;
}

/// A factor for each of the n / 2 + 1 frequencies: `once` for those that stand for themselves,
/// `twice` for those that stand for their conjugates, too.
Tensor weights(const Tensor& like, int64_t dim, int64_t n, double once, double twice) {
  const int64_t m = n / 2 + 1;
  NoGradGuard guard;
  Tensor out = full({m}, twice, like.options().dtype(to_real_type(like.dtype())));
  out.narrow(0, 0, 1).fill_(once);
  if (n % 2 == 0) out.narrow(0, m - 1, 1).fill_(once);
  DimVector shape;
  for (int64_t d = dim; d < like.dim(); ++d) shape.push_back(d == dim ? m : 1);
  return out.view(shape);
}

}  // namespace

Tensor detail::fft_c2c(const Tensor& self, IntArrayRef dims, bool forward, double scale) {
  if (dims.empty()) return self.mul(scale);
  const Tensor out = make_tensor(self.sizes(), self.dtype(), self.device());
  if (out.numel() > 0)
    fft_c2c_slot(out.device().type(), out, self.detach().contiguous(), dims, forward, scale);
  if (wants_grad(self))
    record("FftC2CBackward0", out, {self},
           [dims = DimVector(dims), forward, scale](const Tensor& g) {
             return fft_c2c(g, dims, !forward, scale);
           });
  return out;
}

Tensor detail::fft_r2c(const Tensor& self, IntArrayRef dims, double scale) {
  const int64_t last = dims.back(), n = self.size(last);
  const Tensor out = make_tensor(with_size(self.sizes(), last, n / 2 + 1),
                                 to_complex_type(self.dtype()), self.device());
  if (out.numel() > 0)
    fft_r2c_slot(out.device().type(), out, self.detach().contiguous(), dims, scale);
  if (wants_grad(self))
    record("FftR2CBackward0", out, {self},
           [dims = DimVector(dims), last, n, scale](const Tensor& g) {
             return fft_c2r(g.mul(weights(g, last, n, 1, 0.5)), dims, n, scale);
           });
  return out;
}

Tensor detail::fft_c2r(const Tensor& self, IntArrayRef dims, int64_t n, double scale) {
  const int64_t last = dims.back();
  const Tensor out =
      make_tensor(with_size(self.sizes(), last, n), to_real_type(self.dtype()), self.device());
  if (out.numel() > 0)
    fft_c2r_slot(out.device().type(), out, self.detach().contiguous(), dims, scale);
  if (wants_grad(self))
    record("FftC2RBackward0", out, {self},
           [dims = DimVector(dims), last, n, scale](const Tensor& g) {
             const Tensor spectrum = fft_r2c(g, dims, scale);
             return spectrum.mul(weights(spectrum, last, n, 1, 2));
           });
  return out;
}

Tensor detail::fft_input(const Tensor& self, bool to_complex) {
  ScalarType dtype = self.dtype();
  if (is_integral(dtype, true)) dtype = get_default_dtype();
  if ((dtype == kHalf || dtype == kBFloat16) && AutocastMode::is_enabled(self.device().type()))
    dtype = kFloat;
  TAEDA_CHECK(is_complex(dtype) || dtype == kFloat || dtype == kDouble, "Unsupported dtype ",
              to_string(dtype));
  return self.to(to_complex ? to_complex_type(dtype) : dtype);
}

namespace fft {

namespace {

/// What a transform of n numbers is multiplied with.
double scale_of(OptionalNorm norm, bool forward, double n) {
  const std::string_view mode = norm.value_or("backward");
  if (mode == "ortho") return 1 / std::sqrt(n);
  TAEDA_CHECK(mode == "backward" || mode == "forward", "Invalid normalization mode: \"", mode,
              "\"");
  return (mode == "forward") == forward ? 1 / n : 1;
}

void check_length(int64_t n) {
  TAEDA_CHECK(n >= 1, "Invalid number of data points (", n, ") specified");
}

/// Cut or zero-padded at the end to n numbers along `dim`.
Tensor resized(const Tensor& x, int64_t dim, int64_t n) {
  const int64_t size = x.size(dim);
  if (size == n) return x;
  if (size > n) return x.narrow(dim, 0, n);
  return cat({x, zeros(with_size(x.sizes(), dim, n - size), x.options())}, dim);
}

int64_t wrapped(const Tensor& self, int64_t dim) {
  TAEDA_CHECK_INDEX(self.dim() > 0, "Dimension specified as ", dim,
                    " but tensor has no dimensions");
  return wrap_dim(dim, self.dim());
}

Tensor one_dim(const Tensor& self, OptionalDim length, int64_t dim, OptionalNorm norm,
               bool forward) {
  const int64_t d = wrapped(self, dim), n = length.value_or(self.size(d));
  check_length(n);
  return taeda::detail::fft_c2c(resized(taeda::detail::fft_input(self, true), d, n), {d}, forward,
                                scale_of(norm, forward, static_cast<double>(n)));
}

Tensor one_dim_from_real(const char* op, const Tensor& self, OptionalDim length, int64_t dim,
                         OptionalNorm norm, bool forward) {
  TAEDA_CHECK_TYPE(!self.is_complex(), op, " expects a real input tensor, but got ",
                   to_string(self.dtype()));
  const int64_t d = wrapped(self, dim), n = length.value_or(self.size(d));
  check_length(n);
  return taeda::detail::fft_r2c(resized(taeda::detail::fft_input(self, false), d, n), {d},
                                scale_of(norm, forward, static_cast<double>(n)));
}

Tensor one_dim_to_real(const Tensor& self, OptionalDim length, int64_t dim, OptionalNorm norm,
                       bool forward) {
  const int64_t d = wrapped(self, dim), n = length.value_or(2 * (self.size(d) - 1));
  check_length(n);
  Tensor x = resized(taeda::detail::fft_input(self, true), d, n / 2 + 1);
  if (forward) x = x.conj();
  return taeda::detail::fft_c2r(x, {d}, n, scale_of(norm, forward, static_cast<double>(n)));
}

/// The dimensions of a transform along several, and their lengths; -1 where the input's is kept.
struct Grid {
  DimVector dims, lengths;

  Grid(const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim) {
    if (dim.has_value()) {
      for (const int64_t d : *dim) {
        const int64_t w = wrapped(self, d);
        TAEDA_CHECK(std::find(dims.begin(), dims.end(), w) == dims.end(),
                    "FFT dims must be unique");
        dims.push_back(w);
      }
    }
    if (s.has_value()) {
      const auto count = static_cast<int64_t>((*s).size());
      TAEDA_CHECK(!dim.has_value() || dims.size() == (*s).size(),
                  "When given, dim and shape arguments must have the same length");
      TAEDA_CHECK(count <= self.dim(), "Got shape with ", count,
                  " values but input tensor only has ", self.dim(), " dimensions.");
      if (!dim.has_value())
        for (int64_t d = self.dim() - count; d < self.dim(); ++d) dims.push_back(d);
      lengths = DimVector(*s);
    } else {
      if (!dim.has_value())
        for (int64_t d = 0; d < self.dim(); ++d) dims.push_back(d);
      lengths = DimVector(dims.size(), -1);
    }
  }

  /// Lengths of the input where none were given.
  void complete(const Tensor& self) {
    for (size_t i = 0; i < dims.size(); ++i) {
      if (lengths[i] == -1) lengths[i] = self.size(dims[i]);
      check_length(lengths[i]);
    }
  }
  double numel() const {
    double n = 1;
    for (const int64_t length : lengths) n *= static_cast<double>(length);
    return n;
  }
};

Tensor resized(Tensor x, const Grid& grid) {
  for (size_t i = 0; i < grid.dims.size(); ++i) x = resized(x, grid.dims[i], grid.lengths[i]);
  return x;
}

Tensor several(const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim,
               OptionalNorm norm, bool forward) {
  Grid grid(self, s, dim);
  grid.complete(self);
  const Tensor x = resized(taeda::detail::fft_input(self, true), grid);
  std::sort(grid.dims.begin(), grid.dims.end());
  return taeda::detail::fft_c2c(x, grid.dims, forward, scale_of(norm, forward, grid.numel()));
}

}  // namespace

Tensor do_fft(const Tensor& self, OptionalDim n, int64_t dim, OptionalNorm norm) {
  return one_dim(self, n, dim, norm, true);
}

Tensor do_ifft(const Tensor& self, OptionalDim n, int64_t dim, OptionalNorm norm) {
  return one_dim(self, n, dim, norm, false);
}

Tensor do_rfft(const Tensor& self, OptionalDim n, int64_t dim, OptionalNorm norm) {
  return one_dim_from_real("rfft", self, n, dim, norm, true);
}

Tensor do_irfft(const Tensor& self, OptionalDim n, int64_t dim, OptionalNorm norm) {
  return one_dim_to_real(self, n, dim, norm, false);
}

Tensor do_hfft(const Tensor& self, OptionalDim n, int64_t dim, OptionalNorm norm) {
  return one_dim_to_real(self, n, dim, norm, true);
}

Tensor do_ihfft(const Tensor& self, OptionalDim n, int64_t dim, OptionalNorm norm) {
  return one_dim_from_real("ihfft", self, n, dim, norm, false).conj();
}

Tensor do_fftn(const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim,
               OptionalNorm norm) {
  return several(self, s, dim, norm, true);
}

Tensor do_ifftn(const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim,
                OptionalNorm norm) {
  return several(self, s, dim, norm, false);
}

Tensor do_rfftn(const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim,
                OptionalNorm norm) {
  TAEDA_CHECK_TYPE(!self.is_complex(), "rfftn expects a real-valued input tensor, but got ",
                   to_string(self.dtype()));
  Grid grid(self, s, dim);
  TAEDA_CHECK(!grid.dims.empty(), "rfftn must transform at least one axis");
  grid.complete(self);
  const Tensor x = resized(taeda::detail::fft_input(self, false), grid);
  return taeda::detail::fft_r2c(x, grid.dims, scale_of(norm, true, grid.numel()));
}

Tensor do_irfftn(const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim,
                 OptionalNorm norm) {
  Grid grid(self, s, dim);
  TAEDA_CHECK(!grid.dims.empty(), "irfftn must transform at least one axis");
  int64_t& last = grid.lengths[grid.dims.size() - 1];
  if (last == -1) last = 2 * (self.size(grid.dims.back()) - 1);
  grid.complete(self);
  const int64_t n = last;
  const double scale = scale_of(norm, false, grid.numel());
  last = n / 2 + 1;
  return taeda::detail::fft_c2r(resized(taeda::detail::fft_input(self, true), grid), grid.dims, n,
                                scale);
}

Tensor do_fft2(const Tensor& self, OptionalIntArrayRef s, IntArrayRef dim, OptionalNorm norm) {
  return fftn(self, s, dim, norm);
}

Tensor do_ifft2(const Tensor& self, OptionalIntArrayRef s, IntArrayRef dim, OptionalNorm norm) {
  return ifftn(self, s, dim, norm);
}

Tensor do_rfft2(const Tensor& self, OptionalIntArrayRef s, IntArrayRef dim, OptionalNorm norm) {
  return rfftn(self, s, dim, norm);
}

Tensor do_irfft2(const Tensor& self, OptionalIntArrayRef s, IntArrayRef dim, OptionalNorm norm) {
  return irfftn(self, s, dim, norm);
}

namespace {

Tensor frequencies(const char* op, int64_t n, double d, int64_t count, int64_t positive,
                   const TensorOptions& options) {
  TAEDA_CHECK(is_differentiable(options.dtype()), op,
              " requires a floating point or complex dtype");
  TAEDA_CHECK(count >= 0, "Trying to create tensor with negative dimension ", count, ": [", count,
              "]");
  NoGradGuard guard;
  const TensorOptions numbers = TensorOptions(kDouble).device(detail::device_of(options));
  Tensor out = arange(count, numbers);
  if (positive < count) out.narrow(0, positive, count - positive).sub_(n);
  return out.div_(static_cast<double>(n) * d)
      .to(options.dtype())
      .requires_grad_(options.requires_grad());
}

}  // namespace

Tensor fftfreq(int64_t n, double d, const TensorOptions& options) {
  return frequencies("fftfreq", n, d, n, (n + 1) / 2, options);
}

Tensor rfftfreq(int64_t n, double d, const TensorOptions& options) {
  const int64_t count = n / 2 + 1;
  return frequencies("rfftfreq", n, d, count, count, options);
}

namespace {

/// Rolled by half the size, rounded down or up.
Tensor shifted(const Tensor& self, OptionalIntArrayRef dim, bool up) {
  DimVector dims, shifts;
  if (dim.has_value())
    dims = DimVector(*dim);
  else
    for (int64_t d = 0; d < self.dim(); ++d) dims.push_back(d);
  for (const int64_t d : dims) shifts.push_back((self.size(d) + up) / 2);
  return self.roll(shifts, dims);
}

}  // namespace

Tensor fftshift(const Tensor& self, OptionalIntArrayRef dim) { return shifted(self, dim, false); }
Tensor ifftshift(const Tensor& self, OptionalIntArrayRef dim) { return shifted(self, dim, true); }

}  // namespace fft
}  // namespace taeda
