// The messages in TensorBoard's files, serialised: the only place that knows Protocol Buffers. In a
// build without that package every function throws NotImplementedError.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "taeda/log/graph.h"
#include "taeda/log/histogram.h"
#include "taeda/log/hparams.h"

namespace taeda::inline v0_2::logging::summary {

/// Throws NotImplementedError in a build without Protocol Buffers.
void check_available();

/// When something happened. TensorBoard shows events by step or by time (seconds since 1970).
struct When {
  double wall_time = 0;
  int64_t step = 0;
};

// Events.

/// The first event of a file; readers must find it there.
std::string version_event(const When& when);
/// Tells TensorBoard to forget what other files say about this step and later ones; an event with a
/// summary; and one with a graph, whose time is in seconds.
std::string session_start_event(const When& when);
std::string event(const When& when, std::string summary);
std::string graph_event(const When& when, const std::vector<GraphNode>& nodes);

// Summaries.

/// Serialised summaries; of a scalar, in which form TensorBoard gets it.
/// Pictures are bytes of 0 to 255, rows from the top, shape [height, width, channels].
enum class ScalarKind { kSimple, kFloatTensor, kDoubleTensor };
std::string scalar(const std::string& tag, double value, ScalarKind kind = ScalarKind::kSimple);
std::string histogram(const std::string& tag, const HistogramData& data);
std::string image(const std::string& tag, int64_t height, int64_t width, int64_t channels,
                  std::string png);
/// A text in Markdown; an empty one is shown as such.
std::string text(const std::string& tag, const std::string& content);

/// The values that a hyperparameter may have; an empty list means any.
struct HParamDomain {
  std::string name;
  std::vector<HParam> values;
};
/// The three that the plug-in "hparams" wants: which hyperparameters and metrics there are, the
/// values of this run, and that it ended.
std::string hparams_experiment(const HParams& params, const std::vector<std::string>& metrics,
                               const std::vector<HParamDomain>& domains);
std::string hparams_start(const HParams& params, double time);
std::string hparams_end(double time);

}  // namespace taeda::logging::summary
