#!/usr/bin/env python3
"""Checks one rule of the house on a source tree: house_rules.py RULE ROOT.

Prints each violation on a line and exits with 1 when there is one. `RULES` at the end lists the rules.
"""

import pathlib
import re
import sys

import source

MAX_FILE_LINES = 600
MAX_HEADER_LINES = 300
MAX_FUNCTION_LINES = 60
MAX_TEST_FUNCTION_LINES = 120
MAX_COLUMNS = 100
# How many of our files a header pulls in.
MAX_CLOSURE = {"taeda/tensor/tensor.h": 17, "taeda/taeda.h": 190}

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
    "cuda": TO_TENSOR | {"kernels"},
    "autograd": TO_TENSOR,
    "ops": TO_OPS,
    "profiler": {"base", "device"},
    **{room: TO_OPS for room in MIDDLE},
    "models": TO_OPS | MIDDLE,
    "vision": TO_OPS | MIDDLE,
    "log": TO_OPS | MIDDLE | {"vision"},
    "distributed": TO_OPS | MIDDLE | {"vision", "log"},
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


def file_length(root):
    """A file has at most 600 lines, a header of the library 300."""
    for path in source.code_files(root):
        name = relative(root, path)
        is_header = path.suffix in source.HEADER_SUFFIXES and not name.startswith("tests/")
        limit = MAX_HEADER_LINES if is_header else MAX_FILE_LINES
        count = lines_of(source.read(path))
        if count > limit:
            yield f"{name}: {count} lines, at most {limit}"


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


def closure(root, header):
    """The headers of the project that `header` pulls in."""
    seen, waiting = set(), [header]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += source.includes(source.read(root / name))
    return seen - {header}


def header_closure(root):
    """The tensor header and the umbrella stay light."""
    for header, limit in MAX_CLOSURE.items():
        if not (root / header).exists():
            yield f"{header}: does not exist"
            continue
        count = len(closure(root, header))
        if count > limit:
            yield f"{header}: pulls in {count} files, at most {limit}"


def missing_includes(root):
    """Every included header of the project exists."""
    for path in source.code_files(root):
        for header in source.includes(source.read(path)):
            if not (root / header).exists():
                yield f"{relative(root, path)}: includes {header}, which does not exist"


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


RULES = {
    rule.__name__: rule
    for rule in [layers, file_length, function_length, line_length, header_closure, missing_includes,
                 header_guard, readme, no_leftovers]
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
