// Where a DataLoader stands, so that another process can go on from there.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "taeda/base/ordered_dict.h"
#include "taeda/data/sampler.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::data {

/// Tensors "generator" and "sampler" (random states, uint8) and numbers "epoch" (1 in the middle of
/// one), "batch" (batches that it handed out), "batch_size", "examples", and those of the sampler's
/// state: "sampler.epoch".
struct LoaderState {
  OrderedDict<std::string, Tensor> tensors;
  OrderedDict<std::string, double> numbers;
};

namespace detail {

/// What decides the order of a loader's epochs: its own generator or the default one, the
/// sampler's, if it has one of its own, and the sampler's state. An epoch can be started again from
/// what they were when it began.
class EpochOrder {
 public:
  struct Start {
    uint64_t seed = 0;       ///< of the batches' generators
    size_t first_batch = 0;  ///< those before it were read in another process
  };

  /// With `draws_seeds` an epoch takes the seed of its batches' generators from the generator that
  /// decides the order, as in Python; without, that generator stays where it is, as in libtorch.
  EpochOrder(std::optional<Generator> own, std::shared_ptr<samplers::Sampler> sampler,
             bool draws_seeds);

  /// Starts an epoch, or the one of a loaded state again.
  Start begin();
  /// `position`: batches handed out, in the middle of an epoch.
  void save(LoaderState& state, std::optional<size_t> position) const;
  void load(const LoaderState& state);

 private:
  using Bytes = std::vector<uint8_t>;
  struct States {
    Bytes generator, sampler;        // empty: there is none
    samplers::SamplerState numbers;  // of the sampler
  };
  struct Pending {
    States states;
    size_t batch;
  };

  Generator order_generator() const;
  /// The sampler's generator, unless it is the loader's.
  std::optional<Generator> sampler_generator() const;
  States now() const;

  std::optional<Generator> own_;
  std::shared_ptr<samplers::Sampler> sampler_;
  bool draws_seeds_;
  States start_;  // when the latest epoch began
  std::optional<Pending> pending_;
};

/// The number; throws ValueError when a state lacks it.
double state_number(const LoaderState& state, const std::string& name);
/// Throws ValueError, saying what differs, unless the state is of a loader with the same batches.
void check_same_batches(const LoaderState& state, size_t batch_size,
                        std::optional<size_t> examples);

}  // namespace detail
}  // namespace taeda::data
