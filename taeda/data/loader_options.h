// Settings of a DataLoader: an aggregate for designated initialisers, and libtorch's chained form.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "taeda/data/sampler.h"

namespace taeda::inline v0_2::data {

/// Options of a DataLoader, `DataLoader(dataset, {.batch_size = 100, .shuffle = true, .num_workers
/// = 2})`; a batch size below 1 or a negative number is refused.
struct LoaderConfig {
  size_t batch_size = 1;
  /// Whether indices come in random order; by default DataLoader goes in order, make_data_loader in
  /// random order, each like its model.
  std::optional<bool> shuffle = {};
  /// How many threads read ahead; with 0, the default, the caller's thread reads each batch when it
  /// is asked for.
  int num_workers = 0;
  /// Whether a last batch that is not full is left out; false by default.
  bool drop_last = false;
  /// How many batches each worker may be ahead, at least 1.
  int prefetch_factor = 2;
  /// Whether batches are put into memory that accelerators copy from without staging; false by
  /// default.
  bool pin_memory = false;
  /// Seconds to wait for a worker's batch before Error is thrown; 0 waits forever.
  double timeout = 0;
  /// Seeds the order; without it the order follows the default generator.
  std::optional<uint64_t> seed = {};
  /// The order of indices, instead of `shuffle`; none by default.
  std::shared_ptr<samplers::Sampler> sampler = {};
};

/// libtorch's options: `DataLoaderOptions().batch_size(64).workers(2)`.
/// By default batches of 1, no workers, no timeout; `make_data_loader` throws ValueError for
/// settings that make no sense.
class DataLoaderOptions {
 public:
  DataLoaderOptions() = default;
  DataLoaderOptions(size_t batch_size) { config_.batch_size = batch_size; }
  DataLoaderOptions(LoaderConfig config) : config_(std::move(config)) {}

  DataLoaderOptions& batch_size(size_t n) { return set(config_.batch_size, n); }
  DataLoaderOptions& shuffle(std::optional<bool> on) { return set(config_.shuffle, on); }
  DataLoaderOptions& num_workers(int n) { return set(config_.num_workers, n); }
  DataLoaderOptions& workers(size_t n) { return set(config_.num_workers, static_cast<int>(n)); }
  DataLoaderOptions& drop_last(bool on) { return set(config_.drop_last, on); }
  DataLoaderOptions& prefetch_factor(int n) { return set(config_.prefetch_factor, n); }
  DataLoaderOptions& pin_memory(bool on) { return set(config_.pin_memory, on); }
  /// A std::chrono::duration, such as std::chrono::milliseconds.
  template <class Duration>
  requires requires { typename Duration::period; }
  DataLoaderOptions& timeout(Duration time) {
    using Period = typename Duration::period;
    return set(config_.timeout,
               static_cast<double>(time.count()) * Period::num / static_cast<double>(Period::den));
  }
  DataLoaderOptions& seed(uint64_t s) { return set(config_.seed, s); }
  DataLoaderOptions& sampler(std::shared_ptr<samplers::Sampler> s) {
    return set(config_.sampler, std::move(s));
  }
  /// Accepted for programs that set it: batches always come in order, which is libtorch's default.
  DataLoaderOptions& enforce_ordering(bool) { return *this; }
  /// The most batches that are ready or under way at once, over all workers; by default twice their
  /// number.
  DataLoaderOptions& max_jobs(std::optional<size_t> n) { return set(max_jobs_, n); }
  DataLoaderOptions& timeout(std::optional<std::chrono::milliseconds> time) {
    return timeout(time.value_or(std::chrono::milliseconds(0)));
  }

  size_t batch_size() const { return config_.batch_size; }
  size_t workers() const { return static_cast<size_t>(config_.num_workers); }
  std::optional<size_t> max_jobs() const { return max_jobs_; }
  /// How long a loader waits for a batch before it throws; without a value, the default, forever.
  std::optional<std::chrono::milliseconds> timeout() const {
    if (config_.timeout == 0) return std::nullopt;
    return std::chrono::milliseconds(static_cast<int64_t>(config_.timeout * 1000));
  }
  bool enforce_ordering() const { return true; }
  bool drop_last() const { return config_.drop_last; }

  /// Throws ValueError, in PyTorch's words, for settings that make no sense.
  LoaderConfig config() const;

 private:
  template <class T, class V>
  DataLoaderOptions& set(T& field, V value) {
    field = std::move(value);
    return *this;
  }

  LoaderConfig config_;
  std::optional<size_t> max_jobs_;
};

/// libtorch's options with every default filled in.
struct FullDataLoaderOptions {
  explicit FullDataLoaderOptions(const DataLoaderOptions& options);

  size_t batch_size, workers, max_jobs;
  std::optional<std::chrono::milliseconds> timeout;
  bool enforce_ordering, drop_last;
};

}  // namespace taeda::data
