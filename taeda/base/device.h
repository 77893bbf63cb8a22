// The name of a device: "cpu", "cuda:0", "sim:1".
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>

namespace taeda::inline v0_2 {

/// Further types get their numbers when they are registered: base/device_types.h.
/// There are at most kDeviceTypes.
enum class DeviceType : int8_t { CPU = 0, CUDA = 1, Sim = 2, Meta = 3 };
/// Room for that many types, so that what belongs to a type is an entry of an array.
constexpr int kDeviceTypes = 8;
/// What an index must be below.
constexpr int kMaxDeviceIndex = 128;

/// The types that are built in.
constexpr DeviceType kCPU = DeviceType::CPU;
constexpr DeviceType kCUDA = DeviceType::CUDA;
constexpr DeviceType kSim = DeviceType::Sim;
/// Shapes without data: a tensor there has sizes, strides and a dtype, but no memory.
constexpr DeviceType kMeta = DeviceType::Meta;

/// "cpu", "cuda", "sim", "meta", or the name that a type was registered with.
const char* to_string(DeviceType type);

/// A device type and an index. Index -1 means the current device of that type.
/// By default the CPU; indices are below 128, else Error.
class Device {
 public:
  Device() = default;
  /// Throws Error for a type that nobody registered and for an index below -1 or from 128 on. Any
  /// index of the CPU names the one CPU.
  Device(DeviceType type, int index = -1) : type_(type), index_(static_cast<int8_t>(index)) {
    const bool built_in = type >= kCPU && type <= kMeta;
    if (!built_in || index < -1 || index >= (type == kCPU ? 1 : kMaxDeviceIndex)) [[unlikely]]
      check(type, index);
  }
  /// Parses "cpu", "cuda", "cuda:1", "sim:0". A type that is not known is looked for as a plug-in
  /// (device/plugin.h). Throws Error, in PyTorch's words, for other strings.
  Device(const std::string& text);
  Device(const char* text) : Device(std::string(text)) {}
  /// A number alone is the index of an accelerator, `cuda`. Throws Error if it is negative.
  template <std::integral I>
  requires(!std::same_as<I, bool>) Device(I index) : Device(kCUDA, accelerator_index(index)) {}
  Device(std::nullptr_t) = delete;

  DeviceType type() const { return type_; }
  int index() const { return index_; }
  bool has_index() const { return index_ >= 0; }
  bool is_cpu() const { return type_ == kCPU; }
  bool is_cuda() const { return type_ == kCUDA; }
  bool is_sim() const { return type_ == kSim; }
  bool is_meta() const { return type_ == kMeta; }
  /// Whether it has memory and streams of its own: neither the CPU nor meta.
  bool is_accelerator() const { return type_ != kCPU && type_ != kMeta; }
  /// Tensors of every type have strides.
  bool supports_as_strided() const { return true; }
  void set_index(int index) { *this = Device(type_, index); }
  /// "cuda:0", or "cuda" without an index.
  std::string str() const;
  /// "device(type='cuda', index=0)", as Python prints it.
  std::string repr() const;

  friend bool operator==(const Device&, const Device&) = default;

 private:
  static void check(DeviceType type, int index);
  static int accelerator_index(int64_t index);

  DeviceType type_ = kCPU;
  int8_t index_ = -1;
};

std::ostream& operator<<(std::ostream& out, const Device& device);

}  // namespace taeda::inline v0_2

template <>
struct std::hash<taeda::Device> {
  size_t operator()(const taeda::Device& d) const noexcept {
    return static_cast<size_t>(d.type()) * 131u + static_cast<size_t>(d.index() + 1);
  }
};
