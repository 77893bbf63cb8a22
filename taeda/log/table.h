// Tables for people: as wide as their cells where there is room, narrower where there is not.
#pragma once

#include <string>
#include <vector>

#include "taeda/log/terminal.h"

namespace taeda::inline v0_2::logging {

/// How the rows of one table are set: the columns' widths, and what stands between them. It is
/// found once, so that a table can grow line by line.
///
/// The first of these that fits the style's columns: a box of lines, if need be with the words of
/// headers below each other; spaces between columns instead of lines; texts in several lines; at
/// last a block of "header  value" lines for each row. Numbers are never broken and stand to
/// the right.
class TableLayout {
 public:
  /// `sample` holds the rows known so far, or none; a column is at least as wide as `least` says
  /// (0 or missing: as its cells). Throws ValueError unless every row has a cell for each header.
  TableLayout(std::vector<std::string> header, const std::vector<std::vector<std::string>>& sample,
              TextStyle style, const std::vector<size_t>& least = {});

  /// The line above, the header and the line below it; empty for a table without columns.
  std::string top() const;
  /// The text of a row, with at most as many cells as columns. A cell that is longer than its
  /// column makes this row longer.
  std::string row(const std::vector<std::string>& cells) const;
  /// The line at the end; empty for a table without columns.
  std::string bottom() const;

 private:
  enum class Form { kBox, kGaps, kNarrowGaps, kBlocks };

  /// What stands between two columns that no line parts.
  const char* gap() const { return form_ == Form::kGaps ? "  " : " "; }

  void choose(const std::vector<size_t>& whole, const std::vector<size_t>& words,
              const std::vector<size_t>& least);
  std::string rule(const char* left, const char* middle, const char* right) const;
  std::string lines(const std::vector<std::string>& cells) const;
  std::string block(const std::vector<std::string>& cells) const;

  std::vector<std::string> header_;
  std::vector<size_t> widths_;
  std::vector<bool> numbers_;
  TextStyle style_;
  Form form_ = Form::kBlocks;
};

/// A table of text, `Table({"epoch", "loss"}).row({"1", "0.53"})`; columns of numbers are set to
/// the right. A row must have as many cells as the header, else ValueError.
class Table {
 public:
  explicit Table(std::vector<std::string> header) : header_(std::move(header)) {}
  /// Throws ValueError unless there are as many cells as columns.
  Table& row(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  /// The whole table, every line ended; by default as it fits the program's standard output.
  std::string str(const TextStyle& style = TextStyle::of(stdout)) const;

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

/// `value` as text with `digits`, at least 0, behind the point.
std::string fixed(double value, int digits);
/// A fraction as text, "91.23%", with two digits behind the point by default.
std::string percent(double fraction, int digits = 2);

}  // namespace taeda::inline v0_2::logging
