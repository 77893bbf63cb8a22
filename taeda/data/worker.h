// The random numbers of datasets: each batch has a generator of its own, so that what a random
// transform does depends on the loader's seed and the number of the batch, and neither on how many
// workers there are nor on which of them was faster.
#pragma once

#include <cstdint>
#include <optional>

#include "taeda/device/generator.h"

namespace taeda::inline v0_2::data {

/// The generator of the batch that this thread reads; outside a loader the CPU's default one.
Generator& worker_generator();

namespace detail {

/// Gives this thread the generator of a batch for as long as it lives.
class BatchGenerator {
 public:
  BatchGenerator(uint64_t epoch_seed, int64_t batch);
  ~BatchGenerator();
  BatchGenerator(const BatchGenerator&) = delete;
  BatchGenerator& operator=(const BatchGenerator&) = delete;

  /// Made when it is first asked for: seeding takes longer than reading a small batch.
  Generator& get();

 private:
  uint64_t seed_;
  std::optional<Generator> generator_;
  BatchGenerator* outer_;
};

}  // namespace detail
}  // namespace taeda::data
