// Functions of libtorch that are other functions of Taeda with their arguments in another form.
#pragma once

#include <taeda/base/device_types.h>
#include <taeda/ops/out_forms.h>
#include <taeda_compat/layers.h>
#include <taeda_compat/namespaces.h>

#include <string_view>

// Nothing in the place of a generator, a distance or a dimension.
namespace taeda::inline v0_2 {
inline Tensor bernoulli(const Tensor& self, std::nullopt_t) { return bernoulli(self); }
inline Tensor& bernoulli_out(Tensor& out, const Tensor& self, std::nullopt_t) {
  return bernoulli_out(out, self);
}
inline std::vector<Tensor> gradient(const Tensor& t, std::nullopt_t, OptionalDim dim = {},
                                    int64_t order = 1) {
  return gradient(t, OptionalScalar(), dim, order);
}
template <class Spacing = TensorList>
std::vector<Tensor> gradient(const Tensor& t, const Spacing& h, std::nullopt_t, int64_t order = 1) {
  return gradient(t, h, OptionalDim(), order);
}
}  // namespace taeda::inline v0_2

namespace taeda_compat {

// Questions about dtypes (c10/core/ScalarType.h).
inline bool isFloatingType(ScalarType t) { return taeda::is_floating_point(t); }
inline bool isIntegralType(ScalarType t, bool include_bool = false) {
  return taeda::is_integral(t, include_bool);
}
inline bool isComplexType(ScalarType t) { return taeda::is_complex(t); }
inline bool isSignedType(ScalarType t) { return t != kByte && t != kBool; }
inline bool canCast(ScalarType from, ScalarType to) { return taeda::can_cast(from, to); }
inline size_t elementSize(ScalarType t) { return static_cast<size_t>(taeda::element_size(t)); }
inline ScalarType promoteTypes(ScalarType a, ScalarType b) { return taeda::promote_types(a, b); }
inline ScalarType toRealValueType(ScalarType t) { return taeda::to_real_type(t); }
inline ScalarType toComplexType(ScalarType t) { return taeda::to_complex_type(t); }
inline const char* toString(ScalarType t) { return taeda::to_string(t); }
inline ScalarType dtype_or_default(std::optional<ScalarType> t) {
  return t.value_or(taeda::get_default_dtype());
}
inline ScalarType get_default_dtype_as_scalartype() { return taeda::get_default_dtype(); }
inline ScalarType get_default_complex_dtype() {
  return taeda::to_complex_type(taeda::get_default_dtype());
}
/// "cpu", or "CPU" in capitals unless `lower_case`.
inline std::string DeviceTypeName(DeviceType type, bool lower_case = false) {
  std::string name = taeda::to_string(type);
  if (!lower_case)
    for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

/// Whether the type is built in or was registered.
inline bool isValidDeviceType(DeviceType type) {
  for (const DeviceType known : taeda::device_types())
    if (known == type) return true;
  return false;
}

// Enlarging without factors, beside anything that may be a size.
#define TAEDA_COMPAT_ENLARGE(name)                                                   \
  template <class Size>                                                              \
  Tensor name(const Tensor& self, const Size& size, std::nullopt_t) {                \
    return name(self, OptionalIntArrayRef(size), std::optional<ArrayRef<double>>()); \
  }
#define TAEDA_COMPAT_ENLARGE_ALIGNED(name)                                                  \
  template <class Size>                                                                     \
  Tensor name(const Tensor& self, const Size& size, bool align, std::nullopt_t) {           \
    return name(self, OptionalIntArrayRef(size), align, std::optional<ArrayRef<double>>()); \
  }
TAEDA_COMPAT_ENLARGE(upsample_nearest1d)
TAEDA_COMPAT_ENLARGE(upsample_nearest2d)
TAEDA_COMPAT_ENLARGE(upsample_nearest3d)
TAEDA_COMPAT_ENLARGE_ALIGNED(upsample_linear1d)
TAEDA_COMPAT_ENLARGE_ALIGNED(upsample_bilinear2d)
TAEDA_COMPAT_ENLARGE_ALIGNED(upsample_bicubic2d)
TAEDA_COMPAT_ENLARGE_ALIGNED(upsample_trilinear3d)
#undef TAEDA_COMPAT_ENLARGE
#undef TAEDA_COMPAT_ENLARGE_ALIGNED

// Options, and what stands for those that were not given (c10/core/TensorOptions.h).
using Layout = TensorLayout;
inline TensorOptions device_index(int16_t index) { return TensorOptions().device_index(index); }
inline Device device_or_default(std::optional<Device> d) { return d.value_or(Device(kCPU)); }
inline TensorLayout layout_or_default(std::optional<TensorLayout> l) {
  return l.value_or(kStrided);
}
inline bool pinned_memory_or_default(std::optional<bool> on) { return on.value_or(false); }
inline MemoryFormat get_contiguous_memory_format() { return MemoryFormat::Contiguous; }
/// "TensorOptions(dtype=Float (default), device=cpu (default), ...)".
inline std::string toString(const TensorOptions& o) {
  const auto given = [](bool is) { return is ? "" : " (default)"; };
  const auto flag = [](bool on) { return on ? "true" : "false"; };
  return taeda::detail::concat(
      "TensorOptions(dtype=", o.dtype(), given(o.has_dtype()), ", device=", o.device(),
      given(o.has_device()), ", layout=Strided (default), requires_grad=", flag(o.requires_grad()),
      given(o.has_requires_grad()), ", pinned_memory=", flag(o.pinned_memory()),
      given(o.has_pinned_memory()), ")");
}
/// A tensor without dimensions; of a number's own dtype: double, int64, bool or complex double.
inline Tensor scalar_to_tensor(const Scalar& s, const Device device = kCPU) {
  return taeda::scalar_tensor(s, TensorOptions(s.type()).device(device));
}

/// libtorch's class below Tensor, which programs take as an argument.
using TensorBase = Tensor;
/// A kind of device and a dtype: `at::CUDA(at::kFloat)`.
inline TensorType CPU(ScalarType t) { return {kCPU, t}; }
inline TensorType CUDA(ScalarType t) { return {kCUDA, t}; }
/// Whether both are undefined, or both defined and equal.
inline bool equal_if_defined(Tensor a, Tensor b) {
  return a.defined() == b.defined() && (!a.defined() || a.equal(b));
}
constexpr ScalarType kU8 = kUInt8, kI8 = kInt8, kI16 = kInt16, kI32 = kInt32, kI64 = kInt64;
constexpr ScalarType kF16 = kFloat16, kF32 = kFloat32, kF64 = kFloat64;

/// Makes a device current for a scope, if there is one.
class OptionalDeviceGuard {
 public:
  OptionalDeviceGuard() = default;
  explicit OptionalDeviceGuard(Device device) { reset_device(device); }
  explicit OptionalDeviceGuard(std::optional<Device> device) {
    if (device) reset_device(*device);
  }
  void reset_device(Device device) {
    guard_.reset();
    guard_.emplace(device);
    current_ = device;
  }
  std::optional<Device> current_device() const { return current_; }
  /// The device that is current again when the scope ends.
  std::optional<Device> original_device() const {
    return guard_ ? std::optional(guard_->original_device()) : std::nullopt;
  }

 private:
  std::optional<taeda::DeviceGuard> guard_;
  std::optional<Device> current_;
};
/// The device a tensor is on; none for an undefined one.
inline std::optional<Device> device_of(const Tensor& t) {
  return t.defined() ? std::optional(t.device()) : std::nullopt;
}
/// Of the first one.
inline std::optional<Device> device_of(TensorList tensors) {
  return tensors.empty() ? std::nullopt : device_of(tensors[0]);
}

/// What an event of c10 was made for; all of Taeda's order streams, none measures time.
enum class EventFlag { PYTORCH_DEFAULT, BACKEND_DEFAULT, INVALID };
/// libtorch's event, which is told the type of its device; one without a type is Taeda's.
class Event : public taeda::Event {
 public:
  explicit Event(bool enable_timing = false) : taeda::Event(enable_timing) {}
  explicit Event(DeviceType type, EventFlag flag = EventFlag::PYTORCH_DEFAULT)
      : type_(type), flag_(flag) {}
  DeviceType device_type() const { return type_.value_or(taeda::Event::device_type()); }
  EventFlag flag() const { return flag_; }
  /// Throws Error for a stream of another type.
  void record(const Stream& stream) {
    TAEDA_CHECK(stream.device_type() == device_type() || !type_, "Event device type ",
                device_type(), " does not match recording stream's device type ",
                stream.device_type(), ".");
    taeda::Event::record(stream);
    marked_ = true;
  }
  void recordOnce(const Stream& stream) {
    if (!marked_) record(stream);
  }
  bool was_marked_for_recording() const { return marked_; }

 private:
  std::optional<DeviceType> type_;
  EventFlag flag_ = EventFlag::PYTORCH_DEFAULT;
  bool marked_ = false;
};

}  // namespace taeda_compat

namespace taeda {
/// "Strided" or "Sparse"; a tensor's `layout()` prints so, too.
inline std::ostream& operator<<(std::ostream& out, TensorLayout layout) {
  return out << (layout == kSparse ? "Sparse" : "Strided");
}
}  // namespace taeda

// Inner namespaces are Taeda's: what libtorch has there in addition.
namespace taeda::autograd {
inline bool isDifferentiableType(ScalarType t) { return taeda::is_differentiable(t); }
using Variable = Tensor;
using taeda::AutoGradMode;
using taeda::GradMode;
using taeda::InferenceMode;
/// How a view came to be, by libtorch's names of the kinds.
enum class CreationMeta : uint8_t {
  DEFAULT = static_cast<uint8_t>(ViewKind::Default),
  NO_GRAD_MODE = static_cast<uint8_t>(ViewKind::NoGrad),
  MULTI_OUTPUT_NODE = static_cast<uint8_t>(ViewKind::MultiOutput),
  INFERENCE_MODE = static_cast<uint8_t>(ViewKind::Inference),
  IN_CUSTOM_FUNCTION = static_cast<uint8_t>(ViewKind::CustomFunction),
};
}  // namespace taeda::autograd

namespace taeda::fft {
/// fftfreq and rfftfreq with a spacing of 1.
inline Tensor fftfreq(int64_t n, const TensorOptions& options) { return fftfreq(n, 1, options); }
inline Tensor rfftfreq(int64_t n, const TensorOptions& options) { return rfftfreq(n, 1, options); }
}  // namespace taeda::fft

namespace taeda::nn::init {
using FanModeType = FanMode;
using NonlinearityType = Nonlinearity;
}  // namespace taeda::nn::init

namespace taeda::cuda {
using CUDAStream = Stream;
using CUDAStreamGuard = taeda::StreamGuard;
/// Makes a GPU current for a scope.
struct CUDAGuard : taeda::DeviceGuard {
  explicit CUDAGuard(int index) : DeviceGuard(Device(kType, index)) {}
  explicit CUDAGuard(Device device) : DeviceGuard(device) {}
};
inline CUDAStream getCurrentCUDAStream(int index = -1) { return current_stream(index); }
inline CUDAStream getDefaultCUDAStream(int index = -1) { return default_stream(index); }
/// A stream of the pool, of the greatest priority if asked for.
inline CUDAStream getStreamFromPool(bool high_priority = false, int index = -1) {
  const int priority =
      high_priority ? taeda::stream_priority_range(Device(kType, index)).greatest : 0;
  return new_stream(index, priority);
}
inline void setCurrentCUDAStream(const CUDAStream& stream) { set_stream(stream); }
}  // namespace taeda::cuda
