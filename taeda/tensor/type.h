// What older programs ask a tensor for as `x.type()`.
#pragma once

#include <string>

#include "taeda/tensor/options.h"

namespace taeda::inline v0_2 {

/// A kind of device and a dtype, which stand for options and for the dtype: `zeros({2}, x.type())`.
class TensorType {
 public:
  TensorType(DeviceType device, ScalarType dtype, TensorLayout layout = kStrided)
      : device_(device), dtype_(dtype), layout_(layout) {}

  ScalarType scalarType() const { return dtype_; }
  DeviceType device_type() const { return device_; }
  bool is_cuda() const { return device_ == kCUDA; }
  bool is_sparse() const { return layout_ == kSparse; }
  /// "CPUFloatType", "SparseCPUFloatType".
  std::string toString() const;
  operator ScalarType() const { return dtype_; }
  operator TensorOptions() const {
    return TensorOptions(dtype_).device(Device(device_)).layout(layout_);
  }
  TensorOptions options() const { return *this; }
  friend bool operator==(const TensorType&, const TensorType&) = default;

 private:
  DeviceType device_;
  ScalarType dtype_;
  TensorLayout layout_;
};

}  // namespace taeda
