// The gradients of views and of their bases. See Note [Views are regions].
#include "taeda/autograd/region.h"

#include <algorithm>
#include <bit>

#include "taeda/ops/create/create.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/grad_mode.h"
#include "taeda/tensor/mapped.h"

namespace taeda::inline v0_2::autograd {

namespace {

Layout count_reals(Layout l, ScalarType dtype) {
  if (!is_complex(dtype)) return l;
  for (int64_t& s : l.strides) s *= 2;
  l.offset *= 2;
  l.sizes.push_back(2);
  l.strides.push_back(1);
  return l;
}

Tensor as_reals(const Tensor& t) { return t.is_complex() ? view_as_real(t) : t; }

Tensor at(const Tensor& memory, const Layout& l) {
  return memory.as_strided(l.sizes, l.strides, l.offset);
}

/// The same region of each of several memories of so many cells: what `lead` counts.
Layout in_each(Layout l, IntArrayRef lead, int64_t cells) {
  for (size_t d = lead.size(); d-- > 0; cells *= lead[d]) {
    l.sizes.insert(0, lead[d]);
    l.strides.insert(0, cells);
  }
  return l;
}

/// The number of the cell that each element of `l` shows.
Tensor cell_of_each(int64_t cells, const Layout& l, Device device) {
  NoGradGuard guard;
  return at(arange(cells, TensorOptions(kLong).device(device)), l).reshape({-1});
}

}  // namespace

Region::Region(const Layout& base, ScalarType base_dtype, const Layout& view, ScalarType view_dtype)
    : base_(base),
      view_(view),
      base_dtype_(base_dtype),
      view_dtype_(view_dtype),
      in_reals_(is_complex(base_dtype) != is_complex(view_dtype)) {
  if (in_reals_) {
    base_ = count_reals(std::move(base_), base_dtype);
    view_ = count_reals(std::move(view_), view_dtype);
  }
  const int64_t first = std::min(base_.offset, view_.offset);
  base_.offset -= first;
  view_.offset -= first;
  cells_ = std::max(base_.offset + base_.extent(), view_.offset + view_.extent());
}

Tensor Region::scatter(const Tensor& grad) const {
  if (const uint64_t levels = mapped_levels(grad))
    return make_mapped(scatter_all(plain_of(grad), std::popcount(levels)), levels);
  return scatter_all(grad, 0);
}

Tensor Region::scatter_all(const Tensor& grad, int64_t maps) const {
  const Tensor g = in_reals_ ? as_reals(grad) : grad;
  const DimVector lead(g.sizes().slice(0, static_cast<size_t>(maps)));
  DimVector cells = lead, flat = lead;
  cells.push_back(cells_);
  flat.push_back(-1);
  Tensor memory = g.new_zeros(cells);
  if (view_.has_internal_overlap())
    memory = memory.index_add(maps, cell_of_each(cells_, view_, g.device()), g.reshape(flat));
  else
    at(memory, in_each(view_, lead, cells_)).copy_(g);
  Tensor out = at(memory, in_each(base_, lead, cells_));
  if (base_.has_internal_overlap()) {
    const Tensor owners = cell_of_each(cells_, base_, g.device());
    const Tensor count = g.new_zeros({cells_}).index_add(0, owners, g.new_ones({owners.numel()}));
    out = out.div(at(count, base_));
  }
  return in_reals_ && is_complex(base_dtype_) ? view_as_complex(out) : out;
}

Region::Parts Region::divide(const Tensor& grad, bool with_inside) const {
  const uint64_t levels = mapped_levels(grad);
  if (!levels) return divide_all(grad, 0, with_inside);
  const Parts all = divide_all(plain_of(grad), std::popcount(levels), with_inside);
  return {make_mapped(all.outside, levels),
          with_inside ? make_mapped(all.inside, levels) : Tensor()};
}

Region::Parts Region::divide_all(const Tensor& grad, int64_t maps, bool with_inside) const {
  const Tensor g = in_reals_ ? as_reals(grad) : grad;
  const bool filled = base_.numel() == cells_ && base_.is_non_overlapping_and_dense();
  const DimVector lead(g.sizes().slice(0, static_cast<size_t>(maps)));
  DimVector cells = lead;
  cells.push_back(cells_);
  const Layout whole = in_each(base_, lead, cells_);
  const Tensor memory = filled ? g.new_empty(cells) : g.new_zeros(cells);
  at(memory, whole).copy_(g);
  const Tensor part = at(memory, in_each(view_, lead, cells_));
  Parts out;
  if (with_inside) {
    out.inside = part.clone();
    if (in_reals_ && is_complex(view_dtype_)) out.inside = view_as_complex(out.inside.contiguous());
  }
  part.zero_();
  out.outside = at(memory, whole);
  if (in_reals_ && is_complex(base_dtype_)) out.outside = view_as_complex(out.outside);
  return out;
}

}  // namespace taeda::inline v0_2::autograd
