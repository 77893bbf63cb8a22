// What runs left behind, as curves.
#pragma once

#include <string>
#include <vector>

namespace taeda::tool {

/// One figure of one run over its epochs or steps.
struct NamedCurve {
  std::string run;      ///< what tells the run from others of the file; empty for a single one
  std::string metric;   ///< "test_loss"
  std::string x_label;  ///< "epoch" or "step"
  std::vector<double> x = {}, y = {};

  /// Run and metric.
  std::string name() const;
};

/// Of a folder with result.json or event files, or of such a file, or of a RunManager's .csv or
/// .json. Throws UsageError, naming the file, for others.
std::vector<NamedCurve> read_curves(const std::string& path);

/// The parts of paths that not all of them have at their beginning or end.
std::vector<std::string> what_differs(const std::vector<std::string>& paths);

}  // namespace taeda::tool
