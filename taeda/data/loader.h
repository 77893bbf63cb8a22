// Batches of a dataset, read ahead by worker threads.
//
//     DataLoader loader(dataset, {.batch_size = 100, .shuffle = true, .num_workers = 2});
//     for (auto& [images, labels] : loader) ...
//
// Batches come in the sampler's order and do not depend on the number of workers or on timing. An
// exception in a dataset is rethrown from the loop, with the index that failed.
#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "taeda/data/collate.h"
#include "taeda/data/dataset.h"
#include "taeda/data/loader_options.h"
#include "taeda/data/pipeline.h"
#include "taeda/data/sampler.h"
#include "taeda/data/transform.h"

namespace taeda::data {

/// One pass over the data.
template <class Batch>
class Epoch {
 public:
  virtual ~Epoch() = default;
  /// The next batch; nothing at the end.
  virtual std::optional<Batch> next() = 0;
  /// Whether next() has reached the end.
  virtual bool done() const = 0;
};

/// Reads one batch after another; loops see it through begin() and end().
template <class Batch>
class BatchIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = Batch;
  using difference_type = std::ptrdiff_t;
  using pointer = Batch*;
  using reference = Batch&;

  BatchIterator() = default;
  explicit BatchIterator(std::shared_ptr<Epoch<Batch>> epoch)
      : state_(std::make_shared<State>(State{std::move(epoch), {}})) { ++*this; }

  Batch& operator*() const { return *state_->batch; }
  Batch* operator->() const { return &*state_->batch; }
  BatchIterator& operator++() {
    state_->batch.reset();  // its memory is free for the batch that comes
    state_->batch = state_->epoch->next();
    if (!state_->batch) state_.reset();
    return *this;
  }
  void operator++(int) { ++*this; }
  friend bool operator==(const BatchIterator& a, const BatchIterator& b) { return a.state_ == b.state_; }

 private:
  struct State {
    std::shared_ptr<Epoch<Batch>> epoch;
    std::optional<Batch> batch;
  };
  std::shared_ptr<State> state_;
};

namespace detail {

/// What a reader makes of a dataset: libtorch's get_batch as it is, or a collated batch.
struct AsIs {
  template <class D> static auto read(D& d, const std::vector<size_t>& indices) {
    return d.get_batch(indices);
  }
  template <class T> static T finish(T batch) { return batch; }
};

struct Collated {
  template <class D> static auto read(D& d, const std::vector<size_t>& indices) {
    if constexpr (datasets::detail::HasGetStacked<D>) return d.get_stacked(indices);
    else return d.get_batch(indices);
  }
  template <class T> static T finish(T batch) { return batch; }
  template <class T> static auto finish(std::vector<T> batch) { return collate(batch); }
};

/// Reads a map-style dataset: indices are drawn in order, batches made in parallel, each worker with
/// a copy of the dataset if it can be copied.
template <class Dataset, class How>
class IndexedReader {
 public:
  using Input = std::vector<size_t>;
  static constexpr bool kIndexed = true;

  IndexedReader(Dataset dataset, int workers) {
    own_.push_back(std::make_shared<Dataset>(std::move(dataset)));
    for (int w = 0; w < workers; ++w) {
      if constexpr (std::is_copy_constructible_v<Dataset>) own_.push_back(std::make_shared<Dataset>(*own_[0]));
      else own_.push_back(own_[0]);
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

template <class T> size_t batch_length(const std::vector<T>& list) { return list.size(); }
template <class T> size_t batch_length(const T&) { return SIZE_MAX; }

/// The sampler that the configuration asks for.
std::shared_ptr<samplers::Sampler> choose_sampler(const LoaderConfig& config, std::optional<size_t> size,
                                                  const std::optional<Generator>& generator);
/// Batches in an epoch of the sampler.
size_t count_batches(const samplers::Sampler& sampler, const LoaderConfig& config);

/// An epoch over a reader.
template <class Reader, class Batch>
class ReaderEpoch : public Epoch<Batch>, private Jobs {
 public:
  ReaderEpoch(std::shared_ptr<Reader> reader, std::shared_ptr<samplers::Sampler> sampler,
              const LoaderConfig& config)
      : reader_(std::move(reader)), sampler_(std::move(sampler)), config_(config),
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

 private:
  struct Cell {
    typename Reader::Input input;
    std::optional<Batch> batch;
  };

  static size_t window(const LoaderConfig& c) {
    return c.num_workers > 0 ? static_cast<size_t>(c.num_workers) * static_cast<size_t>(c.prefetch_factor) : 1;
  }

  bool draw(int64_t job, size_t slot) override {
    std::optional<typename Reader::Input> input;
    name_failure("batch", static_cast<size_t>(job), [&] { input = reader_->draw(*sampler_, config_.batch_size); });
    // A BatchSampler has its own size of batches and its own drop_last.
    const bool own_size = dynamic_cast<samplers::BatchSampler*>(sampler_.get()) != nullptr;
    if (!input || (config_.drop_last && !own_size && batch_length(*input) < config_.batch_size)) return false;
    cells_[slot].input = std::move(*input);
    return true;
  }

  void make(int64_t job, size_t slot, int worker) override {
    const auto place = worker < 0 ? std::string() : " in DataLoader worker " + std::to_string(worker);
    try {
      Cell& cell = cells_[slot];
      cell.batch = reader_->make(std::move(cell.input), worker);
      if (config_.pin_memory) for_each_tensor(*cell.batch, [](Tensor& t) { t = t.pin_memory(); });
    } catch (...) {
      rethrow_with_context(taeda::detail::concat("while reading batch ", job, place));
    }
  }

  std::shared_ptr<Reader> reader_;
  std::shared_ptr<samplers::Sampler> sampler_;
  LoaderConfig config_;
  std::vector<Cell> cells_;
  bool done_ = false;
  Pipeline pipeline_;  // last: its threads must stop before the rest goes
};

}  // namespace detail

/// Iterates over batches of type `Batch`, one pass at a time. Leaving a loop early stops the workers.
template <class Batch>
class DataLoader {
 public:
  using BatchType = Batch;
  using Iterator = BatchIterator<Batch>;

  /// Yields collated batches, as Python's DataLoader: the dataset's get_stacked if it has one, else
  /// its examples through `collate`. Throws ValueError for settings that make no sense.
  template <class D>
  explicit DataLoader(D dataset, LoaderConfig config = {})
      : DataLoader(std::move(dataset), with_default_order(std::move(config), false), detail::Collated{}) {}

  template <class D, class How>
  DataLoader(D dataset, LoaderConfig config, How)
      : config_(DataLoaderOptions(std::move(config)).config()), dataset_size_(dataset.size()) {
    using Reader = detail::reader_t<D, How>;
    TAEDA_CHECK_VALUE(Reader::kIndexed || !config_.shuffle.value_or(false),
                      "DataLoader with IterableDataset: expected unspecified shuffle option, but got "
                      "shuffle=True");
    if (config_.seed) generator_ = Generator(kCPU, *config_.seed);
    sampler_ = detail::choose_sampler(config_, Reader::kIndexed ? dataset_size_ : size_t{0}, generator_);
    indexed_ = Reader::kIndexed;
    auto reader = std::make_shared<Reader>(std::move(dataset), config_.num_workers);
    start_ = [reader](const auto& sampler, const LoaderConfig& config) -> std::shared_ptr<Epoch<Batch>> {
      reader->reset();
      return std::make_shared<detail::ReaderEpoch<Reader, Batch>>(reader, sampler, config);
    };
  }

  DataLoader(DataLoader&&) = default;
  DataLoader& operator=(DataLoader&&) = default;

  /// Starts a new epoch. Throws Error while an iterator of another one is in use.
  Iterator begin() { return Iterator(epoch()); }
  Iterator end() { return Iterator(); }

  /// Starts a new epoch, for those who ask for batches by next(); it stops when it is let go.
  std::shared_ptr<Epoch<Batch>> epoch() {
    const auto before = current_.lock();
    TAEDA_CHECK(!before || before->done(),
                "Attempted to get a new DataLoader iterator while another iterator is not yet exhausted");
    // PyTorch draws a seed for the workers here, and the order of the epoch depends on it.
    (generator_ ? *generator_ : default_generator(kCPU)).random64();
    sampler_->reset();
    const auto epoch = start_(sampler_, config_);
    current_ = epoch;
    return epoch;
  }

  /// Batches in an epoch. Throws TypeError for a dataset whose size is not known.
  size_t size() const {
    TAEDA_CHECK_TYPE(indexed_, "a DataLoader over an iterable dataset has no size()");
    return detail::count_batches(*sampler_, config_);
  }
  std::optional<size_t> dataset_size() const { return dataset_size_; }
  const LoaderConfig& options() const { return config_; }
  const std::shared_ptr<samplers::Sampler>& sampler() const { return sampler_; }

  static LoaderConfig with_default_order(LoaderConfig config, bool shuffle) {
    if (!config.shuffle && !config.sampler) config.shuffle = shuffle;
    return config;
  }

 private:
  LoaderConfig config_;
  std::optional<size_t> dataset_size_;
  std::optional<Generator> generator_;
  std::shared_ptr<samplers::Sampler> sampler_;
  bool indexed_ = true;
  std::weak_ptr<Epoch<Batch>> current_;
  std::function<std::shared_ptr<Epoch<Batch>>(const std::shared_ptr<samplers::Sampler>&, const LoaderConfig&)>
      start_;
};

template <class D> explicit DataLoader(D, LoaderConfig = {}) -> DataLoader<detail::batch_t<D, detail::Collated>>;

/// libtorch's loader: yields what the dataset's get_batch returns, in random order unless the options
/// or the sampler say otherwise.
template <class D>
auto make_data_loader(D dataset, DataLoaderOptions options = {}) {
  using Batch = detail::batch_t<D, detail::AsIs>;
  const bool shuffle = !D::is_stateful;
  return std::make_unique<DataLoader<Batch>>(
      std::move(dataset), DataLoader<Batch>::with_default_order(options.config(), shuffle), detail::AsIs{});
}

/// With a sampler of the user's.
template <class D, class Sampler>
  requires std::derived_from<Sampler, samplers::Sampler>
auto make_data_loader(D dataset, Sampler sampler, DataLoaderOptions options = {}) {
  options.sampler(std::make_shared<Sampler>(std::move(sampler)));
  return make_data_loader(std::move(dataset), std::move(options));
}

/// With a kind of sampler that is made from the dataset's size.
template <class Sampler, class D>
  requires std::derived_from<Sampler, samplers::Sampler>
auto make_data_loader(D dataset, DataLoaderOptions options = {}) {
  const std::optional<size_t> size = dataset.size();
  TAEDA_CHECK(size.has_value(), "Expected the dataset to be sized in order to construct the Sampler");
  return make_data_loader(std::move(dataset), Sampler(*size), std::move(options));
}

}  // namespace taeda::data
