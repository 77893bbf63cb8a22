#include "taeda/ops/meta_guard.h"

namespace taeda::inline v0_2 {

namespace {
constinit thread_local bool active = false;
}

MetaGuard::MetaGuard() : previous_(active) { active = true; }
MetaGuard::~MetaGuard() { active = previous_; }
bool MetaGuard::is_active() { return active; }

Device detail::device_of(const TensorOptions& options) {
  return active && !options.has_device() ? Device(kMeta) : options.device();
}

}  // namespace taeda::inline v0_2
