#include "taeda/log/table.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::logging {

namespace {

using Row = std::vector<std::string>;

/// A text column is not made narrower than this, unless its words are shorter.
constexpr size_t kNarrowest = 12;

bool is_number(const std::string& text) {
  return text.find_first_of("0123456789") != std::string::npos &&
         text.find_first_not_of("0123456789.,+-%eE sminhd") == std::string::npos;
}

/// A line may end behind these, besides at a space.
bool breaks_after(char c) { return c == '_' || c == '/' || c == '-' || c == ','; }

/// The text in lines of at most `width` columns; a word that is longer is broken anywhere.
std::vector<std::string> wrapped(std::string_view text, size_t width) {
  std::vector<std::string> out;
  while (display_width(text) > width) {
    const size_t most = std::max<size_t>(clip(text, width).size(), 1);
    size_t end = most;
    while (end > 0 && text[end] != ' ' && !breaks_after(text[end - 1])) --end;
    if (end == 0) end = most;
    out.emplace_back(text.substr(0, end));
    while (!out.back().empty() && out.back().back() == ' ') out.back().pop_back();
    text.remove_prefix(end);
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  }
  out.emplace_back(text);
  return out;
}

/// Columns of the longest part that `wrapped` would not break.
size_t longest_word(std::string_view text) {
  size_t longest = 0, begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] != ' ' && !breaks_after(text[i])) continue;
    const size_t end = i + (i < text.size() && text[i] != ' ');
    longest = std::max(longest, display_width(text.substr(begin, end - begin)));
    begin = i + 1;
  }
  return longest;
}

size_t sum(const std::vector<size_t>& widths) {
  return std::accumulate(widths.begin(), widths.end(), size_t{0});
}

std::string padded(const std::string& text, size_t width, bool right) {
  const std::string gap(width - std::min(width, display_width(text)), ' ');
  return right ? gap + text : text + gap;
}

}  // namespace

TableLayout::TableLayout(Row header, const std::vector<Row>& sample, TextStyle style,
                         const std::vector<size_t>& least)
    : header_(std::move(header)), style_(style) {
  std::vector<size_t> whole, words, narrow;
  for (size_t c = 0; c < header_.size(); ++c) {
    bool number = !sample.empty();
    size_t cell = c < least.size() ? least[c] : 0, word = cell;
    for (const Row& row : sample) {
      TAEDA_CHECK_VALUE(row.size() == header_.size(), "a table of ", header_.size(),
                        " columns was given a row of ", row.size());
      number = number && (row[c].empty() || is_number(row[c]));
      cell = std::max(cell, display_width(row[c]));
      word = std::max(word, std::min(longest_word(row[c]), kNarrowest));
    }
    const size_t name = longest_word(header_[c]);
    numbers_.push_back(number);
    whole.push_back(std::max(cell, display_width(header_[c])));
    words.push_back(std::max(cell, name));
    narrow.push_back(std::max(number ? cell : word, name));
  }
  choose(whole, words, narrow);
}

void TableLayout::choose(const std::vector<size_t>& whole, const std::vector<size_t>& words,
                         const std::vector<size_t>& least) {
  const size_t n = header_.size(), between = std::max<size_t>(n, 1) - 1;
  const auto fits = [&](const std::vector<size_t>& widths, Form form) {
    const size_t around = form == Form::kBox    ? 3 * n + 1
                          : form == Form::kGaps ? 2 * between
                                                : between;
    if (form_ != Form::kBlocks || sum(widths) + around > style_.columns) return;
    form_ = form;
    widths_ = widths;
    // What is left goes to the columns that would like to have more.
    size_t left = style_.columns - around - sum(widths);
    for (bool grown = true; grown;) {
      grown = false;
      for (size_t c = 0; c < n && left > 0; ++c)
        if (widths_[c] < whole[c]) ++widths_[c], --left, grown = true;
    }
  };
  fits(whole, Form::kBox);
  fits(words, Form::kBox);
  fits(words, Form::kGaps);
  fits(words, Form::kNarrowGaps);
  fits(least, Form::kBox);
  fits(least, Form::kNarrowGaps);
  if (form_ != Form::kBlocks) return;
  // Names in one column, values in what is left of the line.
  size_t name = 0;
  for (const std::string& text : header_) name = std::max(name, display_width(text));
  name = std::min(name, std::max<size_t>(style_.columns / 2, 1));
  widths_ = {name, std::max<size_t>(style_.columns - std::min(style_.columns, name + 2), 1)};
}

std::string TableLayout::rule(const char* left, const char* middle, const char* right) const {
  const char* dash = style_.unicode ? "─" : "-";
  std::string out;
  const auto dashes = [&](size_t n) {
    for (size_t i = 0; i < n; ++i) out += dash;
  };
  if (form_ == Form::kBlocks) {
    dashes(std::min<size_t>(style_.columns, 40));
  } else if (form_ != Form::kBox) {
    for (size_t c = 0; c < widths_.size(); ++c) {
      if (c) out += gap();
      dashes(widths_[c]);
    }
  } else {
    out = style_.unicode ? left : "+";
    for (size_t c = 0; c < widths_.size(); ++c) {
      if (c) out += style_.unicode ? middle : "+";
      dashes(widths_[c] + 2);
    }
    out += style_.unicode ? right : "+";
  }
  return out + "\n";
}

std::string TableLayout::lines(const Row& cells) const {
  std::vector<std::vector<std::string>> parts;
  size_t height = 1;
  for (size_t c = 0; c < widths_.size(); ++c) {
    // A number that is longer than its column keeps its digits together.
    if (numbers_[c] && is_number(cells[c]))
      parts.push_back({cells[c]});
    else
      parts.push_back(wrapped(cells[c], widths_[c]));
    height = std::max(height, parts.back().size());
  }
  const std::string bar = style_.unicode ? "│" : "|";
  std::string out;
  for (size_t i = 0; i < height; ++i) {
    std::string line = form_ == Form::kBox ? bar : "";
    for (size_t c = 0; c < widths_.size(); ++c) {
      const std::string text =
          padded(i < parts[c].size() ? parts[c][i] : "", widths_[c], numbers_[c]);
      line += form_ == Form::kBox ? " " + text + " " + bar : (c ? gap() : "") + text;
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

std::string TableLayout::block(const Row& cells) const {
  std::string out;
  for (size_t c = 0; c < header_.size(); ++c) {
    const auto names = wrapped(header_[c], widths_[0]), values = wrapped(cells[c], widths_[1]);
    for (size_t i = 0; i < std::max(names.size(), values.size()); ++i) {
      const std::string line = padded(i < names.size() ? names[i] : "", widths_[0], false) + "  " +
                               (i < values.size() ? values[i] : "");
      out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
  }
  return out + rule("", "", "");
}

std::string TableLayout::top() const {
  if (form_ == Form::kBlocks) return rule("", "", "");
  const std::string head = lines(header_) + rule("├", "┼", "┤");
  return form_ != Form::kBox ? head : rule("┌", "┬", "┐") + head;
}

std::string TableLayout::row(const Row& cells) const {
  TAEDA_CHECK_VALUE(cells.size() == header_.size(), "a table of ", header_.size(),
                    " columns was given a row of ", cells.size());
  return form_ == Form::kBlocks ? block(cells) : lines(cells);
}

std::string TableLayout::bottom() const { return form_ == Form::kBox ? rule("└", "┴", "┘") : ""; }

Table& Table::row(Row cells) {
  TAEDA_CHECK_VALUE(cells.size() == header_.size(), "a table of ", header_.size(),
                    " columns was given a row of ", cells.size());
  rows_.push_back(std::move(cells));
  return *this;
}

std::string Table::str(const TextStyle& style) const {
  const TableLayout layout(header_, rows_, style);
  std::string out = layout.top();
  for (const Row& row : rows_) out += layout.row(row);
  return out + layout.bottom();
}

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string percent(double fraction, int digits) { return fixed(fraction * 100, digits) + "%"; }

}  // namespace taeda::inline v0_2::logging
