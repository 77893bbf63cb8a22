#!/usr/bin/env python3
"""What a compiler says of a program that includes the two main headers: strict_headers.py COMPILER FOLDER...

Nothing, with the warnings that careful projects switch on; and one sentence where C++ is older than 20. The folders are
those that hold headers.
"""

import subprocess
import sys

PROGRAM = "#include <taeda/taeda.h>\n#include <torch/torch.h>\n"
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wsign-conversion", "-Wnon-virtual-dtor", "-Woverloaded-virtual")


def said(compiler, folders, *options):
    """What the compiler writes about the program."""
    command = [compiler, "-fsyntax-only", *options, *(f"-I{folder}" for folder in folders), "-x", "c++", "-"]
    return subprocess.run(command, input=PROGRAM, text=True, capture_output=True, check=False).stderr


def main():
    compiler, *folders = sys.argv[1:]
    warnings = said(compiler, folders, "-std=c++20", *WARNINGS)
    print(warnings[:5000])
    old = said(compiler, folders, "-std=c++17")
    errors = [line for line in old.splitlines() if "error" in line and "note" not in line]
    told = len(errors) <= 4 and "Taeda needs C++20: compile with -std=c++20" in old
    if not told:
        print(f"with C++17 there are {len(errors)} errors:", *errors[:10], sep="\n")
    return 1 if warnings or not told else 0


if __name__ == "__main__":
    sys.exit(main())
