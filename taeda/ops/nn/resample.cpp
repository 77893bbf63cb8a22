#include "taeda/ops/nn/resample.h"

#include <limits>

#include "taeda/autograd/record.h"
#include "taeda/base/error.h"
#include "taeda/device/host_graph.h"
#include "taeda/kernels/resample.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/pointwise.h"

namespace taeda::inline v0_2::detail {

SparseRows::SparseRows(int64_t columns) : column_count_(columns) {
  TAEDA_CHECK(columns <= std::numeric_limits<int32_t>::max(),
              "cannot resample a dimension of size ", columns, ", which is above 2^31 - 1");
}

SparseRows SparseRows::transposed() const {
  SparseRows out(rows());
  std::vector<int32_t> next(static_cast<size_t>(column_count_) + 1);
  for (const int32_t c : columns_) ++next[static_cast<size_t>(c) + 1];
  for (size_t c = 1; c < next.size(); ++c) next[c] += next[c - 1];
  out.starts_ = next;
  out.columns_.resize(columns_.size());
  out.weights_.resize(weights_.size());
  for (size_t row = 0; row + 1 < starts_.size(); ++row)
    for (int32_t j = starts_[row]; j < starts_[row + 1]; ++j) {
      const auto from = static_cast<size_t>(j);
      const auto at = static_cast<size_t>(next[static_cast<size_t>(columns_[from])]++);
      out.columns_[at] = static_cast<int32_t>(row);
      out.weights_[at] = weights_[from];
    }
  return out;
}

namespace {

/// The numbers as a tensor on `device`. They live as long as it, and as a graph that records now.
template <class T>
Tensor as_tensor(std::shared_ptr<const std::vector<T>> numbers, Device device) {
  auto* const data = const_cast<T*>(numbers->data());
  const auto size = static_cast<int64_t>(numbers->size());
  if (HostGraph* graph = host_recording()) [[unlikely]]
    graph->add("constants", [numbers] {});
  return from_blob(
             data, {size}, [numbers = std::move(numbers)](void*) {}, dtype_of<T>())
      .to(device);
}

}  // namespace

Tensor resample(const Tensor& x, int64_t dim, const std::shared_ptr<const SparseRows>& matrix) {
  check_floating("resample", x);
  DimVector sizes(x.sizes());
  int64_t outer = 1, inner = 1;
  for (int64_t d = 0; d < x.dim(); ++d) (d < dim ? outer : inner) *= d == dim ? 1 : x.size(d);
  sizes[static_cast<size_t>(dim)] = matrix->rows();
  const Tensor out = make_tensor(sizes, x.dtype(), x.device());
  if (out.numel() > 0) {
    const NoGradGuard guard;
    using Integers = std::shared_ptr<const std::vector<int32_t>>;
    const SparseRows& m = *matrix;
    const Tensor weights =
        x.dtype() == kDouble
            ? as_tensor(std::shared_ptr<const std::vector<double>>(matrix, &m.weights_), x.device())
            : as_tensor(
                  std::shared_ptr<const std::vector<float>>(
                      std::make_shared<std::vector<float>>(m.weights_.begin(), m.weights_.end())),
                  x.device());
    resample_slot(x.device().type(), out.view({outer, m.rows(), inner}),
                  x.contiguous().view({outer, m.columns(), inner}),
                  as_tensor(Integers(matrix, &m.starts_), x.device()),
                  as_tensor(Integers(matrix, &m.columns_), x.device()), weights);
  }
  if (wants_grad(x))
    record("UpsampleBackward0", out, {x}, [dim, matrix](const Tensor& g) {
      return resample(g, dim, std::make_shared<const SparseRows>(matrix->transposed()));
    });
  return out;
}

}  // namespace taeda::inline v0_2::detail
