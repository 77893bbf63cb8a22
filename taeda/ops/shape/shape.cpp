#include "taeda/ops/shape/shape.h"

#include "bodies/shape.h"
#include "bodies/tensor_methods.h"
#include "taeda/autograd/record.h"
#include "taeda/autograd/region.h"
#include "taeda/base/error.h"
#include "taeda/base/warning.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/create/create_common.h"
#include "taeda/ops/nn/unfold_backward.h"
#include "taeda/ops/sparse/sparse_common.h"
#include "taeda/tensor/mapped.h"

namespace taeda::inline v0_2 {

namespace {

/// Zeros of `sizes` in which the region that `view` selects holds `g`: the gradient of every view
/// that takes a part. `view` must not select an element twice.
template <class View>
Tensor put_in_zeros(const char* name, const Tensor& g, const DimVector& sizes, View view) {
  if (is_mapped(g)) [[unlikely]] {
    Tensor out = g.new_zeros(sizes);
    view(out).copy_(g);
    return out;
  }
  Tensor out = make_tensor(sizes, g.dtype(), g.device());
  {
    NoGradGuard guard;
    out.zero_();
    view(out).copy_(g);
  }
  if (wants_grad(g)) record(name, out, {g}, [view](const Tensor& gg) { return view(gg); });
  return out;
}

Tensor record_view(const Tensor& self, Layout layout) {
  Tensor out = make_view(self, std::move(layout));
  if (wants_grad(self))
    record("ViewBackward0", out, {self},
           [sizes = DimVector(self.sizes())](const Tensor& g) { return g.reshape(sizes); });
  return out;
}

}  // namespace

Tensor do_view(const Tensor& self, IntArrayRef sizes) {
  const DimVector shape = infer_size(sizes, self.numel());
  std::optional<Layout> layout = self.layout().view(shape);
  TAEDA_CHECK(layout,
              "view size is not compatible with input tensor's size and stride (at least "
              "one dimension spans across two contiguous subspaces). Use .reshape(...) instead.");
  return record_view(self, std::move(*layout));
}

Tensor do_reshape(const Tensor& self, IntArrayRef sizes) {
  TAEDA_CHECK(self.is_strided(), "reshape is not implemented for sparse tensors");
  const DimVector shape = infer_size(sizes, self.numel());
  if (std::optional<Layout> layout = self.layout().view(shape))
    return record_view(self, std::move(*layout));
  return self.clone(MemoryFormat::Contiguous).view(shape);
}

namespace {

/// The layout of the same bytes as elements of another size.
Layout resized_elements(const Tensor& self, ScalarType dtype) {
  Layout layout = self.layout();
  const int64_t have = self.element_size(), want = element_size(dtype);
  if (have == want) return layout;
  TAEDA_CHECK(self.dim() != 0, "self.dim() cannot be 0 to view ", to_string(self.dtype()), " as ",
              to_string(dtype), " (different element sizes)");
  TAEDA_CHECK(layout.strides.back() == 1, "self.stride(-1) must be 1 to view ",
              to_string(self.dtype()), " as ", to_string(dtype),
              " (different element sizes), but got ", layout.strides.back());
  if (have > want) {
    const int64_t ratio = have / want;
    for (int64_t& s : layout.strides) s *= ratio;
    layout.strides.back() = 1;
    layout.sizes.back() *= ratio;
    layout.offset *= ratio;
    return layout;
  }
  const int64_t ratio = want / have;
  TAEDA_CHECK(layout.sizes.back() % ratio == 0, "self.size(-1) must be divisible by ", ratio,
              " to view ", to_string(self.dtype()), " as ", to_string(dtype),
              " (different element sizes), but got ", layout.sizes.back());
  TAEDA_CHECK(layout.offset % ratio == 0, "self.storage_offset() must be divisible by ", ratio,
              " to view ", to_string(self.dtype()), " as ", to_string(dtype),
              " (different element sizes), but got ", layout.offset);
  for (size_t i = 0; i + 1 < layout.strides.size(); ++i) {
    TAEDA_CHECK(layout.strides[i] % ratio == 0, "self.stride(", i, ") must be divisible by ", ratio,
                " to view ", to_string(self.dtype()), " as ", to_string(dtype),
                " (different element sizes), but got ", layout.strides[i]);
    layout.strides[i] /= ratio;
  }
  layout.sizes.back() /= ratio;
  layout.offset /= ratio;
  return layout;
}

}  // namespace

Tensor do_view(const Tensor& self, ScalarType dtype) {
  if (dtype == self.dtype()) return record_view(self, self.layout());
  if (self.storage()) detail::check_aligned(self.storage()->address(), dtype, "view");
  return make_alias(self, resized_elements(self, dtype), dtype);
}

Tensor do_flatten(const Tensor& self, int64_t start_dim, int64_t end_dim) {
  const int64_t n = self.dim();
  const int64_t first = wrap_dim(start_dim, n), last = wrap_dim(end_dim, n);
  TAEDA_CHECK(first <= last, "flatten() has invalid args: start_dim cannot come after end_dim");
  if (n == 0) return self.reshape({1});
  if (first == last) return self;
  DimVector shape;
  for (int64_t d = 0; d < first; ++d) shape.push_back(self.sizes()[d]);
  shape.push_back(product(self.sizes().slice(first, last - first + 1)));
  for (int64_t d = last + 1; d < n; ++d) shape.push_back(self.sizes()[d]);
  return self.reshape(shape);
}

Tensor do_unflatten(const Tensor& self, int64_t dim, IntArrayRef sizes) {
  const int64_t d = wrap_dim(dim, self.dim());
  TAEDA_CHECK(!sizes.empty(), "unflatten: sizes must be non-empty");
  TAEDA_CHECK(self.dim() > 0, "unflatten: a 0-dim tensor has no dimension to cut");
  const int64_t have = self.sizes()[d];
  DimVector given;
  for (int64_t s : sizes)
    if (s != -1) given.push_back(s);
  const int64_t known = representable_product(given).value_or(-1);
  TAEDA_CHECK(given.size() < sizes.size() ? known > 0 && have % known == 0 : known == have,
              "unflatten: Provided sizes ", sizes, " don't multiply up to the size of dim ", d,
              " (", have, ") in the input tensor");
  DimVector shape;
  for (int64_t i = 0; i < d; ++i) shape.push_back(self.sizes()[i]);
  for (int64_t s : infer_size(sizes, have)) shape.push_back(s);
  for (int64_t i = d + 1; i < self.dim(); ++i) shape.push_back(self.sizes()[i]);
  return self.view(shape);
}

Tensor do_transpose(const Tensor& self, int64_t dim0, int64_t dim1) {
  const int64_t a = wrap_dim(dim0, self.dim()), b = wrap_dim(dim1, self.dim());
  if (!self.is_strided()) [[unlikely]]
    return detail::sparse_transpose(self, a, b);
  Tensor out = make_view(self, self.dim() == 0 ? self.layout() : self.layout().transpose(a, b));
  if (wants_grad(self))
    record("TransposeBackward0", out, {self},
           [a, b](const Tensor& g) { return g.transpose(a, b); });
  return out;
}

Tensor do_t(const Tensor& self) {
  if (!self.is_strided()) [[unlikely]]
    return detail::sparse_t(self);
  TAEDA_CHECK(self.dim() <= 2, "t() expects a tensor with <= 2 dimensions, but self is ",
              self.dim(), "D");
  Tensor out = make_view(self, self.dim() == 2 ? self.layout().transpose(0, 1) : self.layout());
  if (wants_grad(self)) record("TBackward0", out, {self}, [](const Tensor& g) { return g.t(); });
  return out;
}

Tensor do_permute(const Tensor& self, IntArrayRef dims) {
  if (self.is_sparse()) [[unlikely]]
    return detail::sparse_permute(self, dims);
  Tensor out = make_view(self, self.layout().permute(dims));
  if (!wants_grad(self)) return out;
  DimVector inverse(dims.size());
  for (size_t i = 0; i < dims.size(); ++i)
    inverse[wrap_dim(dims[i], self.dim())] = static_cast<int64_t>(i);
  record("PermuteBackward0", out, {self},
         [inverse](const Tensor& g) { return g.permute(inverse); });
  return out;
}

Tensor do_movedim(const Tensor& self, int64_t source, int64_t destination) {
  return taeda::movedim(self, IntArrayRef(source), IntArrayRef(destination));
}

Tensor do_movedim(const Tensor& self, IntArrayRef source, IntArrayRef destination) {
  TAEDA_CHECK(source.size() == destination.size(),
              "movedim: Invalid source or destination dims: "
              "source (",
              source, " dims) should contain the same number of dims as destination (", destination,
              " dims)");
  const DimVector from = wrap_dims(source, self.dim()), to = wrap_dims(destination, self.dim());
  if (self.dim() == 0) return self.permute({});
  DimVector order(static_cast<size_t>(self.dim()), -1);
  uint64_t moved = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    order[to[i]] = from[i];
    moved |= uint64_t{1} << from[i];
  }
  int64_t next = 0;
  for (int64_t& d : order) {
    if (d >= 0) continue;
    while (moved >> next & 1) ++next;
    d = next++;
  }
  return self.permute(order);
}

Tensor do_select(const Tensor& self, int64_t dim, int64_t index) {
  TAEDA_CHECK_INDEX(self.dim() > 0, "select() cannot be applied to a 0-dim tensor.");
  const int64_t d = wrap_dim(dim, self.dim());
  if (!self.is_strided()) [[unlikely]]
    return detail::sparse_select(self, d, index);
  Tensor out = make_view(self, self.layout().select(d, index));
  if (wants_grad(self))
    record("SelectBackward0", out, {self},
           [sizes = DimVector(self.sizes()), d, index](const Tensor& g) {
             return put_in_zeros("SelectBackwardBackward0", g, sizes,
                                 [d, index](const Tensor& z) { return z.select(d, index); });
           });
  return out;
}

namespace {

Tensor record_slice(const Tensor& self, Tensor out, int64_t dim, int64_t start, int64_t end,
                    int64_t step) {
  if (wants_grad(self))
    record("SliceBackward0", out, {self},
           [sizes = DimVector(self.sizes()), dim, start, end, step](const Tensor& g) {
             return put_in_zeros("SliceBackwardBackward0", g, sizes,
                                 [=](const Tensor& z) { return z.slice(dim, start, end, step); });
           });
  return out;
}

}  // namespace

Tensor do_slice(const Tensor& self, int64_t dim, OptionalDim start, OptionalDim end, int64_t step) {
  TAEDA_CHECK(self.dim() > 0, "slice() cannot be applied to a 0-dim tensor.");
  const int64_t d = wrap_dim(dim, self.dim());
  const int64_t from = start.value_or(0), to = end.value_or(INT64_MAX);
  return record_slice(self, make_view(self, self.layout().slice(d, from, to, step)), d, from, to,
                      step);
}

Tensor do_narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  TAEDA_CHECK(self.dim() > 0, "narrow() cannot be applied to a 0-dim tensor.");
  const int64_t d = wrap_dim(dim, self.dim());
  Tensor out = make_view(self, self.layout().narrow(d, start, length));
  const int64_t from = start < 0 ? start + self.sizes()[d] : start;
  return record_slice(self, std::move(out), d, from, from + length, 1);
}

Tensor do_narrow(const Tensor& self, int64_t dim, const Tensor& start, int64_t length) {
  TAEDA_CHECK(start.dim() == 0 && is_integral(start.dtype()),
              "start must be an 0-dim integral Tensor.");
  return narrow(self, dim, start.item<int64_t>(), length);
}

Tensor do_squeeze(const Tensor& self) {
  Tensor out = make_view(self, self.layout().squeeze());
  if (wants_grad(self))
    record("SqueezeBackward0", out, {self},
           [sizes = DimVector(self.sizes())](const Tensor& g) { return g.reshape(sizes); });
  return out;
}

Tensor do_squeeze(const Tensor& self, int64_t dim) {
  const int64_t d = wrap_dim(dim, self.dim());
  Tensor out = make_view(self, self.layout().squeeze(d));
  if (wants_grad(self))
    record("SqueezeBackward1", out, {self},
           [sizes = DimVector(self.sizes())](const Tensor& g) { return g.reshape(sizes); });
  return out;
}

Tensor do_unsqueeze(const Tensor& self, int64_t dim) {
  const int64_t d = wrap_dim(dim, self.dim() + 1);
  if (self.is_sparse()) [[unlikely]]
    return detail::sparse_unsqueeze(self, d);
  Tensor out = make_view(self, self.layout().unsqueeze(d));
  if (wants_grad(self))
    record("UnsqueezeBackward0", out, {self}, [d](const Tensor& g) { return g.squeeze(d); });
  return out;
}

Tensor do_expand(const Tensor& self, IntArrayRef sizes) {
  Tensor out = make_view(self, self.layout().expand(sizes));
  if (wants_grad(self))  // the engine sums over what was expanded
    record("ExpandBackward0", out, {self}, [](const Tensor& g) { return g; });
  return out;
}

std::vector<Tensor> broadcast_tensors(TensorList tensors) {
  DimVector shape;
  for (const Tensor& t : tensors) shape = broadcast_sizes(shape, t.sizes());
  std::vector<Tensor> out;
  out.reserve(tensors.size());
  for (const Tensor& t : tensors) out.push_back(t.expand(shape));
  return out;
}

Tensor do_as_strided(const Tensor& self, IntArrayRef sizes, IntArrayRef strides,
                     OptionalDim storage_offset) {
  TAEDA_CHECK(sizes.size() == strides.size(), "mismatch in length of strides and shape");
  Layout layout{sizes, strides, storage_offset.value_or(self.storage_offset())};
  for (int64_t s : strides)
    TAEDA_CHECK(
        s >= 0,
        "as_strided: Negative strides are not supported at the moment, got strides: ", strides);
  TAEDA_CHECK(layout.offset >= 0, "Tensor: invalid storage offset ", layout.offset);
  const int64_t bytes = layout.checked_storage_nbytes(self.element_size());
  TAEDA_CHECK(bytes <= static_cast<int64_t>(self.storage()->nbytes()), "setStorage: sizes ", sizes,
              ", strides ", strides, ", storage offset ", layout.offset, ", and itemsize ",
              self.element_size(), " requiring a storage size of ", bytes,
              " are out of bounds for storage of size ", self.storage()->nbytes());
  Tensor out = make_view(self, layout);
  if (wants_grad(self))
    record("AsStridedBackward0", out, {self},
           [region = autograd::Region(self, out)](const Tensor& g) { return region.scatter(g); });
  return out;
}

Tensor do_diagonal(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t a = wrap_dim(dim1, self.dim()), b = wrap_dim(dim2, self.dim());
  TAEDA_CHECK(a != b, "diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  Tensor out = make_view(self, self.layout().diagonal(offset, a, b));
  if (wants_grad(self))
    record("DiagonalBackward0", out, {self},
           [sizes = DimVector(self.sizes()), offset, a, b](const Tensor& g) {
             return put_in_zeros("DiagonalBackwardBackward0", g, sizes,
                                 [=](const Tensor& z) { return z.diagonal(offset, a, b); });
           });
  return out;
}

/// Windows overlap, so they are added in pieces that do not: `step` elements of all windows at
/// once.
Tensor detail::unfold_backward(const Tensor& g, IntArrayRef sizes, int64_t dim, int64_t size,
                               int64_t step) {
  Tensor out = make_tensor(sizes, g.dtype(), g.device());
  {
    NoGradGuard guard;
    out.zero_();
    const int64_t last = (g.size(dim) - 1) * step;  // where the last window begins
    for (int64_t k = 0; k < size; k += step) {
      const int64_t width = std::min(step, size - k);
      out.narrow(dim, k, last + width).unfold(dim, width, step).add_(g.narrow(-1, k, width));
    }
  }
  if (wants_grad(g))
    record("UnfoldBackwardBackward0", out, {g},
           [dim, size, step](const Tensor& gg) { return gg.unfold(dim, size, step); });
  return out;
}

namespace {

/// Says once for each of these functions that a number has no matrices.
#define TAEDA_WARN_OF_NUMBER(self, name, instead) \
  if ((self).dim() == 0) TAEDA_WARN_ONCE(name, " is deprecated on 0-D tensors. ", instead)
constexpr const char* kConjugate = "Consider using x.conj().";
constexpr const char* kIdentity = "This function is the identity in these cases.";

/// The matrices in the last two dimensions, transposed; a number stays as it is.
Tensor transposed_matrices(const char* name, const Tensor& self) {
  TAEDA_CHECK(self.dim() != 1, "tensor.", name,
              " is only supported on matrices or batches of matrices. Got 1-D tensor.");
  return self.dim() == 0 ? self : self.transpose(-2, -1);
}

}  // namespace

Tensor adjoint(const Tensor& self) {
  TAEDA_WARN_OF_NUMBER(self, "adjoint()", kConjugate);
  return transposed_matrices("adjoint()", self).conj();
}
Tensor Tensor::mT() const {
  TAEDA_WARN_OF_NUMBER(*this, "Tensor.mT", kIdentity);
  return transposed_matrices("mT", *this);
}
Tensor Tensor::mH() const {
  TAEDA_WARN_OF_NUMBER(*this, "Tensor.mH", kConjugate);
  return transposed_matrices("mH", *this).conj();
}
Tensor Tensor::matrix_H() const {
  TAEDA_CHECK(dim() == 0 || dim() == 2,
              "tensor.H is only supported on matrices (2-D tensors). Got ", dim(), "-D tensor.",
              dim() > 2 ? " For batches of matrices, consider using tensor.mH" : "");
  TAEDA_WARN_OF_NUMBER(*this, "Tensor.H", kConjugate);
  return t().conj();
}

Tensor Tensor::numpy_T() const {
  TAEDA_WARN_OF_NUMBER(*this, "Tensor.T", kIdentity);
  if (dim() == 1 || dim() > 2)
    TAEDA_WARN_ONCE(
        "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is "
        "deprecated and it will throw an error in a future release. Consider `x.mT` to transpose "
        "batches of matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the "
        "dimensions of a tensor.");
  DimVector order;
  for (int64_t d = dim() - 1; d >= 0; --d) order.push_back(d);
  return permute(order);
}

Tensor do_unfold(const Tensor& self, int64_t dimension, int64_t size, int64_t step) {
  const int64_t d = wrap_dim(dimension, self.dim());
  Tensor out = make_view(self, self.layout().unfold(d, size, step));
  if (wants_grad(self))
    record("UnfoldBackward0", out, {self},
           [sizes = DimVector(self.sizes()), d, size, step](const Tensor& g) {
             if (sizes.empty()) return g.reshape({});
             return detail::unfold_backward(g, sizes, d, size, step);
           });
  return out;
}

namespace {

/// Gives `self` itself the layout of one of its views. `undo` is the gradient.
template <class Undo>
Tensor& change_layout(const char* op, const char* node, const Tensor& self, Layout layout,
                      Undo undo) {
  InplaceChange change(op, self, {self});
  self.unsafe_impl()->set_layout(std::move(layout));
  change.finish(node, [&] { return undo; });
  return const_cast<Tensor&>(self);
}

}  // namespace

Tensor& do_unsqueeze_(const Tensor& self, int64_t dim) {
  const int64_t d = wrap_dim(dim, self.dim() + 1);
  return change_layout("unsqueeze_", "UnsqueezeBackward1", self, self.layout().unsqueeze(d),
                       [d](const Tensor& g) { return g.squeeze(d); });
}

Tensor& do_squeeze_(const Tensor& self) {
  return change_layout(
      "squeeze_", "SqueezeBackward2", self, self.layout().squeeze(),
      [sizes = DimVector(self.sizes())](const Tensor& g) { return g.reshape(sizes); });
}

Tensor& do_squeeze_(const Tensor& self, int64_t dim) {
  const int64_t d = wrap_dim(dim, self.dim());
  if (self.dim() == 0 || self.sizes()[d] != 1)
    return change_layout("squeeze_", "SqueezeBackward3", self, self.layout(),
                         [](const Tensor& g) { return g; });
  Layout without = self.layout();
  without.sizes.erase(static_cast<size_t>(d));
  without.strides.erase(static_cast<size_t>(d));
  return change_layout("squeeze_", "SqueezeBackward3", self, std::move(without),
                       [d](const Tensor& g) { return g.unsqueeze(d); });
}

Tensor& do_t_(const Tensor& self) {
  TAEDA_CHECK(self.dim() <= 2, "t_() expects a tensor with <= 2 dimensions, but self is ",
              self.dim(), "D");
  return self.dim() < 2 ? change_layout("t_", "TBackward0", self, self.layout(),
                                        [](const Tensor& g) { return g; })
                        : self.transpose_(0, 1);
}

Tensor& do_transpose_(const Tensor& self, int64_t dim0, int64_t dim1) {
  const int64_t a = wrap_dim(dim0, self.dim()), b = wrap_dim(dim1, self.dim());
  return change_layout("transpose_", "TransposeBackward1", self,
                       self.dim() == 0 ? self.layout() : self.layout().transpose(a, b),
                       [a, b](const Tensor& g) { return g.transpose(a, b); });
}

namespace {

/// A view between a complex tensor and its parts.
template <class Undo>
Tensor complex_view(const char* node, const Tensor& self, Layout layout, ScalarType dtype,
                    Undo undo) {
  Tensor out = make_view(self, std::move(layout), dtype);
  if (wants_grad(self)) record(node, out, {self}, std::move(undo));
  return out;
}

}  // namespace

Tensor do_view_as_real(const Tensor& self) {
  TAEDA_CHECK(self.is_complex(), "view_as_real is only supported for complex tensors");
  Layout layout = self.layout();
  for (int64_t& s : layout.strides) s *= 2;
  layout.offset *= 2;
  layout.sizes.push_back(2);
  layout.strides.push_back(1);
  return complex_view("ViewAsRealBackward0", self, std::move(layout), to_real_type(self.dtype()),
                      [](const Tensor& g) { return view_as_complex(g.contiguous()); });
}

Tensor do_view_as_complex(const Tensor& self) {
  TAEDA_CHECK_NOT_IMPLEMENTED(
      self.dtype() == kHalf || self.dtype() == kFloat || self.dtype() == kDouble,
      "view_as_complex is only supported for half, float and double tensors, but got a tensor of "
      "scalar type: ",
      to_string(self.dtype()));
  TAEDA_CHECK(self.dim() > 0, "Input tensor must have one or more dimensions");
  TAEDA_CHECK(self.size(-1) == 2, "Tensor must have a last dimension of size 2");
  TAEDA_CHECK(self.stride(-1) == 1, "Tensor must have a last dimension with stride 1");
  Layout layout = self.layout();
  layout.sizes.pop_back();
  layout.strides.pop_back();
  for (size_t d = 0; d < layout.strides.size(); ++d) {
    TAEDA_CHECK(layout.strides[d] % 2 == 0 || layout.sizes[d] == 1,
                "Tensor must have a stride divisible by 2 for all but last dimension");
    layout.strides[d] /= 2;
  }
  TAEDA_CHECK(layout.offset % 2 == 0, "Tensor must have a storage_offset divisible by 2");
  layout.offset /= 2;
  return complex_view("ViewAsComplexBackward0", self, std::move(layout),
                      to_complex_type(self.dtype()),
                      [](const Tensor& g) { return view_as_real(g.contiguous()); });
}

Tensor do_real(const Tensor& self) {
  return self.is_complex() ? view_as_real(self).select(-1, 0) : self;
}

Tensor do_imag(const Tensor& self) {
  TAEDA_CHECK_AS(TypeError, self.is_complex(),
                 "imag is not implemented for tensors with non-complex dtypes.");
  return view_as_real(self).select(-1, 1);
}

}  // namespace taeda::inline v0_2
