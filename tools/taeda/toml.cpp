#include "tools/taeda/toml.h"

#include <algorithm>

#include "tools/taeda/command.h"

#if defined(TAEDA_HAS_TOML)

#define TOML_EXCEPTIONS 1
// What a text may break - that a key begins like one - its parser assumes where NDEBUG is defined,
// and asserts where it is not. With neither it goes on to refuse the text.
#define TOML_ASSERT(expression) static_assert(true)
#pragma push_macro("NDEBUG")
#undef NDEBUG
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

#include <fstream>
#include <iterator>
#include <string_view>

#endif

namespace taeda::tool {

#if defined(TAEDA_HAS_TOML)

namespace {

/// The text of a file. UsageError for a letter beyond ASCII outside of quotes and comments: TOML
/// has none there, and the parser, which takes it for the beginning of a name, is undefined.
std::string checked_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::string_view bom = "\xef\xbb\xbf";
  char quote = 0;
  bool comment = false, triple = false;
  const auto are_quotes = [&](size_t i) { return text.compare(i, 3, std::string(3, quote)) == 0; };
  for (size_t i = text.starts_with(bom) ? bom.size() : 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') {
      comment = false;
      if (!triple) quote = 0;
    } else if (comment) {
      continue;
    } else if (quote == 0) {
      comment = c == '#';
      if (static_cast<unsigned char>(c) >= 0x80)
        throw UsageError(path + ": names of letters beyond ASCII stand in quotes");
      if (c != '"' && c != '\'') continue;
      quote = c;
      triple = are_quotes(i);
      if (triple) i += 2;
    } else if (quote == '"' && c == '\\') {
      ++i;
    } else if (c == quote && (!triple || are_quotes(i))) {
      // Up to two quotes before the last three belong to the text.
      if (triple)
        for (i += 2; i + 1 < text.size() && text[i + 1] == quote;) ++i;
      quote = 0;
      triple = false;
    }
  }
  return text;
}

TomlTable table_of(const toml::table& table);

TomlValue value_of(const toml::node& node) {
  TomlValue out{{}, node.source().begin.line};
  if (const auto* table = node.as_table()) {
    out.content = table_of(*table);
  } else if (const auto* array = node.as_array()) {
    TomlArray elements;
    for (const toml::node& element : *array) elements.push_back(value_of(element));
    out.content = std::move(elements);
  } else if (const auto text = node.value_exact<std::string>()) {
    out.content = *text;
  } else if (const auto whole = node.value_exact<int64_t>()) {
    out.content = *whole;
  } else if (const auto number = node.value_exact<double>()) {
    out.content = *number;
  } else if (const auto flag = node.value_exact<bool>()) {
    out.content = *flag;
  }
  return out;
}

TomlTable table_of(const toml::table& table) {
  TomlTable out;
  for (const auto& [key, node] : table) out.emplace_back(key.str(), value_of(node));
  return out;
}

}  // namespace

bool has_toml() { return true; }

TomlValue read_toml(const std::string& path, const std::string&) {
  try {
    return value_of(toml::parse(checked_text(path), path));
  } catch (const toml::parse_error& e) {
    throw UsageError(
        taeda::detail::concat(path, ", line ", e.source().begin.line, ": ", e.description()));
  }
}

#else

bool has_toml() { return false; }

TomlValue read_toml(const std::string& path, const std::string& flag) {
  throw UsageError(flag + " " + path +
                   " needs toml++, which this build lacks: install Debian's libtomlplusplus-dev "
                   "and build with TAEDA_TOML=ON");
}

#endif

const TomlValue* find(const TomlTable& table, const std::string& name) {
  const auto found = std::ranges::find(table, name, &TomlTable::value_type::first);
  return found == table.end() ? nullptr : &found->second;
}

}  // namespace taeda::tool
