// toml++, for files that anybody may have written.
#pragma once

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
#include <string>
#include <string_view>

#include "tools/taeda/command.h"

namespace taeda::tool {

/// The table in a file. UsageError for a letter beyond ASCII outside of quotes and comments: TOML
/// has none there, and the parser, which takes it for the beginning of a name, is undefined.
inline toml::table parse_toml_file(const std::string& path) {
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
  return toml::parse(text, path);
}

}  // namespace taeda::tool
