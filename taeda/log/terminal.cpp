#include "taeda/log/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace taeda::inline v0_2::logging {

namespace {

struct Character {
  uint32_t code;
  size_t bytes;
};

/// The character at the start; a byte that is no valid UTF-8 counts as one character.
Character decode(std::string_view text) {
  const auto byte = [&](size_t i) {
    return static_cast<uint32_t>(static_cast<unsigned char>(text[i]));
  };
  const uint32_t first = byte(0);
  const size_t n = first < 0x80         ? 1
                   : (first >> 5) == 6  ? 2
                   : (first >> 4) == 14 ? 3
                   : (first >> 3) == 30 ? 4
                                        : 0;
  if (n == 0 || n > text.size()) return {0xfffd, 1};
  if (n == 1) return {first, 1};
  uint32_t code = first & (0x7fu >> n);
  for (size_t i = 1; i < n; ++i) {
    if ((byte(i) >> 6) != 2) return {0xfffd, 1};
    code = code << 6 | (byte(i) & 0x3f);
  }
  return {code, n};
}

struct Range {
  uint32_t first, last;
};

/// The common blocks of Unicode's East Asian Width "wide" and of zero-width marks (UAX #11).
constexpr Range kWide[] = {
    {0x1100, 0x115f}, {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf},  {0x4e00, 0x9fff},
    {0xa000, 0xa4cf}, {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},  {0xff00, 0xff60},
    {0xffe0, 0xffe6}, {0x1f300, 0x1f64f}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
constexpr Range kZero[] = {
    {0x0300, 0x036f}, {0x200b, 0x200f}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}};

template <size_t N>
bool in_ranges(const Range (&ranges)[N], uint32_t code) {
  for (const Range& r : ranges)
    if (code >= r.first && code <= r.last) return true;
  return false;
}

size_t width_of(uint32_t code) {
  if (code < 0x300) return code >= 0x20 && code != 0x7f;
  if (in_ranges(kZero, code)) return 0;
  return in_ranges(kWide, code) ? 2 : 1;
}

}  // namespace

void hold_standard_streams() {
  for (int file = STDIN_FILENO; file <= STDERR_FILENO; ++file)
    if (::fcntl(file, F_GETFD) < 0 && errno == EBADF)  // the lowest number is free: it is this one
      (void)!::open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

bool is_terminal(std::FILE* stream) {
  const char* term = std::getenv("TERM");
  return ::isatty(::fileno(stream)) && term && std::string_view(term) != "dumb";
}

size_t terminal_width(std::FILE* stream) {
  winsize size{};
  if (::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* columns = std::getenv("COLUMNS");
  const long asked = columns ? std::strtol(columns, nullptr, 10) : 0;
  return asked > 0 && asked <= 10000 ? static_cast<size_t>(asked) : 80;
}

bool shows_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (!value || !*value) continue;
    std::string locale;
    for (const char* c = value; *c; ++c)
      if (*c != '-') locale += static_cast<char>(std::tolower(static_cast<unsigned char>(*c)));
    return locale.find("utf8") != std::string::npos;
  }
  return false;
}

size_t display_width(std::string_view text) {
  size_t columns = 0;
  while (!text.empty()) {
    const Character c = decode(text);
    columns += width_of(c.code);
    text.remove_prefix(c.bytes);
  }
  return columns;
}

std::string_view clip(std::string_view text, size_t columns) {
  size_t used = 0, bytes = 0;
  while (bytes < text.size()) {
    const Character c = decode(text.substr(bytes));
    used += width_of(c.code);
    if (used > columns) break;
    bytes += c.bytes;
  }
  return text.substr(0, bytes);
}

std::string with_commas(long long value) {
  std::string digits = std::to_string(value < 0 ? -value : value);
  for (size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, 1, ',');
  if (value < 0) digits.insert(digits.begin(), '-');
  return digits;
}

std::string format_duration(double seconds) {
  char text[48];
  if (!std::isfinite(seconds) || seconds < 0) return "?";
  const auto whole = static_cast<long long>(seconds + 0.5);
  if (seconds < 59.95)
    std::snprintf(text, sizeof text, "%.1f s", seconds);
  else if (whole < 3600)
    std::snprintf(text, sizeof text, "%lld min %02lld s", whole / 60, whole % 60);
  else if (whole < 100 * 3600)
    std::snprintf(text, sizeof text, "%lld h %02lld min", whole / 3600, whole % 3600 / 60);
  else
    std::snprintf(text, sizeof text, "%lld d %02lld h", whole / 86400, whole % 86400 / 3600);
  return text;
}

}  // namespace taeda::logging
