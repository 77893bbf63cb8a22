"""What the rules need to know about a source file: its includes and where its functions begin."""

import pathlib
import re

CODE_SUFFIXES = {".h", ".cpp", ".cu", ".cuh", ".inc"}
HEADER_SUFFIXES = {".h", ".cuh", ".inc"}
CODE_FOLDERS = ["taeda", "tools", "tests", "benchmarks", "examples", "include", "python"]

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"(taeda/[^"]+)"', re.MULTILINE)
GENERATED = "taeda/generated/"
# Comments, raw strings, strings and characters, in the order in which they must be tried.
NOT_CODE = re.compile(
    r'//(?:\\\n|[^\n])*|/\*.*?\*/|R"([^()\\\s]{0,16})\(.*?\)\1"'
    r'|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'',
    re.DOTALL,
)
DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)


def code_files(root):
    """Every source and header of the project, sorted by path."""
    root = pathlib.Path(root)
    return sorted(
        path
        for folder in CODE_FOLDERS
        for path in (root / folder).rglob("*")
        if path.suffix in CODE_SUFFIXES and path.is_file()
    )


def read(path):
    return path.read_text(encoding="utf-8")


def includes(text):
    """The project's own headers that a text includes; those that the build makes are not in the tree."""
    return [name for name in INCLUDE.findall(text) if not name.startswith(GENERATED)]


def generated_includes(text):
    """The headers made by tools/ops that a text includes: taeda/generated/<room>/<name>."""
    return [name for name in INCLUDE.findall(text) if name.startswith(GENERATED)]


def blank(match):
    """As many lines as the match has, with nothing on them."""
    return re.sub(r"[^\n]", " ", match.group())


def strip(text):
    """The text without comments, literals and preprocessor lines; line numbers stay the same."""
    return DIRECTIVE.sub(blank, NOT_CODE.sub(blank, text))


def opens_function(head):
    """Whether the text between the last `;`, `{` or `}` and a `{` starts a function's body."""
    if re.match(r"\s*(template\b.*?>\s*)?(namespace|class|struct|union|enum|extern)\b[^()]*$", head,
                re.DOTALL):
        return False
    if re.search(r"(?<![=!<>+\-*/|&^])=(?!=)\s*$", head):
        return False
    return ")" in head


def functions(text):
    """(first line, number of lines) of every outermost function; lambdas belong to their function."""
    code = strip(text)
    found, head_start, depth, body = [], 0, 0, None
    for match in re.finditer(r"[;{}]", code):
        position, symbol = match.start(), match.group()
        if symbol == "{":
            if body is None and opens_function(code[head_start:position]):
                begin = head_start + len(code[head_start:position]) - len(
                    code[head_start:position].lstrip())
                body = (depth, begin)
            depth += 1
        elif symbol == "}":
            depth -= 1
            if body is not None and depth == body[0]:
                first = code.count("\n", 0, body[1]) + 1
                last = code.count("\n", 0, position) + 1
                found.append((first, last - first + 1))
                body = None
        if body is None:
            head_start = match.end()
    return found
