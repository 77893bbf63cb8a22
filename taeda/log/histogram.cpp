#include "taeda/log/histogram.h"

#include <algorithm>
#include <cmath>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::logging {

namespace {

constexpr double kSmallest = 1e-12, kLargest = 1e20, kGrowth = 1.1;

const std::vector<double>& tensorflow_limits() {
  static const std::vector<double> limits = [] {
    std::vector<double> out;
    for (double v = kSmallest; v < kLargest; v *= kGrowth) out.push_back(-v);
    std::reverse(out.begin(), out.end());
    out.push_back(0);
    for (double v = kSmallest; v < kLargest; v *= kGrowth) out.push_back(v);
    return out;
  }();
  return limits;
}

/// The bucket whose left end is the last limit not above the value; the last one is closed.
size_t bucket_of(double value, const std::vector<double>& limits) {
  const auto right = std::upper_bound(limits.begin(), limits.end(), value);
  const auto at = std::clamp<std::ptrdiff_t>(right - limits.begin(), 1,
                                             static_cast<std::ptrdiff_t>(limits.size()) - 1);
  return static_cast<size_t>(at - 1);
}

/// Joins runs of `step` buckets.
void join(size_t step, std::vector<double>& limits, std::vector<double>& counts) {
  std::vector<double> wide_limits = {limits.front()}, wide_counts;
  for (size_t i = 0; i < counts.size(); i += step) {
    const size_t end = std::min(i + step, counts.size());
    double sum = 0;
    for (size_t j = i; j < end; ++j) sum += counts[j];
    wide_counts.push_back(sum);
    wide_limits.push_back(limits[end]);
  }
  limits = std::move(wide_limits);
  counts = std::move(wide_counts);
}

}  // namespace

HistogramBins::HistogramBins(const std::string& name) : limits_(tensorflow_limits()) {
  TAEDA_CHECK_VALUE(name == "tensorflow", "unknown bins '", name,
                    "' of a histogram; expected 'tensorflow' or a list of limits");
}

HistogramBins::HistogramBins(std::vector<double> limits) : limits_(std::move(limits)) {
  const bool rising = std::adjacent_find(limits_.begin(), limits_.end(), [](double a, double b) {
                        return !(a < b);
                      }) == limits_.end();
  TAEDA_CHECK_VALUE(limits_.size() >= 2 && rising,
                    "the limits of a histogram must be at least two, in rising order");
}

HistogramData make_histogram(ArrayRef<double> values, const HistogramBins& bins, int64_t max_bins) {
  TAEDA_CHECK_VALUE(max_bins >= 0, "make_histogram: max_bins must not be negative, got ", max_bins);
  std::vector<double> limits = bins.limits(), counts(limits.size() - 1);
  HistogramData out;
  for (double v : values) {
    if (std::isnan(v)) continue;
    out.min = out.num == 0 ? v : std::min(out.min, v);
    out.max = out.num == 0 ? v : std::max(out.max, v);
    ++out.num;
    out.sum += v;
    out.sum_squares += v * v;
    ++counts[bucket_of(v, limits)];
  }
  if (max_bins > 0 && counts.size() > static_cast<size_t>(max_bins))
    join((counts.size() + static_cast<size_t>(max_bins) - 1) / static_cast<size_t>(max_bins),
         limits, counts);
  const auto used = [](double count) { return count > 0; };
  const auto first = std::find_if(counts.begin(), counts.end(), used) - counts.begin();
  const auto last = std::find_if(counts.rbegin(), counts.rend(), used).base() - counts.begin();
  out.limits.assign(limits.begin() + std::min(first, last), limits.begin() + last + 1);
  out.counts.assign(1, 0);
  if (first < last)
    out.counts.insert(out.counts.end(), counts.begin() + first, counts.begin() + last);
  return out;
}

}  // namespace taeda::inline v0_2::logging
