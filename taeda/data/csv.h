// Tables in text files (RFC 4180), and a dataset of one.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "taeda/data/tensor_dataset.h"

namespace taeda::inline v0_2::data {

struct CsvTable {
  std::vector<std::string> names;  ///< of the columns; "0", "1", ... without a header
  std::vector<std::vector<std::string>> rows;
};

/// Reads a whole file. Fields may be quoted, and then hold delimiters, line ends and doubled
/// quotes. Empty lines are passed over. Throws Error, naming file and line, for a row whose length
/// differs from the first one's and for a quote without an end.
CsvTable read_csv(const std::string& path, char delimiter = ',', bool header = true);

namespace datasets {

/// How a table of text is read.
struct CsvOptions {
  /// The column of the targets, by name or by position; negative positions count from the end.
  std::variant<int64_t, std::string> target = int64_t{-1};
  char delimiter = ',';
  bool header = true;
};

/// An example is a row: all columns but the target's as a float vector, and the target. Targets
/// that are whole numbers are int64, other numbers float; words become the numbers of the classes,
/// in the order of their names.
class CSVDataset : public Dataset<CSVDataset> {
 public:
  /// Throws Error, naming file, line and column, for a field that is no number, IndexError for a
  /// target that is no column, and what read_csv throws.
  explicit CSVDataset(const std::string& path, const CsvOptions& options = {});

  Example<> get(size_t index) override { return content_.get(index); }
  std::optional<size_t> size() const override { return content_.size(); }
  /// The examples of `indices` as one, stacked without taking each apart.
  Example<> get_stacked(ArrayRef<size_t> indices) { return content_.get_stacked(indices); }

  /// (N, D), float.
  const Tensor& features() const { return content_.tensors()[0]; }
  const Tensor& targets() const { return content_.tensors()[1]; }
  const std::vector<std::string>& feature_names() const { return feature_names_; }
  /// The words that targets stand for; empty if they are numbers.
  const std::vector<std::string>& classes() const { return classes_; }

 private:
  std::vector<std::string> feature_names_, classes_;
  TensorDataset<2> content_;
};

}  // namespace datasets
}  // namespace taeda::data
