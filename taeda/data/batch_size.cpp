#include "taeda/data/batch_size.h"

#include <algorithm>
#include <map>
#include <optional>

#include "taeda/base/error.h"
#include "taeda/device/allocator.h"
#include "taeda/device/registry.h"

namespace taeda::inline v0_2::data {

namespace {

class Search {
 public:
  Search(const std::function<void(int64_t)>& step, const BatchSizeOptions& options)
      : step_(step), device_(resolve(options.device)) {}

  bool fits(int64_t batch_size) {
    ++tries_;
    clean();
    allocator::reset_peak_memory_stats(device_);
    bool done = true;
    try {
      step_(batch_size);
      synchronize(device_);
      peaks_[batch_size] = allocator::memory_stats(device_).peak_allocated;
    } catch (const OutOfMemoryError& e) {
      done = false;
      error_ = e;
    }
    clean();
    return done;
  }

  BatchSizeReport report(int64_t largest) const {
    if (largest == 0) {
      OutOfMemoryError error = *error_;
      error.add_context("find_batch_size: not even a batch of one sample fits");
      throw error;
    }
    const auto [n, bytes] = *peaks_.begin();
    BatchSizeReport out{.batch_size = largest, .peak_bytes = peaks_.at(largest), .tries = tries_};
    out.bytes_per_sample =
        largest > n ? (out.peak_bytes - bytes) / (largest - n) : out.peak_bytes / largest;
    return out;
  }

 private:
  /// On all devices of the type: a parallel step fills more than one.
  void clean() const {
    const DeviceType type = device_.type();
    for (int i = 0; i < (device_.is_cpu() ? 1 : device_count(type)); ++i) {
      const Device d = device_.is_cpu() ? device_ : Device(type, i);
      synchronize(d);
      allocator::empty_cache(d);
    }
  }

  const std::function<void(int64_t)>& step_;
  const Device device_;
  int64_t tries_ = 0;
  std::map<int64_t, int64_t> peaks_;  ///< by batch size
  std::optional<OutOfMemoryError> error_;
};

}  // namespace

BatchSizeReport find_batch_size(const std::function<void(int64_t)>& step,
                                const BatchSizeOptions& options) {
  TAEDA_CHECK_VALUE(options.start >= 1 && options.start <= options.max,
                    "find_batch_size: expected 1 <= start <= max, got start ", options.start,
                    " and max ", options.max);
  TAEDA_CHECK_VALUE(step, "find_batch_size: expected a step to try, but got an empty function");
  Search search(step, options);
  int64_t fits = 0, next = options.start;
  while (search.fits(next)) {
    fits = next;
    if (fits == options.max) {
      BatchSizeReport out = search.report(fits);
      out.limited = true;
      return out;
    }
    next = std::min(2 * fits, options.max);
  }
  for (int64_t fails = next; fails - fits > 1;) {
    const int64_t middle = fits + (fails - fits) / 2;
    (search.fits(middle) ? fits : fails) = middle;
  }
  return search.report(fits);
}

}  // namespace taeda::inline v0_2::data
