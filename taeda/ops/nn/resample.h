// A dimension's elements as weighted sums of others. Not part of the public interface.
#pragma once

#include <memory>
#include <vector>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::detail {

/// A sparse matrix, row by row.
class SparseRows {
 public:
  /// `columns` is the number of elements that rows choose from. Throws Error above 2^31 - 1.
  explicit SparseRows(int64_t columns);
  /// One more element of the row that `end_row` will end.
  void add(int64_t column, double weight) {
    columns_.push_back(static_cast<int32_t>(column));
    weights_.push_back(weight);
  }
  /// `count` of them that weigh the same.
  void add(const int64_t* columns, int64_t count, double weight) {
    const size_t begin = columns_.size();
    columns_.resize(begin + static_cast<size_t>(count));
    for (size_t i = begin; i < columns_.size(); ++i)
      columns_[i] = static_cast<int32_t>(columns[i - begin]);
    weights_.resize(columns_.size(), weight);
  }
  /// Makes room for so many elements.
  void reserve(size_t elements) {
    columns_.reserve(elements);
    weights_.reserve(elements);
  }
  void end_row() { starts_.push_back(static_cast<int32_t>(columns_.size())); }

  int64_t rows() const { return static_cast<int64_t>(starts_.size()) - 1; }
  int64_t columns() const { return column_count_; }
  SparseRows transposed() const;

 private:
  friend Tensor resample(const Tensor&, int64_t, const std::shared_ptr<const SparseRows>&);

  int64_t column_count_;
  std::vector<int32_t> starts_{0}, columns_;
  std::vector<double> weights_;
};

/// Along `dim`, of size matrix->columns(), each line times the matrix: contiguous, of size
/// matrix->rows() there. Floating dtypes; linear, with gradients of every order.
Tensor resample(const Tensor& x, int64_t dim, const std::shared_ptr<const SparseRows>& matrix);

}  // namespace taeda::inline v0_2::detail
