// torch::data's classes that libtorch declares without parameters, and its forms of collating.
#pragma once

#include <taeda_compat/namespaces.h>

#include <vector>

namespace taeda_compat::data::datasets {

/// Rows of a tensor, each an example; or of a list of tensors.
class TensorDataset : public taeda::data::datasets::TensorDataset<1> {
 public:
  explicit TensorDataset(const std::vector<Tensor>& tensors)
      : taeda::data::datasets::TensorDataset<1>(tensors) {}
  explicit TensorDataset(const Tensor& tensor)
      : taeda::data::datasets::TensorDataset<1>(tensor) {}
};

}  // namespace taeda_compat::data::datasets

namespace taeda_compat::data::transforms {

/// What makes a T of a list of Ts.
template <class T = taeda::data::Example<>>
using Collate = taeda::data::transforms::Collation<T, std::vector<T>>;

}  // namespace taeda_compat::data::transforms
