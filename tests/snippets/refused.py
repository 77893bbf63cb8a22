#!/usr/bin/env python3
"""Compiles mistakes and looks for the sentence that each is answered with: refused.py COMPILER ROOT GENERATED...

refused.cpp.in beside it (which makes no test program) has them, each behind a comment "refused: the beginning of the sentence".
"""
import pathlib
import re
import subprocess
import sys


def main(compiler, *folders):
    source = pathlib.Path(__file__).with_suffix(".cpp.in")
    sentences = re.findall(r"// refused: (.+)", source.read_text())
    command = [compiler, "-std=c++20", "-fsyntax-only", "-x", "c++", *(f"-I{folder}" for folder in folders), str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    said = re.sub(r'["\s]+', " ", done.stderr)
    missing = [s for s in sentences if s not in said]
    if done.returncode == 0:
        sys.exit("the mistakes compile")
    if missing or not sentences:
        sys.exit("\n".join([done.stderr, *(f"not said: {s}" for s in missing)]))


if __name__ == "__main__":
    main(*sys.argv[1:])
