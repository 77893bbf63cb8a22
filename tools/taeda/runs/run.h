// Runs of `taeda train`, as their folders tell of them.
#pragma once

#include <cmath>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/taeda/json.h"

namespace taeda::tool {

struct Run {
  struct Epoch {
    double train_loss = NAN, test_loss = NAN, train_accuracy = NAN, test_accuracy = NAN;
    double seconds = 0;
  };

  std::string folder, state, device = {};  ///< state: "finished", "unfinished", "no checkpoint"
  /// Names and values, without data and other places.
  std::vector<std::pair<std::string, std::string>> settings = {};
  std::vector<Epoch> epochs = {};
  std::time_t date = 0;
  double rate = NAN;  ///< units each second
  std::string unit = {};
  Json result = {};  ///< result.json; null where the run is not finished

  std::string setting(const std::string& name) const;
  const Epoch* best() const;
  double seconds() const;
};

/// The run in a folder; none where there is something else, and a reason where it cannot be read.
std::optional<Run> read_run(const std::filesystem::path& folder);
/// Throws UsageError for a folder that is not there or holds no run.
std::vector<Run> read_runs(const std::vector<std::string>& folders);

/// Name and the value of each run.
using RunLines = std::vector<std::vector<std::string>>;
/// The settings that differ; `all`: every one.
RunLines run_settings(const std::vector<Run>& runs, bool all = false);
/// Losses, accuracies, times.
RunLines run_figures(const std::vector<Run>& runs);
/// What a reader tells the runs apart by: the folders, or what of them differs, with the settings
/// that differ.
std::vector<std::string> run_labels(const std::vector<Run>& runs);

// "3/5", "0.3642", "86.79%", "2026-11-24 02:33"; empty for what is not known.

std::string epochs_text(const Run& run);
std::string loss_text(double loss);
std::string accuracy_text(double accuracy);
std::string date_text(std::time_t time);

}  // namespace taeda::tool
