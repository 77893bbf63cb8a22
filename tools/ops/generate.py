#!/usr/bin/env python3
"""Makes what the library knows of its operations from their declarations: generate.py ROOT FOLDER [APART].

Writes to FOLDER: taeda/generated/ (headers), src/ (sources and a test's table), operations.md and operations.pyi. A file that would not
change is not touched, so that nothing is built again for a comment. Doors of operations whose header matches the regular
expression APART stand in sources of their own, which a program that does not call them can be built without. Python's
standard library alone.
"""

import pathlib
import re
import sys

import declarations
import emit_compat
import emit_docs
import emit_doors
import emit_forms
import emit_functions
import emit_methods
import emit_python
import emit_stubs
import emit_table
import out_rules

DOOR_SOURCES, DOOR_SOURCES_APART = 5, 1


def read_declarations(root):
    """The families declared in a source tree, class Tensor's own methods first."""
    root = pathlib.Path(root)
    paths = [root / "taeda/tensor/tensor_methods.inc"] + sorted((root / "taeda/ops").rglob("*.h"), key=lambda path: path.name)
    return declarations.read_files(
        [(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")) for path in paths if path.exists()])


def read_compat(root):
    """The families that are declared for libtorch's programs alone."""
    root = pathlib.Path(root)
    paths = sorted((root / "include/compat/taeda_compat").glob("*.h"))
    return declarations.read_files(
        [(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")) for path in paths])


def read_class(root):
    """What class Tensor declares itself and has a door, as a family of its own."""
    path = "taeda/tensor/tensor_bodies.h"
    operations = declarations.class_doors(path, (pathlib.Path(root) / path).read_text(encoding="utf-8"))
    return declarations.Family("tensor", path, "", "", operations)


def door_sources(families, apart):
    """{path: text} of the doors' sources: those of the families whose header matches `apart`, and the rest."""
    files, far = {}, [bool(apart and re.search(apart, family.include)) for family in families]
    for name, count, chosen in (("doors", DOOR_SOURCES, False), ("doors_apart", DOOR_SOURCES_APART, True)):
        group = [family for family, is_far in zip(families, far) if is_far == chosen]
        for i, part in enumerate(emit_doors.groups(group, count)):
            files[f"src/{name}_{i}.cpp"] = emit_doors.doors_cpp(part)
    return files


def outputs(families, compat=(), core=None, apart=None):
    """{path: text} of everything that is made; `core` are the methods of class Tensor that have doors and no more."""
    files = {
        "taeda/generated/tensor/operations.inc": emit_methods.operations_inc(families),
        "taeda/generated/ops/names.h": emit_functions.names_h(families),
        "taeda/generated/ops/out.h": emit_functions.out_h(families),
        "taeda/generated/ops/out_forms.h": emit_functions.out_forms_h(families),
        "taeda/generated/compat/out_forms.h": emit_compat.out_forms_h(families, compat),
        "taeda/generated/compat/second_names.h": emit_compat.second_names_h(families),
        "src/out.cpp": emit_functions.out_cpp(families),
        "src/operations_table.cpp": emit_table.table_cpp(families),
        "src/forms_table.inc": emit_forms.forms_inc(families),
        "operations.md": emit_docs.page(families),
        "operations.pyi": emit_stubs.stubs(families),
    }
    files.update(door_sources(families + ([core] if core else []), apart))
    for family in families:
        files[f"bodies/{family.name}.h"] = emit_doors.bodies_h(family)
    files.update(emit_python.sources(families))
    return files


def write(folder, files):
    for name, text in files.items():
        path = pathlib.Path(folder) / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def main(arguments):
    if len(arguments) not in (2, 3):
        print("usage: generate.py ROOT FOLDER [APART]", file=sys.stderr)
        return 2
    try:
        families = read_declarations(arguments[0])
        if unknown := out_rules.unknown(families):
            raise declarations.DeclarationError("tools/ops/out_rules.py", 1, f"there is no operation {', '.join(unknown)}")
        write(arguments[1], outputs(families, read_compat(arguments[0]), read_class(arguments[0]), *arguments[2:]))
    except declarations.DeclarationError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
