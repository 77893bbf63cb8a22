#!/usr/bin/env python3
"""Turns docs/errors.md into a program that raises each of its errors: errors.py PAGE OUTPUT

An entry is a heading, `code` throws `Type`:, a block of text with the message (its lines are joined, "..." is anything), and
a paragraph with **Cause.** and **Cure.**
"""
import pathlib
import re
import sys

ENTRY = re.compile(r"^`(?P<code>.+)` throws `(?P<type>\w+)`:\n\n```text\n(?P<message>.+?)\n```\n\n"
                   r"\*\*Cause\.\*\*\s.+?\s\*\*Cure\.\*\*\s.+", re.S)
HEAD = """#include <taeda/taeda.h>

#include <iostream>
#include <string>
#include <vector>

using namespace taeda;

namespace {

/// Whether `text` has all of `pieces` in this order, the first at its beginning, the last at its end.
bool has(const std::string& text, const std::vector<std::string>& pieces) {
  size_t at = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const size_t found = text.find(pieces[i], at);
    if (found == std::string::npos || (i == 0 && found != 0)) return false;
    at = found + pieces[i].size();
  }
  return pieces.back().empty() || text.ends_with(pieces.back());
}

int wrong = 0;

template <class E, class F>
void expect(int line, const std::vector<std::string>& pieces, F f) {
  try {
    f();
    std::cout << "docs/errors.md:" << line << ": nothing is thrown\\n";
  } catch (const E& e) {
    if (typeid(e) == typeid(E) && has(e.what(), pieces)) return;
    std::cout << "docs/errors.md:" << line << ": throws " << typeid(e).name() << ": " << e.what() << "\\n";
  } catch (const std::exception& e) {
    std::cout << "docs/errors.md:" << line << ": throws another class: " << e.what() << "\\n";
  }
  ++wrong;
}

}  // namespace

int main() {
"""


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def main(page, output):
    text = pathlib.Path(page).read_text()
    sections = re.split(r"^### .+\n\n", text, flags=re.M)[1:]
    body, place = [], 0
    for section in sections:
        place = text.index(section, place)
        line = text.count("\n", 0, place) + 1
        found = ENTRY.match(section)
        if not found:
            sys.exit(f"{page}:{line}: an entry is `code` throws `Type`:, the message as a block of text, **Cause.** **Cure.**")
        pieces = ", ".join(quoted(p) for p in " ".join(found["message"].split("\n")).split("..."))
        body.append(f'  expect<{found["type"]}>({line}, {{{pieces}}}, [] {{\n#line {line} "docs/errors.md"\n'
                    f'    {found["code"]};\n  }});\n')
    end = f'  std::cout << {len(sections)} - wrong << " of {len(sections)} messages are as the page has them\\n";\n'
    pathlib.Path(output).write_text(HEAD + "".join(body) + end + "  return wrong != 0;\n}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
