#include "taeda/autograd/anomaly.h"

#include <atomic>

namespace taeda::inline v0_2::autograd {

namespace {
std::atomic<bool> enabled{false};
std::atomic<bool> check_nans{true};
std::atomic<decltype(OriginNotes::note)> note_origin{nullptr};
std::atomic<decltype(OriginNotes::tell)> tell_origin{nullptr};
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

void set_origin_notes(OriginNotes notes) {
  note_origin = notes.note;
  tell_origin = notes.tell;
}
OriginNotes origin_notes() { return {.note = note_origin, .tell = tell_origin}; }

DetectAnomalyGuard::DetectAnomalyGuard(bool check_nan)
    : previous_(AnomalyMode::is_enabled()), previous_nan_(check_nans.load()) {
  AnomalyMode::set_enabled(true, check_nan);
}

DetectAnomalyGuard::~DetectAnomalyGuard() { AnomalyMode::set_enabled(previous_, previous_nan_); }

}  // namespace taeda::inline v0_2::autograd
