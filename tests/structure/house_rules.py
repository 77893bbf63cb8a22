#!/usr/bin/env python3
"""Checks one rule of the house on a source tree: house_rules.py RULE ROOT.

Prints each violation on a line and exits with 1 when there is one. `RULES` at the end lists the rules.
"""

import pathlib
import re
import sys

import python_rooms
import python_source
import source

MAX_FILE_LINES = 600
MAX_PYTHON_COLUMNS = 128
PYTHON_FOLDERS = ["python", "examples/python", "benchmarks/python"]
MAX_HEADER_LINES = 300
MAX_FUNCTION_LINES = 60
MAX_TEST_FUNCTION_LINES = 120
MAX_COLUMNS = 100
# Folders of the library whose sources are translated one at a time, always.
ALONE = ("taeda/cpu/kernels/", "taeda/cuda/")
# How many lines of our headers a program parses with one: its own and those that it pulls in.

# Headers that the build makes from the declarations of operations (tools/ops).
GENERATED = {"taeda/generated/tensor/operations.inc", "taeda/generated/ops/names.h", "taeda/generated/ops/out.h",
             "taeda/generated/ops/out_forms.h", "taeda/generated/compat/namespaces.h",
             "taeda/generated/compat/options.h", "taeda/generated/compat/second_names.h"}

# The rooms that a room may include besides itself; docs/architecture.md draws them.
TO_TENSOR = {"base", "device", "tensor"}
TO_OPS = TO_TENSOR | {"kernels", "autograd", "ops"}
MIDDLE = {"amp", "nn", "optim", "data", "io"}
ALLOWED = {
    "base": set(),
    "device": {"base"},
    "tensor": {"base", "device"},
    "kernels": TO_TENSOR,
    "cpu": TO_TENSOR | {"kernels"},
    "sim": TO_TENSOR | {"kernels"},
    "meta": TO_TENSOR | {"kernels"},
    "cuda": TO_TENSOR | {"kernels"},
    "autograd": TO_TENSOR,
    "ops": TO_OPS,
    "func": TO_OPS,
    "profiler": {"base", "device"},
    **{room: TO_OPS | {"io"} for room in MIDDLE},
    "distributions": TO_OPS,
    "models": TO_OPS | MIDDLE,
    "training": TO_OPS | MIDDLE,
    "onnx": TO_OPS | MIDDLE,
    "vision": TO_OPS | MIDDLE | {"distributions"},
    "log": TO_OPS | MIDDLE | {"vision"},
    "parallel": TO_OPS | {"io", "nn"},
    "distributed": TO_OPS | MIDDLE | {"parallel", "training", "vision", "log"},
    "rpc": TO_OPS | MIDDLE | {"distributed"},
}


def relative(root, path):
    return path.relative_to(root).as_posix()


def lines_of(text):
    return text.count("\n") + (not text.endswith("\n"))


def layers(root):
    """An include points to a room on the left of its own."""
    for path in sorted((root / "taeda").rglob("*")):
        if path.suffix not in source.CODE_SUFFIXES:
            continue
        name = relative(root, path)
        parts = name.split("/")
        if len(parts) == 2:
            continue  # the umbrella
        room = parts[1]
        if room not in ALLOWED:
            yield f"{name}: room {room} has no place in the order"
            continue
        for header in source.includes(source.read(path)):
            target = header.split("/")[1]
            if "/" not in header[len("taeda/"):]:
                yield f"{name}: includes the umbrella {header}"
            elif target != room and target not in ALLOWED[room]:
                yield f"{name}: {room} must not include {header}"
        for header in source.generated_includes(source.read(path)):
            if header.split("/")[2] != room:
                yield f"{name}: {header} is for room {header.split('/')[2]} alone"


def file_length(root):
    """A file has at most 600 lines, a header of the library 300."""
    for path in source.code_files(root):
        name = relative(root, path)
        is_header = path.suffix in source.HEADER_SUFFIXES and not name.startswith("tests/")
        limit = MAX_HEADER_LINES if is_header else MAX_FILE_LINES
        count = lines_of(source.read(path))
        if count > limit:
            yield f"{name}: {count} lines, at most {limit}"


def python_length(root):
    """A file of the Python package has at most 600 lines beside its docstrings, a line 128 characters."""
    for path in sorted(path for folder in PYTHON_FOLDERS for path in (root / folder).rglob("*.py")):
        lines = source.read(path).split("\n")
        count = len(lines) - 1
        if count > MAX_FILE_LINES and (count := count - python_source.docstring_lines("\n".join(lines))) > MAX_FILE_LINES:
            yield f"{relative(root, path)}: {count} lines beside docstrings, at most {MAX_FILE_LINES}"
        for number, line in enumerate(lines, 1):
            if len(line) > MAX_PYTHON_COLUMNS:
                yield f"{relative(root, path)}:{number}: {len(line)} columns, at most {MAX_PYTHON_COLUMNS}"


def python_functions(root):
    """A function of the Python package has at most 60 lines."""
    for path in sorted(path for folder in PYTHON_FOLDERS for path in (root / folder).rglob("*.py")):
        for first, count, name in python_source.functions(source.read(path)):
            if count > MAX_FUNCTION_LINES:
                yield f"{relative(root, path)}:{first}: {name} has {count} lines, at most {MAX_FUNCTION_LINES}"


def python_layers(root):
    """An import in the Python package points to its own room, or to a room that stands above it in python_rooms.py."""
    places = {prefix: (level, room) for level, rooms in enumerate(python_rooms.ROOMS)
              for room, prefixes in rooms.items() for prefix in prefixes}

    def place(name):
        within = name.split(".")[1:]
        heads = [".".join(within[:n]) for n in range(len(within), 0 if within else -1, -1)]
        return next((places[head] for head in heads if head in places), None)

    known = python_source.modules(root)
    for name, path in known.items():
        if place(name) is None:
            yield f"{relative(root, path)}: {name} has no place in the order"
            continue
        level, room = place(name)
        for line, target in sorted(set(python_source.imports(name, path, known))):
            at, other = place(target) or (-1, "")
            if other != room and at >= level:
                yield f"{relative(root, path)}:{line}: {room} must not import {target} of {other}"


def python_circles(root):
    """No module of the Python package imports itself by way of others, at its top or later."""
    known = python_source.modules(root)
    edges = {name: {target for _, target in python_source.imports(name, path, known)} - {name}
             for name, path in known.items()}
    for circle in python_source.circles(edges):
        yield f"a circle of imports: {', '.join(circle)}"


def function_length(root):
    """A function has at most 60 lines, in tests 120."""
    for path in source.code_files(root):
        name = relative(root, path)
        limit = MAX_TEST_FUNCTION_LINES if name.startswith("tests/") else MAX_FUNCTION_LINES
        for first, count in source.functions(source.read(path)):
            if count > limit:
                yield f"{name}:{first}: a function of {count} lines, at most {limit}"


def line_length(root):
    """A line of code has at most 100 characters; tables made by a script may be wider."""
    for path in source.code_files(root):
        if path.name.endswith("_golden.h"):
            continue
        for number, line in enumerate(source.read(path).split("\n"), 1):
            if len(line) > MAX_COLUMNS:
                yield f"{relative(root, path)}:{number}: {len(line)} columns, at most {MAX_COLUMNS}"


def missing_includes(root):
    """Every included header of the project exists."""
    for path in source.code_files(root):
        for header in source.includes(source.read(path)):
            if not (root / header).exists():
                yield f"{relative(root, path)}: includes {header}, which does not exist"
        for header in source.generated_includes(source.read(path)):
            if header not in GENERATED:
                yield f"{relative(root, path)}: includes {header}, which tools/ops does not make"


def header_guard(root):
    """Every header of the library starts with #pragma once."""
    for path in source.code_files(root):
        name = relative(root, path)
        if path.suffix in {".h", ".cuh"} and name.startswith("taeda/"):
            if not re.search(r"^#pragma once$", source.read(path), re.MULTILINE):
                yield f"{name}: no #pragma once"


def readme(root):
    """Every room that has sources tells what lives in it."""
    for room in sorted((root / "taeda").iterdir()):
        has_code = room.is_dir() and any(
            path.suffix in source.CODE_SUFFIXES for path in room.rglob("*"))
        if has_code and not (room / "README.md").exists():
            yield f"{relative(root, room)}: no README.md"
    for folder in sorted({path.parent for path in (root / "python/taeda").rglob("*.py") if path.name != "__init__.py"}):
        if not (folder / "README.md").exists():
            yield f"{relative(root, folder)}: no README.md"


def no_leftovers(root):
    """No note about work left undone."""
    words = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]) + r")\b")
    texts = [path for folder in ["cmake", "docs", "tests", "tools", "python"]
             for path in (root / folder).rglob("*")
             if path.suffix in {".py", ".cmake", ".md", ".txt", ".in"}]
    for path in sorted(set(source.code_files(root) + texts)):
        for number, line in enumerate(source.read(path).split("\n"), 1):
            if match := words.search(line):
                yield f"{relative(root, path)}:{number}: {match.group()}"


def unnamed_names(root):
    """What an unnamed namespace holds is in no other source of the namespace around it: any two may be translated together."""
    kind = re.compile(r"(?:struct|class|union|enum(?: class)?|using(?= \w+ =)) (\w+)\b|(?!using|namespace)[^(]*?(\w+)(?: =|;|\{|\[)|(.*\)) (?:const )?\{")
    seen = {}
    for path in source.code_files(root):
        name, outer, unnamed = relative(root, path), "", False
        if not name.startswith("taeda/") or name.startswith(ALONE) or path.suffix != ".cpp":
            continue
        for number, line in enumerate(source.read(path).split("\n"), 1):
            if line == "namespace {" or line == "}  // namespace":
                unnamed = line == "namespace {"
            elif match := re.match(r"namespace (?:taeda(?:::inline v0_2)?)?([\w:]*) \{$", line):
                outer = match[1]
            elif unnamed and line[:1].isalnum() and (match := kind.match(line)):
                what = match[1] or match[2] or match[3]
                other, text = seen.setdefault((outer, what), (name, line))
                if other != name and not (line == text and line.startswith("using")):
                    yield f"{name}:{number}: {what} is in {other}, too"


def environment(root):
    """docs/environment.md names the variables that are read, and no others."""
    read = set()
    for folder in ["taeda", "tools"]:
        for path in (root / folder).rglob("*"):
            if path.suffix in source.CODE_SUFFIXES:
                read |= set(re.findall(r'"(TAEDA_[A-Z0-9_]+)"', source.read(path)))
    page = root / "docs/environment.md"
    named = set(re.findall(r"`(TAEDA_[A-Z0-9_]+)`", source.read(page))) if page.exists() else set()
    yield from (f"docs/environment.md: {name} is missing" for name in sorted(read - named))
    yield from (f"docs/environment.md: nothing reads {name}" for name in sorted(named - read))


RULES = {
    rule.__name__: rule
    for rule in [layers, file_length, python_length, python_functions, python_layers, python_circles, function_length, line_length, missing_includes,
                 header_guard, readme, no_leftovers, unnamed_names, environment]
}


def main(arguments):
    if len(arguments) != 2 or arguments[0] not in RULES:
        print(f"usage: house_rules.py {{{','.join(RULES)}}} ROOT", file=sys.stderr)
        return 2
    violations = list(RULES[arguments[0]](pathlib.Path(arguments[1])))
    for violation in violations:
        print(violation)
    print(f"{arguments[0]}: {RULES[arguments[0]].__doc__} {len(violations)} violation(s).")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
