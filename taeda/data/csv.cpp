#include "taeda/data/csv.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "taeda/base/error.h"
#include "taeda/ops/create/create.h"

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

std::optional<double> number(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t");
  if (first == std::string_view::npos) return std::nullopt;
  text = text.substr(first, last - first + 1);
  if (text.size() > 1 && text[0] == '+') text.remove_prefix(1);
  double out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

/// "a, b, c", cut after a few.
std::string some_of(const std::vector<std::string>& names) {
  constexpr size_t kShown = 20;
  std::string out;
  for (size_t i = 0; i < names.size() && i < kShown; ++i) out += (i ? ", " : "") + names[i];
  return out + (names.size() > kShown ? ", ..." : "");
}

size_t target_column(const CsvTable& table, const datasets::CsvOptions& options,
                     const std::string& path) {
  const auto& names = table.names;
  if (const auto* name = std::get_if<std::string>(&options.target)) {
    const auto found = std::find(names.begin(), names.end(), *name);
    TAEDA_CHECK_INDEX(found != names.end(), path, " has no column '", *name,
                      "'; there are: ", some_of(names));
    return static_cast<size_t>(found - names.begin());
  }
  const auto n = static_cast<int64_t>(names.size()), given = std::get<int64_t>(options.target);
  TAEDA_CHECK_INDEX(given >= -n && given < n, path, " has ", n,
                    " columns, but the target is column ", given);
  return static_cast<size_t>(given < 0 ? given + n : given);
}

Tensor features_of(const CsvTable& table, size_t target, const std::string& path) {
  const auto n = static_cast<int64_t>(table.rows.size());
  Tensor out = empty({n, static_cast<int64_t>(table.names.size()) - 1});
  float* p = out.data_ptr<float>();
  for (size_t r = 0; r < table.rows.size(); ++r)
    for (size_t c = 0; c < table.names.size(); ++c) {
      if (c == target) continue;
      const std::optional<double> value = number(table.rows[r][c]);
      TAEDA_CHECK(value, path, ": row ", r + 1, ", column '", table.names[c], "' is no number: '",
                  table.rows[r][c], "'");
      *p++ = static_cast<float>(*value);
    }
  return out;
}

/// Numbers, or the places of words among all words, which are listed in `classes`.
Tensor targets_of(const CsvTable& table, size_t target, std::vector<std::string>& classes) {
  std::vector<double> values;
  bool whole = true;
  for (const auto& row : table.rows) {
    const std::optional<double> value = number(row[target]);
    if (!value) break;
    values.push_back(*value);
    whole = whole && std::abs(*value) < kLargestExact && *value == std::trunc(*value);
  }
  if (values.size() == table.rows.size()) {
    if (whole) return tensor(std::vector<int64_t>(values.begin(), values.end()));
    return tensor(std::vector<float>(values.begin(), values.end()));
  }
  for (const auto& row : table.rows) classes.push_back(row[target]);
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  std::vector<int64_t> labels;
  for (const auto& row : table.rows)
    labels.push_back(std::lower_bound(classes.begin(), classes.end(), row[target]) -
                     classes.begin());
  return tensor(labels);
}

datasets::TensorDataset<2> tensors_of(const CsvTable& table, const datasets::CsvOptions& options,
                                      const std::string& path, std::vector<std::string>& names,
                                      std::vector<std::string>& classes) {
  TAEDA_CHECK(!table.rows.empty(), path, " holds no rows");
  const size_t target = target_column(table, options, path);
  for (size_t c = 0; c < table.names.size(); ++c)
    if (c != target) names.push_back(table.names[c]);
  return datasets::TensorDataset<2>(features_of(table, target, path),
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
  if (header)
    if (auto names = parser.next()) out.names = std::move(*names);
  while (auto row = parser.next()) {
    if (out.names.empty())
      for (size_t c = 0; c < row->size(); ++c) out.names.push_back(std::to_string(c));
    TAEDA_CHECK(row->size() == out.names.size(), path, ":", parser.line(), ": expected ",
                out.names.size(), " fields, got ", row->size());
    out.rows.push_back(std::move(*row));
  }
  return out;
}

namespace datasets {

CSVDataset::CSVDataset(const std::string& path, const CsvOptions& options)
    : content_(tensors_of(read_csv(path, options.delimiter, options.header), options, path,
                          feature_names_, classes_)) {}

}  // namespace datasets
}  // namespace taeda::inline v0_2::data
