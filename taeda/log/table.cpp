#include "taeda/log/table.h"

#include <algorithm>
#include <cstdio>

#include "taeda/base/error.h"
#include "taeda/log/terminal.h"

namespace taeda::inline v0_2::logging {

namespace {

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_of("0123456789") != std::string::npos &&
         text.find_first_not_of("0123456789.,+-%eE sminh") == std::string::npos;
}

std::string rule(const std::vector<size_t>& widths, const char* left, const char* middle,
                 const char* right) {
  std::string out = left;
  for (size_t c = 0; c < widths.size(); ++c) {
    if (c) out += middle;
    for (size_t i = 0; i < widths[c] + 2; ++i) out += "─";
  }
  return out + right + "\n";
}

}  // namespace

Table& Table::row(std::vector<std::string> cells) {
  TAEDA_CHECK_VALUE(cells.size() == header_.size(), "a table of ", header_.size(),
                    " columns was given a row of ", cells.size());
  rows_.push_back(std::move(cells));
  return *this;
}

std::string Table::line(const std::vector<std::string>& cells, const std::vector<size_t>& widths) {
  std::string out = "│";
  for (size_t c = 0; c < widths.size(); ++c) {
    const std::string& cell = cells[c];
    const size_t width = display_width(cell);
    const std::string gap(widths[c] - std::min(widths[c], width), ' ');
    out += " " + (is_number(cell) ? gap + cell : cell + gap) + " │";
  }
  return out + "\n";
}

std::string Table::top(const std::vector<size_t>& widths) const {
  return rule(widths, "┌", "┬", "┐") + line(header_, widths) + rule(widths, "├", "┼", "┤");
}

std::string Table::bottom(const std::vector<size_t>& widths) { return rule(widths, "└", "┴", "┘"); }

std::string Table::str() const {
  std::vector<size_t> widths;
  for (size_t c = 0; c < header_.size(); ++c) {
    size_t width = display_width(header_[c]);
    for (const auto& row : rows_) width = std::max(width, display_width(row[c]));
    widths.push_back(width);
  }
  std::string out = top(widths);
  for (const auto& row : rows_) out += line(row, widths);
  return out + bottom(widths);
}

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string percent(double fraction, int digits) { return fixed(fraction * 100, digits) + "%"; }

}  // namespace taeda::logging
