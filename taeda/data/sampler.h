// The order in which a loader visits a dataset.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "taeda/base/ordered_dict.h"
#include "taeda/device/generator.h"

namespace taeda::inline v0_2::serialize {
class InputArchive;
class OutputArchive;
}  // namespace taeda::inline v0_2::serialize

namespace taeda::inline v0_2::data::samplers {

/// Numbers by name that say where a sampler stands; a missing one is an Error when it is loaded.
using SamplerState = OrderedDict<std::string, double>;

/// Hands out indices of examples, a batch at a time. It must be used by one thread at a time.
class Sampler {
 public:
  virtual ~Sampler() = default;
  /// Starts a new epoch, of `new_size` indices if that is given, else of the size that it has.
  virtual void reset() = 0;
  /// Starts a new epoch over a dataset of another size.
  void reset(std::optional<size_t> new_size) {
    if (new_size) resize(*new_size);
    reset();
  }
  /// At most `batch_size` further indices; nothing at the end of the epoch.
  virtual std::optional<std::vector<size_t>> next(size_t batch_size) = 0;
  /// How many indices an epoch has, not negative.
  virtual size_t size() const = 0;
  /// The generator that the order comes from, if the sampler has one of its own: a loader's state
  /// holds what it was when the epoch began.
  virtual std::optional<Generator> generator() const { return std::nullopt; }
  /// What else decides the epoch that the next reset() begins, empty by default: a loader's state
  /// holds that, too.
  virtual SamplerState state_at_reset() const { return SamplerState(); }
  /// The next reset() begins what such a state describes; numbers that it lacks stay as they are.
  /// Throws ValueError, and changes nothing, for a state of another kind of sampler.
  virtual void load_state_dict(const SamplerState& state);
  /// Writes where the epoch stands to an archive, and goes on from there. Throws
  /// NotImplementedError for samplers that cannot, as load().
  virtual void save(serialize::OutputArchive& archive) const;
  virtual void load(serialize::InputArchive& archive);

 protected:
  /// Makes the next epoch one over `size` indices. Throws NotImplementedError for samplers whose
  /// indices do not follow from their number.
  virtual void resize(size_t size);
};

/// A sampler that knows all indices of its epoch at the start, which may be empty.
class ListSampler : public Sampler {
 public:
  using Sampler::reset;
  void reset() final;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  /// How many indices of the epoch were handed out, from 0 to its size.
  size_t index() const { return position_; }
  std::optional<std::vector<size_t>> next(size_t batch_size) final;

 protected:
  /// The indices of the epoch that starts.
  virtual std::vector<size_t> epoch() = 0;
  /// How many indices of the epoch were handed out, from 0 to its size.
  size_t handed_out() const { return position_; }
  /// Whether next() has told that the epoch is over.
  bool ended() const { return ended_; }

 private:
  std::vector<size_t> indices_;
  size_t position_ = 0;
  bool started_ = false, ended_ = false;
};

/// Indices in order: 0, 1, 2, ... up to the size of the dataset.
class SequentialSampler : public Sampler {
 public:
  explicit SequentialSampler(size_t size) : size_(size) {}
  using Sampler::reset;
  void reset() override { position_ = 0; }
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  size_t size() const override { return size_; }
  /// How many indices of the epoch were handed out, from 0 to its size.
  size_t index() const { return position_; }
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

 private:
  void resize(size_t size) override { size_ = size; }
  size_t size_, position_ = 0;
};

/// A permutation, or with `replacement` independent draws; a new one every epoch. The numbers are
/// PyTorch's: those of `generator` or, without one, of a generator that the default one seeds.
class RandomSampler : public ListSampler {
 public:
  /// `num_samples` defaults to `size`. Throws ValueError when it is 0.
  explicit RandomSampler(size_t size, bool replacement = false,
                         std::optional<size_t> num_samples = {},
                         std::optional<Generator> generator = {});
  size_t size() const override { return num_samples_; }
  std::optional<Generator> generator() const override { return generator_; }

 protected:
  std::vector<size_t> epoch() override;
  void resize(size_t size) override;

 private:
  size_t source_, num_samples_;
  bool replacement_;
  std::optional<Generator> generator_;
};

/// The given indices in random order, each once an epoch; an empty list gives an empty epoch.
class SubsetRandomSampler : public ListSampler {
 public:
  explicit SubsetRandomSampler(std::vector<size_t> indices,
                               std::optional<Generator> generator = {});
  size_t size() const override { return subset_.size(); }
  std::optional<Generator> generator() const override { return generator_; }

 protected:
  std::vector<size_t> epoch() override;

 private:
  std::vector<size_t> subset_;
  std::optional<Generator> generator_;
};

/// Indices drawn with probabilities proportional to `weights`, which need not sum to one. The
/// numbers are those of torch.multinomial.
class WeightedRandomSampler : public ListSampler {
 public:
  /// Throws ValueError for num_samples 0 and, without replacement, for fewer positive weights than
  /// samples; for weights that are negative, infinite, nan or all zero.
  WeightedRandomSampler(std::vector<double> weights, size_t num_samples, bool replacement = true,
                        std::optional<Generator> generator = {});
  size_t size() const override { return num_samples_; }
  std::optional<Generator> generator() const override { return generator_; }

 protected:
  std::vector<size_t> epoch() override;

 private:
  std::vector<size_t> draw_with_replacement(const Generator& g) const;
  std::vector<size_t> draw_without_replacement(const Generator& g) const;

  std::vector<double> weights_;
  size_t num_samples_;
  bool replacement_;
  std::optional<Generator> generator_;
};

namespace detail {

/// A process's place among those that share a dataset, and the epoch that all of them were told.
struct Replica {
  /// Throws ValueError unless rank < count.
  Replica(size_t count, size_t rank);
  /// Indices that each gets of `size`.
  size_t share_of(size_t size, bool drop_last) const;
  /// "epoch" and "num_replicas".
  SamplerState state() const;
  /// Throws ValueError for the state of a sampler with another number of replicas, and for anything
  /// else that `sampler` does not have.
  void load(const SamplerState& state, const char* sampler);

  size_t count, rank;
  uint64_t epoch = 0;
};

/// A count in an archive. Throws ValueError for one above `most`.
size_t read_count(serialize::InputArchive& archive, const char* name, size_t most);
/// A count in a state; `otherwise` where it lacks it. Throws ValueError for what is no count.
size_t count_in(const SamplerState& state, const std::string& name, size_t otherwise);

}  // namespace detail

/// The share of one of `num_replicas` processes. All replicas get equally many indices: the last
/// ones repeat the first, or with `drop_last` the tail is left out. Same indices as PyTorch's.
class DistributedSampler : public ListSampler {
 public:
  /// Throws ValueError unless rank < num_replicas.
  DistributedSampler(size_t size, size_t num_replicas, size_t rank, bool shuffle = true,
                     uint64_t seed = 0, bool drop_last = false);
  /// Every replica must be given the same epoch, or their shares overlap.
  void set_epoch(uint64_t epoch) { replica_.epoch = epoch; }
  size_t size() const override { return num_samples_; }
  /// "epoch" and "num_replicas".
  SamplerState state_at_reset() const override { return replica_.state(); }
  /// Throws ValueError, too, for the state of a sampler with another number of replicas.
  void load_state_dict(const SamplerState& state) override;

 protected:
  std::vector<size_t> epoch() override;

 private:
  size_t source_;
  detail::Replica replica_;
  size_t num_samples_;
  bool shuffle_;
  uint64_t seed_;
};

/// The batches of another sampler, of `batch_size` each; the size a loader asks for is not
/// regarded.
class BatchSampler : public Sampler {
 public:
  /// Throws ValueError for batch_size 0.
  BatchSampler(std::shared_ptr<Sampler> sampler, size_t batch_size, bool drop_last = false);
  using Sampler::reset;
  void reset() override { sampler_->reset(); }
  std::optional<std::vector<size_t>> next(size_t = 0) override;
  size_t size() const override { return sampler_->size(); }
  std::optional<Generator> generator() const override { return sampler_->generator(); }
  SamplerState state_at_reset() const override { return sampler_->state_at_reset(); }
  void load_state_dict(const SamplerState& state) override { sampler_->load_state_dict(state); }
  /// Batches in an epoch.
  size_t batches() const;

 private:
  std::shared_ptr<Sampler> sampler_;
  size_t batch_size_;
  bool drop_last_;
};

}  // namespace taeda::inline v0_2::data::samplers
