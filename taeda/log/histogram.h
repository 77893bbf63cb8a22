// How often values fall between limits, as TensorBoard's histograms show it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "taeda/base/array_ref.h"

namespace taeda::inline v0_2::logging {

/// Limits between buckets: "tensorflow", or a list of your own in rising order.
class HistogramBins {
 public:
  /// Throws ValueError for other names.
  HistogramBins(const std::string& name = "tensorflow");
  HistogramBins(const char* name) : HistogramBins(std::string(name)) {}
  /// Throws ValueError for fewer than two limits, and unless each is larger than the one before.
  HistogramBins(std::vector<double> limits);
  const std::vector<double>& limits() const { return limits_; }

 private:
  std::vector<double> limits_;
};

/// Counts by bucket and the moments of all values.
/// Empty by default.
struct HistogramData {
  double min = 0, max = 0, num = 0, sum = 0, sum_squares = 0;
  /// The right ends of the buckets and how many values each holds. The first bucket is empty and
  /// says where the second one begins.
  std::vector<double> limits, counts;
};

/// Counts values. TensorFlow's limits are 0 and plus and minus 1e-12 * 1.1^k below 1e20. A value
/// beyond the limits counts in the outermost bucket; nan is not counted. Buckets outside the first
/// and last value are left out; with `max_bins` neighbours are joined until there are no more.
HistogramData make_histogram(ArrayRef<double> values, const HistogramBins& bins = {},
                             int64_t max_bins = 0);

}  // namespace taeda::logging
