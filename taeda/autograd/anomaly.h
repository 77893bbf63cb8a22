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

/// For languages above the library, whose programs ask for lines of their own: `note` gives what a
/// node remembers of the place that records it, and `tell` gets that with the node's name when its
/// backward fails or gives NaN. Both are called on whatever thread records or runs the node;
/// neither may throw. Errors then name the node alone.
struct OriginNotes {
  std::string (*note)() = nullptr;
  void (*tell)(const char* node, const std::string& note) = nullptr;
};
/// Has nodes that are recorded from now on in anomaly mode keep notes.
void set_origin_notes(OriginNotes notes);
OriginNotes origin_notes();

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

}  // namespace taeda::inline v0_2::autograd
