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

#include "taeda/data/epoch.h"
#include "taeda/data/loader_state.h"

namespace taeda::inline v0_2::data {

/// Reads one batch after another; loops see it through begin() and end(). The first batch is waited
/// for where it is looked at or compared, so begin() itself throws nothing that reading throws.
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
      : state_(std::make_shared<State>(State{std::move(epoch), {}, false})) {}

  /// Throws Error past the end, and after an increment that threw; so does ->.
  Batch& operator*() const {
    TAEDA_CHECK(state_, "Dereferencing the DataLoader's past-the-end iterator is not allowed");
    start();
    TAEDA_CHECK(state_->batch, "Attempted to dereference iterator that was past the end");
    return *state_->batch;
  }
  Batch* operator->() const { return &**this; }
  /// Throws Error past the end, and what reading the next batch throws; one more increment goes on
  /// behind that batch.
  BatchIterator& operator++() {
    TAEDA_CHECK(state_, "Incrementing the DataLoader's past-the-end iterator is not allowed");
    start();
    TAEDA_CHECK(!at_end(), "Attempted to increment iterator past the end");
    state_->batch.reset();  // its memory is free for the batch that comes
    state_->batch = state_->epoch->next();
    if (!state_->batch) state_->epoch.reset();
    return *this;
  }
  void operator++(int) { ++*this; }
  friend bool operator==(const BatchIterator& a, const BatchIterator& b) {
    a.start(), b.start();
    return a.at_end() ? b.at_end() : a.state_ == b.state_;
  }

 private:
  /// Reads the first batch; a failure counts as its reading.
  void start() const {
    if (!state_ || std::exchange(state_->started, true)) return;
    state_->batch = state_->epoch->next();
  }
  bool at_end() const {
    return !state_ || (!state_->batch && (!state_->epoch || state_->epoch->done()));
  }

  struct State {
    std::shared_ptr<Epoch<Batch>> epoch;
    std::optional<Batch> batch;
    bool started = false;
  };
  std::shared_ptr<State> state_;
};

/// Iterates over batches of type `Batch`, one pass at a time; a second one while a first goes on is
/// an Error. Leaving a loop early stops the workers.
template <class Batch>
class DataLoader {
 public:
  using BatchType = Batch;
  using Iterator = BatchIterator<Batch>;
  using Wrap = std::function<std::shared_ptr<Epoch<Batch>>(std::shared_ptr<Epoch<Batch>>)>;

  /// Yields collated batches, as Python's DataLoader: the dataset's get_stacked if it has one, else
  /// its examples through `collate`. Throws ValueError for settings that make no sense.
  template <class D>
  explicit DataLoader(D dataset, LoaderConfig config = {})
      : DataLoader(std::move(dataset), with_default_order(std::move(config), false),
                   detail::Collated{}) {}

  template <class D, class How>
  DataLoader(D dataset, LoaderConfig config, How)
      : config_(DataLoaderOptions(std::move(config)).config()),
        options_(config_),
        dataset_size_(dataset.size()) {
    using Reader = detail::reader_t<D, How>;
    TAEDA_CHECK_VALUE(
        Reader::kIndexed || !config_.shuffle.value_or(false),
        "DataLoader with IterableDataset: expected unspecified shuffle option, but got "
        "shuffle=True");
    std::optional<Generator> generator;
    if (config_.seed) generator = Generator(kCPU, *config_.seed);
    sampler_ =
        detail::choose_sampler(config_, Reader::kIndexed ? dataset_size_ : size_t{0}, generator);
    order_.emplace(generator, sampler_, How::kDrawsSeeds);
    indexed_ = Reader::kIndexed;
    restarts_ = How::kLibtorchErrors && config_.num_workers == 0;
    auto reader = std::make_shared<Reader>(std::move(dataset), config_.num_workers);
    start_ = [reader](const auto& sampler, const LoaderConfig& settings,
                      detail::EpochOrder::Start start) -> std::shared_ptr<Epoch<Batch>> {
      reader->reset();
      return std::make_shared<detail::ReaderEpoch<Reader, Batch>>(reader, sampler, settings,
                                                                  start.seed, start.first_batch);
    };
  }

  DataLoader(DataLoader&&) = default;
  DataLoader& operator=(DataLoader&&) = default;

  /// Starts a new epoch. Throws Error while an iterator of another one is in use; a loader of
  /// make_data_loader without workers begins anew for both.
  Iterator begin() { return Iterator(epoch()); }
  Iterator end() { return Iterator(); }

  /// Starts a new epoch, for those who ask for batches by next(); it stops when it is let go. If
  /// `wrap` is given, its result hands out the batches of its argument.
  std::shared_ptr<Epoch<Batch>> epoch(const Wrap& wrap = {}) {
    const auto before = current_.lock();
    TAEDA_CHECK(
        !before || before->done() || (restarts_ && !wrap),
        "Attempted to get a new DataLoader iterator while another iterator is not yet exhausted");
    auto epoch = start_(sampler_, config_, order_->begin());
    if (before && !before->done()) return before;  // goes on with the sampler, which begins anew
    if (wrap) epoch = wrap(std::move(epoch));
    current_ = epoch;
    return epoch;
  }

  /// Where this loader stands: between two epochs or, inside a loop over it, behind the batch that
  /// was handed out last; leaving the loop ends the epoch. With the default generators
  /// (io/random_state.h) it decides all batches to come. An iterable dataset, and a sampler of
  /// one's own without a generator, are read again from the start of their epoch.
  LoaderState state_dict() const {
    LoaderState state;
    const auto epoch = current_.lock();
    order_->save(state, epoch && !epoch->done() ? std::optional(epoch->position()) : std::nullopt);
    state.numbers.insert("batch_size", static_cast<double>(config_.batch_size));
    state.numbers.insert("examples", static_cast<double>(dataset_size_.value_or(0)));
    return state;
  }
  /// Goes on from there: the next epoch is the rest of the one that was under way, if there was
  /// one. Throws ValueError for the state of a loader with other batches, Error in an epoch.
  void load_state_dict(const LoaderState& state) {
    const auto before = current_.lock();
    TAEDA_CHECK(!before || before->done(), "DataLoader::load_state_dict in the middle of an epoch");
    detail::check_same_batches(state, config_.batch_size, dataset_size_);
    order_->load(state);
  }

  /// Batches in an epoch. Throws TypeError for a dataset whose size is not known.
  size_t size() const {
    TAEDA_CHECK_TYPE(indexed_, "a DataLoader over an iterable dataset has no size()");
    return detail::count_batches(*sampler_, config_);
  }
  std::optional<size_t> dataset_size() const { return dataset_size_; }
  const FullDataLoaderOptions& options() const { return options_; }
  const std::shared_ptr<samplers::Sampler>& sampler() const { return sampler_; }

  /// The sampler that a loader has by default: in order, or at random with `shuffle`.
  static LoaderConfig with_default_order(LoaderConfig config, bool shuffle) {
    if (!config.shuffle && !config.sampler) config.shuffle = shuffle;
    return config;
  }

 private:
  LoaderConfig config_;
  FullDataLoaderOptions options_;
  std::optional<size_t> dataset_size_;
  std::shared_ptr<samplers::Sampler> sampler_;
  std::optional<detail::EpochOrder> order_;
  bool indexed_ = true, restarts_ = false;
  std::weak_ptr<Epoch<Batch>> current_;
  std::function<std::shared_ptr<Epoch<Batch>>(const std::shared_ptr<samplers::Sampler>&,
                                              const LoaderConfig&, detail::EpochOrder::Start)>
      start_;
};

template <class D>
explicit DataLoader(D, LoaderConfig = {}) -> DataLoader<detail::batch_t<D, detail::Collated>>;

namespace detail {
template <class How, class D>
auto make_loader(D dataset, const DataLoaderOptions& options) {
  using Loader = DataLoader<batch_t<D, How>>;
  LoaderConfig config = Loader::with_default_order(options.config(), !D::is_stateful);
  return std::make_unique<Loader>(std::move(dataset), std::move(config), How{});
}
}  // namespace detail

/// libtorch's loader: yields what the dataset's get_batch returns, in random order unless the
/// options or the sampler say otherwise.
template <class D>
auto make_data_loader(D dataset, DataLoaderOptions options = {}) {
  return detail::make_loader<detail::AsIs>(std::move(dataset), options);
}

/// libtorch's loader with a sampler of the user's, which must give the indices of one epoch after
/// each reset.
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
  TAEDA_CHECK(size.has_value(),
              "Expected the dataset to be sized in order to construct the Sampler");
  return make_data_loader(std::move(dataset), Sampler(*size), std::move(options));
}

}  // namespace taeda::inline v0_2::data
