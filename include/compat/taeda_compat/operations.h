// Functions of libtorch that are other functions of Taeda with their arguments in another form.
#pragma once

#include <taeda/tensor/promote.h>
#include <taeda_compat/namespaces.h>

#include <string_view>

namespace taeda_compat {

/// The dtype that arithmetic of the two gives.
template <class A, class B>
requires(std::constructible_from<Operand, const A&>&& std::constructible_from<Operand, const B&>)
    ScalarType result_type(const A& a, const B& b) {
  const Operand both[] = {Operand(a), Operand(b)};
  return taeda::result_type(both);
}

// Questions about dtypes (c10/core/ScalarType.h).
inline bool isFloatingType(ScalarType t) { return taeda::is_floating_point(t); }
inline bool isIntegralType(ScalarType t, bool include_bool) {
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

 private:
  std::optional<taeda::DeviceGuard> guard_;
  std::optional<Device> current_;
};
/// The device a tensor is on; none for an undefined one.
inline std::optional<Device> device_of(const Tensor& t) {
  return t.defined() ? std::optional(t.device()) : std::nullopt;
}

}  // namespace taeda_compat

// Inner namespaces are Taeda's: what libtorch has there in addition.
namespace taeda::autograd {
using Variable = Tensor;
using taeda::AutoGradMode;
using taeda::GradMode;
}  // namespace taeda::autograd

namespace taeda::nn::functional {
using taeda::one_hot;
}  // namespace taeda::nn::functional

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
