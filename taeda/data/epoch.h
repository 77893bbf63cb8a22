// One pass over a dataset: a reader makes batches of indices or a stream, a pipeline runs it ahead.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "taeda/data/collate.h"
#include "taeda/data/dataset.h"
#include "taeda/data/errors.h"
#include "taeda/data/loader_options.h"
#include "taeda/data/pipeline.h"
#include "taeda/data/sampler.h"
#include "taeda/data/transform.h"
#include "taeda/data/worker.h"

namespace taeda::inline v0_2::data {

/// One pass over the data, which must not outlive its loader.
template <class Batch>
class Epoch {
 public:
  virtual ~Epoch() = default;
  /// The next batch; nothing at the end. It throws what the dataset threw for this batch, and may
  /// be called again for the one behind.
  virtual std::optional<Batch> next() = 0;
  /// Whether next() has reached the end; an epoch of an empty dataset has not before it was asked.
  virtual bool done() const = 0;
  /// Batches of the epoch that are behind: handed out, failed, or read by the process that this one
  /// goes on from.
  virtual size_t position() const = 0;
};

namespace detail {

/// What a reader makes of a dataset: libtorch's get_batch as it is, or a collated batch.
struct AsIs {
  /// A WorkerException where workers read, and else what the dataset threw.
  static constexpr bool kLibtorchErrors = true;
  static constexpr bool kDrawsSeeds = true;
  template <class D>
  static auto read(D& d, const std::vector<size_t>& indices) {
    if constexpr (std::is_constructible_v<typename D::BatchRequestType, ArrayRef<size_t>>)
      return d.get_batch(indices);
    else  // a stream, which is told how much is wanted
      return d.get_batch(indices.size());
  }
  template <class T>
  static T finish(T batch) {
    return batch;
  }
};

struct Collated {
  static constexpr bool kLibtorchErrors = false;
  static constexpr bool kDrawsSeeds = true;
  template <class D>
  static auto read(D& d, const std::vector<size_t>& indices) {
    if constexpr (datasets::detail::HasGetStacked<D>)
      return d.get_stacked(indices);
    else
      return d.get_batch(indices);
  }
  template <class T>
  static T finish(T batch) {
    return batch;
  }
  template <class T>
  static auto finish(std::vector<T> batch) {
    return collate(batch);
  }
};

/// Reads a map-style dataset: indices are drawn in order, batches made in parallel, each worker
/// with a copy of the dataset if it can be copied.
template <class Dataset, class How>
class IndexedReader {
 public:
  using Input = std::vector<size_t>;
  static constexpr bool kIndexed = true;
  static constexpr bool kLibtorchErrors = How::kLibtorchErrors;

  IndexedReader(Dataset dataset, int workers) {
    own_.push_back(std::make_shared<Dataset>(std::move(dataset)));
    for (int w = 0; w < workers; ++w) {
      if constexpr (std::is_copy_constructible_v<Dataset>)
        own_.push_back(std::make_shared<Dataset>(*own_[0]));
      else
        own_.push_back(own_[0]);
    }
  }
  void reset() {}
  std::optional<Input> draw(samplers::Sampler& sampler, size_t n) { return sampler.next(n); }
  auto make(Input indices, int worker) {
    return How::finish(How::read(*own_[static_cast<size_t>(worker + 1)], indices));
  }
  const Dataset& dataset() const { return *own_[0]; }

 private:
  std::vector<std::shared_ptr<Dataset>> own_;
};

/// Reads an iterable dataset: examples are drawn in order, collated in parallel.
template <class Dataset, class How>
class StreamReader {
 public:
  using Input = typename datasets::detail::Unwrap<typename Dataset::BatchType>::type;
  static constexpr bool kIndexed = false;
  static constexpr bool kLibtorchErrors = How::kLibtorchErrors;

  StreamReader(Dataset dataset, int) : dataset_(std::move(dataset)) {}
  void reset() { dataset_.reset(); }
  std::optional<Input> draw(samplers::Sampler&, size_t n) { return dataset_.get_batch(n); }
  auto make(Input examples, int) { return How::finish(std::move(examples)); }
  const Dataset& dataset() const { return dataset_; }

 private:
  Dataset dataset_;
};

template <class D, class How>
using reader_t = std::conditional_t<D::is_stateful, StreamReader<D, How>, IndexedReader<D, How>>;
template <class D, class How>
using batch_t = decltype(std::declval<reader_t<D, How>&>().make(
    std::declval<typename reader_t<D, How>::Input>(), 0));

template <class T>
size_t batch_length(const std::vector<T>& list) {
  return list.size();
}
template <class T>
size_t batch_length(const T&) {
  return SIZE_MAX;
}

/// The sampler that the configuration asks for.
std::shared_ptr<samplers::Sampler> choose_sampler(const LoaderConfig& config,
                                                  std::optional<size_t> size,
                                                  const std::optional<Generator>& generator);
/// Batches in an epoch of the sampler.
size_t count_batches(const samplers::Sampler& sampler, const LoaderConfig& config);

/// An epoch over a reader.
template <class Reader, class Batch>
class ReaderEpoch : public Epoch<Batch>, private Jobs {
 public:
  ReaderEpoch(std::shared_ptr<Reader> reader, std::shared_ptr<samplers::Sampler> sampler,
              const LoaderConfig& config, uint64_t seed, size_t first_batch)
      : reader_(std::move(reader)),
        sampler_(std::move(sampler)),
        config_(config),
        seed_(seed),
        first_(pass_over(first_batch)),
        cells_(window(config)),
        pipeline_(*this, config.num_workers, cells_.size(), config.timeout) {}

  std::optional<Batch> next() override {
    size_t slot = 0;
    done_ = done_ || !pipeline_.next(&slot);
    if (done_) return std::nullopt;
    std::optional<Batch> batch = std::exchange(cells_[slot].batch, std::nullopt);
    pipeline_.release();
    return batch;
  }
  bool done() const override { return done_; }
  size_t position() const override { return first_ + static_cast<size_t>(pipeline_.taken()); }

 private:
  struct Cell {
    typename Reader::Input input;
    std::optional<Batch> batch;
  };

  static size_t window(const LoaderConfig& c) {
    return c.num_workers > 0
               ? static_cast<size_t>(c.num_workers) * static_cast<size_t>(c.prefetch_factor)
               : 1;
  }

  /// What batch `number` of the epoch is made of; nothing at the end.
  std::optional<typename Reader::Input> draw_input(size_t number) {
    const BatchGenerator random(seed_, static_cast<int64_t>(number));
    std::optional<typename Reader::Input> input;
    const auto read = [&] { input = reader_->draw(*sampler_, config_.batch_size); };
    if constexpr (Reader::kLibtorchErrors)
      read();
    else
      name_failure("batch", number, read);
    // A BatchSampler has its own size of batches and its own drop_last.
    const bool own_size = dynamic_cast<samplers::BatchSampler*>(sampler_.get()) != nullptr;
    if (input && config_.drop_last && !own_size && batch_length(*input) < config_.batch_size)
      return std::nullopt;
    return input;
  }

  /// Draws batches without making them. Throws ValueError when there are fewer.
  size_t pass_over(size_t batches) {
    for (size_t i = 0; i < batches; ++i)
      TAEDA_CHECK_VALUE(draw_input(i), "DataLoader state: it is after batch ", batches,
                        " of an epoch, which has only ", i);
    return batches;
  }

  bool draw(int64_t job, size_t slot) override {
    std::optional<typename Reader::Input> input = draw_input(first_ + static_cast<size_t>(job));
    if (!input) return false;
    cells_[slot].input = std::move(*input);
    return true;
  }

  void make(int64_t job, size_t slot, int worker) override {
    const int64_t number = static_cast<int64_t>(first_) + job;
    const auto place =
        worker < 0 ? std::string() : " in DataLoader worker " + std::to_string(worker);
    const BatchGenerator random(seed_, number);
    try {
      Cell& cell = cells_[slot];
      cell.batch = reader_->make(std::move(cell.input), worker);
      if (config_.pin_memory) for_each_tensor(*cell.batch, [](Tensor& t) { t = t.pin_memory(); });
    } catch (...) {
      if (Reader::kLibtorchErrors && config_.num_workers > 0)
        throw WorkerException(std::current_exception());
      if (Reader::kLibtorchErrors) throw;
      rethrow_with_context(taeda::detail::concat("while reading batch ", number, place));
    }
  }

  std::shared_ptr<Reader> reader_;
  std::shared_ptr<samplers::Sampler> sampler_;
  LoaderConfig config_;
  uint64_t seed_;       ///< of the generators that datasets draw from
  const size_t first_;  ///< number of the first batch that is made here
  std::vector<Cell> cells_;
  bool done_ = false;
  Pipeline pipeline_;  // last: its threads must stop before the rest goes
};

}  // namespace detail

}  // namespace taeda::data
