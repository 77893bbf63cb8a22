#include "taeda/tensor/tensor.h"

#include "taeda/base/error.h"
#include "taeda/device/registry.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda {

void detail::throw_undefined_tensor() {
  throw Error(
      "Expected a tensor, but got an undefined Tensor (default-constructed, or a gradient "
      "that was never computed)");
}

void detail::throw_wrong_pointer_type(ScalarType have, ScalarType want) {
  throw Error(concat("expected scalar type ", to_string(want), " but found ", to_string(have)));
}

Tensor make_tensor(Layout layout, ScalarType dtype, Device device) {
  TAEDA_CHECK(layout.ndim() <= kMaxDims, "tensors of more than ", kMaxDims,
              " dimensions are not supported, got ", layout.ndim());
  const int64_t bytes = checked_nbytes(layout.sizes, element_size(dtype));
  const Device where = device.is_cpu() ? Device(kCPU) : resolve(device);
  Storage storage = Storage::allocate(where, static_cast<size_t>(bytes));
  auto impl = make_intrusive<TensorImpl>(std::move(storage), std::move(layout), dtype);
  impl->inference = InferenceMode::is_enabled();
  return Tensor(std::move(impl));
}

Tensor make_tensor(IntArrayRef sizes, ScalarType dtype, Device device) {
  return make_tensor(Layout{sizes, contiguous_strides(sizes), 0}, dtype, device);
}

Tensor make_view(const Tensor& base, Layout layout) {
  TensorImpl& source = *base.unsafe_impl();
  auto impl = make_intrusive<TensorImpl>(source.storage, std::move(layout), source.dtype);
  impl->inference = source.inference;
  impl->base = source.base ? source.base : base.impl_ptr();
  impl->view_version = source.storage->version();
  impl->view_kind = InferenceMode::is_enabled()                 ? ViewKind::Inference
                    : !GradMode::is_enabled()                   ? ViewKind::NoGrad
                    : source.view_kind == ViewKind::MultiOutput ? ViewKind::MultiOutput
                                                                : ViewKind::Default;
  return Tensor(std::move(impl));
}

Tensor make_alias(const Tensor& source) {
  const TensorImpl& s = *source.unsafe_impl();
  auto impl = make_intrusive<TensorImpl>(s.storage, s.layout, s.dtype);
  impl->inference = s.inference;
  return Tensor(std::move(impl));
}

}  // namespace taeda
