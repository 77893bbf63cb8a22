// Tables for people: boxes of Unicode lines, columns as wide as their cells.
#pragma once

#include <string>
#include <vector>

namespace taeda::inline v0_2::logging {

/// `Table({"epoch", "loss"}).row({"1", "0.53"})`; text that looks like a number is set to the
/// right.
class Table {
 public:
  explicit Table(std::vector<std::string> header) : header_(std::move(header)) {}
  /// Throws ValueError unless there are as many cells as columns.
  Table& row(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  /// The whole table, every line ended.
  std::string str() const;

  // For tables that grow while they are read, line by line. Widths are those given, at least.

  /// The top and the header.
  std::string top(const std::vector<size_t>& widths) const;
  static std::string line(const std::vector<std::string>& cells, const std::vector<size_t>& widths);
  static std::string bottom(const std::vector<size_t>& widths);

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

/// `value` with `digits` behind the point.
std::string fixed(double value, int digits);
/// A fraction as "91.23%".
std::string percent(double fraction, int digits = 2);

}  // namespace taeda::logging
