#include "taeda/ops/create.h"

#include "taeda/base/error.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda {

Tensor empty(IntArrayRef sizes, const TensorOptions& o) {
  Layout layout = Layout::contiguous(sizes);
  if (o.memory_format() == MemoryFormat::ChannelsLast) layout.strides = channels_last_strides(sizes);
  Tensor out = make_tensor(layout, o.dtype(), o.device());
  if (o.pinned_memory()) out = out.pin_memory();
  if (o.requires_grad()) out.requires_grad_();
  return out;
}

Tensor full(IntArrayRef sizes, const Scalar& value, const TensorOptions& o) {
  const ScalarType inferred = value.is_floating_point() ? get_default_dtype()
                              : value.is_complex()      ? to_complex_type(get_default_dtype())
                                                        : value.type();
  Tensor out = empty(sizes, o.dtype(o.dtype_or(inferred)).requires_grad(false));
  out.fill_(value);
  if (o.requires_grad()) out.requires_grad_();
  return out;
}

Tensor zeros(IntArrayRef sizes, const TensorOptions& o) { return full(sizes, 0, o.dtype(o.dtype())); }
Tensor ones(IntArrayRef sizes, const TensorOptions& o) { return full(sizes, 1, o.dtype(o.dtype())); }

namespace {
TensorOptions like(const Tensor& t, const TensorOptions& o) {
  return o.dtype(o.dtype_or(t.dtype())).device(o.has_device() ? o.device() : t.device());
}
}  // namespace

Tensor Tensor::new_empty(IntArrayRef s, const TensorOptions& o) const { return empty(s, like(*this, o)); }
Tensor Tensor::new_zeros(IntArrayRef s, const TensorOptions& o) const { return zeros(s, like(*this, o)); }
Tensor Tensor::new_ones(IntArrayRef s, const TensorOptions& o) const { return ones(s, like(*this, o)); }
Tensor Tensor::new_full(IntArrayRef s, const Scalar& v, const TensorOptions& o) const {
  return full(s, v, like(*this, o));
}

}  // namespace taeda
