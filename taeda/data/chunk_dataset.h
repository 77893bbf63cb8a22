// Datasets in chunks - files, say - that are read ahead as a whole and handed out in batches.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "taeda/base/option.h"
#include "taeda/data/background_task.h"
#include "taeda/data/stateful.h"

namespace taeda::inline v0_2::data::datasets {

/// Reads chunks. `read_chunk` may be called by several threads at once.
/// A chunk may have any number of elements, none included.
template <class Single, class Chunk = std::vector<Single>>
class ChunkDataReader {
 public:
  using ExampleType = Single;
  using ChunkType = Chunk;
  using BatchType = Chunk;
  virtual ~ChunkDataReader() = default;
  /// Chunk `chunk_index`, of any size; and how many there are.
  virtual ChunkType read_chunk(size_t chunk_index) = 0;
  virtual size_t chunk_count() = 0;
  /// Called when an epoch begins; the chunks of `chunk_index` must be readable again from then on.
  virtual void reset() = 0;
};

/// Options of a ChunkDataset, `{.preloader_count = 2, .batch_size = 64}`.
struct ChunkDatasetConfig {
  /// Groups of chunks that are read at once, at least 1.
  Option<size_t> preloader_count;
  /// How many examples a batch has, at least 1.
  Option<size_t> batch_size;
  /// The most examples in memory before reading waits, at least a batch; 2048 by default.
  Option<size_t> cache_size = 2048;
  /// How many chunks are put into one random order of their examples, at least 1; 1 by default.
  Option<size_t> cross_chunk_shuffle_count = 1;

  /// Throws ValueError for counts that are 0, and for a cache smaller than a batch.
  void check() const {
    const char* rule = " is 0. At least one is required.";
    TAEDA_CHECK_VALUE(preloader_count() > 0, "Preloader count", rule);
    TAEDA_CHECK_VALUE(batch_size() > 0, "Batch size", rule);
    TAEDA_CHECK_VALUE(cross_chunk_shuffle_count() > 0, "cross_chunk_shuffle_count", rule);
    TAEDA_CHECK_VALUE(cache_size() >= batch_size(), "Cache size ", cache_size(),
                      " is less than batch size ", batch_size(), ".");
  }
};

/// The same as a chain, `ChunkDatasetOptions(2, 64).cache_size(512)`, which checks what it is made
/// of.
class ChunkDatasetOptions : public ChunkDatasetConfig {
 public:
  using Config = ChunkDatasetConfig;
  ChunkDatasetOptions(size_t preloader_count, size_t batch_size, size_t cache_size = 2048,
                      size_t cross_chunk_shuffle_count = 1)
      : Config{preloader_count, batch_size, cache_size, cross_chunk_shuffle_count} {
    check();
  }
  TAEDA_OPTION(preloader_count)
  TAEDA_OPTION(batch_size) TAEDA_OPTION(cache_size) TAEDA_OPTION(cross_chunk_shuffle_count)
};

/// Chunks in the order of `ChunkSampler`, the examples of each group of them in that of
/// `ExampleSampler`. What comes when depends on the samplers alone, not on which thread was faster.
/// Batches have the size asked for, but for the last one; what a reader throws is thrown by
/// `get_batch`.
template <class Reader, class ChunkSampler = samplers::RandomSampler,
          class ExampleSampler = samplers::RandomSampler>
class ChunkDataset final
    : public StatefulDataset<ChunkDataset<Reader, ChunkSampler, ExampleSampler>,
                             typename Reader::BatchType, size_t> {
 public:
  using Batch = typename Reader::BatchType;
  using BatchType = std::optional<Batch>;
  using UnwrappedBatchType = Batch;
  using BatchRequestType = size_t;
  using ChunkSamplerType = ChunkSampler;
  using ExampleSamplerType = ExampleSampler;
  /// Sees the examples of a group before they are put into order, in the thread that read them.
  using Policy = std::function<void(UnwrappedBatchType&)>;

  /// Throws ValueError for options that make no sense.
  ChunkDataset(Reader reader, ChunkSampler chunk_sampler, ExampleSampler example_sampler,
               ChunkDatasetConfig options, Policy policy = {})
      : state_(std::make_shared<State>(State{std::move(reader), std::move(policy)})),
        chunk_sampler_(std::move(chunk_sampler)),
        example_sampler_(std::move(example_sampler)),
        options_(options) {
    options_.check();
  }
  ChunkDataset(ChunkDataset&&) = default;
  ChunkDataset& operator=(ChunkDataset&&) = default;

  /// Throws Error unless `batch_size` is that of the options. An exception of the reader is thrown
  /// when its chunk is reached; the next call goes on behind it.
  BatchType get_batch(size_t batch_size) override {
    TAEDA_CHECK(batch_size == options_.batch_size(),
                "The requested batch size does not match with the initialized batch size.\n "
                "The requested batch size is ",
                batch_size, ", while the dataset is created with batch size equal to ",
                options_.batch_size());
    TAEDA_CHECK(begun_, "Dataset needs to call reset() before calling get_batch().");
    Batch batch;
    while (batch.size() < batch_size) {
      if (position_ == order_.size() && !next_group()) break;
      const size_t n = std::min(batch_size - batch.size(), order_.size() - position_);
      for (size_t i = 0; i < n; ++i) batch.push_back(std::move(group_[order_[position_++]]));
    }
    if (batch.empty()) return std::nullopt;
    return batch;
  }
  BatchType get_batch() { return get_batch(options_.batch_size()); }

  /// Begins an epoch; after load() the one that was under way.
  void reset() override {
    pending_.clear();  // waits for what is being read
    state_->reader.reset();
    if (!loaded_) chunk_sampler_.reset(state_->reader.chunk_count());
    loaded_ = false;
    begun_ = true;
    group_.clear();
    order_.clear();
    position_ = 0;
    read_ahead();
  }
  /// How many examples there are: nothing, because that is not known by default.
  std::optional<size_t> size() const override { return std::nullopt; }
  ChunkSampler& chunk_sampler() { return chunk_sampler_; }
  const ChunkDatasetConfig& options() const { return options_; }

  /// Where the order of the chunks stands: chunks that were read ahead count as behind.
  void save(serialize::OutputArchive& archive) const override { chunk_sampler_.save(archive); }
  void load(serialize::InputArchive& archive) override {
    chunk_sampler_.reset(state_->reader.chunk_count());
    chunk_sampler_.load(archive);
    loaded_ = true;
  }

 private:
  /// What the reading threads share.
  struct State {
    Reader reader;
    Policy policy;
  };
  /// Examples of a group of chunks, there when the task has ended.
  struct Group {
    std::shared_ptr<Batch> examples;
    data::detail::BackgroundTask task;
  };

  static Batch read(const std::shared_ptr<State>& state, const std::vector<size_t>& chunks) {
    Batch out;
    for (size_t chunk : chunks) {
      Batch part = state->reader.read_chunk(chunk);
      std::move(part.begin(), part.end(), std::back_inserter(out));
    }
    if (state->policy) state->policy(out);
    return out;
  }

  void read_ahead() {
    while (pending_.size() < options_.preloader_count() &&
           (pending_.empty() || group_.size() - position_ < options_.cache_size())) {
      const auto chunks = chunk_sampler_.next(options_.cross_chunk_shuffle_count());
      if (!chunks) return;
      const auto batch = std::make_shared<Batch>();
      pending_.push_back(
          {batch, data::detail::BackgroundTask([batch, state = state_, chunks = *chunks] {
             *batch = read(state, chunks);
           })});
    }
  }

  /// Waits for the next group that has examples; false at the end.
  bool next_group() {
    while (true) {
      read_ahead();
      if (pending_.empty()) return false;
      Group ready = std::move(pending_.front());
      pending_.pop_front();
      group_.clear();
      order_.clear();
      position_ = 0;
      ready.task.get();
      group_ = std::move(*ready.examples);
      if (group_.empty()) continue;
      example_sampler_.reset(group_.size());
      order_ = *example_sampler_.next(group_.size());
      read_ahead();
      return true;
    }
  }

  std::shared_ptr<State> state_;
  ChunkSampler chunk_sampler_;
  ExampleSampler example_sampler_;
  ChunkDatasetConfig options_;
  Batch group_;                ///< read, and not yet handed out from `position_` on
  std::vector<size_t> order_;  ///< in which they are handed out
  size_t position_ = 0;
  bool begun_ = false, loaded_ = false;
  std::deque<Group> pending_;
};

}  // namespace taeda::inline v0_2::data::datasets
