// Anomaly detection: names the forward operation behind a failing or NaN-producing backward.
#pragma once

#include <string>

namespace taeda::inline v0_2::autograd {

/// A process-wide switch, as torch.autograd.set_detect_anomaly.
struct AnomalyMode {
  /// `check_nan`: a backward that gives NaN throws Error, naming the operation that was recorded.
  static bool is_enabled();
  static bool checks_nan();
  static bool should_check_nan() { return checks_nan(); }
  static void set_enabled(bool on, bool check_nan = true);
};

/// As AnomalyMode::set_enabled.
void set_detect_anomaly(bool on, bool check_nan = true);

/// torch.autograd.detect_anomaly for a scope.
class DetectAnomalyGuard {
 public:
  explicit DetectAnomalyGuard(bool check_nan = true);
  ~DetectAnomalyGuard();
  DetectAnomalyGuard(const DetectAnomalyGuard&) = delete;
  DetectAnomalyGuard& operator=(const DetectAnomalyGuard&) = delete;

 private:
  bool previous_, previous_nan_;
};

}  // namespace taeda::autograd
