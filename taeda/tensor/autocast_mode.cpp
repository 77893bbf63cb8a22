#include "taeda/tensor/autocast_mode.h"

#include "taeda/base/device_types.h"

namespace taeda::inline v0_2 {

constinit thread_local AutocastMode::State AutocastMode::state_;
constinit thread_local uint32_t Interceptors::word_ = 0;

ScalarType AutocastMode::own_dtype(DeviceType type) {
  return device_type_info(type).lower_precision;
}

}  // namespace taeda
