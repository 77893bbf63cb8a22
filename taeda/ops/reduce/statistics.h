// Statistics of tensors, sums that skip NaN, distances, differences and integrals.
// [operations, method, out, keyword: dtype]
#pragma once

#include <string_view>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// sum and mean without the NaNs; a sum of none is 0, a mean of none NaN. No dimensions: all of
/// them. nanmean throws Error for integers.
/// [dtypes: floating integral bool, composition]
Tensor nansum(const Tensor& self, IntArrayRef dim = {}, bool keepdim = false,
              OptionalDtype dtype = {});
/// [dtypes: floating, composite]
Tensor nanmean(const Tensor& self, IntArrayRef dim = {}, bool keepdim = false,
               OptionalDtype dtype = {});
/// The lower median of the numbers that are not NaN, and where it is; NaN if there are none.
/// [dtypes: floating integral, composition]
Tensor nanmedian(const Tensor& self);
/// [returns: values indices, dtypes: floating integral, composition]
std::tuple<Tensor, Tensor> nanmedian(const Tensor& self, int64_t dim, bool keepdim = false);

/// The numbers below which a share `q` in [0, 1] of the elements along `dim` (of all elements,
/// without one) lies. A vector q gives one more dimension, in front. Between two elements
/// `interpolation` decides: "linear", "lower", "higher", "midpoint" or "nearest". One NaN makes the
/// answer NaN; nanquantile leaves them out. float and double only.
/// [dtypes: floating, autocast: float32 host, composite]
Tensor quantile(const Tensor& self, double q, OptionalDim dim = {}, bool keepdim = false,
                std::string_view interpolation = "linear");
Tensor quantile(const Tensor& self, const Tensor& q, OptionalDim dim = {}, bool keepdim = false,
                std::string_view interpolation = "linear");
Tensor nanquantile(const Tensor& self, double q, OptionalDim dim = {}, bool keepdim = false,
                   std::string_view interpolation = "linear");
Tensor nanquantile(const Tensor& self, const Tensor& q, OptionalDim dim = {}, bool keepdim = false,
                   std::string_view interpolation = "linear");

/// How many elements fall into each of `bins` equal parts of [min, max], the last one closed; of
/// the range of the elements if min and max are equal. Waits for the device then.
/// [dtypes: floating, composite]
Tensor histc(const Tensor& self, int64_t bins = 100, const Scalar& min = 0, const Scalar& max = 0);
/// log of the cumulative sum of exponentials along `dim`, in self's shape, without overflow:
/// log2(n) steps over the dimension.
/// [dtypes: floating complex, composite]
Tensor logcumsumexp(const Tensor& self, int64_t dim);
/// The sum of a matrix's diagonal, 0-dim. Throws Error for other numbers of dimensions.
/// [autocast: float32 host, composite]
Tensor trace(const Tensor& self);

/// The p-norm of self - other, 0-dim; both broadcast.
/// [dtypes: floating complex, composite]
Tensor dist(const Tensor& self, const Tensor& other, const Scalar& p = 2);
/// The p-norm distance between every row of x1 ([..., P, M]) and every row of x2 ([..., R, M]):
/// [..., P, R]. Euclidean distances of float32 and float64 come from a product of matrices, which
/// loses digits of small ones, if there are more than 25 rows (`compute_mode` 0, the default),
/// always (1) or never (2). Others take P * R * M numbers of memory.
/// [not method, dtypes: floating, autocast: float32]
Tensor cdist(const Tensor& x1, const Tensor& x2, double p = 2, OptionalDim compute_mode = {});
/// The covariance matrix of variables in rows and observations in columns, divided by N -
/// correction; `fweights` (integers) count observations, `aweights` weigh them.
/// [dtypes: floating integral, composite]
Tensor cov(const Tensor& self, int64_t correction = 1, const Tensor& fweights = {},
           const Tensor& aweights = {});
/// The covariance matrix [n, n] of variables in rows [n, m], divided by the standard deviations,
/// within [-1, 1].
/// [dtypes: floating integral, composite]
Tensor corrcoef(const Tensor& self);

/// The n-th difference along `dim`, whose size becomes n less, of the tensor between `prepend` and
/// `append`.
/// [composite]
Tensor diff(const Tensor& self, int64_t n = 1, int64_t dim = -1, const Tensor& prepend = {},
            const Tensor& append = {});
/// The integral along `dim` by the trapezoidal rule, at points `x` (a vector, or of y's shape) or
/// `dx` apart: without that dimension, or all the integrals from the first point on, one fewer
/// than points.
/// [not method, also: trapz, dtypes: floating complex integral, composite]
Tensor trapezoid(const Tensor& y, const Tensor& x, int64_t dim = -1);
Tensor trapezoid(const Tensor& y, const Scalar& dx = 1, int64_t dim = -1);
/// [not method, not also, dtypes: floating complex integral, composite]
Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, int64_t dim = -1);
Tensor cumulative_trapezoid(const Tensor& y, const Scalar& dx = 1, int64_t dim = -1);

/// The products of all vectors along the last dimensions: self's other sizes, then other's.
/// [dtypes: floating complex integral, composite]
Tensor inner(const Tensor& self, const Tensor& other);
/// Every sub-tensor along `dim`, in self's shape, scaled down so that its p-norm is at most
/// maxnorm.
/// [in-place, dtypes: floating complex, composite]
Tensor renorm(const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm);
/// The elements in order along the first dimension, in self's shape.
/// [dtypes: floating integral bool]
inline Tensor msort(const Tensor& self) { return std::get<0>(self.sort(0)); }

}  // namespace taeda::inline v0_2
