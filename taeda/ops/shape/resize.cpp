// Methods of class Tensor that give the same tensor other sizes or other memory.
#include <algorithm>

#include "taeda/autograd/history.h"
#include "taeda/base/error.h"
#include "taeda/device/host_graph.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create_common.h"
#include "taeda/ops/create/unwritten.h"
#include "taeda/ops/dtype_words.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

namespace {

void check_no_gradient(const char* op, const Tensor& t) {
  TAEDA_CHECK(!t.requires_grad(), op, ": cannot resize variables that require grad");
}

/// All whole elements of t's memory, as a vector.
Tensor elements_of_storage(const Tensor& t) {
  const auto n = static_cast<int64_t>(t.storage().nbytes()) / t.element_size();
  return make_alias(t, Layout::contiguous({n}), t.dtype());
}

/// A tensor over `storage`, which must hold what sizes and strides reach.
Tensor over(const Storage& storage, Layout layout, ScalarType dtype) {
  TAEDA_CHECK(storage, "set_: expected a storage, but got an empty one");
  TAEDA_CHECK(layout.offset >= 0, "Tensor: invalid storage offset ", layout.offset);
  const int64_t needed = layout.checked_storage_nbytes(taeda::element_size(dtype));
  TAEDA_CHECK(needed <= static_cast<int64_t>(storage.nbytes()), "set_: sizes ",
              IntArrayRef(layout.sizes), ", strides ", IntArrayRef(layout.strides),
              " and storage offset ", layout.offset, " require a storage of ", needed,
              " bytes, which are out of bounds for one of ", storage.nbytes());
  detail::check_aligned(storage->address(), dtype, "set_");
  return Tensor(make_intrusive<TensorImpl>(storage, std::move(layout), dtype));
}

Layout layout_of(int64_t offset, IntArrayRef size, IntArrayRef stride) {
  TAEDA_CHECK(stride.empty() || stride.size() == size.size(), "set_: sizes ", size, " and strides ",
              stride, " have different lengths");
  for (const int64_t s : stride)
    TAEDA_CHECK(s >= 0, "set_: Negative strides are not supported, got strides: ", stride);
  return {size, stride.empty() ? contiguous_strides(size) : DimVector(stride), offset};
}

}  // namespace

const Tensor& Tensor::resize_(IntArrayRef size, std::optional<MemoryFormat> format) const {
  if (!is_strided()) storage()->throw_without_memory();
  check_no_gradient("resize_", *this);
  autograd::check_inplace("resize_", *this, false);
  const MemoryFormat wanted = format.value_or(MemoryFormat::Contiguous);
  TAEDA_CHECK(wanted != MemoryFormat::Preserve, "Unsupported memory format Preserve");
  if (sizes() == size && !format) return *this;
  checked_numel(size);
  Layout layout{size, strides_in(size, wanted), storage_offset()};
  const int64_t needed = layout.checked_storage_nbytes(element_size());
  if (needed <= static_cast<int64_t>(storage().nbytes())) {
    impl().set_layout(std::move(layout));
    return *this;
  }
  TAEDA_CHECK(storage().resizable(), "Trying to resize storage that is not resizable");
  const bool fill = detail::must_fill_memory();
  const int64_t had = static_cast<int64_t>(storage().nbytes()) / element_size();
  if (!detail::host_recording()) {
    storage().resize(static_cast<size_t>(needed));
    impl().set_layout(std::move(layout));
    if (fill) detail::fill_unwritten(*this, had);
    return *this;
  }
  // What is recorded keeps addresses: this tensor alone gets other memory.
  const Tensor old = elements_of_storage(*this);
  const int64_t item = element_size();
  const Tensor grown = make_tensor({(needed + item - 1) / item}, dtype(), device());
  if (fill) detail::fill_unwritten(grown);
  grown.narrow(0, 0, old.numel()).copy_(old);
  set_data(make_alias(grown, std::move(layout), dtype()));
  return *this;
}

const Tensor& Tensor::resize_as_(const Tensor& other, std::optional<MemoryFormat> format) const {
  if (format != MemoryFormat::Preserve) return resize_(other.sizes(), format);
  return resize_(other.sizes(), other.suggest_memory_format());
}

Tensor& Tensor::set_(const Tensor& source) const {
  autograd::check_inplace("set_", *this, false);
  if (GradMode::is_enabled()) check_no_gradient("set_", *this);
  TAEDA_CHECK(source.defined(), "set_ expects a defined tensor");
  TAEDA_CHECK(source.dtype() == dtype(), "Could not set tensor of type ",
              detail::type_name(source.dtype()), " to a tensor of type ",
              detail::type_name(dtype()));
  TAEDA_CHECK(source.device() == device(), "Attempted to set the storage of a tensor on device \"",
              device().str(), "\" to a storage on different device \"", source.device().str(),
              "\"");
  set_data(source);
  return const_cast<Tensor&>(*this);
}

Tensor& Tensor::set_() const { return set_(make_tensor({0}, dtype(), device())); }

Tensor& Tensor::set_(const Storage& source, int64_t storage_offset, IntArrayRef size,
                     IntArrayRef stride) const {
  return set_(over(source, layout_of(storage_offset, size, stride), dtype()));
}

Tensor& Tensor::set_(const Tensor& source, int64_t storage_offset, IntArrayRef size,
                     IntArrayRef stride) const {
  TAEDA_CHECK(source.defined(), "set_ expects a defined tensor");
  return set_(over(source.storage(), layout_of(storage_offset, size, stride), source.dtype()));
}

Tensor& Tensor::set_(const Storage& source) const {
  TAEDA_CHECK(source, "set_: expected a storage, but got an empty one");
  return set_(source, 0, {static_cast<int64_t>(source.nbytes()) / element_size()});
}

const Tensor& Tensor::as_strided_(IntArrayRef size, IntArrayRef stride,
                                  OptionalDim storage_offset) const {
  check_no_gradient("as_strided_", *this);
  impl().set_layout(as_strided(size, stride, storage_offset).layout());
  return *this;
}

bool Tensor::is_set_to(const Tensor& other) const {
  return is_alias_of(other) && dtype() == other.dtype() && sizes() == other.sizes() &&
         strides() == other.strides() && storage_offset() == other.storage_offset();
}

void detail::check_accessor(const TensorBase& t, size_t want, int64_t most) {
  TAEDA_CHECK(t.dim() == static_cast<int64_t>(want), "TensorAccessor expected ", want,
              " dims but tensor has ", t.dim());
  TAEDA_CHECK(t.numel() <= most,
              "numel needs to be smaller than int32_t max; otherwise, please use "
              "packed_accessor64");
}

}  // namespace taeda::inline v0_2
