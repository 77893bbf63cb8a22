// JSON that commands print and read. nlohmann-json does the work: json.cpp alone includes it, for
// it takes longer to read than a command to compile.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace taeda::tool {

/// A value whose members keep their order. Copies share what they hold until one is changed; parts
/// of a value keep the whole alive.
class Json {
 public:
  Json();  ///< null
  Json(std::string_view text);
  Json(const std::string& text) : Json(std::string_view(text)) {}
  Json(const char* text) : Json(std::string_view(text)) {}
  Json(bool value);
  Json(double value);
  Json(int64_t value);
  Json(uint64_t value);
  template <std::integral T>
  Json(T value)
      : Json(static_cast<std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>(value)) {}
  Json(const std::map<std::string, std::string>& members);
  template <class T>
  Json(const std::vector<T>& elements) : Json(array()) {
    for (const T& element : elements) push_back(Json(element));
  }
  /// An object of {name, value}, {name, value}, ...; a list of anything else.
  Json(std::initializer_list<Json> parts);
  static Json array();
  static Json object();
  /// Throws an exception of the library for what is no JSON.
  static Json parse(const std::string& text);
  /// For what is no JSON, a value that is_discarded() and nothing else.
  static Json read(const std::string& text);
  static Json read(std::istream& in);

  bool is_discarded() const;
  bool is_null() const;
  bool is_object() const;
  bool is_array() const;
  bool is_string() const;
  bool is_boolean() const;
  bool is_number() const;
  bool is_number_float() const;
  bool empty() const;
  size_t size() const;

  /// Whether this is an object that has the member.
  bool contains(const std::string& name) const;
  /// Throws an exception of the library, with the name, where there is no such member.
  Json at(const std::string& name) const;
  /// A member that there is. Constant, because what is written to it would be lost: see set().
  const Json operator[](const std::string& name) const;
  const Json operator[](const char* name) const { return (*this)[std::string(name)]; }
  /// An element that there is.
  const Json operator[](size_t place) const;
  std::vector<Json> elements() const;
  std::vector<std::pair<std::string, Json>> members() const;
  /// As a bool, int, int64_t, double or std::string, or a vector of int, int64_t, double or
  /// std::string. Throws an exception of the library for a value of another kind.
  template <class T>
  T get() const;
  /// The member as an int, int64_t, double or std::string, or `otherwise` where there is none.
  template <class T>
  T value(const std::string& name, const T& otherwise) const;
  std::string value(const std::string& name, const char* otherwise) const {
    return value(name, std::string(otherwise));
  }

  /// Adds a member to an object or null, or changes it.
  Json& set(const std::string& name, Json value);
  /// Adds an element to a list or null.
  void push_back(Json element);

  /// On one line. Throws an exception of the library for text that is not UTF-8.
  std::string dump() const;
  /// On one line, or indented; in texts that are not UTF-8 the wrong bytes are replaced.
  std::string dump_replacing(int indent = -1) const;

 private:
  using Value = nlohmann::ordered_json;
  explicit Json(std::shared_ptr<Value> whole);
  Json(std::shared_ptr<Value> whole, Value& part) : whole_(std::move(whole)), value_(&part) {}
  /// The value, which nobody else sees.
  Value& own();
  /// The value, moved if nobody else sees it.
  static Value taken(Json&& from);

  std::shared_ptr<Value> whole_;
  Value* value_;
};

/// As an object or list over several lines.
void print_json(const Json& value);

}  // namespace taeda::tool
