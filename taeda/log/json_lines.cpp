#include "taeda/log/json_lines.h"

#include <cerrno>
#include <cstring>

#include "taeda/base/error.h"
#include "taeda/base/json.h"

namespace taeda::inline v0_2::logging {

namespace {

using json::number;
using json::quoted;

template <class T, class F>
std::string list(const std::vector<T>& values, F&& each) {
  std::string out = "[";
  for (size_t i = 0; i < values.size(); ++i) out += (i ? ", " : "") + each(values[i]);
  return out + "]";
}

}  // namespace

JsonObject& JsonObject::raw(std::string_view key, std::string value) {
  members_.emplace_back(quoted(key), std::move(value));
  return *this;
}

JsonObject& JsonObject::set(std::string_view key, std::string_view text) {
  return raw(key, quoted(text));
}
JsonObject& JsonObject::set(std::string_view key, bool value) {
  return raw(key, value ? "true" : "false");
}
JsonObject& JsonObject::set(std::string_view key, double value) { return raw(key, number(value)); }
JsonObject& JsonObject::set(std::string_view key, int64_t value) {
  return raw(key, std::to_string(value));
}
JsonObject& JsonObject::set(std::string_view key, const JsonObject& value) {
  return raw(key, value.str());
}
JsonObject& JsonObject::set(std::string_view key, const std::vector<double>& values) {
  return raw(key, list(values, [](double v) { return number(v); }));
}
JsonObject& JsonObject::set(std::string_view key, const std::vector<JsonObject>& values) {
  return raw(key, list(values, [](const JsonObject& o) { return o.str(); }));
}

std::string JsonObject::str() const {
  std::string out = "{";
  for (size_t i = 0; i < members_.size(); ++i)
    out += (i ? ", " : "") + members_[i].first + ": " + members_[i].second;
  return out + "}";
}

std::string JsonObject::pretty() const {
  std::string out = "{\n";
  for (size_t i = 0; i < members_.size(); ++i)
    out += "  " + members_[i].first + ": " + members_[i].second +
           (i + 1 < members_.size() ? ",\n" : "\n");
  return out + "}\n";
}

JsonLinesWriter::JsonLinesWriter(const std::string& path)
    : path_(path), file_(std::fopen(path.c_str(), "ae")) {
  TAEDA_CHECK(file_, "cannot write ", path, ": ", std::strerror(errno));
}

JsonLinesWriter::~JsonLinesWriter() { std::fclose(file_); }

void JsonLinesWriter::write(const JsonObject& object) {
  const std::string line = object.str() + "\n";
  const bool written = std::fwrite(line.data(), 1, line.size(), file_) == line.size();
  TAEDA_CHECK(written && std::fflush(file_) == 0, "cannot write ", path_, ": ",
              std::strerror(errno));
}

}  // namespace taeda::logging
