// Tables of PyTorch's numbers that Python's tests read, too: JSON files of python/tests/golden,
// with a line for each case.
#pragma once

#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <vector>

namespace taeda::golden {

/// A line: "Adam(lr=0.1, betas=(0.8, 0.9))": [0.8, 0.7, ...].
struct Row {
  std::string text;  ///< "Adam(lr=0.1, betas=(0.8, 0.9))"
  std::string name;
  std::string call;                                         ///< what is between the parentheses
  std::map<std::string, std::vector<std::string>> options;  ///< each with its values
  std::vector<double> values;                               ///< of lists within lists, in order

  bool has(const std::string& option) const { return options.contains(option); }
  /// The values of an option as numbers: 1 for True.
  std::vector<double> numbers(const std::string& option, std::vector<double> fallback = {}) const;
  double number(const std::string& option, double fallback = 0) const;
  int64_t whole(const std::string& option, int64_t fallback = 0) const;
  bool says(const std::string& option, const std::string& word) const;
};

MATCHER_P(NearlyEqual, tolerance, "") {
  const double got = std::get<0>(arg), wanted = std::get<1>(arg);
  return std::abs(got - wanted) <= tolerance * (std::abs(wanted) + 1e-3);
}

inline Row row_of(const std::string& line) {
  std::smatch m;
  const std::regex call(R"-("(([^"(]*)(?:\((.*)\))?)": \[(.*)\].*)-");
  EXPECT_TRUE(std::regex_match(line, m, call)) << line;
  Row row{m[1], m[2], m[3], {}, {}};
  const std::string values = m[4];
  const std::regex option(R"-((\w+)=(?:[(\[]([^)\]]*)[)\]]|([^,]+)))-"), value("[^, ']+"),
      number(R"-([-+.e0-9]+)-");
  for (std::sregex_iterator o(row.call.begin(), row.call.end(), option), end; o != end; ++o) {
    const std::string text = (*o)[2].str() + (*o)[3].str();
    for (std::sregex_iterator v(text.begin(), text.end(), value); v != end; ++v)
      row.options[(*o)[1]].push_back(v->str());
  }
  for (std::sregex_iterator v(values.begin(), values.end(), number), end; v != end; ++v)
    row.values.push_back(std::stod(v->str()));
  return row;
}

inline double number_of(const std::string& text) {
  const std::map<std::string, double> words = {{"True", 1},
                                               {"False", 0},
                                               {"strong_wolfe", 1},
                                               {"match_rms_adamw", 1},
                                               {"spectral_unclamped", 2}};
  const auto found = words.find(text);
  return found == words.end() ? std::stod(text) : found->second;
}

inline std::vector<double> Row::numbers(const std::string& option,
                                        std::vector<double> fallback) const {
  const auto found = options.find(option);
  if (found == options.end()) return fallback;
  std::vector<double> out;
  for (const std::string& text : found->second) out.push_back(number_of(text));
  return out;
}

inline double Row::number(const std::string& option, double fallback) const {
  return numbers(option, {fallback}).at(0);
}

inline int64_t Row::whole(const std::string& option, int64_t fallback) const {
  return static_cast<int64_t>(number(option, static_cast<double>(fallback)));
}

inline bool Row::says(const std::string& option, const std::string& word) const {
  const auto found = options.find(option);
  return found != options.end() && found->second == std::vector<std::string>{word};
}

/// The rows of a part of a table: "optim.json", "rates".
inline std::vector<Row> rows_of(const std::string& table, const std::string& part) {
  std::ifstream file(TAEDA_SOURCE_DIR "/python/tests/golden/" + table);
  std::string line;
  while (std::getline(file, line) && !line.ends_with('"' + part + "\": {")) {
  }
  std::vector<Row> rows;
  for (bool more = true; more && std::getline(file, line); more = line.ends_with("],"))
    rows.push_back(row_of(line));
  EXPECT_FALSE(rows.empty()) << part;
  return rows;
}

}  // namespace taeda::golden
