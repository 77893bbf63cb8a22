// JSON as events, one by one. What includes nlohmann-json is one source, because it takes seconds
// to compile. Only where TAEDA_HAS_JSON is defined; not part of the public interface.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace taeda::inline v0_2::io {

/// Is told what a text holds, in order. A refusal is an exception.
class JsonEvents {
 public:
  virtual ~JsonEvents() = default;

  virtual void null() = 0;
  virtual void boolean() = 0;
  /// A negative number.
  virtual void number_integer(int64_t value) = 0;
  virtual void number_unsigned(uint64_t value) = 0;
  virtual void number_float(const std::string& text) = 0;
  virtual void string(const std::string& text) = 0;
  virtual void start_object() = 0;
  virtual void end_object() = 0;
  virtual void start_array() = 0;
  virtual void end_array() = 0;
  virtual void key(const std::string& text) = 0;
  /// The text is no JSON at this byte. Throws.
  virtual void invalid(size_t position, const char* why) = 0;
};

void read_json(std::string_view text, JsonEvents& events);

/// A text as JSON has it. Throws ValueError if it is not UTF-8.
std::string json_text(const std::string& text);

}  // namespace taeda::inline v0_2::io
