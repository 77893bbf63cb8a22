#include "taeda/nn/types.h"

#include <charconv>
#include <cmath>

namespace taeda::inline v0_2::nn {

std::string tuple_text(IntArrayRef values) {
  std::string out = "(";
  for (size_t i = 0; i < values.size(); ++i) out += (i ? ", " : "") + std::to_string(values[i]);
  return out + (values.size() == 1 ? ",)" : ")");
}

const char* bool_text(bool value) { return value ? "True" : "False"; }

std::string float_text(double value) {
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  if (std::isnan(value)) return "nan";
  char buffer[40];
  // Python's repr: the shortest digits that read back as the same number, with an exponent outside
  // [1e-4, 1e16).
  const double size = std::abs(value);
  const bool scientific = size != 0 && (size < 1e-4 || size >= 1e16);
  const auto format = scientific ? std::chars_format::scientific : std::chars_format::fixed;
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, format).ptr;
  std::string out(buffer, end);
  if (!scientific && out.find('.') == std::string::npos) out += ".0";
  return out;
}

}  // namespace taeda::inline v0_2::nn
