// Shares of a dataset for several processes: one that can go on in the middle of an epoch, and
// libtorch's. (PyTorch's DistributedSampler: sampler.h.)
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "taeda/data/sampler.h"

namespace taeda::inline v0_2::data::samplers {

/// torchdata's: a DistributedSampler that says how many indices of its epoch it has handed out, and
/// goes on behind them in another process. A loader draws ahead of its loop: there, take the
/// loader's state, which holds the sampler's.
class StatefulDistributedSampler : public DistributedSampler {
 public:
  using DistributedSampler::DistributedSampler;

  /// The numbers that a later process needs: "yielded", 0 at the end of an epoch, and what
  /// DistributedSampler's state has.
  SamplerState state_dict() const;
  /// The next epoch is the rest of the one that was under way. Throws ValueError for more indices
  /// than there are.
  void load_state_dict(const SamplerState& state) override;
  SamplerState state_at_reset() const override;

 protected:
  std::vector<size_t> epoch() override;

 private:
  SamplerState state_with(size_t yielded) const;

  size_t skipped_ = 0;             ///< of the current epoch, in another process
  std::optional<size_t> to_skip_;  ///< of the next one
};

/// What libtorch's distributed samplers share: neighbouring indices for each of `num_replicas`
/// processes, as many for each; the last ones repeat the first or, without `allow_duplicates`, the
/// tail is left out.
class DistributedBlockSampler : public Sampler {
 public:
  /// Throws ValueError unless rank < num_replicas.
  DistributedBlockSampler(size_t size, size_t num_replicas, size_t rank, bool allow_duplicates);
  using Sampler::reset;
  void reset() override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  size_t size() const override { return count_; }
  /// The epoch and the position in it.
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  /// How many indices of the epoch were handed out, from 0 to its size.
  size_t index() const { return position_; }

  /// Every replica must be given the same epoch.
  void set_epoch(size_t epoch) { replica_.epoch = epoch; }
  size_t epoch() const { return replica_.epoch; }
  SamplerState state_at_reset() const override { return replica_.state(); }
  void load_state_dict(const SamplerState& state) override;

 protected:
  /// Changes the order in which all replicas' indices are dealt out.
  virtual void arrange(std::vector<size_t>& all) const = 0;
  void resize(size_t size) override;

 private:
  size_t source_;
  detail::Replica replica_;
  bool allow_duplicates_;
  size_t count_, position_ = 0;
  std::vector<size_t> indices_;
};

/// A random order that depends on the epoch alone: libtorch's (the standard library's shuffle by
/// an std::mt19937 that the epoch seeds).
class DistributedRandomSampler : public DistributedBlockSampler {
 public:
  explicit DistributedRandomSampler(size_t size, size_t num_replicas = 1, size_t rank = 0,
                                    bool allow_duplicates = true);

 protected:
  void arrange(std::vector<size_t>& all) const override;
};

/// The dataset's order, in blocks of the same size for each process.
class DistributedSequentialSampler : public DistributedBlockSampler {
 public:
  explicit DistributedSequentialSampler(size_t size, size_t num_replicas = 1, size_t rank = 0,
                                        bool allow_duplicates = true);

 protected:
  void arrange(std::vector<size_t>&) const override {}
};

}  // namespace taeda::data::samplers
