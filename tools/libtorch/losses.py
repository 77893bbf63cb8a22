#!/usr/bin/env python3
"""Compares the losses of examples/frontend with libtorch's.

    losses.py record [NAME...]        builds the programs, unchanged, against the libtorch that is installed, and
                                      keeps what they print in examples/frontend/losses
    losses.py check PROGRAM NAME      runs a program that was built against Taeda, and compares
"""
import os
import pathlib
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples" / "frontend"
KEPT = FOLDER / "losses"
TOLERANCE = 1e-5
INCLUDE = os.environ.get("LIBTORCH_INCLUDE", "/usr/include")
COMPILE = [os.environ.get("CXX", "g++"), "-std=c++17", "-O0", "-idirafter", INCLUDE,
           "-isystem", f"{INCLUDE}/torch/csrc/api/include"]
LINK = ["-ltorch", "-ltorch_cpu", "-lc10"]


def output_of(program):
    return subprocess.run([program], check=True, capture_output=True, text=True, timeout=300).stdout


def read(text):
    """[("loss 3", 0.25), ...]"""
    rows = [line.rsplit(" ", 1) for line in text.splitlines() if line and not line.startswith("#")]
    return [(name, float(value)) for name, value in rows]


def record(names):
    KEPT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as build:
        for source in sorted(FOLDER.glob("*.cpp")):
            if names and source.stem not in names:
                continue
            program = pathlib.Path(build, source.stem)
            subprocess.run([*COMPILE, str(source), "-o", str(program), *LINK], check=True)
            (KEPT / f"{source.stem}.txt").write_text(output_of(program))
            print(source.stem, flush=True)


def check(program, name):
    wanted, got = read((KEPT / f"{name}.txt").read_text()), read(output_of(program))
    wrong = []
    if [key for key, _ in wanted] != [key for key, _ in got]:
        wrong.append(f"printed {len(got)} values, expected {len(wanted)}, or others")
    for (key, a), (_, b) in zip(wanted, got):
        if not abs(a - b) <= TOLERANCE * max(1.0, abs(a)):
            wrong.append(f"{key}: {b!r}, libtorch has {a!r}")
    largest = max((abs(a - b) / max(1.0, abs(a)) for (_, a), (_, b) in zip(wanted, got)), default=0)
    print(f"{name}: {len(got)} values, the largest difference is {largest:.1e}")
    sys.exit("\n".join(wrong) or 0)


def main():
    command, *arguments = sys.argv[1:] or [""]
    if command == "record":
        record(arguments)
    elif command == "check" and len(arguments) == 2:
        check(*arguments)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
