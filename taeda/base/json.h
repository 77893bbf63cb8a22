// Values as JSON text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace taeda::inline v0_2::json {

/// `text` between quotation marks, with what JSON does not take as it is escaped.
std::string quoted(std::string_view text);
/// As many digits as bring the number back exactly; null for what JSON cannot say (nan, infinity).
std::string number(double value);
inline std::string number(int64_t value) { return std::to_string(value); }

}  // namespace taeda::json
