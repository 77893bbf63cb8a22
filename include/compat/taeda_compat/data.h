// torch::data's classes that libtorch declares without parameters, and its forms of collating.
#pragma once

#include <taeda/data/libtorch_order.h>
#include <taeda/io/keyed_archive.h>
#include <taeda_compat/namespaces.h>

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

namespace taeda_compat::data {
namespace data_detail {
inline const bool order = (taeda::data::detail::use_libtorch_order(true), true);
}  // namespace data_detail
}  // namespace taeda_compat::data

namespace taeda_compat::data::datasets {

/// The rows of a tensor, each an example; or of a list of tensors, which it stacks.
struct TensorDataset : taeda::data::datasets::Dataset<TensorDataset, taeda::data::TensorExample> {
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
