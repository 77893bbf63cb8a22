// Where a function was called: std::source_location, or the same for compilers that lack it
// (clang before 16).
#pragma once

#include <version>

#if defined(__cpp_lib_source_location)
#include <source_location>
#else
#include <cstdint>
#endif

namespace taeda::inline v0_2 {

#if defined(__cpp_lib_source_location)
using SourceLocation = std::source_location;
#else
class SourceLocation {
 public:
  /// Where the call stands whose default argument this is.
  static constexpr SourceLocation current(const char* file = __builtin_FILE(),
                                          const char* function = __builtin_FUNCTION(),
                                          uint_least32_t line = __builtin_LINE(),
                                          uint_least32_t column = __builtin_COLUMN()) noexcept {
    SourceLocation out;
    out.file_ = file;
    out.function_ = function;
    out.line_ = line;
    out.column_ = column;
    return out;
  }
  constexpr const char* file_name() const noexcept { return file_; }
  constexpr const char* function_name() const noexcept { return function_; }
  constexpr uint_least32_t line() const noexcept { return line_; }
  constexpr uint_least32_t column() const noexcept { return column_; }

 private:
  const char *file_ = "", *function_ = "";
  uint_least32_t line_ = 0, column_ = 0;
};
#endif

}  // namespace taeda::inline v0_2
