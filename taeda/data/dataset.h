// What a DataLoader reads from. A map-style dataset answers get(index); an iterable one answers
// next(). Both can be transformed with map().
//
// A dataset may also define `get_stacked(ArrayRef<size_t>)`, which makes a whole batch at once (see
// tensor_dataset.h); collation is then skipped.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "taeda/base/array_ref.h"
#include "taeda/data/errors.h"
#include "taeda/data/example.h"

namespace taeda::inline v0_2::data::detail {

template <class T>
constexpr bool kIsOptional = false;
template <class T>
constexpr bool kIsOptional<std::optional<T>> = true;

}  // namespace taeda::data::detail

namespace taeda::inline v0_2::data::datasets {

template <class Source, class Transform>
class MapDataset;

/// Base of everything that makes a batch from a request: a list of indices, or a count.
/// `size()` is the number of examples where it is known; an index outside of it is undefined unless
/// the dataset says.
template <class Self, class Batch, class Request = ArrayRef<size_t>>
class BatchDataset {
 public:
  using SelfType = Self;
  using BatchType = Batch;
  using BatchRequestType = Request;
  /// Whether the dataset says itself where an epoch ends; false by default.
  static constexpr bool is_stateful = detail::kIsOptional<Batch>;

  virtual ~BatchDataset() = default;
  /// The examples that `request` names, as a batch; what it throws reaches the loop as it is, or as
  /// a WorkerException.
  virtual Batch get_batch(Request request) = 0;
  /// The number of examples, not negative; nothing when it is not known.
  virtual std::optional<size_t> size() const = 0;

  /// This dataset with a transform (data/transform.h), or a function of one example, applied to
  /// what it yields; the size stays. The transform runs in the worker that reads the example.
  template <class F>
  auto map(F transform) & {
    return make_map(static_cast<Self&>(*this), std::move(transform));
  }
  template <class F>
  auto map(F transform) && {
    return make_map(std::move(static_cast<Self&>(*this)), std::move(transform));
  }

 private:
  template <class D, class F>
  static auto make_map(D&& dataset, F transform) {
    return MapDataset<Self, F>(std::forward<D>(dataset), std::move(transform));
  }
};

/// A map-style dataset: `class Mine : public Dataset<Mine, Example<>>` with get(index) and size().
/// Every worker thread of a loader has a copy of its own, so `get` needs no lock unless copies
/// share something that they change.
template <class Self, class SingleExample = Example<>>
class Dataset : public BatchDataset<Self, std::vector<SingleExample>> {
 public:
  using ExampleType = SingleExample;

  /// Example `index`, which is less than `size()`.
  virtual ExampleType get(size_t index) = 0;

  /// The examples of `indices`. An exception of get() is passed on with the index that failed.
  std::vector<ExampleType> get_batch(ArrayRef<size_t> indices) override {
    std::vector<ExampleType> batch;
    batch.reserve(indices.size());
    for (size_t index : indices)
      detail::name_failure("index", index, [&] { batch.push_back(get(index)); });
    return batch;
  }
};

/// A dataset that is read from the front to the end, like a stream or a generator. Loaders read it
/// from one thread at a time, in order; only collation runs in parallel.
template <class Self, class SingleExample = Example<>>
class IterableDataset
    : public BatchDataset<Self, std::optional<std::vector<SingleExample>>, size_t> {
 public:
  using ExampleType = SingleExample;

  /// The next example; nothing at the end, and from then on until reset(). It must not be called
  /// from two threads at once.
  virtual std::optional<ExampleType> next() = 0;
  /// Goes back to the front; called at the start of every epoch, also of the first, where by
  /// default it does nothing.
  virtual void reset() = 0;
  std::optional<size_t> size() const override { return std::nullopt; }

  /// Up to `count` examples; nothing at the end.
  std::optional<std::vector<ExampleType>> get_batch(size_t count) override {
    std::vector<ExampleType> batch;
    while (batch.size() < count) {
      std::optional<ExampleType> one = next();
      if (!one) break;
      batch.push_back(std::move(*one));
    }
    if (batch.empty()) return std::nullopt;
    return batch;
  }
};

/// A dataset that all workers share instead of copying: its get_batch must be safe to call from
/// several threads at once.
template <class Inner>
class SharedDataset : public BatchDataset<SharedDataset<Inner>, typename Inner::BatchType,
                                          typename Inner::BatchRequestType> {
 public:
  explicit SharedDataset(std::shared_ptr<Inner> inner) : inner_(std::move(inner)) {}
  typename Inner::BatchType get_batch(typename Inner::BatchRequestType request) override {
    return inner_->get_batch(request);
  }
  /// What the inner dataset gives for the same arguments, errors included; the pointer is never
  /// null.
  auto get(size_t index) requires requires(Inner& d) { d.get(size_t{}); }
  { return inner_->get(index); }
  std::optional<size_t> size() const override { return inner_->size(); }
  void reset() requires requires(Inner& d) { d.reset(); }
  { inner_->reset(); }
  Inner& operator*() const { return *inner_; }
  Inner* operator->() const { return inner_.get(); }

 private:
  std::shared_ptr<Inner> inner_;
};

/// Makes a dataset of `args` that its copies share; the class must have such a constructor.
template <class D, class... Args>
SharedDataset<D> make_shared_dataset(Args&&... args) {
  return SharedDataset<D>(std::make_shared<D>(std::forward<Args>(args)...));
}

/// The examples of `dataset` at `indices` (torch.utils.data.Subset); an index out of range is an
/// IndexError when it is asked for.
template <class Inner>
class Subset : public Dataset<Subset<Inner>, typename Inner::ExampleType> {
 public:
  Subset(Inner dataset, std::vector<size_t> indices)
      : inner_(std::move(dataset)), indices_(std::move(indices)) {}
  typename Inner::ExampleType get(size_t index) override { return inner_.get(at(index)); }
  std::optional<size_t> size() const override { return indices_.size(); }
  /// The inner dataset's stacked examples, of the indices that this one stands for; one out of
  /// range is an IndexError.
  auto get_stacked(ArrayRef<size_t> indices) requires requires(Inner& d) { d.get_stacked(indices); }
  {
    std::vector<size_t> inner;
    inner.reserve(indices.size());
    for (size_t i : indices) inner.push_back(at(i));
    return inner_.get_stacked(inner);
  }

 private:
  size_t at(size_t index) const {
    TAEDA_CHECK_INDEX(index < indices_.size(), "index ", index,
                      " is out of bounds for a subset of ", indices_.size(), " examples");
    return indices_[index];
  }

  Inner inner_;
  std::vector<size_t> indices_;
};

}  // namespace taeda::data::datasets
