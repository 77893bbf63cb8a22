// Reductions to one value, or along dimensions. An empty list of dimensions means all of them;
// negative dimensions count from the end. Sums do not depend on the number of threads: Note [Order
// of reductions].
// [operations, method, out, keyword: dtype, shape: reduced]
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// The sum of all elements, or along `dim`; integers and bool give int64, `dtype` converts before
/// summing.
/// [autocast: float32 accelerators]
Tensor sum(const Tensor& self, OptionalDtype dtype = {});
Tensor sum(const Tensor& self, IntArrayRef dim, bool keepdim = false, OptionalDtype dtype = {});
/// Sums over the dimensions that broadcasting from `size` to self's sizes added or stretched.
/// Throws Error: "size {[2]} is not expandable to size {[3, 4]}."
/// [composite, not shape]
Tensor sum_to_size(const Tensor& self, IntArrayRef size);

/// The mean of all elements, or along `dim`. Throws Error for integers: "mean(): could not infer
/// output dtype. ...".
/// [dtypes: floating complex]
Tensor mean(const Tensor& self, OptionalDtype dtype = {});
Tensor mean(const Tensor& self, IntArrayRef dim, bool keepdim = false, OptionalDtype dtype = {});

/// The product of all elements, or along `dim`; integers and bool give int64, `dtype` converts
/// first.
/// [autocast: float32]
Tensor prod(const Tensor& self, OptionalDtype dtype = {});
Tensor prod(const Tensor& self, int64_t dim, bool keepdim = false, OptionalDtype dtype = {});

/// The largest (smallest) element; the gradient is shared equally by all that are. NaN if there is
/// one.
/// Throws IndexError for an empty tensor.
/// [dtypes: floating integral bool]
Tensor max(const Tensor& self);
Tensor min(const Tensor& self);
/// (largest (smallest) values along `dim`, int64 indices of their first occurrence); the gradient
/// goes to that occurrence. Throws IndexError for an empty dimension.
/// [returns: values indices, dtypes: floating integral bool]
std::tuple<Tensor, Tensor> max(const Tensor& self, int64_t dim, bool keepdim = false);
std::tuple<Tensor, Tensor> min(const Tensor& self, int64_t dim, bool keepdim = false);
/// The largest (smallest) elements along several dimensions, all if `dim` is empty, with the
/// gradient shared equally by all that are.
/// [dtypes: floating integral bool]
Tensor amax(const Tensor& self, IntArrayRef dim = {}, bool keepdim = false);
Tensor amin(const Tensor& self, IntArrayRef dim = {}, bool keepdim = false);
/// (smallest, largest) element, of all or along one dimension.
/// [returns: min max, dtypes: floating integral bool, composition]
std::tuple<Tensor, Tensor> aminmax(const Tensor& self, OptionalDim dim = {}, bool keepdim = false);
/// Index (int64) of the first largest (smallest) element along `dim`; without one, in the flattened
/// tensor. Throws IndexError for an empty dimension.
/// [dtypes: floating integral bool]
Tensor argmax(const Tensor& self, OptionalDim dim = {}, bool keepdim = false);
Tensor argmin(const Tensor& self, OptionalDim dim = {}, bool keepdim = false);
/// The lower of the two middle elements; NaN if there is one.
/// [dtypes: floating integral]
Tensor median(const Tensor& self);
/// (the lower of the two middle elements along `dim`, its int64 index); NaN if there is one.
/// [returns: values indices, dtypes: floating integral]
std::tuple<Tensor, Tensor> median(const Tensor& self, int64_t dim, bool keepdim = false);

/// The variance, sum |x - mean|^2 / max(0, count - correction), or its root (std), along `dim`, all
/// dimensions if it is empty; `unbiased` is a correction of 1.
/// [dtypes: floating complex]
Tensor var(const Tensor& self, IntArrayRef dim = {}, bool unbiased = true, bool keepdim = false);
Tensor std(const Tensor& self, IntArrayRef dim = {}, bool unbiased = true, bool keepdim = false);
/// The variance (its root) with `correction` as a number, 1 if there is none.
Tensor var(const Tensor& self, IntArrayRef dim, OptionalDim correction, bool keepdim = false);
Tensor std(const Tensor& self, IntArrayRef dim, OptionalDim correction, bool keepdim = false);
/// The variance (its root) with a `correction` that need not be whole.
/// [not method, dtypes: floating complex]
Tensor var_correction(const Tensor& self, IntArrayRef dim, double correction, bool keepdim = false);
Tensor std_correction(const Tensor& self, IntArrayRef dim, double correction, bool keepdim = false);
/// (variance or its root, mean) along `dim`, over all dimensions if it is empty.
/// [not method, dtypes: floating complex]
std::tuple<Tensor, Tensor> var_mean(const Tensor& self, IntArrayRef dim = {}, bool unbiased = true,
                                    bool keepdim = false);
std::tuple<Tensor, Tensor> std_mean(const Tensor& self, IntArrayRef dim = {}, bool unbiased = true,
                                    bool keepdim = false);
std::tuple<Tensor, Tensor> var_mean(const Tensor& self, IntArrayRef dim, OptionalDim correction,
                                    bool keepdim = false);
std::tuple<Tensor, Tensor> std_mean(const Tensor& self, IntArrayRef dim, OptionalDim correction,
                                    bool keepdim = false);

/// (sum |x|^p)^(1/p) over all elements or along `dim`; p = 0 counts nonzero elements, p = inf and
/// -inf are the largest and smallest absolute value.
/// [autocast: float32 accelerators, dtypes: floating complex]
Tensor norm(const Tensor& self, const Scalar& p = 2);
Tensor norm(const Tensor& self, const OptionalScalar& p, IntArrayRef dim, bool keepdim = false);
/// The norm of the tensor as `dtype`, over all elements or along `dim`.
Tensor norm(const Tensor& self, const OptionalScalar& p, ScalarType dtype);
Tensor norm(const Tensor& self, const OptionalScalar& p, IntArrayRef dim, bool keepdim,
            ScalarType dtype);
/// (sum |x|^p)^(1/p) over all elements, or along `dim` if it is not empty.
/// [not method, autocast: float32 accelerators, dtypes: floating complex]
Tensor vector_norm(const Tensor& self, const Scalar& p = 2, IntArrayRef dim = {},
                   bool keepdim = false);

/// Whether any, or every, element is nonzero (bool; uint8 for uint8), of all or along the
/// dimensions `dim`; along none of them, of each element, if `dim` is given and empty.
Tensor any(const Tensor& self, OptionalIntArrayRef dim = {}, bool keepdim = false);
Tensor all(const Tensor& self, OptionalIntArrayRef dim = {}, bool keepdim = false);
/// How many elements are not zero (int64), of all or along `dim`; no dimension stays.
/// [composite]
Tensor count_nonzero(const Tensor& self, IntArrayRef dim = {});
inline Tensor count_nonzero(const Tensor& self, std::same_as<OptionalDim> auto dim) {
  return count_nonzero(self, dim ? IntArrayRef(*dim) : IntArrayRef());
}

/// log(sum(exp(x))) along `dim`, computed without overflow.
/// [autocast: float32 accelerators]
Tensor logsumexp(const Tensor& self, IntArrayRef dim, bool keepdim = false);

}  // namespace taeda
