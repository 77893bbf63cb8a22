#include "taeda/ops/reduce/reduce.h"

#include <cmath>

#include "bodies/reduce.h"
#include "taeda/autograd/record.h"
#include "taeda/device/host_graph.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/elementwise.h"
#include "taeda/ops/reduce/reduce_common.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/ops/sparse/sparse_common.h"
#include "taeda/tensor/mapped.h"

namespace taeda::inline v0_2 {

using detail::Reduced;

Reduced::Reduced(const Tensor& self, IntArrayRef dims, bool keep) : keepdim(keep) {
  const int64_t n = self.dim();
  if (dims.empty())
    for (int64_t d = 0; d < n; ++d) mask.add(d);
  else
    for (const int64_t d : wrap_dims(dims, n)) mask.add(d);
  if (n == 0) mask.bits = 0;  // a number has no dimension 0, though it may be called so
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

Tensor sum_impl(const char* node, const Tensor& self, IntArrayRef dims, bool keepdim,
                OptionalDtype dtype) {
  if (is_stored(self.dtype()) && is_integral(self.dtype()))  // the kernel adds them as int64
    return sum_impl(node, self.to(kLong), dims, keepdim, dtype);
  const Tensor x =
      dtype && is_integral(*dtype, true) && is_integral(self.dtype(), true) && *dtype != kBool
          ? self
          : convert(self, dtype);
  Reduced r(x, dims, keepdim);
  const Tensor out = r.make_output("sum", x, sum_dtype(x.dtype()));
  run(sum_slot, out, x, r);
  if (wants_grad(x))
    record(node, out, {x}, [r, sizes = DimVector(x.sizes())](const Tensor& g) {
      return r.restore(g).expand(sizes);
    });
  return finish_dtype(out, dtype);
}

Tensor mean_impl(const char* node, const Tensor& self, IntArrayRef dims, bool keepdim,
                 OptionalDtype dtype) {
  const ScalarType t = dtype.value_or(self.dtype());
  TAEDA_CHECK(is_differentiable(t), "mean(): could not infer output dtype. ",
              dtype ? "Optional" : "Input",
              " dtype must be either a floating point or complex dtype. Got: ", to_string(t));
  const Tensor x = convert(self, dtype);
  Reduced r(x, dims, keepdim);
  const Tensor out = r.make_output("mean", x, t);
  run(mean_slot, out, x, r);
  if (wants_grad(x))
    record(node, out, {x}, [r, sizes = DimVector(x.sizes())](const Tensor& g) {
      return r.restore(g.div(Scalar(r.count))).expand(sizes);
    });
  return out;
}

ScalarType bool_dtype(const Tensor& self) {
  return self.dtype() == kByte ? kByte : kBool;  // uint8 stays uint8, as ever
}

/// any and all over bool; other dtypes are compared with zero first.
Tensor logical(const ReduceSlot& slot, const Tensor& self, OptionalIntArrayRef dims, bool keepdim) {
  if (dims.has_value() && (*dims).empty()) return self.ne(0).to(bool_dtype(self));
  const Tensor x = self.dtype() == kBool ? self : self.ne(0);
  const Reduced r(x, dims.has_value() ? *dims : IntArrayRef(), keepdim);
  const Tensor out = r.make_output(slot.name(), x, kBool);
  run(slot, out, x, r);
  return out.to(bool_dtype(self));
}

}  // namespace

Tensor do_sum(const Tensor& self, OptionalDtype dtype) {
  if (!self.is_strided()) [[unlikely]]
    return detail::sparse_sum(self, {}, false, dtype);
  return sum_impl("SumBackward0", self, {}, false, dtype);
}
Tensor do_sum(const Tensor& self, IntArrayRef dims, bool keepdim, OptionalDtype dtype) {
  if (!self.is_strided()) [[unlikely]]
    return detail::sparse_sum(self, dims, keepdim, dtype);
  return sum_impl("SumBackward1", self, dims, keepdim, dtype);
}

Tensor sum_to_size(const Tensor& self, IntArrayRef sizes) {
  if (self.sizes() == sizes) return self;
  const int64_t lead = self.dim() - static_cast<int64_t>(sizes.size());
  bool fits = lead >= 0;
  DimVector dims;
  for (int64_t d = 0; fits && d < self.dim(); ++d) {
    if (d < lead) {
      dims.push_back(d);
    } else if (sizes[d - lead] != self.sizes()[d]) {
      fits = sizes[d - lead] == 1;
      dims.push_back(d);
    }
  }
  TAEDA_CHECK(fits, "size {", sizes, "} is not expandable to size {", self.sizes(), "}.");
  // Without a view of the sum, where only leading dimensions go: most often it is a bias's
  // gradient.
  const bool keep = dims.size() > static_cast<size_t>(lead);
  const Tensor out = is_mapped(self) ? self.sum(dims, keep, self.dtype())
                                     : sum_impl("SumBackward1", self, dims, keep, self.dtype());
  return keep && lead > 0 ? out.reshape(sizes) : out;
}

Tensor do_mean(const Tensor& self, OptionalDtype dtype) {
  return mean_impl("MeanBackward0", self, {}, false, dtype);
}
Tensor do_mean(const Tensor& self, IntArrayRef dims, bool keepdim, OptionalDtype dtype) {
  return mean_impl("MeanBackward1", self, dims, keepdim, dtype);
}

Tensor do_any(const Tensor& self, OptionalIntArrayRef dim, bool keepdim) {
  if (self.is_sparse() && !dim.has_value() && !keepdim) return any(self.coalesce().values());
  return logical(any_slot, self, dim, keepdim);
}
Tensor do_all(const Tensor& self, OptionalIntArrayRef dim, bool keepdim) {
  return logical(all_slot, self, dim, keepdim);
}

Tensor count_nonzero(const Tensor& self, IntArrayRef dim) { return self.ne(0).sum(dim); }

namespace {

/// What each element has of the exponentials' sum. Where that is 0 or infinite, those that are as
/// large as it have equal shares, as those of `max` have.
Tensor shares_of_sum(const Tensor& x, const Tensor& log_sum, const Reduced& r, IntArrayRef dims) {
  const Tensor top = r.restore(log_sum), away = x.sub(top);
  const bool look = detail::can_look_at_values(x.device()) && !is_mapped(x) && !is_mapped(log_sum);
  if (x.is_complex() || (look && !log_sum.detach().isinf().any().item().toBool()))
    return away.exp();
  const Tensor infinite = top.isinf(), equal = x.eq(top).to(x.dtype());
  const Tensor equals = equal.sum(dims, true);
  return where(infinite, equal.div(equals), away.masked_fill(infinite, 0).exp());
}

}  // namespace

// As PyTorch: subtracting the maximum unless it is infinite keeps exp in range.
Tensor do_logsumexp(const Tensor& self, IntArrayRef dims, bool keepdim) {
  const Tensor x = is_integral(self.dtype(), true) ? self.to(get_default_dtype()) : self;
  const Reduced r(x, dims, keepdim);
  Tensor out;
  {
    NoGradGuard guard;
    if (x.numel() == 0) {
      out = x.exp().sum(dims, keepdim).log();
    } else {
      const Tensor top = real(x).amax(dims, true);
      const Tensor shift = top.masked_fill(top.isinf(), 0);
      out = x.sub(shift).exp().sum(dims, true).log().add(shift).reshape(r.sizes);
    }
  }
  if (wants_grad(x))
    record("LogsumexpBackward0", out, {x},
           [r, list = DimVector(dims), x = save_tensor(x), y = save_output(out)](const Tensor& g) {
             const Tensor share = shares_of_sum(x.unpack(), y.unpack(), r, list);
             return r.restore(g).mul(detail::conjugate(share));
           });
  return out;
}

}  // namespace taeda::inline v0_2
