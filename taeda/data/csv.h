// Tables in text files (RFC 4180), and a dataset of one. A table has the same number of cells in
// each row, else an Error names the line.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "taeda/data/tensor_dataset.h"

namespace taeda::inline v0_2::data {

struct CsvTable {
  /// the names of the columns; by default "0", "1", ... without a header
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> rows;
  std::string path = {};  ///< the path of the file, for errors
  /// Which rows of the file these are, from 1 and without the header, and the lines, from 1, in
  /// which they begin.
  std::vector<int64_t> numbers = {}, lines = {};

  /// "t.csv:3: row 2, column 'x'": where a cell of `rows` stands in the file, for errors.
  std::string place(size_t row, size_t column) const;
};

/// Reads a whole file. Fields may be quoted, and then hold delimiters, line ends and doubled
/// quotes. Empty lines are passed over. Throws Error, naming file and line, for a row whose length
/// differs from the first one's and for a quote without an end.
CsvTable read_csv(const std::string& path, char delimiter = ',', bool header = true);

/// What becomes of a cell that holds no value. That is one without characters; in a column of
/// numbers also NA, N/A, NaN, null, none and ?, in small or capital letters.
enum class MissingValues {
  kError,  ///< an error, which names row and column
  kDrop,   ///< the row of an empty cell is left out
  kMean,   ///< an empty number is its column's mean, an empty word none of its column's
};

/// A column of a table as numbers; a cell that is none is refused by row and column.
struct CsvColumn {
  std::string name;
  /// What its cells may say, each once; empty: they are numbers.
  std::vector<std::string> words = {};
};

/// What errors advise whoever can choose: about a cell without a value, and about one that is no
/// number. Each follows the message; empty: nothing.
struct CsvAdvice {
  std::string missing = {}, word = {};
};

/// Whether a column holds numbers: whether all its cells that are not empty are numbers, and there
/// is one.
bool holds_numbers(const CsvTable& table, size_t column);
/// The different words of a column, in alphabetical order; empty cells are none.
std::vector<std::string> words_of(const CsvTable& table, size_t column);
/// Leaves out the rows that have an empty cell in one of the columns `numbers` or `words`.
void drop_missing(CsvTable& table, const std::vector<size_t>& numbers,
                  const std::vector<size_t>& words);
/// (N, columns), float: numbers as they stand, words as their places among those of their column,
/// and NaN for a cell without a value where `missing` is kMean. `places[i]` says which column of
/// the table `columns[i]` is. Throws Error, naming file, line, row and column, for a cell that is
/// neither, and where `missing` is another one, for a cell without a value.
Tensor numbers_of(const CsvTable& table, const std::vector<CsvColumn>& columns,
                  const std::vector<size_t>& places, MissingValues missing,
                  const CsvAdvice& advice = {});
/// (N, columns) to (N, numbers + words): a column of words becomes one for each word, which is 1 in
/// the rows that say it and else 0; numbers stay.
Tensor spread_words(const Tensor& numbers, const std::vector<CsvColumn>& columns);
/// `text` as a number, spaces around it aside; nothing if it is none, as NaN. It may be infinite.
std::optional<double> number_in(std::string_view text);

namespace datasets {

/// How a table of text is read; by default cells are numbers and the last column is the target.
struct CsvOptions {
  /// The column of the targets, by name or by position; negative positions count from the end.
  std::variant<int64_t, std::string> target = int64_t{-1};
  char delimiter = ',';
  bool header = true;
  /// What becomes of cells without a value; by default they are refused with an Error.
  MissingValues missing = MissingValues::kError;
  /// Columns whose cells are words, by name, none by default; the others, but the target, are
  /// numbers.
  std::vector<std::string> categories = {};
};

/// An example is a row: all columns but the target's as a float vector, and the target. A column of
/// words is one number for each word, 1 or 0, named "column=word". Targets that are whole numbers
/// are int64, other numbers float; words become the numbers of the classes, in the order of their
/// names.
class CSVDataset : public Dataset<CSVDataset> {
 public:
  /// Throws Error, naming file, line, row and column, for a field that is no finite number and for
  /// one without a value that `missing` does not provide for (a target can be left out with its
  /// row, but has no mean), IndexError for a target or category that is no column, and what
  /// read_csv throws.
  explicit CSVDataset(const std::string& path, const CsvOptions& options = {});

  Example<> get(size_t index) override { return content_.get(index); }
  std::optional<size_t> size() const override { return content_.size(); }
  /// The examples of `indices` as one, stacked without taking each apart: [n, columns] and [n]. An
  /// index out of range is an IndexError.
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
