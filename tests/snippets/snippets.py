#!/usr/bin/env python3
"""Turns the C++ of Markdown files into sources.

    snippets.py OUTPUT ROOT FILE...                             one source for all
    snippets.py --apart COMPILER ROOT GENERATED FILE...         each block by itself: with what it includes, and no more

What a page shows is what is compiled. A block stands in a function, or, behind the comment <!-- cpp outside: -->, in a
namespace; one with `int main()` is a program, which is translated and run. A block that includes nothing has
<taeda/taeda.h> and its namespace, which its page says. Errors of the compiler point to the page.
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"(?P<outside><!-- cpp outside: -->\n)?^```cpp$\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE)
INCLUDE = re.compile(r"^\s*#include .*$\n?", re.MULTILINE)
MAIN = re.compile(r"^int main\(\) \{$", re.MULTILINE)
UMBRELLA = "#include <taeda/taeda.h>"


class Block:
    def __init__(self, page, text, match):
        self.line = text.count("\n", 0, match.start("code")) + 1
        self.name = re.sub(r"\W+", "_", f"{page}_{self.line}").lower()
        self.page = page
        code = match["code"]
        self.includes = [i.strip() for i in INCLUDE.findall(code)]
        self.uses_namespace = "using namespace taeda;" in code
        # Lines keep their numbers.
        self.code = re.sub(INCLUDE, "\n", code).replace("using namespace taeda;", "")
        self.outside = bool(match["outside"])
        self.is_program = bool(MAIN.search(code))

    def source(self):
        place = f'#line {self.line} "{self.page}"\n'
        if self.is_program:
            text = place + MAIN.sub("void run() {", self.code)
        elif self.outside:
            text = place + self.code
        else:
            text = f"[[maybe_unused]] void run() {{\n{place}{self.code}}}\n"
        return f"namespace {self.name} {{\nusing namespace taeda;\n{text}}}\n"

    def alone(self):
        """The block as a reader has it who copies it into a file."""
        body = f'#line {self.line} "{self.page}"\n{self.code}'
        if not self.is_program and not self.outside:
            body = f"void run() {{\n{body}}}\n"
        space = "using namespace taeda;\n" if self.uses_namespace or not self.includes else ""
        return "\n".join(self.includes or [UMBRELLA]) + f"\n{space}{body}"

    def fail(self, what):
        raise SystemExit(f"{self.page}:{self.line}: {what}")


def blocks_of(root, page):
    text = (root / page).read_text()
    found = [Block(page, text, match) for match in BLOCK.finditer(text)]
    if len(found) != len(re.findall(r"^```cpp", text, re.MULTILINE)):
        raise SystemExit(f"{page}: a ```cpp block that is not read; it begins with words or has no end")
    if "<!-- cpp" in text.replace("<!-- cpp outside: -->\n```cpp", ""):
        raise SystemExit(f"{page}: a comment about a block that readers do not see")
    if found and not re.search(r"#include <(taeda|torch)/", text):
        raise SystemExit(f"{page}: names no header that its blocks need")
    for block in found:  # all stand in one source here, but a reader copies one
        included = "\n".join(block.includes)
        if block.is_program and not re.search(r"#include <(taeda|torch)/", included):
            block.fail("a program that includes nothing of the library")
        if re.search(r"std::c(out|err)\b", block.code) and block.includes and "<iostream>" not in included:
            block.fail("prints without #include <iostream>")
    return found


def compile_apart(compiler, root, generated, pages):
    """How many blocks there are; ends with what the compiler says of those that need more than they include."""
    blocks = [block for page in pages for block in blocks_of(pathlib.Path(root), page)]

    def check(block):
        with tempfile.NamedTemporaryFile("w", suffix=".cpp") as file:
            file.write(block.alone())
            file.flush()
            done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-fopenmp", f"-I{root}", f"-I{generated}",
                                   f"-I{root}/include/compat", f"-I{pathlib.Path(generated).parent}/compat/include", file.name],
                                  capture_output=True, text=True)
        return "" if done.returncode == 0 else f"{block.page}:{block.line}:\n{done.stderr[:1500]}"

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [text for text in pool.map(check, blocks) if text]
    print(f"{len(blocks)} blocks, {len(wrong)} that do not compile as they are shown")
    sys.exit("\n".join(wrong) or None)


def main(output, root, pages):
    blocks = [block for page in pages for block in blocks_of(pathlib.Path(root), page)]
    if not any(block.is_program for block in blocks):
        raise SystemExit("no program among the pages")
    includes = sorted({i for block in blocks for i in block.includes} | {UMBRELLA})
    runs = "".join(f'  std::cout << "{b.page}:{b.line}\\n";\n  {b.name}::run();\n'
                   for b in blocks if b.is_program)
    parts = ["\n".join(includes), "#include <iostream>"] + [block.source() for block in blocks]
    parts.append(f'#line 1 "snippets"\nint main() {{\n{runs}}}\n')
    pathlib.Path(output).write_text("\n".join(parts))


if __name__ == "__main__":
    if sys.argv[1] == "--apart":
        compile_apart(*sys.argv[2:5], sys.argv[5:])
    else:
        main(sys.argv[1], sys.argv[2], sys.argv[3:])
