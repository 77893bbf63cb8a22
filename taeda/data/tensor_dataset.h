// Datasets that live in tensors.
#pragma once

#include <array>

#include "taeda/base/error.h"
#include "taeda/data/dataset.h"
#include "taeda/data/gather.h"

namespace taeda::inline v0_2::data::datasets {

namespace detail {
template <size_t N>
struct TensorExampleOf {
  using type = std::array<Tensor, N>;
};
template <>
struct TensorExampleOf<1> {
  using type = TensorExample;
};
template <>
struct TensorExampleOf<2> {
  using type = Example<>;
};
}  // namespace detail

/// Rows of N tensors of equal length: an Example<> for (data, target), a TensorExample for one
/// tensor, an array for more. A batch is one gather per tensor, without a tensor per example.
template <size_t N>
class TensorDataset : public Dataset<TensorDataset<N>, typename detail::TensorExampleOf<N>::type> {
 public:
  using ExampleType = typename detail::TensorExampleOf<N>::type;

  /// Throws Error ("Size mismatch between tensors") unless all have the same size(0).
  template <class... T>
  requires(sizeof...(T) == N &&
           (std::convertible_to<T, Tensor> && ...)) explicit TensorDataset(const T&... tensors)
      : tensors_{tensors...} {
    for (const Tensor& t : tensors_)
      TAEDA_CHECK(t.dim() > 0 && t.size(0) == tensors_[0].size(0), "Size mismatch between tensors");
  }
  /// Stacks the tensors of the list: each is one example, and all must have one shape.
  explicit TensorDataset(const std::vector<Tensor>& examples) requires(N == 1)
      : tensors_{stack_examples(examples)} {}

  ExampleType get(size_t index) override {
    TAEDA_CHECK_INDEX(static_cast<int64_t>(index) >= 0, "index ", index,
                      " is out of range for a dataset of ", *size(), " examples");
    return make([&](const Tensor& t) { return t.select(0, static_cast<int64_t>(index)); });
  }
  std::optional<size_t> size() const override { return static_cast<size_t>(tensors_[0].size(0)); }

  /// A whole batch, [n, ...] of each tensor; what collating the examples would give. An index out
  /// of range is an IndexError.
  ExampleType get_stacked(ArrayRef<size_t> indices) {
    return make([&](const Tensor& t) { return gather_rows(t, indices); });
  }

  const std::array<Tensor, N>& tensors() const { return tensors_; }

 private:
  template <class F>
  ExampleType make(F&& f) {
    return std::apply([&](const auto&... t) { return ExampleType{f(t)...}; }, tensors_);
  }

  std::array<Tensor, N> tensors_;
};

TensorDataset(const std::vector<Tensor>&)->TensorDataset<1>;
template <class... T>
TensorDataset(const T&...) -> TensorDataset<sizeof...(T)>;

}  // namespace taeda::inline v0_2::data::datasets
