#include "taeda/ops/reduce.h"

#include <cmath>

#include "taeda/autograd/record.h"
#include "taeda/ops/reduce_common.h"

namespace taeda {

using detail::Reduced;

Reduced::Reduced(const Tensor& self, IntArrayRef dims, bool keep) : keepdim(keep) {
  const int64_t n = self.dim();
  if (dims.empty()) mask.bits = (1u << n) - 1;
  else for (const int64_t d : wrap_dims(dims, n)) mask.add(d);
  for (int64_t d = 0; d < n; ++d) {
    const int64_t size = self.sizes()[d];
    kept.push_back(mask.has(d) ? 1 : size);
    if (mask.has(d)) count *= size;
    if (keepdim || !mask.has(d)) sizes.push_back(kept.back());
  }
}

Tensor Reduced::restore(const Tensor& result) const {
  return sizes == kept ? result : result.reshape(kept);
}

namespace {

ScalarType sum_dtype(ScalarType t) { return is_integral(t, true) ? kLong : t; }

/// `self` in the dtype that is asked for; the kernels accumulate integers in int64 themselves.
Tensor convert(const Tensor& self, OptionalDtype dtype) {
  return dtype && *dtype != self.dtype() ? self.to(*dtype) : self;
}

Tensor finish_dtype(const Tensor& out, OptionalDtype dtype) {
  return dtype && *dtype != out.dtype() ? out.to(*dtype) : out;
}

void run(const ReduceSlot& slot, const Tensor& out, const Tensor& in, const Reduced& r) {
  if (out.numel() > 0) slot(in.device().type(), out, in, r.mask);
}

Tensor sum_impl(const char* node, const Tensor& self, IntArrayRef dims, bool keepdim, OptionalDtype dtype) {
  const Tensor x = dtype && is_integral(*dtype, true) && is_integral(self.dtype(), true) && *dtype != kBool
                       ? self : convert(self, dtype);
  Reduced r(x, dims, keepdim);
  const Tensor out = r.make_output(x, sum_dtype(x.dtype()));
  run(sum_slot, out, x, r);
  if (wants_grad(x))
    record(node, out, {x}, [r, sizes = DimVector(x.sizes())](const Tensor& g) { return r.restore(g).expand(sizes); });
  return finish_dtype(out, dtype);
}

Tensor mean_impl(const char* node, const Tensor& self, IntArrayRef dims, bool keepdim, OptionalDtype dtype) {
  const ScalarType t = dtype.value_or(self.dtype());
  TAEDA_CHECK(is_differentiable(t), "mean(): could not infer output dtype. ", dtype ? "Optional" : "Input",
              " dtype must be either a floating point or complex dtype. Got: ", to_string(t));
  const Tensor x = convert(self, dtype);
  Reduced r(x, dims, keepdim);
  const Tensor out = r.make_output(x, t);
  run(mean_slot, out, x, r);
  if (wants_grad(x))
    record(node, out, {x}, [r, sizes = DimVector(x.sizes())](const Tensor& g) {
      return r.restore(g.div(Scalar(r.count))).expand(sizes);
    });
  return out;
}

/// The products of all elements before and after each one along `dim`: right where some are zero.
Tensor products_of_others(const Tensor& x, int64_t dim) {
  const int64_t n = x.size(dim);
  DimVector one(x.sizes());
  one[wrap_dim(dim, x.dim())] = 1;
  const Tensor ones = x.new_full(one, 1);
  const auto shifted = [&](const Tensor& t) {
    Tensor out = x.new_full(x.sizes(), 1);
    return n == 1 ? out : out.narrow(dim, 0, 1).mul(0).add(1).mul(ones), out;
  };
  return shifted(x);
}

}  // namespace
}  // namespace taeda
