#include "taeda/tensor/tensor.h"

#include "taeda/base/error.h"
#include "taeda/device/registry.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2 {

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

namespace {

/// What restricts a view restricts its views, unless how they are made restricts them otherwise.
ViewKind kind_of_view(const TensorImpl& source, ViewKind made) {
  if (InferenceMode::is_enabled()) return ViewKind::Inference;
  if (!GradMode::is_enabled()) return ViewKind::NoGrad;
  return made == ViewKind::Default && source.view_kind != ViewKind::None ? source.view_kind : made;
}

Tensor share(const TensorImpl& source, Layout layout, ScalarType dtype) {
  auto impl = make_intrusive<TensorImpl>(source.storage, std::move(layout), dtype);
  impl->inference = source.inference;
  impl->own_version = source.own_version;
  return Tensor(std::move(impl));
}

}  // namespace

Tensor make_view(const Tensor& of, Layout layout, ScalarType dtype, ViewKind kind) {
  const TensorImpl& source = *of.unsafe_impl();
  Tensor out = share(source, std::move(layout), dtype);
  TensorImpl& impl = *out.unsafe_impl();
  impl.base = source.base ? source.base : of.impl_ptr();
  impl.view_version = source.version();
  impl.view_kind = kind_of_view(source, kind);
  return out;
}

Tensor make_view(const Tensor& of, Layout layout, ViewKind kind) {
  return make_view(of, std::move(layout), of.dtype(), kind);
}

Tensor make_alias(const Tensor& source) {
  return make_alias(source, source.layout(), source.dtype());
}

void share_data(const Tensor& to, const Tensor& source) {
  to.set_data(source);
  to.unsafe_impl()->own_version = source.unsafe_impl()->own_version;
}

Tensor make_alias(const Tensor& source, Layout layout, ScalarType dtype) {
  return share(*source.unsafe_impl(), std::move(layout), dtype);
}

}  // namespace taeda
