#!/usr/bin/env python3
"""Latency of Taeda, libtorch and ONNX Runtime in turn, as a table of 50th and 99.9th percentiles and the fastest calls.

    benchmarks/latency.py build/benchmarks/latency --torch venv/bin/python --onnxruntime venv/bin/python

--torch builds latency.cpp against the libtorch of that Python's torch (compare.py does); --onnxruntime has the program itself
time ONNX Runtime, from the library of that Python's package and through its C interface, so that no Python is in the figures.
Each round runs the program and then its peer. A figure is the least of the rounds: what a busy machine adds
is not of interest. Microseconds.
"""
import argparse
import json
import pathlib
import subprocess

import compare

KINDS = ("eager", "captured", "onnxruntime", "libtorch")


def run(program, arguments, *more):
    """Rows by case and kind."""
    command = [program, "--threads", str(arguments.threads), "--calls", str(arguments.calls), "--filter", arguments.filter]
    done = subprocess.run(command + list(more), env=compare.environment(arguments.threads), check=True,
                          stdout=subprocess.PIPE, text=True)
    return {(row["name"], row["kind"]): row for row in map(json.loads, done.stdout.splitlines())}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--torch", metavar="PYTHON", help="an interpreter with torch")
    parser.add_argument("--peer", metavar="PROGRAM", help="the same, built before")
    parser.add_argument("--onnxruntime", metavar="PYTHON", help="an interpreter with onnxruntime, or the path of its library")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--calls", type=int, default=20000, help="of each case in a round")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--filter", default="", help="only cases whose name contains this")
    parser.add_argument("--json", help="file for the rows")
    arguments = parser.parse_args()
    peer = compare.build_peer(arguments.program, arguments.torch) if arguments.torch else arguments.peer
    more = ["--onnxruntime", arguments.onnxruntime] if arguments.onnxruntime else []
    least = {}
    for _ in range(arguments.rounds):
        rows = run(arguments.program, arguments, *more)
        if peer:
            rows.update({(name, "libtorch"): row for (name, _), row in run(peer, arguments).items()})
        for key, row in rows.items():
            best = least.setdefault(key, dict(row))
            best.update({figure: min(best[figure], row[figure]) for figure in ("p50_us", "p999_us", "min_us")})
    names = list(dict.fromkeys(name for name, _ in least))
    kinds = [kind for kind in KINDS if any((name, kind) in least for name in names)]
    print(f"{'case':22}" + "".join(f"{kind + ' 50%':>16}{'99.9%':>9}{'fastest':>9}" for kind in kinds))
    for name in names:
        text = f"{name:22}"
        for kind in kinds:
            row = least.get((name, kind))
            text += f"{row['p50_us']:>16.2f}{row['p999_us']:>9.1f}{row['min_us']:>9.2f}" if row else " " * 34
        print(text)
    if arguments.json:
        rows = [{**row, "kind": kind} for (_, kind), row in least.items()]
        pathlib.Path(arguments.json).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
