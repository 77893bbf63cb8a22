#include "taeda/data/loader_options.h"

#include <algorithm>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::data {

namespace {
constexpr int64_t kMostAhead = int64_t{1} << 20;
}

LoaderConfig DataLoaderOptions::config() const {
  const LoaderConfig& c = config_;
  TAEDA_CHECK_VALUE(
      c.batch_size > 0,
      "batch_size should be a positive integer value, but got batch_size=", c.batch_size);
  TAEDA_CHECK_VALUE(
      c.num_workers >= 0,
      "num_workers option should be non-negative; use num_workers=0 to disable multithreading.");
  TAEDA_CHECK_VALUE(c.prefetch_factor > 0, "prefetch_factor option should be positive, got ",
                    c.prefetch_factor);
  TAEDA_CHECK_VALUE(int64_t{c.num_workers} * c.prefetch_factor <= kMostAhead,
                    "num_workers=", c.num_workers, " times prefetch_factor=", c.prefetch_factor,
                    " batches to be read ahead are more than ", kMostAhead);
  TAEDA_CHECK_VALUE(c.timeout >= 0, "timeout option should be non-negative, got ", c.timeout);
  TAEDA_CHECK_VALUE(!(c.sampler && c.shuffle.value_or(false)),
                    "sampler option is mutually exclusive with shuffle");
  TAEDA_CHECK_VALUE(!(c.sampler && c.seed),
                    "sampler option is mutually exclusive with seed: seed the sampler's generator");
  LoaderConfig out = c;
  if (max_jobs_ && out.num_workers > 0)
    out.prefetch_factor = std::max(1, static_cast<int>(*max_jobs_) / out.num_workers);
  return out;
}

FullDataLoaderOptions::FullDataLoaderOptions(const DataLoaderOptions& options)
    : batch_size(options.batch_size()),
      workers(options.workers()),
      max_jobs(options.max_jobs().value_or(workers *
                                           static_cast<size_t>(options.config().prefetch_factor))),
      timeout(options.timeout()),
      enforce_ordering(options.enforce_ordering()),
      drop_last(options.drop_last()) {}

}  // namespace taeda::inline v0_2::data
