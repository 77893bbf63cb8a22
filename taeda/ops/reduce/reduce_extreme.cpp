// max, min, amax, amin, argmax, argmin, median.
#include <cmath>

#include "bodies/reduce.h"
#include "taeda/autograd/record.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/reduce/reduce_common.h"
#include "taeda/tensor/observer.h"

namespace taeda::inline v0_2 {

using detail::Reduced;

namespace {

void check_real(const char* op, const Tensor& self) {
  TAEDA_CHECK(!self.is_complex(), op, "(): does not support complex input");
}

/// An equal share of the gradient for each element that equals the result. Where that is NaN, none
/// does, and all shares are 0 / 0: the gradient of amax, amin and aminmax in PyTorch.
Tensor share_of_equals(const Tensor& g, const Tensor& x, const Tensor& y, const Reduced& r) {
  const Tensor mask = x.eq(r.restore(y)).to(g.dtype());
  return r.restore(g).mul(mask).div(mask.sum_to_size(r.kept));
}

/// The same with NaN as equal to NaN: the gradient of max, min and median of all elements.
Tensor share_evenly(const Tensor& g, const Tensor& x, const Tensor& y, const Reduced& r) {
  const Tensor extreme = r.restore(y);
  const Tensor mask =
      x.eq(extreme).logical_or(x.isnan().logical_and(extreme.isnan())).to(g.dtype());
  return r.restore(g).mul(mask).div(mask.sum_to_size(r.kept));
}

/// Records the extreme `out` of x, whose gradient `share` gives.
void record_extreme(const char* node, const Tensor& out, const Tensor& self, const Reduced& r,
                    decltype(&share_evenly) share) {
  if (!wants_grad(self)) return;
  record(node, out, {self},
         [r, share, x = save_tensor(self), y = save_output(out)](const Tensor& g) {
           return share(g, x.unpack(), y.unpack(), r);
         });
}

/// Reduction whose gradient `share` gives.
Tensor extreme(const char* op, const char* node, const ReduceSlot& slot, const Tensor& self,
               IntArrayRef dims, bool keepdim, decltype(&share_evenly) share) {
  check_real(op, self);
  detail::check_nonempty(op, self, dims);
  const Reduced r(self, dims, keepdim);
  const Tensor out = r.make_output(slot.name(), self, self.dtype());
  if (out.numel() > 0) slot(self.device().type(), out, self, r.mask);
  record_extreme(node, out, self, r, share);
  return out;
}

struct Positions {
  Tensor values, indices;
};

/// Runs a kernel that gives values and indices along one dimension.
Positions find(const char* op, const ArgReduceSlot& slot, const Tensor& self, int64_t dim,
               bool keepdim, bool want_values) {
  check_real(op, self);
  DimVector sizes(self.sizes());
  if (self.dim() > 0) {
    TAEDA_CHECK_INDEX(sizes[static_cast<size_t>(dim)] > 0, op, "(): Expected reduction dim ", dim,
                      " to have non-zero size.");
    if (keepdim)
      sizes[static_cast<size_t>(dim)] = 1;
    else
      sizes.erase(static_cast<size_t>(dim));
  }
  NoGradGuard guard;
  Positions out{want_values ? make_tensor(sizes, self.dtype(), self.device()) : Tensor(),
                make_tensor(sizes, kLong, self.device())};
  if (out.indices.numel() > 0)
    slot(self.device().type(), out.values, out.indices, self.contiguous(), dim);
  return out;
}

/// (values, indices); the gradient goes where the value came from.
std::tuple<Tensor, Tensor> select_along(const char* op, const char* node, const ArgReduceSlot& slot,
                                        const Tensor& self, int64_t dim, bool keepdim) {
  dim = wrap_dim(dim, self.dim());
  const bool drops = !keepdim && self.dim() > 0;
  const Positions p = find(op, slot, self, dim, keepdim, true);
  if (wants_grad(self))
    record(node, p.values, {self},
           [sizes = DimVector(self.sizes()), at = save_tensor(p.indices, "indices"), dim,
            drops](const Tensor& g) {
             const Tensor index = at.unpack(), target = zeros(sizes, g.options());
             return drops ? target.scatter(dim, index.unsqueeze(dim), g.unsqueeze(dim))
                          : target.scatter(dim, index, g);
           });
  return {p.values, p.indices};
}

Tensor arg(const char* op, const ArgReduceSlot& slot, const Tensor& self, OptionalDim dim,
           bool keepdim) {
  if (dim) return find(op, slot, self, wrap_dim(*dim, self.dim()), keepdim, false).indices;
  TAEDA_CHECK_INDEX(self.numel() > 0, op,
                    "(): Expected reduction dim to be specified for input.numel() == 0.");
  NoGradGuard guard;
  const Tensor at = find(op, slot, self.reshape({-1}), 0, false, false).indices;
  return keepdim ? at.reshape(DimVector(static_cast<size_t>(self.dim()), 1)) : at;
}

}  // namespace

void detail::check_nonempty(const char* op, const Tensor& self, IntArrayRef dims) {
  if (self.numel() > 0) return;
  TAEDA_CHECK(!dims.empty(), op,
              "(): Expected reduction dim to be specified for input.numel() == 0. "
              "Specify the reduction dim with the 'dim' argument.");
  for (const int64_t d : wrap_dims(dims, self.dim()))
    TAEDA_CHECK_INDEX(self.sizes()[static_cast<size_t>(d)] > 0, op, "(): Expected reduction dim ",
                      d, " to have non-zero size.");
}

Tensor do_max(const Tensor& self) {
  return extreme("max", "MaxBackward1", amax_slot, self, {}, false, share_evenly);
}
Tensor do_min(const Tensor& self) {
  return extreme("min", "MinBackward1", amin_slot, self, {}, false, share_evenly);
}
Tensor do_amax(const Tensor& self, IntArrayRef dims, bool keepdim) {
  return extreme("amax", "AmaxBackward0", amax_slot, self, dims, keepdim, share_of_equals);
}
Tensor do_amin(const Tensor& self, IntArrayRef dims, bool keepdim) {
  return extreme("amin", "AminBackward0", amin_slot, self, dims, keepdim, share_of_equals);
}
std::tuple<Tensor, Tensor> compose_aminmax(const Tensor& self, OptionalDim dim, bool keepdim) {
  const IntArrayRef dims = dim ? IntArrayRef(*dim) : IntArrayRef();
  return {self.amin(dims, keepdim), self.amax(dims, keepdim)};
}
std::tuple<Tensor, Tensor> do_aminmax(const Tensor& self, OptionalDim dim, bool keepdim) {
  const char* const node = "AminmaxBackward0";
  const IntArrayRef dims = dim ? IntArrayRef(*dim) : IntArrayRef();
  check_real("aminmax", self);
  detail::check_nonempty("aminmax", self, dims);
  const Reduced r(self, dims, keepdim);
  const Tensor least = make_tensor(r.sizes, self.dtype(), self.device()),
               most = make_tensor(r.sizes, self.dtype(), self.device());
  if (least.numel() > 0) aminmax_slot(self.device().type(), least, most, self, r.mask);
  record_extreme(node, least, self, r, share_of_equals);
  record_extreme(node, most, self, r, share_of_equals);
  return {least, most};
}
std::tuple<Tensor, Tensor> do_max(const Tensor& self, int64_t dim, bool keepdim) {
  return select_along("max", "MaxBackward0", max_dim_slot, self, dim, keepdim);
}
std::tuple<Tensor, Tensor> do_min(const Tensor& self, int64_t dim, bool keepdim) {
  return select_along("min", "MinBackward0", min_dim_slot, self, dim, keepdim);
}
std::tuple<Tensor, Tensor> do_median(const Tensor& self, int64_t dim, bool keepdim) {
  return select_along("median", "MedianBackward1", median_slot, self, dim, keepdim);
}
std::tuple<Tensor, Tensor> detail::select_nanmedian(const Tensor& self, int64_t dim, bool keepdim) {
  return select_along("median", "NanmedianBackward1", nanmedian_slot, self, dim, keepdim);
}
Tensor do_argmax(const Tensor& self, OptionalDim dim, bool keepdim) {
  return arg("argmax", max_dim_slot, self, dim, keepdim);
}
Tensor do_argmin(const Tensor& self, OptionalDim dim, bool keepdim) {
  return arg("argmin", min_dim_slot, self, dim, keepdim);
}

namespace {

/// The one in the middle of all, whose gradient goes to all that equal it alike.
Tensor middle_of_all(const char* node, const ArgReduceSlot& slot, const Tensor& self) {
  if (self.numel() == 0) {
    TAEDA_CHECK(!is_integral(self.dtype(), true), "value cannot be converted to type ",
                to_string(self.dtype()), " without overflow");
    return full({}, std::nan(""), self.options());
  }
  Tensor out;
  {
    NoGradGuard guard;
    out = find("median", slot, self.reshape({-1}), 0, false, true).values;
  }
  record_extreme(node, out, self, Reduced(self, {}, false), share_evenly);
  return out;
}

}  // namespace

Tensor do_median(const Tensor& self) { return middle_of_all("MedianBackward0", median_slot, self); }
Tensor detail::select_nanmedian(const Tensor& self) {
  return middle_of_all("NanmedianBackward0", nanmedian_slot, self);
}

}  // namespace taeda::inline v0_2
