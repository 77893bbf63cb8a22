#include "taeda/autograd/anomaly.h"

#include <atomic>

namespace taeda::inline v0_2::autograd {

namespace {
std::atomic<bool> enabled{false};
std::atomic<bool> check_nans{true};
}  // namespace

bool AnomalyMode::is_enabled() { return enabled.load(std::memory_order_relaxed); }
bool AnomalyMode::checks_nan() {
  return is_enabled() && check_nans.load(std::memory_order_relaxed);
}

void AnomalyMode::set_enabled(bool on, bool check_nan) {
  enabled.store(on, std::memory_order_relaxed);
  check_nans.store(check_nan, std::memory_order_relaxed);
}

void set_detect_anomaly(bool on, bool check_nan) { AnomalyMode::set_enabled(on, check_nan); }

DetectAnomalyGuard::DetectAnomalyGuard(bool check_nan)
    : previous_(AnomalyMode::is_enabled()), previous_nan_(check_nans.load()) {
  AnomalyMode::set_enabled(true, check_nan);
}

DetectAnomalyGuard::~DetectAnomalyGuard() { AnomalyMode::set_enabled(previous_, previous_nan_); }

}  // namespace taeda::autograd
