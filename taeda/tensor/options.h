// What a creation function needs to know besides the sizes.
#pragma once

#include <optional>
#include <type_traits>

#include "taeda/base/device.h"
#include "taeda/base/dtype.h"
#include "taeda/tensor/layout.h"

namespace taeda::inline v0_2 {

/// dtype, device, layout, requires_grad, pinned memory and memory format; each has PyTorch's
/// default until set. A dtype or a device converts to options by itself: `zeros({2}, kLong)`,
/// `ones({2}, "sim:0")`.
class TensorOptions {
 public:
  TensorOptions() = default;
  TensorOptions(ScalarType dtype) : dtype_(dtype) {}
  TensorOptions(Device device) : device_(device) {}
  TensorOptions(DeviceType device) : device_(Device(device)) {}
  TensorOptions(TensorLayout layout) : layout_(layout) {}
  TensorOptions(MemoryFormat format) : memory_format_(format) {}
  /// "sim:0". Takes strings only: a literal 0 must not pass for a null pointer, as in arange(3, 0).
  template <class S>
  requires(std::is_convertible_v<const S&, std::string>) TensorOptions(const S& device)
      : device_(Device(std::string(device))) {}

  TensorOptions dtype(ScalarType t) const { return with(&TensorOptions::dtype_, t); }
  TensorOptions device(Device d) const { return with(&TensorOptions::device_, d); }
  TensorOptions device(DeviceType t, int index) const { return device(Device(t, index)); }
  TensorOptions requires_grad(bool on) const { return with(&TensorOptions::requires_grad_, on); }
  TensorOptions pinned_memory(bool on) const { return with(&TensorOptions::pinned_memory_, on); }
  TensorOptions memory_format(MemoryFormat f) const {
    return with(&TensorOptions::memory_format_, f);
  }
  TensorOptions layout(TensorLayout l) const { return with(&TensorOptions::layout_, l); }
  TensorOptions layout(std::optional<TensorLayout> l) const {
    return with(&TensorOptions::layout_, l.value_or(kStrided));
  }
  /// The GPU of that index.
  TensorOptions device_index(int index) const { return device(Device(kCUDA, index)); }
  // The same with what may be absent, which then is not set.
  // An empty one leaves the default.
  TensorOptions dtype(std::optional<ScalarType> t) const { return with(&TensorOptions::dtype_, t); }
  template <class D>  // nothing that a device is made from
  requires(std::is_same_v<D, std::optional<Device>> ||
           std::is_same_v<D, std::nullopt_t>) TensorOptions device(const D& d)
  const { return with(&TensorOptions::device_, std::optional<Device>(d)); }
  TensorOptions requires_grad(std::optional<bool> on) const {
    return with(&TensorOptions::requires_grad_, on);
  }
  TensorOptions pinned_memory(std::optional<bool> on) const {
    return with(&TensorOptions::pinned_memory_, on);
  }
  TensorOptions memory_format(std::optional<MemoryFormat> f) const {
    return with(&TensorOptions::memory_format_, f);
  }

  bool has_dtype() const { return dtype_.has_value(); }
  bool has_device() const { return device_.has_value(); }
  ScalarType dtype() const { return dtype_.value_or(get_default_dtype()); }
  ScalarType dtype_or(ScalarType t) const { return dtype_.value_or(t); }
  Device device() const { return device_.value_or(Device(kCPU)); }
  int device_index() const { return device().index(); }
  TensorLayout layout() const { return layout_; }
  std::optional<TensorLayout> layout_opt() const { return layout_; }
  bool is_sparse() const { return layout_ == kSparse; }
  bool is_sparse_csr() const { return layout_ == kSparseCsr; }
  bool requires_grad() const { return requires_grad_.value_or(false); }
  bool pinned_memory() const { return pinned_memory_.value_or(false); }
  MemoryFormat memory_format() const { return memory_format_.value_or(MemoryFormat::Contiguous); }

  /// With that memory format, if there is one.
  TensorOptions merge_memory_format(std::optional<MemoryFormat> f) const {
    return f ? memory_format(*f) : *this;
  }

  bool has_layout() const { return layout_ != kStrided; }
  bool has_requires_grad() const { return requires_grad_.has_value(); }
  bool has_pinned_memory() const { return pinned_memory_.has_value(); }
  bool has_memory_format() const { return memory_format_.has_value(); }
  std::optional<ScalarType> dtype_opt() const { return dtype_; }
  std::optional<Device> device_opt() const { return device_; }
  std::optional<bool> requires_grad_opt() const { return requires_grad_; }
  std::optional<bool> pinned_memory_opt() const { return pinned_memory_; }
  std::optional<MemoryFormat> memory_format_opt() const { return memory_format_; }

 private:
  template <class M, class V>
  TensorOptions with(M member, V value) const {
    TensorOptions out = *this;
    out.*member = value;
    return out;
  }

  std::optional<ScalarType> dtype_;
  std::optional<Device> device_;
  std::optional<bool> requires_grad_;
  std::optional<bool> pinned_memory_;
  std::optional<MemoryFormat> memory_format_;
  TensorLayout layout_ = kStrided;
};

/// Options with one of them set, to start a chain.
/// Those that are not set stay at their default.
inline TensorOptions dtype(ScalarType t) { return TensorOptions().dtype(t); }
inline TensorOptions device(Device d) { return TensorOptions().device(d); }
inline TensorOptions layout(TensorLayout l) { return TensorOptions().layout(l); }
inline TensorOptions memory_format(MemoryFormat f) { return TensorOptions().memory_format(f); }
inline TensorOptions pinned_memory(bool on = true) { return TensorOptions().pinned_memory(on); }
inline TensorOptions requires_grad(bool on = true) { return TensorOptions().requires_grad(on); }

}  // namespace taeda::inline v0_2
