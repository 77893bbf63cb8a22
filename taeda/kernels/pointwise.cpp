#include "taeda/kernels/pointwise.h"

#include <atomic>

namespace taeda::inline v0_2 {

namespace {
std::atomic<uint32_t> converting{0};  // one bit for each device type
uint32_t bit_of(DeviceType type) { return 1u << static_cast<int>(type); }
}  // namespace

bool converts_operands(DeviceType type) {
  return converting.load(std::memory_order_relaxed) & bit_of(type);
}

void set_converts_operands(DeviceType type) {
  converting.fetch_or(bit_of(type), std::memory_order_relaxed);
}

}  // namespace taeda
