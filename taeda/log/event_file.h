// Reading TensorBoard's event files back: what a run logged, for plots and for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace taeda::inline v0_2::logging {

struct EventValue {
  std::string tag;
  /// the kind of the value, "scalar", "histogram", "image" or "tensor" (texts, hyperparameters,
  /// other plug-ins), and a scalar's value, NaN by default
  std::string kind;
  std::optional<double> scalar;
};

/// One record: the values of a step; wall time in seconds since 1970.
struct Event {
  double wall_time = 0;
  int64_t step = 0;
  std::vector<EventValue> values;
  /// "version", "graph" or "session" for an event that is no summary; else empty.
  std::string other;
};

/// What could be read of a file; empty where nothing could.
struct EventFile {
  std::vector<Event> events;
  /// Why the file could not be read to its end, as a run that goes on or was killed leaves it;
  /// else empty.
  std::string damage;
};

/// Throws Error, naming the path, when the file cannot be opened; NotImplementedError without
/// Protocol Buffers.
EventFile read_event_file(const std::string& path);

}  // namespace taeda::logging
