// Cells of a table as numbers.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <unordered_map>

#include "taeda/base/error.h"
#include "taeda/base/nearest.h"
#include "taeda/data/csv.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"

namespace taeda::inline v0_2::data {

namespace {

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t");
  return first == std::string_view::npos ? "" : text.substr(first, last - first + 1);
}

/// Whether a cell holds no value. What stands for a missing number may be a word of its own.
bool is_missing(std::string_view text, bool is_word) {
  text = trimmed(text);
  if (text.empty() || is_word) return text.empty();
  std::string small(text);
  for (char& c : small) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const char* sign : {"na", "n/a", "nan", "null", "none", "?"})
    if (small == sign) return true;
  return false;
}

using Places = std::unordered_map<std::string_view, size_t>;

Places places_of(const std::vector<std::string>& words) {
  Places out;
  for (size_t i = 0; i < words.size(); ++i) out.emplace(words[i], i);
  return out;
}

/// Where a word stands among its column's.
float place_in(const CsvTable& table, size_t row, size_t column, const CsvColumn& words,
               const Places& places) {
  const std::string& text = table.rows[row][column];
  const auto found = places.find(text);
  if (found != places.end()) return static_cast<float>(found->second);
  const std::string nearest = nearest_name(text, words.words);
  throw Error(taeda::detail::concat(
      table.place(row, column), " holds '", text, "', which is none of the column's words",
      nearest.empty() ? "" : "; the nearest is '", nearest, nearest.empty() ? "" : "'"));
}

float number_at(const CsvTable& table, size_t row, size_t column, const CsvAdvice& advice) {
  const std::string& text = table.rows[row][column];
  const std::optional<double> value = number_in(text);
  TAEDA_CHECK(value, table.place(row, column), " is no number: '", text, "'", advice.word);
  TAEDA_CHECK(std::isfinite(static_cast<float>(*value)), table.place(row, column),
              " is no finite number of 32 bits: '", text, "'");
  return static_cast<float>(*value);
}

}  // namespace

std::string CsvTable::place(size_t row, size_t column) const {
  return taeda::detail::concat(path, ":", lines[row], ": row ", numbers[row], ", column '",
                               names[column], "'");
}

std::optional<double> number_in(std::string_view text) {
  text = trimmed(text);
  if (text.size() > 1 && text[0] == '+') text.remove_prefix(1);
  double out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || std::isnan(out))
    return std::nullopt;
  return out;
}

bool holds_numbers(const CsvTable& table, size_t column) {
  bool found = false;
  for (const auto& row : table.rows) {
    if (is_missing(row[column], /*is_word=*/false)) continue;
    if (!number_in(row[column])) return false;
    found = true;
  }
  return found;
}

std::vector<std::string> words_of(const CsvTable& table, size_t column) {
  std::vector<std::string> out;
  for (const auto& row : table.rows)
    if (!is_missing(row[column], /*is_word=*/true)) out.push_back(row[column]);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void drop_missing(CsvTable& table, const std::vector<size_t>& numbers,
                  const std::vector<size_t>& words) {
  const auto lacks = [](const std::vector<std::string>& row, const std::vector<size_t>& columns,
                        bool is_word) {
    return std::any_of(columns.begin(), columns.end(),
                       [&](size_t c) { return is_missing(row[c], is_word); });
  };
  size_t kept = 0;
  for (size_t r = 0; r < table.rows.size(); ++r) {
    if (lacks(table.rows[r], numbers, false) || lacks(table.rows[r], words, true)) continue;
    if (kept != r) table.rows[kept] = std::move(table.rows[r]);
    table.lines[kept] = table.lines[r];
    table.numbers[kept++] = table.numbers[r];
  }
  table.rows.resize(kept);
  table.lines.resize(kept);
  table.numbers.resize(kept);
}

Tensor numbers_of(const CsvTable& table, const std::vector<CsvColumn>& columns,
                  const std::vector<size_t>& places, MissingValues missing,
                  const CsvAdvice& advice) {
  TAEDA_CHECK_VALUE(columns.size() == places.size(), "numbers_of: ", columns.size(),
                    " columns have ", places.size(), " places");
  std::vector<Places> words;
  for (const CsvColumn& column : columns) words.push_back(places_of(column.words));
  Tensor out =
      empty({static_cast<int64_t>(table.rows.size()), static_cast<int64_t>(columns.size())});
  float* p = out.data_ptr<float>();
  for (size_t r = 0; r < table.rows.size(); ++r)
    for (size_t i = 0; i < columns.size(); ++i, ++p) {
      const bool is_word = !columns[i].words.empty();
      const std::string& text = table.rows[r][places[i]];
      if (is_missing(text, is_word)) {
        TAEDA_CHECK(missing == MissingValues::kMean, table.place(r, places[i]),
                    " holds no value: '", text, "'", advice.missing);
        *p = std::numeric_limits<float>::quiet_NaN();
      } else {
        *p = is_word ? place_in(table, r, places[i], columns[i], words[i])
                     : number_at(table, r, places[i], advice);
      }
    }
  return out;
}

Tensor spread_words(const Tensor& numbers, const std::vector<CsvColumn>& columns) {
  std::vector<Tensor> parts;
  int64_t first = 0;  // of the numbers that stand side by side
  const auto n = static_cast<int64_t>(columns.size());
  const auto add_numbers = [&](int64_t end) {
    if (end > first) parts.push_back(numbers.narrow(1, first, end - first));
  };
  for (int64_t c = 0; c < n; ++c) {
    const auto words = static_cast<int64_t>(columns[static_cast<size_t>(c)].words.size());
    if (words == 0) continue;
    add_numbers(c);
    first = c + 1;
    parts.push_back(numbers.narrow(1, c, 1)
                        .eq(arange(words, TensorOptions(numbers.dtype())))
                        .to(numbers.dtype()));
  }
  if (first == 0) return numbers;
  add_numbers(n);
  return cat(parts, /*dim=*/1);
}

}  // namespace taeda::inline v0_2::data
