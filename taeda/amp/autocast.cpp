#include "taeda/amp/autocast.h"

#include "taeda/base/error.h"
#include "taeda/ops/autocast.h"

namespace taeda::inline v0_2::amp {

namespace {

/// Guards of this thread that are in scope.
constinit thread_local int depth = 0;

AutocastMode::State enter(const AutocastMode::State& state) {
  const AutocastMode::State previous = AutocastMode::state();
  AutocastMode::set_state(state);
  ++depth;
  return previous;
}

void leave(const AutocastMode::State& previous) {
  AutocastMode::set_state(previous);
  if (--depth == 0) policy::clear_cache();
}

AutocastMode::State changed(DeviceType type, OptionalDtype dtype, bool enabled,
                            std::optional<bool> cache) {
  AutocastMode::State state = AutocastMode::state();
  TAEDA_CHECK(!enabled || type != kMeta,
              "User specified an unsupported autocast device_type 'meta'");
  TAEDA_CHECK_VALUE(!enabled || !dtype || is_reduced_floating(*dtype), "autocast on ",
                    to_string(type), " expected the dtype to be Half or BFloat16, but got ",
                    to_string(*dtype));
  const uint8_t bit = AutocastMode::bit(type);
  state.devices = static_cast<uint8_t>(enabled ? state.devices | bit : state.devices & ~bit);
  if (enabled && dtype) state.dtypes[static_cast<int>(type)] = *dtype;
  state.cache = cache.value_or(state.cache);
  return state;
}

}  // namespace

autocast::autocast(Device device, OptionalDtype dtype, bool enabled,
                   std::optional<bool> cache_enabled)
    : previous_(enter(changed(device.type(), dtype, enabled, cache_enabled))) {}
autocast::~autocast() { leave(previous_); }

AutocastStateGuard::AutocastStateGuard(const AutocastMode::State& state)
    : previous_(enter(state)) {}
AutocastStateGuard::~AutocastStateGuard() { leave(previous_); }

bool is_autocast_enabled(Device device) { return AutocastMode::is_enabled(device.type()); }
ScalarType get_autocast_dtype(Device device) { return AutocastMode::dtype(device.type()); }
bool is_autocast_cache_enabled() { return AutocastMode::state().cache; }
void clear_autocast_cache() { policy::clear_cache(); }

}  // namespace taeda::inline v0_2::amp
