#include "taeda/ops/create/copy.h"

#include "bodies/copy.h"
#include "bodies/tensor_methods.h"
#include "taeda/autograd/record.h"
#include "taeda/base/warning.h"
#include "taeda/device/accelerator.h"
#include "taeda/device/allocator.h"
#include "taeda/device/graph.h"
#include "taeda/device/host_graph.h"
#include "taeda/device/registry.h"
#include "taeda/device/stream.h"
#include "taeda/device/transfer.h"
#include "taeda/kernels/copy.h"
#include "taeda/ops/create/create_common.h"
#include "taeda/ops/create/stored.h"
#include "taeda/ops/elementwise/pointwise.h"
#include "taeda/ops/sparse/sparse_common.h"
#include "taeda/tensor/no_data.h"
#include "taeda/tensor/overlap.h"
#include "taeda/tensor/tensor_bodies.h"

namespace taeda::inline v0_2 {

namespace {

/// out = in where both are on one device; casts and strides as needed.
void copy_on_device(const Tensor& out, const Tensor& in) {
  if (out.dtype() != in.dtype() && (is_stored(out.dtype()) || is_stored(in.dtype()))) [[unlikely]]
    return copy_on_device(out, detail::convert_stored(in, out.dtype()));
  if (out.is_alias_of(in) && overlap_of(out, in) == Overlap::Open) [[unlikely]] {
    const NoGradGuard guard;  // what is written must not be read again
    return copy_on_device(out, in.clone());
  }
  Tensor target = out;
  Tensor* outputs[] = {&target};
  const Iter it("copy_", outputs, out.dtype(), {Operand(in)}, in.dtype());
  if (it.numel() > 0) copy_slot(it.device().type(), it);
}

/// Between pinned memory and a device, queued: Note [Non-blocking copies] in device/host_copies.h.
void queue_copy(const Tensor& out, const Tensor& in) {
  const auto address = [](const Tensor& t) {
    return static_cast<char*>(t.storage()->address()) + t.storage_offset() * t.element_size();
  };
  const bool to_host = out.is_cpu();
  StorageImpl* host = (to_host ? out : in).storage().get();
  const Stream stream = current_stream((to_host ? in : out).device());
  // A copy that is captured does not run now, and the host cannot see when a replay runs it.
  const bool runs_now = !is_current_stream_capturing(stream.device());
  if (runs_now) host->order_copy(stream, to_host);
  transfer(address(out), out.device(), address(in), in.device(), static_cast<size_t>(out.nbytes()),
           true);
  if (runs_now) host->add_copy(stream, to_host);
}

/// The bytes of two dense tensors of one dtype and layout, between devices or host.
void copy_bytes(const Tensor& out, const Tensor& in, bool non_blocking) {
  if (non_blocking && (out.is_cpu() ? out.is_pinned() : in.is_pinned())) return queue_copy(out, in);
  transfer(out.data_ptr(), out.device(), in.data_ptr(), in.device(),
           static_cast<size_t>(out.nbytes()));
}

/// Whether the memory of both is one block in the same order.
bool same_dense_layout(const Tensor& a, const Tensor& b) {
  return a.layout().sizes == b.layout().sizes &&
         ((a.is_contiguous() && b.is_contiguous()) ||
          (a.layout().strides == b.layout().strides && a.layout().is_non_overlapping_and_dense()));
}

void copy_across(const Tensor& out, const Tensor& in, bool non_blocking) {
  if (out.dtype() == in.dtype() && same_dense_layout(out, in))
    return copy_bytes(out, in, non_blocking);
  // Convert on the source's side, move the bytes, lay them out on the other.
  const Tensor source = in.expand(out.sizes()).to(out.dtype()).contiguous();
  if (out.is_contiguous()) return copy_bytes(out, source, non_blocking);
  const Tensor landed = make_tensor(out.sizes(), out.dtype(), out.device());
  copy_bytes(landed, source, false);
  copy_on_device(out, landed);
}

void copy_values(const Tensor& out, const Tensor& in, bool non_blocking) {
  if (in.is_complex() && !out.is_complex() && out.dtype() != kBool) [[unlikely]]
    TAEDA_WARN_ONCE("Casting complex values to real discards the imaginary part");
  if (out.is_meta() || out.numel() == 0) return;
  if (in.is_meta())
    detail::throw_no_data({"to", "cpu", "cuda", "copy_"},
                          "Cannot copy out of meta tensor; no data!");
  if (out.device() == in.device())
    copy_on_device(out, in);
  else
    copy_across(out, in, non_blocking);
}

Tensor make_pinned(Layout layout, ScalarType dtype, DeviceType type) {
  const int64_t bytes = checked_nbytes(layout.sizes, element_size(dtype));
  Storage storage = Storage::allocate_pinned(type, static_cast<size_t>(bytes));
  return Tensor(make_intrusive<TensorImpl>(std::move(storage), std::move(layout), dtype));
}

Tensor copied(const Tensor& self, Device device, ScalarType dtype, const DimVector& strides,
              bool non_blocking) {
  Layout layout{self.sizes(), strides, 0};
  // As in PyTorch, what is to arrive without waiting arrives in pinned memory.
  const bool queued =
      non_blocking && device.is_cpu() && self.device().is_accelerator() && dtype == self.dtype();
  Tensor out = queued ? make_pinned(std::move(layout), dtype, self.device().type())
                      : make_tensor(std::move(layout), dtype, device);
  {
    NoGradGuard guard;
    copy_values(out, self, non_blocking);
  }
  return out;
}

Tensor in_format(const Tensor& t, std::optional<MemoryFormat> format) {
  return format && *format != MemoryFormat::Preserve ? t.contiguous(*format) : t;
}

}  // namespace

Tensor do_to(const Tensor& self, Device device, ScalarType dtype, bool non_blocking, bool copy) {
  const Device target = resolve(device);
  if (!copy && target == self.device() && dtype == self.dtype()) return self;
  if (!self.is_strided()) return detail::sparse_to(self, target, dtype, non_blocking);
  Tensor out = copied(self, target, dtype, strides_like(self.layout()), non_blocking);
  if (wants_grad(self))
    record("ToCopyBackward0", out, {self},
           [from = self.device()](const Tensor& g) { return g.to(from, g.dtype()); });
  return out;
}

Tensor Tensor::to(ScalarType dtype, bool non_blocking, bool copy) const {
  if (!copy && dtype == this->dtype()) return *this;
  return to(device(), dtype, non_blocking, copy);
}

Tensor Tensor::to(const TensorOptions& o, bool non_blocking, bool copy) const {
  return to(o.has_device() ? o.device() : device(), o.dtype_or(dtype()), non_blocking, copy,
            o.memory_format_opt());
}

Tensor Tensor::to(const TensorOptions& options, bool non_blocking, bool copy,
                  std::optional<MemoryFormat> format) const {
  return in_format(to(options, non_blocking, copy), format);
}

Tensor Tensor::to(Device device, ScalarType dtype, bool non_blocking, bool copy,
                  std::optional<MemoryFormat> format) const {
  return in_format(to(device, dtype, non_blocking, copy), format);
}

Tensor Tensor::to(ScalarType dtype, bool non_blocking, bool copy,
                  std::optional<MemoryFormat> format) const {
  return in_format(to(dtype, non_blocking, copy), format);
}

Tensor Tensor::to(const Tensor& other, bool non_blocking, bool copy,
                  std::optional<MemoryFormat> format) const {
  return in_format(to(other, non_blocking, copy), format);
}

Tensor Tensor::cpu() const { return to(Device(kCPU)); }
Tensor Tensor::cuda(int index) const { return to(Device(kCUDA, index)); }

Tensor do_contiguous(const Tensor& self, MemoryFormat format) {
  if (format == MemoryFormat::Preserve || self.is_contiguous(format)) return self;
  if (!self.is_strided()) self.storage()->throw_without_memory();
  return self.clone(format);
}

Tensor do_clone(const Tensor& self, std::optional<MemoryFormat> memory_format) {
  if (!self.is_strided()) return detail::sparse_clone(self);
  const MemoryFormat format = memory_format.value_or(MemoryFormat::Preserve);
  const DimVector strides = format == MemoryFormat::Preserve ? strides_like(self.layout())
                                                             : strides_in(self.sizes(), format);
  Tensor out = copied(self, self.device(), self.dtype(), strides, false);
  if (wants_grad(self)) record("CloneBackward0", out, {self}, [](const Tensor& g) { return g; });
  return out;
}

Tensor Tensor::pin_memory() const {
  TAEDA_CHECK(is_cpu(), "cannot pin '", device(), "' only dense CPU tensors can be pinned");
  if (is_pinned()) return *this;
  const DeviceType type = accelerator::preferred_type().value_or(kSim);
  const Tensor out = make_pinned(Layout::contiguous(sizes()), dtype(), type);
  NoGradGuard guard;
  copy_values(out, *this, false);
  return out;
}

Tensor& do_copy_(const Tensor& self, const Tensor& source, bool non_blocking) {
  if (!self.is_strided() || !source.is_strided()) return detail::sparse_copy_(self, source);
  InplaceChange change("copy_", self, {self, source});
  const Tensor expanded = [&] {
    NoGradGuard guard;
    return source.sizes() == self.sizes() ? source : source.expand(self.sizes());
  }();
  copy_values(self, expanded, non_blocking);
  change.finish("CopyBackwards", [&] {
    return [from = source.device()](const Tensor& g, Needs needs) {
      return TensorVec{needs[0] ? g.new_zeros(g.sizes()) : Tensor(),
                       needs[1] ? g.to(from) : Tensor()};
    };
  });
  return const_cast<Tensor&>(self);
}

void Tensor::record_stream(int64_t stream) const {
  if (!is_strided()) {
    const Tensor at = is_sparse() ? _indices() : col_indices();
    if (is_sparse_csr()) crow_indices().record_stream(stream);
    at.record_stream(stream);
    return stored_values(*this).record_stream(stream);
  }
  if (device().is_accelerator()) allocator::record_stream(device(), storage()->address(), stream);
}

Scalar do_item(const Tensor& self) {
  TAEDA_CHECK(self.numel() == 1, "a Tensor with ", self.numel(),
              " elements cannot be converted to Scalar");
  detail::check_not_recording("item");
  if (self.is_meta())
    detail::throw_no_data({"item", "is_nonzero"}, "Tensor.item() cannot be called on meta tensors");
  const Tensor host = self.is_cpu() ? self : self.detach().cpu();
  if (self.dtype() == kBool) return Scalar(*static_cast<const uint8_t*>(host.data_ptr()) != 0);
  if (self.dtype() == kUInt64) return Scalar(*static_cast<const uint64_t*>(host.data_ptr()));
  if (is_stored(self.dtype())) return detail::computable(host).item();
  Scalar out;
  dispatch(AllTypes{}, "item", self.dtype(),
           [&]<class T>() { out = Scalar(*static_cast<const T*>(host.data_ptr())); });
  return out;
}

Tensor& do_fill_(const Tensor& self, const Scalar& value) {
  InplaceChange change("fill_", self, {self});
  if (self.numel() > 0) detail::fill_elements(self, value);
  change.finish("FillBackward0",
                [] { return [](const Tensor& g) { return g.new_zeros(g.sizes()); }; });
  return const_cast<Tensor&>(self);
}

Tensor& do_fill_(const Tensor& self, const Tensor& value) {
  TAEDA_CHECK(value.dim() == 0, "fill_ only supports 0-dimension value tensor but got tensor with ",
              value.dim(), " dimensions.");
  return self.copy_(value);
}

Tensor& Tensor::zero_() const { return is_strided() ? fill_(0) : detail::sparse_zero_(*this); }

}  // namespace taeda::inline v0_2
