#include "taeda/log/hparams.h"

#include <charconv>

namespace taeda::inline v0_2::logging {

std::string to_string(const HParam& value) {
  struct {
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(int64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const {
      char text[32];
      return {text, std::to_chars(text, text + sizeof text, v).ptr};
    }
    std::string operator()(const std::string& v) const { return v; }
  } text;
  return std::visit(text, value);
}

}  // namespace taeda::logging
