// Datasets that hold a position of their own, streams, and libtorch's names for loaders.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "taeda/base/error.h"
#include "taeda/data/loader.h"

namespace taeda::inline v0_2::data::samplers {

/// The base of what a sampler of one's own asks a dataset for instead of indices; `size` must say
/// how many examples it asks for.
struct CustomBatchRequest {
  virtual ~CustomBatchRequest() = default;
  virtual size_t size() const = 0;
};

/// A number of examples.
/// At most as many come back: fewer at the end, none behind it.
struct BatchSize : CustomBatchRequest {
  explicit BatchSize(size_t size) : size_(size) {}
  size_t size() const override { return size_; }
  operator size_t() const { return size_; }
  size_t size_;
};

/// For streams: tells how many examples a batch has, until there were `epoch_size`.
class StreamSampler : public SequentialSampler {
 public:
  using SequentialSampler::SequentialSampler;
};

}  // namespace taeda::inline v0_2::data::samplers

namespace taeda::inline v0_2::data::datasets {

/// A dataset that decides itself what comes next, and of which there is one, whatever the number
/// of workers: `get_batch(batch_size)` gives nothing at the end of an epoch, `reset()` begins the
/// next one.
template <class Self, class Batch = std::vector<Example<>>, class Request = size_t>
class StatefulDataset : public BatchDataset<Self, std::optional<Batch>, Request> {
 public:
  virtual void reset() = 0;
  /// Writes where the dataset stands, and goes on from there; what is missing in the archive is an
  /// Error.
  virtual void save(serialize::OutputArchive& archive) const = 0;
  virtual void load(serialize::InputArchive& archive) = 0;
};

/// A dataset that is asked for a number of examples and knows no end: its sampler does.
template <class Self, class Batch = std::vector<Example<>>>
using StreamDataset = BatchDataset<Self, Batch, size_t>;

/// A dataset that its copies share, by libtorch's name.
template <class Inner>
using SharedBatchDataset = SharedDataset<Inner>;

/// `dataset.map(transform)` as a function; the size stays.
template <class D, class T>
MapDataset<D, T> map(D dataset, T transform) {
  return MapDataset<D, T>(std::move(dataset), std::move(transform));
}

}  // namespace taeda::inline v0_2::data::datasets

namespace taeda::inline v0_2::data::transforms {

/// A transform that calls a function of the example's data.
template <class Target = Tensor>
class TensorLambda : public TensorTransform<Target> {
 public:
  explicit TensorLambda(std::function<Tensor(Tensor)> fn) : fn_(std::move(fn)) {
    TAEDA_CHECK_VALUE(fn_, "transforms::TensorLambda expects a function, but got an empty one");
  }
  Tensor operator()(Tensor input) override { return fn_(std::move(input)); }

 private:
  std::function<Tensor(Tensor)> fn_;
};

}  // namespace taeda::inline v0_2::data::transforms

namespace taeda::inline v0_2::data {

/// The iterator that a loader's begin() returns; it must not outlive the loader.
template <class Batch>
using Iterator = BatchIterator<Batch>;
/// The loaders that make_data_loader returns, by libtorch's names; a pass over an empty dataset is
/// empty.
template <class D, class Sampler>
using StatelessDataLoader = DataLoader<detail::batch_t<D, detail::AsIs>>;
template <class D>
using StatefulDataLoader = DataLoader<detail::batch_t<D, detail::AsIs>>;
template <class D, class Batch, class Request>
using DataLoaderBase = DataLoader<Batch>;

}  // namespace taeda::inline v0_2::data
