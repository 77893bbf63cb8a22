// torch::data: loaders and samplers whose order is that of libtorch's C++, which draws other
// numbers than Python's, data sets and forms of collating.
#pragma once

#include <taeda/io/keyed_archive.h>
#include <taeda_compat/namespaces.h>

#include <concepts>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

// Inner namespaces are Taeda's: what libtorch has there in addition.
namespace taeda::serialize {

/// What writes itself to an archive, as samplers and chunk datasets do.
template <class T>
concept Archived =
    !io::Saveable<T> && requires(const T& from, T& to, OutputArchive& out, InputArchive& in) {
  from.save(out);
  to.load(in);
};

template <Archived T>
OutputArchive& operator<<(OutputArchive& archive, const T& value) {
  value.save(archive);
  return archive;
}
template <Archived T>
InputArchive& operator>>(InputArchive& archive, T& value) {
  value.load(archive);
  return archive;
}

}  // namespace taeda::serialize

namespace taeda {

/// Saves to a path, a stream or a function that gets bytes.
template <serialize::Archived T, class Target>
void save(const T& value, Target&& target) {
  serialize::OutputArchive archive;
  archive << value;
  archive.save_to(std::forward<Target>(target));
}
/// Goes on where what was saved stood.
template <serialize::Archived T, class... Source>
void load(T& value, Source&&... source) {
  serialize::InputArchive archive;
  archive.load_from(std::forward<Source>(source)...);
  archive >> value;
}

}  // namespace taeda

namespace taeda_compat::data::samplers {

/// The base of a program's own samplers: `class Mine : public torch::data::samplers::Sampler<>`
/// says how an epoch starts, and gives up to `batch_size` further indices or nothing at its end.
/// Requests are lists of indices.
template <std::same_as<std::vector<size_t>> Request = std::vector<size_t>>
class Sampler : public taeda::data::samplers::Sampler {
 public:
  using BatchRequestType = Request;
  /// Starts a new epoch, over a dataset of another size if there is one.
  virtual void reset(std::optional<size_t> new_size) = 0;
  void save(taeda::serialize::OutputArchive& archive) const override = 0;
  void load(taeda::serialize::InputArchive& archive) override = 0;

  void reset() final { reset(std::nullopt); }
  /// How many indices there are, nobody says before they are drawn.
  size_t size() const override {
    throw NotImplementedError("this sampler does not say how many indices an epoch has");
  }

 protected:
  void resize(size_t size) override { reset(size); }
};

/// A permutation of 0, ..., size - 1 by the default generator in every epoch, and one when the
/// sampler is made. Throws ValueError for a size of 0. Indices have one type, whichever is asked
/// for.
class RandomSampler : public taeda::data::samplers::RandomSampler {
 public:
  explicit RandomSampler(size_t size, ScalarType /*index_dtype*/ = kLong)
      : taeda::data::samplers::RandomSampler(size) {
    RandomSampler::epoch();
  }

 protected:
  std::vector<size_t> epoch() override {
    std::vector<int64_t> order(size());
    default_generator(kCPU).fill_permutation(order.data(), static_cast<int64_t>(order.size()));
    return {order.begin(), order.end()};
  }
};

}  // namespace taeda_compat::data::samplers

namespace taeda_compat::data {

namespace data_detail {

/// How libtorch's loaders read: nothing is drawn for workers when an epoch begins.
struct AsLibtorch : taeda::data::detail::AsIs {
  static constexpr bool kDrawsSeeds = false;
};

template <class D>
concept AnyDataset = std::same_as<decltype(D::is_stateful), const bool>;

}  // namespace data_detail

/// With a sampler of the user's. These three have one constraint more than taeda::data's, and so
/// are preferred where a call finds both.
template <class D, class Sampler>
requires(std::derived_from<Sampler, taeda::data::samplers::Sampler>&& data_detail::AnyDataset<
         D>) auto make_data_loader(D dataset, Sampler sampler,
                                   taeda::data::DataLoaderOptions options = {}) {
  options.sampler(std::make_shared<Sampler>(std::move(sampler)));
  return taeda::data::detail::make_loader<data_detail::AsLibtorch>(std::move(dataset), options);
}
/// With a kind of sampler that is made from the dataset's size, which must be known.
template <class Sampler, class D>
requires(std::derived_from<Sampler, taeda::data::samplers::Sampler>&& data_detail::AnyDataset<
         D>) auto make_data_loader(D dataset, taeda::data::DataLoaderOptions options = {}) {
  const std::optional<size_t> size = dataset.size();
  TAEDA_CHECK(size.has_value(),
              "Expected the dataset to be sized in order to construct the Sampler");
  return data::make_data_loader(std::move(dataset), Sampler(*size), std::move(options));
}
/// In random order, unless the dataset decides the order itself or the options say otherwise.
template <class D>
requires data_detail::AnyDataset<D>
auto make_data_loader(D dataset, taeda::data::DataLoaderOptions options = {}) {
  if constexpr (!D::is_stateful)
    if (const auto config = options.config();
        config.shuffle.value_or(!config.sampler) && !config.seed)
      return data::make_data_loader<samplers::RandomSampler>(std::move(dataset),
                                                             options.shuffle(std::nullopt));
  return taeda::data::detail::make_loader<data_detail::AsLibtorch>(std::move(dataset), options);
}

}  // namespace taeda_compat::data

namespace taeda_compat::data::datasets {

/// A map-style dataset, as taeda::data's. What `get` throws arrives as it was thrown.
template <class Self, class SingleExample = taeda::data::Example<>>
class Dataset : public taeda::data::datasets::Dataset<Self, SingleExample> {
 public:
  std::vector<SingleExample> get_batch(ArrayRef<size_t> indices) override {
    std::vector<SingleExample> batch;
    batch.reserve(indices.size());
    for (size_t index : indices) batch.push_back(this->get(index));
    return batch;
  }
};

/// Examples in chunks; the orders of both are drawn as libtorch draws them.
template <class Reader, class ChunkSampler = samplers::RandomSampler,
          class ExampleSampler = samplers::RandomSampler>
using ChunkDataset = taeda::data::datasets::ChunkDataset<Reader, ChunkSampler, ExampleSampler>;

/// The rows of a tensor, each an example; or of a list of tensors, which it stacks.
struct TensorDataset : Dataset<TensorDataset, taeda::data::TensorExample> {
  explicit TensorDataset(const std::vector<Tensor>& tensors) : tensor(taeda::stack(tensors)) {}
  explicit TensorDataset(Tensor t) : tensor(std::move(t)) {}

  taeda::data::TensorExample get(size_t index) override {
    return tensor.select(0, static_cast<int64_t>(index));
  }
  std::optional<size_t> size() const override { return static_cast<size_t>(tensor.size(0)); }
  /// A whole batch at once.
  taeda::data::TensorExample get_stacked(ArrayRef<size_t> indices) {
    return taeda::data::gather_rows(tensor, indices);
  }

  Tensor tensor;
};

}  // namespace taeda_compat::data::datasets

namespace taeda_compat::data::transforms {

/// Makes one value of a list of examples by a function.
template <class Single, class Batch = std::vector<Single>>
using Collate = taeda::data::transforms::BatchLambda<Batch, Single>;
/// A base of what makes one value of a batch; libtorch names the batch where Taeda names an
/// example.
template <class Single, class Batch = std::vector<Single>>
using Collation = taeda::data::transforms::BatchTransform<Batch, Single>;

}  // namespace taeda_compat::data::transforms
