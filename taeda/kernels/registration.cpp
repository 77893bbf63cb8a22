#include "taeda/kernels/registration.h"

#include <mutex>

#include "taeda/kernels/slot.h"

namespace taeda::inline v0_2 {

// Slots of accelerators are filled when their backend is loaded, which is before their first tensor
// exists. The CPU and meta have no such moment: the first slot that finds itself empty comes here.
void detail::load_kernels(DeviceType type) {
  static std::once_flag cpu, meta;
  if (type == kCPU) std::call_once(cpu, register_cpu_kernels);
  if (type == kMeta) std::call_once(meta, register_meta_kernels);
}

}  // namespace taeda::inline v0_2
