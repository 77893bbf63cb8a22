#include "taeda/io/json_events.h"

#if defined(TAEDA_HAS_JSON)

#include <nlohmann/json.hpp>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::io {

namespace {

using Json = nlohmann::json;

/// What the parser tells, in the form that it wants.
struct JsonSax {
  JsonEvents& events;

  bool null() { return events.null(), true; }
  bool boolean(bool) { return events.boolean(), true; }
  bool number_integer(int64_t v) { return events.number_integer(v), true; }
  bool number_unsigned(uint64_t v) { return events.number_unsigned(v), true; }
  bool number_float(double, const std::string& text) { return events.number_float(text), true; }
  bool string(std::string& text) { return events.string(text), true; }
  bool binary(Json::binary_t&) { return false; }  // JSON as a text has none
  bool start_object(size_t) { return events.start_object(), true; }
  bool end_object() { return events.end_object(), true; }
  bool start_array(size_t) { return events.start_array(), true; }
  bool end_array() { return events.end_array(), true; }
  bool key(std::string& text) { return events.key(text), true; }
  bool parse_error(size_t position, const std::string&, const Json::exception& e) {
    events.invalid(position, e.what());
    return false;
  }
};

}  // namespace

void read_json(std::string_view text, JsonEvents& events) {
  JsonSax sax{events};
  Json::sax_parse(text.data(), text.data() + text.size(), &sax);
}

std::string json_text(const std::string& text) {
  try {
    return Json(text).dump();
  } catch (const Json::exception& e) {
    throw ValueError(taeda::detail::concat("names and metadata must be valid UTF-8: ", e.what()));
  }
}

}  // namespace taeda::inline v0_2::io

#endif
