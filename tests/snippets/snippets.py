#!/usr/bin/env python3
"""Turns the C++ of Markdown files into one source: snippets.py OUTPUT ROOT FILE...

Every ```cpp block becomes a namespace of its own. A block with `int main()` is a program: it is
translated and run. What else a block needs stands in an HTML comment before it, which readers of the
page do not see:

    <!-- cpp: Tensor images, labels; -->            the block stands in a function, after this
    <!-- cpp outside: using Net = nn::Linear; -->   the block stands in a namespace, after this

Includes may stand in block and comment. Errors of the compiler point to the page.
"""

import pathlib
import re
import sys

BLOCK = re.compile(r"(?:<!-- cpp( outside)?:\s*(?P<context>.*?)-->\s*)?^```cpp$\n(?P<code>.*?)^```$",
                   re.DOTALL | re.MULTILINE)
INCLUDE = re.compile(r"^\s*#include .*$\n?", re.MULTILINE)
MAIN = re.compile(r"^int main\(\) \{$", re.MULTILINE)


class Block:
    def __init__(self, page, text, match):
        self.line = text.count("\n", 0, match.start("code")) + 1
        self.name = re.sub(r"\W+", "_", f"{page}_{self.line}").lower()
        self.page = page
        context, code = match["context"] or "", match["code"]
        self.code_as_given = code
        self.includes = [i.strip() for i in INCLUDE.findall(context + "\n" + code)]
        self.context = INCLUDE.sub("", context)
        # Lines keep their numbers.
        self.code = re.sub(INCLUDE, "\n", code).replace("using namespace taeda;", "")
        self.outside = bool(match[1])
        self.is_program = bool(MAIN.search(code))

    def source(self):
        place = f'#line {self.line} "{self.page}"\n'
        if self.is_program:
            body = MAIN.sub("void run() {", self.code)
            text = self.context + place + body
        elif self.outside:
            text = self.context + place + self.code
        else:
            text = f"[[maybe_unused]] void run() {{\n{self.context}\n{place}{self.code}}}\n"
        return f"namespace {self.name} {{\nusing namespace taeda;\n{text}}}\n"


def blocks_of(root, page):
    text = (root / page).read_text()
    found = [Block(page, text, match) for match in BLOCK.finditer(text)]
    if len(found) != len(re.findall(r"^```cpp", text, re.MULTILINE)):
        raise SystemExit(f"{page}: a ```cpp block that is not read; it begins with words or has no end")
    for block in found:  # all stand in one source here, but a reader copies one
        if block.is_program and not re.search(r"#include <(taeda|torch)/", block.code_as_given):
            raise SystemExit(f"{page}:{block.line}: a program that includes nothing of the library")
        if block.is_program and re.search(r"std::c(out|err)\b", block.code) and "<iostream>" not in block.code_as_given:
            raise SystemExit(f"{page}:{block.line}: a program that prints without #include <iostream>")
    return found


def main(output, root, pages):
    blocks = [block for page in pages for block in blocks_of(pathlib.Path(root), page)]
    if not any(block.is_program for block in blocks):
        raise SystemExit("no program among the pages")
    includes = sorted({i for block in blocks for i in block.includes} | {"#include <taeda/taeda.h>"})
    runs = "".join(f'  std::cout << "{b.page}:{b.line}\\n";\n  {b.name}::run();\n'
                   for b in blocks if b.is_program)
    parts = ["\n".join(includes), "#include <iostream>"] + [block.source() for block in blocks]
    parts.append(f'#line 1 "snippets"\nint main() {{\n{runs}}}\n')
    pathlib.Path(output).write_text("\n".join(parts))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
