#include "taeda/ops/index/scatter.h"

#include "bodies/scatter.h"
#include "taeda/autograd/record.h"
#include "taeda/base/error.h"
#include "taeda/kernels/index.h"
#include "taeda/ops/assign.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/nn/fused_backward.h"
#include "taeda/ops/reduce/scan.h"
#include "taeda/ops/shape/join.h"
#include "taeda/tensor/mapped.h"

namespace taeda::inline v0_2 {

// ---- parts replaced ----

namespace {

/// A copy that parts of `src`'s samples can be written to.
Tensor copy_for(const Tensor& self, const Tensor& src) {
  return expanded_to(self, mapped_levels(src)).clone();
}

/// Copies `src` over a view of `whole`, which nobody else has seen.
Tensor with_part(Tensor whole, const Tensor& part, const Tensor& src) {
  TAEDA_CHECK(part.sizes() == src.sizes(),
              "expected src to have a size equal to the slice of self. src size = ", src.sizes(),
              ", slice size = ", part.sizes());
  part.copy_(src);
  return whole;
}

}  // namespace

Tensor select_scatter(const Tensor& self, const Tensor& src, int64_t dim, int64_t index) {
  const Tensor out = copy_for(self, src);
  return with_part(out, out.select(dim, index), src);
}
Tensor slice_scatter(const Tensor& self, const Tensor& src, int64_t dim, OptionalDim start,
                     OptionalDim end, int64_t step) {
  const Tensor out = copy_for(self, src);
  return with_part(out, out.slice(dim, start, end, step), src);
}
Tensor diagonal_scatter(const Tensor& self, const Tensor& src, int64_t offset, int64_t dim1,
                        int64_t dim2) {
  const Tensor out = copy_for(self, src);
  return with_part(out, out.diagonal(offset, dim1, dim2), src);
}

Tensor do_masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source) {
  TAEDA_CHECK(self.dtype() == source.dtype(),
              "masked_scatter: expected self and source to have same dtypes but got",
              to_string(self.dtype()), " and ", to_string(source.dtype()));
  TAEDA_CHECK(mask.dtype() == kBool,
              "masked_scatter_ only supports boolean masks, but got mask with dtype ",
              to_string(mask.dtype()));
  const DimVector shape = broadcast_sizes(self.sizes(), mask.sizes());
  const Tensor chosen = mask.expand(shape), list = source.reshape({-1});
  const Tensor counts = plain_of(chosen.sum());  // one, or one for each sample of a map
  TAEDA_CHECK(counts.is_meta() || counts.le(list.numel()).all().item<bool>(),
              "Number of elements of source < number of ones in mask");
  const Tensor target = self.expand(shape);
  if (list.numel() == 0) return target.clone();
  const Tensor order = chosen.reshape({-1}).cumsum(0).sub(1).clamp(0, list.numel() - 1);
  return where(chosen, list.index_select(0, order).view(shape), target);
}

namespace {

/// What index has a place for.
Tensor part_for(const Tensor& index, const Tensor& src) {
  Tensor part = src.dim() == 0 ? src.unsqueeze(0) : src;
  TAEDA_CHECK(index.dim() == part.dim(),
              "Index tensor must have the same number of dimensions as src tensor");
  for (int64_t d = 0; d < index.dim(); ++d) {
    TAEDA_CHECK(index.size(d) <= part.size(d), "Expected index ", index.sizes(),
                " to be smaller than src ", src.sizes(), " in all dimensions");
    if (index.size(d) < part.size(d)) part = part.narrow(d, 0, index.size(d));
  }
  return part;
}

/// self, with `start` where something of src will arrive, unless self takes part.
Tensor prepared(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& start,
                bool include_self) {
  return include_self ? self : self.scatter(dim, index, start);
}

Tensor scatter_mean(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                    bool include_self) {
  const Tensor sum = prepared(self, dim, index, 0, include_self).scatter_add(dim, index, src);
  Tensor count;
  {
    NoGradGuard guard;
    const Tensor each = ones_like(src);
    count = prepared(ones_like(self), dim, index, 0, include_self).scatter_add(dim, index, each);
    count = where(count.eq(0), Scalar(1), count).to(self.dtype());
  }
  return is_differentiable(self.dtype()) ? sum.div(count) : sum.div(count, "floor");
}

/// Of differentiable operations: neighbours with the same target are multiplied with each other,
/// over 1, 2, 4, ... places; what comes last has the product of all and is written last.
Tensor composed_prod(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                     bool include_self) {
  const int64_t n = index.size(dim);
  const auto [target, order] = index.sort(dim);
  Tensor products = src.gather(dim, order);
  for (int64_t step = 1; step < n; step *= 2) {
    const Tensor same = target.narrow(dim, step, n - step).eq(target.narrow(dim, 0, n - step));
    const Tensor before = where(same, products.narrow(dim, 0, n - step), Scalar(1)).to(src.dtype());
    products =
        cat({products.narrow(dim, 0, step), products.narrow(dim, step, n - step).mul(before)}, dim);
  }
  // Only the last of a run is written.
  const Tensor start = prepared(self, dim, index, 1, include_self);
  if (n == 0) return start.clone();
  Tensor last = ones_like(target).to(kBool);
  if (n > 1)
    last.narrow(dim, 0, n - 1).copy_(target.narrow(dim, 1, n - 1).ne(target.narrow(dim, 0, n - 1)));
  const Tensor kept = where(last, products, Scalar(0)).to(src.dtype());
  const Tensor factor = zeros_like(self).scatter_add(dim, target, kept);
  Tensor hit;
  {
    NoGradGuard guard;
    hit = zeros_like(self).to(kBool).scatter(dim, index, true);
  }
  return where(hit, start.mul(factor), start);
}

/// self with what arrives from src, in one pass and without a record. Where self takes no part,
/// `start` stands in for it: src itself for extremes.
Tensor scatter_meeting(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                       Meeting how, bool include_self) {
  const NoGradGuard guard;
  const Tensor at = index.to(kLong);
  const Tensor out = include_self              ? self.clone()
                     : how == Meeting::Product ? self.scatter(dim, at, 1)
                                               : self.scatter(dim, at, src);
  scatter_slot(self.device().type(), out, at, src, dim, how);
  return out;
}

/// By quotients, but for the factors that are zero.
TensorVec fused_prod_gradients(const Tensor& g, const Tensor& self, int64_t dim,
                               const Tensor& index, const Tensor& src, const Tensor& out,
                               bool include_self) {
  const auto product = [&](const Tensor& a, const Tensor& b) {
    return scatter_meeting(a, dim, index, b, Meeting::Product, include_self);
  };
  const Tensor own = self.masked_fill(self.eq(0), 1), zero = src.eq(0);
  Tensor by_self = g.mul(product(own, src)).div(own);
  if (!include_self) by_self = by_self.scatter(dim, index, 0);
  const Tensor zeros = zeros_like(self).scatter_add(dim, index, zero.to(self.dtype()));
  const Tensor alone = zero.logical_and(zeros.gather(dim, index).eq(1));
  const Tensor others = product(self, src.masked_fill(alone, 1));
  const Tensor quotient = g.mul(out).gather(dim, index).div(src.masked_fill(zero, 1));
  return {by_self, where(alone, g.mul(others).gather(dim, index), quotient)};
}

Tensor scatter_prod(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                    bool include_self) {
  const Tensor out = scatter_meeting(self, dim, index, src, Meeting::Product, include_self);
  if (wants_grad(self, src))
    record("ScatterReduceBackward0", out, {self, src},
           [dim, include_self, a = save_tensor(self), b = save_tensor(src, "src"),
            at = save_tensor(index, "index"), y = save_output(out)](const Tensor& g, Needs needs) {
             const Tensor self = a.unpack(), src = b.unpack(), index = at.unpack();
             return detail::fused_or_differentiable(
                 [&] {
                   return fused_prod_gradients(g, self, dim, index, src, y.unpack(), include_self);
                 },
                 [&] {
                   return detail::recorded_gradients(
                       [&](TensorList in) {
                         return composed_prod(in[0], dim, index, in[1], include_self);
                       },
                       {self, src}, g, needs);
                 });
           });
  return out;
}

/// The extreme of each place.
Tensor scatter_extreme(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                       bool largest, bool include_self) {
  const Tensor out = scatter_meeting(self, dim, index, src,
                                     largest ? Meeting::Largest : Meeting::Smallest, include_self);
  if (wants_grad(self, src))
    record("ScatterReduceBackward0", out, {self, src},
           [dim, include_self, a = save_tensor(self), b = save_tensor(src, "src"),
            at = save_tensor(index, "index"), y = save_output(out)](const Tensor& g, Needs needs) {
             const Tensor self = a.unpack(), src = b.unpack(), index = at.unpack();
             const Tensor best = y.unpack();
             Tensor own, given, share;
             {
               NoGradGuard guard;
               own = self.eq(best).to(g.dtype());
               given = src.eq(best.gather(dim, index)).to(g.dtype());
               if (!include_self) own = own.scatter(dim, index, 0);
               share = own.scatter_add(dim, index, given).clamp_min(1);
               if (!include_self) {
                 const Tensor hit = zeros_like(own).scatter(dim, index, 1);
                 own = rsub(hit, 1);
               }
             }
             const Tensor part = g.div(share);
             return TensorVec{needs[0] ? part.mul(own) : Tensor(),
                              needs[1] ? part.gather(dim, index).mul(given) : Tensor()};
           });
  return out;
}

/// `product` is one of the two above.
Tensor scatter_reduced(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                       std::string_view reduce, bool include_self,
                       decltype(scatter_prod)* product) {
  const int64_t d = wrap_dim(dim, self.dim());
  TAEDA_CHECK(self.dtype() == src.dtype(),
              "scatter(): Expected self.dtype to be equal to src.dtype");
  if (index.numel() == 0) return self.clone();
  TAEDA_CHECK(index.dtype() == kLong || index.dtype() == kInt,
              "scatter(): Expected dtype int32/int64 for index");
  if (self.dim() == 0)
    return scatter_reduced(self.unsqueeze(0), 0, index, src, reduce, include_self, product)
        .squeeze(0);
  const Tensor at = atleast_1d(index), part = part_for(at, src);
  TAEDA_CHECK(at.dim() == self.dim(),
              "Index tensor must have the same number of dimensions as self tensor");
  if (reduce == "sum") return prepared(self, d, at, 0, include_self).scatter_add(d, at, part);
  if (reduce == "mean") return scatter_mean(self, d, at, part, include_self);
  if (reduce == "prod") return product(self, d, at, part, include_self);
  TAEDA_CHECK(reduce == "amax" || reduce == "amin",
              "reduce argument must be either sum, prod, mean, amax or amin, got ", reduce);
  return scatter_extreme(self, d, at, part, reduce == "amax", include_self);
}

}  // namespace

Tensor do_scatter_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                         std::string_view reduce, bool include_self) {
  return scatter_reduced(self, dim, index, src, reduce, include_self, scatter_prod);
}

Tensor compose_scatter_reduce(const Tensor& self, int64_t dim, const Tensor& index,
                              const Tensor& src, std::string_view reduce, bool include_self) {
  return scatter_reduced(self, dim, index, src, reduce, include_self, composed_prod);
}

Tensor put(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  TAEDA_CHECK(index.dtype() == kLong, "put_(): Expected a long tensor for index, but got ",
              to_string(index.dtype()));
  TAEDA_CHECK(self.dtype() == source.dtype(),
              "put_(): self and source expected to have the same dtype, but got self.dtype = ",
              to_string(self.dtype()), " and source.dtype = ", to_string(source.dtype()));
  TAEDA_CHECK_INDEX(index.numel() == source.numel(),
                    "put_(): Expected source and index to have the same number of elements, but "
                    "got source.numel() = ",
                    source.numel(), ", index.numel() = ", index.numel());
  const TensorIndex places[] = {index.reshape({-1})};
  return index_put(self.reshape({-1}), places, source.reshape({-1}), accumulate).view(self.sizes());
}

Tensor index_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                    std::string_view reduce, bool include_self) {
  TAEDA_CHECK(reduce == "prod" || reduce == "mean" || reduce == "amax" || reduce == "amin",
              "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got ",
              reduce, ".");
  TAEDA_CHECK(self.dtype() == source.dtype(),
              "index_reduce(): self and source expected to have the same dtype, but got (self) ",
              self.dtype(), " and (source) ", source.dtype());
  TAEDA_CHECK(index.dim() <= 1, "index_reduce(): Index is supposed to be a vector");
  const int64_t along = wrap_dim(dim, self.dim());
  const int64_t slices = source.dim() == 0 ? 1 : source.size(along);
  TAEDA_CHECK(index.numel() == slices, "index_reduce(): Number of indices should be equal to ",
              "source.size(dim): ", slices, ", got ", index.numel());
  if (self.dim() == 0)
    return scatter_reduce(self.unsqueeze(0), 0, index.reshape({1}).to(kLong), source.reshape({1}),
                          reduce, include_self)
        .squeeze(0);
  DimVector sizes(static_cast<size_t>(self.dim()), 1);
  sizes[static_cast<size_t>(along)] = slices;
  const Tensor places = index.to(kLong).reshape(sizes).expand(source.sizes());
  return scatter_reduce(self, along, places, source, reduce, include_self);
}

namespace {

/// A copy of `self` and of what lies between its elements, with its strides and offset: places that
/// are counted in its storage are the same ones in the copy.
Tensor copy_where_it_lies(const Tensor& self) {
  int64_t end = self.storage_offset() + 1;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (self.size(d) == 0 || (self.size(d) > 1 && self.stride(d) == 0)) return self.clone();
    end += (self.size(d) - 1) * self.stride(d);
  }
  if (end == self.numel() && self.is_contiguous()) return self.clone();
  return self.as_strided({end}, {1}, 0)
      .clone()
      .as_strided(self.sizes(), self.strides(), self.storage_offset());
}

}  // namespace

Tensor do_as_strided_scatter(const Tensor& self, const Tensor& src, IntArrayRef size,
                             IntArrayRef stride, OptionalDim storage_offset) {
  const Tensor out = copy_where_it_lies(expanded_to(self, mapped_levels(src)));
  return with_part(out, out.as_strided(size, stride, storage_offset), src);
}

// ---- in place ----

Tensor& Tensor::fill_diagonal_(const Scalar& value, bool wrap) const {
  TAEDA_CHECK(dim() >= 2, "dimensions must larger than 1");
  const int64_t n = sizes()[0];
  for (int64_t d = 1; d < dim() && dim() > 2; ++d)
    TAEDA_CHECK(sizes()[d] == n, "all dimensions of input must be of equal length");
  int64_t step = 0, length = n;
  for (int64_t d = 0; d < dim(); ++d) {
    step += strides()[d];
    length = std::min(length, sizes()[d]);
  }
  as_strided({length}, {step}).fill_(value);
  // A tall matrix goes on below, one row lower.
  if (wrap && dim() == 2)
    for (int64_t row = sizes()[1] + 1; row < n; row += sizes()[1] + 1)
      slice(0, row).diagonal().fill_(value);
  return const_cast<Tensor&>(*this);
}

}  // namespace taeda::inline v0_2
