#include "taeda/ops/shape/rearrange.h"

#include <algorithm>

#include "bodies/rearrange.h"
#include "taeda/autograd/record.h"
#include "taeda/base/checked_int.h"
#include "taeda/base/error.h"
#include "taeda/kernels/create.h"
#include "taeda/kernels/join.h"
#include "taeda/kernels/sort.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/create/create_common.h"
#include "taeda/ops/destination.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"

namespace taeda::inline v0_2 {

Tensor do_repeat(const Tensor& self, IntArrayRef repeats) {
  TAEDA_CHECK(static_cast<int64_t>(repeats.size()) >= self.dim(),
              "Number of dimensions of repeat dims can "
              "not be smaller than number of dimensions of tensor");
  const size_t lead = repeats.size() - static_cast<size_t>(self.dim());
  // Each dimension becomes a pair: copies, then the dimension itself.
  DimVector pairs, wide, shape, copies;
  for (size_t d = 0; d < repeats.size(); ++d) {
    TAEDA_CHECK(repeats[d] >= 0, "Trying to create tensor with negative dimension ", repeats[d],
                ": ", repeats);
    const int64_t size = d < lead ? 1 : self.sizes()[d - lead];
    pairs.push_back(1);
    pairs.push_back(size);
    wide.push_back(repeats[d]);
    wide.push_back(size);
    shape.push_back((CheckedInt(repeats[d]) * size).value("repeat"));
    if (repeats[d] != 1) copies.push_back(static_cast<int64_t>(2 * d));
  }
  Tensor out;
  {
    NoGradGuard guard;
    out = self.reshape(pairs).expand(wide).clone(MemoryFormat::Contiguous).view(shape).detach();
  }
  if (wants_grad(self))
    record("RepeatBackward0", out, {self},
           [sizes = DimVector(self.sizes()), wide, copies](const Tensor& g) {
             const Tensor parts = g.reshape(wide);
             return (copies.empty() ? parts : parts.sum(copies)).reshape(sizes);
           });
  return out;
}

Tensor do_tile(const Tensor& self, IntArrayRef repeats) {
  DimVector all(repeats);
  while (static_cast<int64_t>(all.size()) < self.dim()) all.insert(0, 1);
  return self.repeat(all);
}

namespace {

Tensor of_size(Tensor repeated, OptionalDim dim, OptionalDim output_size) {
  const int64_t have = repeated.size(dim.value_or(0));
  TAEDA_CHECK(!output_size || *output_size == have,
              "repeat_interleave: Invalid output_size, expected ", have, " but got ",
              output_size.value_or(have));
  return repeated;
}

/// Throws NotImplementedError unless these are integers to count repetitions with.
void check_counts(const Tensor& repeats) {
  if (!is_integral(repeats.dtype()) || is_stored(repeats.dtype()))
    detail::throw_no_dtype("repeat_interleave_cpu", repeats.dtype());
}

}  // namespace

Tensor do_repeat_interleave(const Tensor& self, int64_t repeats, OptionalDim dim,
                            OptionalDim output_size) {
  TAEDA_CHECK(repeats >= 0, "Repeats must be non-negative");
  if (!dim || self.dim() == 0)
    return detail::apart_from(
        of_size(self.reshape({-1, 1}).expand({-1, repeats}).reshape({-1}), {}, output_size), self);
  const int64_t d = wrap_dim(*dim, self.dim());
  DimVector wide(self.sizes());
  wide.insert(static_cast<size_t>(d) + 1, repeats);
  return detail::apart_from(
      of_size(self.unsqueeze(d + 1).expand(wide).flatten(d, d + 1), d, output_size), self);
}

Tensor do_repeat_interleave(const Tensor& repeats, OptionalDim output_size) {
  TAEDA_CHECK(repeats.dim() == 1, "repeat_interleave only accept 1D vector as repeat");
  check_counts(repeats);
  NoGradGuard guard;
  const Tensor counts = repeats.to(kLong).contiguous();
  if (counts.numel() == 0) return empty({0}, repeats.options());
  if (counts.is_meta()) {
    TAEDA_CHECK(output_size, "cannot repeat_interleave a meta tensor without output_size");
    return empty({*output_size}, repeats.options());
  }
  TAEDA_CHECK(counts.min().item<int64_t>() >= 0, "repeats can not be negative");
  Tensor out = empty({counts.sum().item<int64_t>()}, counts.options());
  if (out.numel() > 0) repeat_counts_slot(out.device().type(), out, counts);
  return of_size(out.to(repeats.dtype()), {}, output_size);
}

Tensor do_repeat_interleave(const Tensor& self, const Tensor& repeats, OptionalDim dim,
                            OptionalDim output_size) {
  const Tensor input = dim ? self : self.reshape({-1});
  const int64_t d = wrap_dim(dim.value_or(0), input.dim());
  const int64_t n = input.size(d);
  const bool shared = repeats.numel() == 1;
  TAEDA_CHECK(repeats.dim() <= 1 && (shared || repeats.numel() == n),
              "repeats must have the same size as input along dim, but got repeats.size(0) = ",
              repeats.numel(), " and input.size(", d, ") = ", n);
  check_counts(repeats);
  const Tensor counts = repeats.to(kLong);  // a narrower dtype may not hold the indices
  const Tensor index =
      repeat_interleave(shared ? counts.reshape({1}).expand({n}) : counts, output_size);
  return input.index_select(d, index);
}

Tensor do_flip(const Tensor& self, IntArrayRef dims) {
  const DimVector wrapped = wrap_dims(dims, self.dim());
  int64_t mask = 0;
  for (int64_t d : wrapped) mask |= int64_t{1} << d;
  Tensor out = empty(self.sizes(), self.options());
  if (self.numel() > 0) {
    NoGradGuard guard;
    flip_slot(self.device().type(), out, self, self.dim() == 0 ? 0 : mask);
  }
  if (wants_grad(self))
    record("FlipBackward0", out, {self}, [wrapped](const Tensor& g) { return g.flip(wrapped); });
  return out;
}

Tensor fliplr(const Tensor& self) {
  TAEDA_CHECK(self.dim() >= 2, "Input must be >= 2-d.");
  return self.flip({1});
}

Tensor flipud(const Tensor& self) {
  TAEDA_CHECK(self.dim() >= 1, "Input must be >= 1-d.");
  return self.flip({0});
}

Tensor rot90(const Tensor& self, int64_t k, IntArrayRef dims) {
  TAEDA_CHECK(dims.size() == 2, "expected total rotation dims == 2, but got dims = ", dims.size());
  TAEDA_CHECK(self.dim() >= 2, "expected total dims >= 2, but got total dims = ", self.dim());
  const DimVector d{wrap_dim(dims[0], self.dim()), wrap_dim(dims[1], self.dim())};
  TAEDA_CHECK(d[0] != d[1], "expected rotation dims to be different, but got dim0 = ", dims[0],
              " and dim1 = ", dims[1]);
  switch (((k % 4) + 4) % 4) {
    case 1: return self.flip({d[1]}).transpose(d[0], d[1]);
    case 2: return self.flip(d);
    case 3: return self.flip({d[0]}).transpose(d[0], d[1]);
    default: return self.clone(MemoryFormat::Contiguous);
  }
}

namespace {

/// `self` shifted by `shift` along one dimension.
Tensor roll_one(const Tensor& self, int64_t shift, int64_t dim) {
  const int64_t n = self.size(dim);
  if (self.numel() == 0) return self.clone();
  const int64_t start = (n - shift % n) % n;
  if (start == 0) return self.clone(MemoryFormat::Contiguous);
  return cat({self.narrow(dim, start, n - start), self.narrow(dim, 0, start)}, dim);
}

}  // namespace

Tensor do_roll(const Tensor& self, IntArrayRef shifts, IntArrayRef dims) {
  TAEDA_CHECK(!shifts.empty(), "`shifts` required");
  if (dims.empty() && shifts.size() == 1)
    return roll_one(self.reshape({-1}), shifts[0], 0).view(self.sizes());
  TAEDA_CHECK_INDEX(dims.empty() || self.dim() > 0, "Dimension specified as ", dims[0],
                    " but tensor has no dimensions");
  TAEDA_CHECK(shifts.size() == dims.size(),
              "shifts and dimensions must align. shifts: ", shifts.size(), ", dims:", dims.size());
  Tensor out = self;
  {
    NoGradGuard guard;
    for (size_t i = 0; i < dims.size(); ++i)
      out = roll_one(out, shifts[i], wrap_dim(dims[i], self.dim()));
  }
  if (wants_grad(self)) {
    DimVector back(shifts);
    for (int64_t& s : back) s = -s;
    record("RollBackward0", out, {self},
           [back, dims = DimVector(dims)](const Tensor& g) { return g.roll(back, dims); });
  }
  return out;
}

namespace {

Tensor triangle(const char* op, const char* node, const Tensor& self, int64_t diagonal,
                bool upper) {
  TAEDA_CHECK(self.dim() >= 2, op, ": input tensor must have at least 2 dimensions");
  const Tensor out =
      detail::make_result(op, {&self}, self.sizes(), self.dtype(), self.device(), true);
  if (out.numel() > 0) {
    NoGradGuard guard;
    const int64_t rows = self.size(-2), columns = self.size(-1);
    triangle_slot(self.device().type(), out.view({-1, rows, columns}),
                  self.reshape({-1, rows, columns}), std::clamp(diagonal, -rows, columns), upper);
  }
  if (wants_grad(self))
    record(node, out, {self},
           [=](const Tensor& g) { return triangle(op, node, g, diagonal, upper); });
  return out;
}

}  // namespace

Tensor do_tril(const Tensor& self, int64_t diagonal) {
  return triangle("tril", "TrilBackward0", self, diagonal, false);
}

Tensor do_triu(const Tensor& self, int64_t diagonal) {
  return triangle("triu", "TriuBackward0", self, diagonal, true);
}

Tensor diag(const Tensor& self, int64_t diagonal) {
  TAEDA_CHECK(self.dim() == 1 || self.dim() == 2, "diag(): Supports 1D or 2D tensors. Got ",
              self.dim(), "D");
  return self.dim() == 1 ? taeda::diag_embed(self, diagonal, 0, 1)
                         : self.diagonal(diagonal).clone();
}

Tensor do_diag_embed(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t ndim = self.dim() + 1;
  TAEDA_CHECK(self.dim() >= 1, "diag_embed: expected at least one dimension");
  const int64_t a = wrap_dim(dim1, ndim), b = wrap_dim(dim2, ndim);
  TAEDA_CHECK(a != b, "diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  const CheckedInt away = offset < 0 ? CheckedInt(0) - offset : CheckedInt(offset);
  const int64_t n = (away + self.size(-1)).value("diag_embed");
  DimVector shape;
  int64_t next = 0;
  for (int64_t d = 0; d < ndim; ++d) shape.push_back(d == a || d == b ? n : self.sizes()[next++]);
  Tensor out = self.new_zeros(shape);
  {
    NoGradGuard guard;
    out.diagonal(offset, a, b).copy_(self);
  }
  if (wants_grad(self))
    record("DiagEmbedBackward0", out, {self},
           [offset, a, b](const Tensor& g) { return g.diagonal(offset, a, b); });
  return out;
}

}  // namespace taeda::inline v0_2
