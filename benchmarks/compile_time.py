#!/usr/bin/env python3
"""Seconds that a compiler takes for a small program: compile_time.py FOLDERS [--peer FOLDERS]...

Compiles, one after the other and in turns, a program that includes only standard headers, the umbrella
header, and the training program of README.md, and prints the least user time of each and its ratio to
the first. FOLDERS is where <taeda/taeda.h> is found: PREFIX/include, or SOURCE:BUILD/generated. --peer times
another version of it in the same turns, or with --peer-header an installed libtorch's torch/torch.h.
"""

import argparse
import os
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
STANDARD = "".join(f"#include <{h}>\n" for h in
                   ["functional", "iostream", "map", "memory", "optional", "string", "tuple", "vector"])


def training_program():
    text = (ROOT / "README.md").read_text()
    return next(b for b in re.findall(r"^```cpp$\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
                if "int main()" in b)


def user_seconds(command):
    before = os.times().children_user
    subprocess.run(command, check=True)
    return os.times().children_user - before


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--compiler", default=os.environ.get("CXX", "g++"))
    parser.add_argument("--flags", default="-std=c++20 -O2")
    parser.add_argument("folders", help="include folders, separated by colons")
    parser.add_argument("--peer", action="append", default=[], help="the same; may be repeated")
    parser.add_argument("--peer-header", default="taeda/taeda.h", help="the umbrella header of the peers")
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()

    program = training_program()
    cases = [("standard headers", STANDARD, [])]
    for folder, header in [(options.folders, "taeda/taeda.h")] + [(p, options.peer_header)
                                                                  for p in options.peer]:
        includes = [f"-I{part}" for part in folder.split(":")]
        own = program.replace("taeda/taeda.h", header)
        if header.startswith("torch/"):
            own = own.replace("using namespace taeda;", "using namespace torch;")
            own = re.sub(r"(?<![\w:])rand\(", "torch::rand(", own)  # C's is in sight behind libtorch's headers
        cases += [(f"{folder} umbrella", f"#include <{header}>\n", includes),
                  (f"{folder} training program", own, includes)]

    best = {}
    with tempfile.TemporaryDirectory() as scratch:
        source = pathlib.Path(scratch) / "program.cpp"
        for _ in range(options.turns):
            for name, text, includes in cases:
                source.write_text(text)
                seconds = user_seconds([options.compiler, *options.flags.split(), *includes, "-c", "-o",
                                        os.devnull, str(source)])
                best[name] = min(seconds, best.get(name, seconds))
    unit = best["standard headers"]
    for name, seconds in best.items():
        print(f"{seconds:7.2f} s {seconds / unit:7.1f}x  {name}")


if __name__ == "__main__":
    main()
