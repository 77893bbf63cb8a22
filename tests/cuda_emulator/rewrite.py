#!/usr/bin/env python3
"""Turns the launches of a CUDA source, k<<<grid, block, ...>>>(args), into calls of the emulator, and
extern __shared__ arrays into pointers to its memory.

rewrite.py IN OUT
"""

import pathlib
import re
import sys


def kernel_start(text, end):
    """Where the kernel's name, with its template arguments, begins."""
    i = len(text[:end].rstrip())
    if text[i - 1] == ">":
        depth = 0
        while True:
            i -= 1
            depth += {">": 1, "<": -1}.get(text[i], 0)
            if depth == 0:
                break
    while re.match(r"[\w:]", text[i - 1]):
        i -= 1
    return i


def closing(text, i):
    """The parenthesis that closes the one at i."""
    depth = 0
    for j in range(i, len(text)):
        depth += {"(": 1, ")": -1}.get(text[j], 0)
        if depth == 0:
            return j
    raise ValueError("unbalanced")


def rewrite(text):
    text = re.sub(r"extern __shared__ ([\w:]+) (\w+)\[\];",
                  r"\1* \2 = static_cast<\1*>(::emulator::shared_memory());", text)
    while (at := text.find("<<<")) >= 0:
        start, end = kernel_start(text, at), text.index(">>>", at)
        opening = text.index("(", end)
        close = closing(text, opening)
        kernel, sizes, call = text[start:at], text[at + 3:end], text[opening:close + 1]
        name = kernel.split("<")[0].strip()
        launch = f'::emulator::launch("{name}", {sizes}, [&] {{ {kernel.strip()}{call}; }})'
        lines = text[start:close + 1].count("\n") - launch.count("\n")
        text = text[:start] + launch + "\n" * max(lines, 0) + text[close + 1:]
    return text


def main():
    source, target = map(pathlib.Path, sys.argv[1:])
    text = rewrite(source.read_text())
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(f'#line 1 "{source}"\n' + text)


main()
