#include "taeda/tensor/tensor.h"

#include <algorithm>

#include "taeda/base/called_function.h"
#include "taeda/base/error.h"
#include "taeda/device/registry.h"
#include "taeda/tensor/grad_mode.h"
#include "taeda/tensor/no_data.h"
#include "taeda/tensor/parts.h"

namespace taeda::inline v0_2 {

void detail::throw_undefined_tensor() {
  const std::string function = called_function();
  throw Error(
      concat(function, function.empty() ? "" : "(): ",
             "Expected a tensor, but got an undefined Tensor (default-constructed, or a gradient "
             "that was never computed)"));
}

MemoryFormat TensorBase::suggest_memory_format(bool /*channels_last_strides_exact_match*/) const {
  return impl().contiguous                ? MemoryFormat::Contiguous
         : layout().is_channels_last()    ? MemoryFormat::ChannelsLast
         : layout().is_channels_last_3d() ? MemoryFormat::ChannelsLast3d
                                          : MemoryFormat::Contiguous;
}

int64_t TensorBase::_version() const {
  TAEDA_CHECK(!is_inference(), "Inference tensors do not track version counter.");
  return impl().version();
}

void detail::throw_wrong_pointer_type(ScalarType have, ScalarType want) {
  throw Error(concat("expected scalar type ", to_string(want), " but found ", to_string(have)));
}

void detail::check_no_elements(int64_t numel) {
  if (numel > 0)
    throw_no_data({"data_ptr", "const_data_ptr", "mutable_data_ptr", "accessor"},
                  "The tensor has a non-zero number of elements, but its data is not allocated: it "
                  "is on the meta device");
}

void detail::throw_no_data(std::initializer_list<std::string_view> own, const char* text) {
  const std::string operation = called_function();
  if (operation.empty() || std::find(own.begin(), own.end(), operation) != own.end())
    throw NotImplementedError(text);
  throw NotImplementedError(concat(operation,
                                   ": attempted to run this operator with Meta tensors, but its "
                                   "result depends on values, which they do not have"));
}

ReductionArg::ReductionArg(int64_t number) : reduction_(static_cast<Reduction>(number)) {
  TAEDA_CHECK(number >= 0 && number <= 2, "a reduction is 0 (none), 1 (mean) or 2 (sum), but got ",
              number);
}

namespace {

Tensor allocate(Layout&& layout, bool contiguous, ScalarType dtype, Device device) {
  if (layout.ndim() > kMaxLoopDims) [[unlikely]]
    checked_numel(layout.sizes);  // it says what is wrong
  const int64_t item = element_size(dtype);
  if (item == 0) [[unlikely]]
    throw TypeError(detail::concat("a tensor of dtype ", static_cast<int>(dtype),
                                   " cannot be made: there is no such dtype"));
  int64_t n = 1, negative = 0, bytes = 0;
  bool overflows = false;
  for (const int64_t s : layout.sizes) {
    overflows |= __builtin_mul_overflow(n, s, &n);
    negative |= s;
  }
  overflows |= __builtin_mul_overflow(n, item, &bytes);
  if (overflows || negative < 0) [[unlikely]]  // it says what is wrong
    bytes = checked_nbytes(layout.sizes, item);
  const Device where = device.is_cpu() ? Device(kCPU) : resolve(device);
  auto impl = make_intrusive<TensorImpl>(Storage::allocate(where, static_cast<size_t>(bytes)),
                                         std::move(layout), dtype, n, contiguous);
  impl->inference = InferenceMode::is_enabled();
  return Tensor(std::move(impl));
}

}  // namespace

Tensor make_tensor(Layout layout, ScalarType dtype, Device device) {
  const bool contiguous = layout.is_contiguous();
  return allocate(std::move(layout), contiguous, dtype, device);
}

Tensor make_tensor(IntArrayRef sizes, ScalarType dtype, Device device) {
  Layout layout;
  // Not at once: a call that copies memory takes longer than a few dimensions do.
  for (const int64_t size : sizes) layout.sizes.push_back(size);
  layout.strides = contiguous_strides(sizes);
  return allocate(std::move(layout), true, dtype, device);
}

namespace {

/// What restricts a view restricts its views, unless how they are made restricts them otherwise.
ViewKind kind_of_view(const TensorImpl& source, ViewKind made) {
  if (InferenceMode::is_enabled()) return ViewKind::Inference;
  if (!GradMode::is_enabled()) return ViewKind::NoGrad;
  return made == ViewKind::Default && source.view_kind != ViewKind::None ? source.view_kind : made;
}

Tensor share(const TensorImpl& source, IntrusivePtr<TensorImpl> impl) {
  impl->inference = source.inference;
  impl->own_version = source.own_version;
  return Tensor(std::move(impl));
}

Tensor share(const TensorImpl& source, Layout&& layout, ScalarType dtype) {
  return share(source, make_intrusive<TensorImpl>(source.storage, std::move(layout), dtype));
}

Tensor view_of(const Tensor& of, Layout&& layout, ScalarType dtype, ViewKind kind) {
  const TensorImpl& source = *of.unsafe_impl();
  if (!source.layout.is_strided()) [[unlikely]]
    source.storage->throw_without_memory();
  Tensor out = share(source, std::move(layout), dtype);
  if (source.inference) return out;  // what has no history needs none to follow it
  TensorImpl& impl = *out.unsafe_impl();
  impl.base = source.base ? source.base : of.impl_ptr();
  impl.view_version = source.version();
  impl.view_kind = kind_of_view(source, kind);
  return out;
}

}  // namespace

Tensor make_view(const Tensor& of, Layout layout, ScalarType dtype, ViewKind kind) {
  return view_of(of, std::move(layout), dtype, kind);
}

Tensor make_view(const Tensor& of, Layout layout, ViewKind kind) {
  return view_of(of, std::move(layout), of.dtype(), kind);
}

Tensor make_alias(const Tensor& source) {
  const TensorImpl& from = *source.unsafe_impl();
  return share(from, make_intrusive<TensorImpl>(from.storage, Layout(from.layout), from.dtype,
                                                from.numel, from.contiguous));
}

void share_data(const Tensor& to, const Tensor& source) {
  to.set_data(source);
  to.unsafe_impl()->own_version = source.unsafe_impl()->own_version;
}

Tensor make_alias(const Tensor& source, Layout layout, ScalarType dtype) {
  return share(*source.unsafe_impl(), std::move(layout), dtype);
}

namespace {

/// Of a part's versions: Note [Parts] in parts.h.
constexpr uint32_t kFirstPartVersion = 1u << 31;

}  // namespace

Tensor make_part(const Tensor& whole, Layout layout) {
  const Tensor out = make_alias(whole, std::move(layout), whole.dtype());
  out.unsafe_impl()->own_version = make_intrusive<VersionCounter>(kFirstPartVersion);
  return out;
}

uint32_t holders_of_memory(const Tensor& t) {
  const TensorImpl& impl = *t.unsafe_impl();
  const bool is_part = impl.own_version && impl.version() >= kFirstPartVersion;
  return is_part ? impl.own_version->use_count() : impl.storage.use_count();
}

}  // namespace taeda::inline v0_2
