// torch::data's classes that libtorch declares without parameters, and its forms of collating.
#pragma once

#include <taeda/data/libtorch_order.h>
#include <taeda_compat/namespaces.h>

#include <optional>
#include <utility>
#include <vector>

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
