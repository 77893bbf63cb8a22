// What the output is connected to, and how wide text appears on it.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace taeda::inline v0_2::logging {

/// Whether the stream is a terminal that understands cursor movements (and NO_COLOR-like TERM=dumb
/// is not set).
bool is_terminal(std::FILE* stream);
/// Opens what is closed of standard input, output and error, for the other direction: writing there
/// fails as it did, and the first file that a program opens does not get the place.
void hold_standard_streams();
/// The width of the terminal in columns; where there is none that of $COLUMNS, by default 80.
size_t terminal_width(std::FILE* stream);
/// Whether the user's locale is one of UTF-8: the first of $LC_ALL, $LC_CTYPE and $LANG that is
/// set says so. Elsewhere tables, bars and charts are drawn with ASCII.
bool shows_utf8();

/// What text may look like where it is shown; by default 80 columns and no colours.
struct TextStyle {
  size_t columns = 80;
  bool unicode = true;  ///< lines and blocks of Unicode, or ASCII in their place

  /// That of a stream and of the user's locale.
  static TextStyle of(std::FILE* stream) { return {terminal_width(stream), shows_utf8()}; }
};

/// Columns that UTF-8 text takes: wide East Asian characters and emoji two, combining marks none.
size_t display_width(std::string_view text);
/// The longest beginning of the text that fits into at most `columns` columns.
std::string_view clip(std::string_view text, size_t columns);

/// The number with a comma before every three digits, "1,234,567"; a negative one keeps its sign.
std::string with_commas(long long value);
/// "4.3 s", "2 min 05 s", "1 h 04 min", "5 d 03 h": at most 11 columns up to a thousand days.
std::string format_duration(double seconds);

}  // namespace taeda::logging
