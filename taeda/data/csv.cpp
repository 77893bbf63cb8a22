#include "taeda/data/csv.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "taeda/base/error.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/pointwise.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/reduce/statistics.h"
#include "taeda/ops/shape/shape.h"

namespace taeda::inline v0_2::data {

namespace {

/// Whole numbers up to here are exact in a double.
constexpr double kLargestExact = 9007199254740992;

std::string content_of(const std::string& path) {
  TAEDA_CHECK(!std::filesystem::is_directory(path), "cannot read ", path, ": it is a folder");
  std::ifstream file(path, std::ios::binary);
  TAEDA_CHECK(file, "cannot read ", path, ": ", std::strerror(errno));
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Reads rows one after the other.
class Parser {
 public:
  Parser(const std::string& path, const std::string& text, char delimiter)
      : path_(path), text_(text), delimiter_(delimiter) {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;  // the mark some programs begin UTF-8 with
  }

  /// The fields of the next line that is not empty; nothing at the end.
  std::optional<std::vector<std::string>> next() {
    while (at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\r')) skip_line_end();
    if (at_ >= text_.size()) return std::nullopt;
    row_line_ = line_;
    std::vector<std::string> fields;
    do fields.push_back(field());
    while (at_ < text_.size() && text_[at_] == delimiter_ && ++at_);
    if (at_ < text_.size()) skip_line_end();
    return fields;
  }
  /// Of the row that next() gave last.
  int64_t line() const { return row_line_; }

 private:
  void skip_line_end() {
    at_ += text_[at_] == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n' ? 2 : 1;
    ++line_;
  }

  std::string field() {
    if (at_ < text_.size() && text_[at_] == '"') return quoted();
    const size_t end =
        std::min(text_.find_first_of(std::string{delimiter_, '\n', '\r'}, at_), text_.size());
    const size_t begin = std::exchange(at_, end);
    return text_.substr(begin, end - begin);
  }

  std::string quoted() {
    const int64_t start = line_;
    std::string out;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"' && (++at_ >= text_.size() || text_[at_] != '"')) return out;
      line_ += text_[at_] == '\n';
      out += text_[at_];
    }
    throw Error(taeda::detail::concat(path_, ":", start, ": a quote has no end"));
  }

  const std::string& path_;
  const std::string& text_;
  char delimiter_;
  size_t at_ = 0;
  int64_t line_ = 1, row_line_ = 1;
};

/// "a, b, c", cut after a few.
std::string some_of(const std::vector<std::string>& names) {
  constexpr size_t kShown = 20;
  std::string out;
  for (size_t i = 0; i < names.size() && i < kShown; ++i) out += (i ? ", " : "") + names[i];
  return out + (names.size() > kShown ? ", ..." : "");
}

size_t column_named(const CsvTable& table, const std::string& name) {
  const auto found = std::find(table.names.begin(), table.names.end(), name);
  TAEDA_CHECK_INDEX(found != table.names.end(), table.path, " has no column '", name,
                    "'; there are: ", some_of(table.names));
  return static_cast<size_t>(found - table.names.begin());
}

size_t target_column(const CsvTable& table, const datasets::CsvOptions& options) {
  if (const auto* name = std::get_if<std::string>(&options.target))
    return column_named(table, *name);
  const auto n = static_cast<int64_t>(table.names.size()),
             given = std::get<int64_t>(options.target);
  TAEDA_CHECK_INDEX(given >= -n && given < n, table.path, " has ", n,
                    " columns, but the target is column ", given);
  return static_cast<size_t>(given < 0 ? given + n : given);
}

/// The columns that are told from, and where they stand.
struct Features {
  std::vector<CsvColumn> columns;
  std::vector<size_t> places, numbers, words;
};

Features features_of(const CsvTable& table, size_t target, const datasets::CsvOptions& options) {
  std::vector<bool> is_word(table.names.size());
  for (const std::string& name : options.categories) {
    const size_t c = column_named(table, name);
    TAEDA_CHECK_VALUE(c != target, table.path, ": '", name,
                      "' is the target, whose words are "
                      "classes in any case; leave it out of the categories");
    is_word[c] = true;
  }
  Features out;
  for (size_t c = 0; c < table.names.size(); ++c) {
    if (c == target) continue;
    out.places.push_back(c);
    (is_word[c] ? out.words : out.numbers).push_back(c);
    out.columns.push_back(
        {table.names[c], is_word[c] ? words_of(table, c) : std::vector<std::string>()});
    TAEDA_CHECK_VALUE(!is_word[c] || !out.columns.back().words.empty(), table.path,
                      ": the category '", table.names[c], "' holds no words");
  }
  return out;
}

/// Means in place of missing numbers, and no word in place of missing ones; words as columns.
Tensor filled(const Tensor& numbers, const std::vector<CsvColumn>& columns) {
  if (!isnan(numbers).any().item<bool>()) return spread_words(numbers, columns);
  Tensor fill = nanmean(numbers, {0});
  for (size_t c = 0; c < columns.size(); ++c)
    if (!columns[c].words.empty()) fill[static_cast<int64_t>(c)].fill_(-1);
  return spread_words(where(isnan(numbers), fill, numbers), columns);
}

/// Numbers, or the places of words among all words, which are listed in `classes`.
Tensor targets_of(const CsvTable& table, size_t target, std::vector<std::string>& classes) {
  if (!holds_numbers(table, target)) {
    classes = words_of(table, target);
    const Tensor places =
        numbers_of(table, {{table.names[target], classes}}, {target}, MissingValues::kError);
    return places.squeeze(1).to(kLong);
  }
  std::vector<double> values;
  bool whole = true;
  for (size_t r = 0; r < table.rows.size(); ++r) {
    const std::optional<double> value = number_in(table.rows[r][target]);
    TAEDA_CHECK(value, table.place(r, target), " holds no value: '", table.rows[r][target],
                "', and a target has no mean: MissingValues::kDrop leaves its row out");
    TAEDA_CHECK(std::isfinite(*value), table.place(r, target), " is no finite number: '",
                table.rows[r][target], "'");
    values.push_back(*value);
    whole = whole && std::abs(*value) < kLargestExact && *value == std::trunc(*value);
  }
  if (whole) return tensor(std::vector<int64_t>(values.begin(), values.end()));
  return tensor(std::vector<float>(values.begin(), values.end()));
}

datasets::TensorDataset<2> tensors_of(CsvTable table, const datasets::CsvOptions& options,
                                      std::vector<std::string>& names,
                                      std::vector<std::string>& classes) {
  TAEDA_CHECK(!table.rows.empty(), table.path, " holds no rows");
  const size_t target = target_column(table, options);
  const Features features = features_of(table, target, options);
  if (options.missing == MissingValues::kDrop) {
    Features all = features;
    (holds_numbers(table, target) ? all.numbers : all.words).push_back(target);
    drop_missing(table, all.numbers, all.words);
    TAEDA_CHECK(!table.rows.empty(), table.path, ": every row lacks a value");
  }
  for (const CsvColumn& column : features.columns) {
    if (column.words.empty()) names.push_back(column.name);
    for (const std::string& word : column.words) names.push_back(column.name + "=" + word);
  }
  const Tensor numbers =
      numbers_of(table, features.columns, features.places, options.missing,
                 {"; CsvOptions::missing leaves its row out, or takes the column's mean",
                  "; name the column in CsvOptions::categories if it holds words"});
  return datasets::TensorDataset<2>(filled(numbers, features.columns),
                                    targets_of(table, target, classes));
}

}  // namespace

CsvTable read_csv(const std::string& path, char delimiter, bool header) {
  TAEDA_CHECK_VALUE(delimiter != '"' && delimiter != '\n' && delimiter != '\r',
                    "read_csv: quotes and line ends cannot be delimiters, but got character ",
                    static_cast<int>(delimiter));
  const std::string text = content_of(path);
  Parser parser(path, text, delimiter);
  CsvTable out;
  out.path = path;
  if (header)
    if (auto names = parser.next()) out.names = std::move(*names);
  while (auto row = parser.next()) {
    if (out.names.empty())
      for (size_t c = 0; c < row->size(); ++c) out.names.push_back(std::to_string(c));
    TAEDA_CHECK(row->size() == out.names.size(), path, ":", parser.line(), ": expected ",
                out.names.size(), " fields, got ", row->size());
    out.rows.push_back(std::move(*row));
    out.numbers.push_back(static_cast<int64_t>(out.rows.size()));
    out.lines.push_back(parser.line());
  }
  return out;
}

namespace datasets {

CSVDataset::CSVDataset(const std::string& path, const CsvOptions& options)
    : content_(tensors_of(read_csv(path, options.delimiter, options.header), options,
                          feature_names_, classes_)) {}

}  // namespace datasets
}  // namespace taeda::inline v0_2::data
