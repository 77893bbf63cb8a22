// Files of TOML that anybody may have written. toml++ does the work: toml.cpp alone includes it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace taeda::tool {

struct TomlValue;
using TomlArray = std::vector<TomlValue>;
/// By name, in the order of the names.
using TomlTable = std::vector<std::pair<std::string, TomlValue>>;

/// A value, and the line of the file that it stands in.
struct TomlValue {
  /// Dates and times are nothing here.
  std::variant<std::monostate, std::string, int64_t, double, bool, TomlArray, TomlTable> content;
  uint32_t line = 0;

  /// The content, if it is of this kind; null otherwise.
  template <class T>
  const T* as() const {
    return std::get_if<T>(&content);
  }
};

/// The value of that name; null where there is none.
const TomlValue* find(const TomlTable& table, const std::string& name);

/// Whether this build reads such files.
bool has_toml();
/// A file, which is a table; `flag` is what it was named by. Throws UsageError, with the line, for
/// what is no TOML, and where this build does not read it.
TomlValue read_toml(const std::string& path, const std::string& flag);

}  // namespace taeda::tool
