// One JSON object a line, for programs that read logs.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace taeda::inline v0_2::logging {

/// Builds a JSON object in order: `JsonObject().set("epoch", 1).set("loss", 0.5).str()`.
class JsonObject {
 public:
  /// Adds a member; a name that is there already must not be given.
  JsonObject& set(std::string_view key, std::string_view text);
  JsonObject& set(std::string_view key, const char* text) {
    return set(key, std::string_view(text));
  }
  JsonObject& set(std::string_view key, bool value);
  /// Adds a member with as many digits as bring the number back exactly; null for what JSON cannot
  /// say (nan, infinity). A name that is there already must not be given.
  JsonObject& set(std::string_view key, double value);
  JsonObject& set(std::string_view key, int64_t value);
  JsonObject& set(std::string_view key, int value) { return set(key, static_cast<int64_t>(value)); }
  JsonObject& set(std::string_view key, const JsonObject& value);
  JsonObject& set(std::string_view key, const std::vector<double>& values);
  JsonObject& set(std::string_view key, const std::vector<JsonObject>& values);
  /// The object's text, on one line or with a line for each member; "{}" if empty.
  std::string str() const;
  std::string pretty() const;

 private:
  JsonObject& raw(std::string_view key, std::string value);
  std::vector<std::pair<std::string, std::string>> members_;
};

/// Appends objects to a file, each written out at once, so that a crash loses none. Throws Error
/// where writing fails.
class JsonLinesWriter {
 public:
  /// Throws Error, naming path and reason, when the file cannot be opened.
  explicit JsonLinesWriter(const std::string& path);
  ~JsonLinesWriter();
  JsonLinesWriter(const JsonLinesWriter&) = delete;
  JsonLinesWriter& operator=(const JsonLinesWriter&) = delete;
  void write(const JsonObject& object);

 private:
  std::string path_;
  std::FILE* file_;
};

}  // namespace taeda::logging
