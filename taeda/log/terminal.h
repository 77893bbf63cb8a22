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
/// Columns of the terminal; 80 where there is none.
size_t terminal_width(std::FILE* stream);

/// Columns that UTF-8 text takes: wide East Asian characters and emoji two, combining marks none.
size_t display_width(std::string_view text);
/// The longest beginning of the text that fits into `columns`.
std::string_view clip(std::string_view text, size_t columns);

/// "1,234,567".
std::string with_commas(long long value);
/// "4.3 s", "2 min 05 s", "1 h 04 min".
std::string format_duration(double seconds);

}  // namespace taeda::logging
