#!/usr/bin/env python3
"""Runs two builds of a benchmark program in turn and prints the ratio of their medians, case by case.

    benchmarks/compare.py build/benchmarks/training other/benchmarks/training
    benchmarks/compare.py --peer build/benchmarks/training     # builds the peer from the same source
                                                               # against an installed libtorch
    benchmarks/compare.py --torch venv/bin/python build/benchmarks/training    # against the one in that Python's torch

Each round runs A then B, so that both see the same drift of the machine; a case's figure is the median
of its rounds; "fastest" is the ratio of the fastest samples, which says more on a machine that has other work to do. A ratio
above 1 means that A is faster. With --json the rows go to a file as well.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def installed_libtorch():
    """Include directories and linker flags of a libtorch that the system has."""
    api = "torch/csrc/api/include"
    includes = [p for p in ("/usr/include/" + api, "/usr/local/include/" + api) if os.path.isdir(p)]
    if not includes:
        sys.exit("compare.py: libtorch's headers are not installed (Debian: libtorch-dev); --torch names a Python that has it")
    return includes, ["-fopenmp", "-ltorch", "-ltorch_cpu", "-lc10"]


def libtorch_of(python):
    """The same of the libtorch inside a Python's torch package."""
    done = subprocess.run([python, "-c", "import torch; print(torch.__path__[0])"], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"compare.py: {python} has no torch")
    root = pathlib.Path(done.stdout.strip())
    lib = root / "lib"
    includes = [str(root / "include"), str(root / "include/torch/csrc/api/include")]
    # Without -fopenmp: it brings an OpenMP library of its own, and two would fight for the processors.
    return includes, [f"-L{lib}", f"-Wl,-rpath,{lib}", "-Wl,--allow-shlib-undefined", "-ltorch", "-ltorch_cpu", "-lc10"]


def build_peer(program, python):
    """Compiles the program's source against libtorch; returns the path of the binary."""
    source = HERE / (pathlib.Path(program).name + ".cpp")
    out = pathlib.Path(tempfile.mkdtemp(prefix="taeda-peer-")) / source.stem
    includes, libraries = libtorch_of(python) if python else installed_libtorch()
    flags = ["-O2", "-std=c++20", "-w"]
    command = ["g++", *flags, *("-I" + p for p in includes), str(source), "-o", str(out), *libraries]
    print("building the peer:", " ".join(command), file=sys.stderr)
    subprocess.run(command, check=True)
    return str(out)


def environment(threads):
    """What both sides run in."""
    env = dict(os.environ, OMP_NUM_THREADS=str(threads))
    env.pop("OPENBLAS_CORETYPE", None)
    if "avx512f" in pathlib.Path("/proc/cpuinfo").read_text():  # the peer does not choose it by itself
        env.setdefault("ATEN_CPU_CAPABILITY", "avx512")
    return env


def run(program, threads, args, case=None):
    """One run, of one case or of all that the filter lets through; rows by case name."""
    command = [program, "--threads", str(threads), "--seconds", str(args.seconds), "--filter", "=" + case if case else args.filter]
    done = subprocess.run(command, env=environment(threads), check=True, stdout=subprocess.PIPE, text=True)
    return {row["name"]: row for row in map(json.loads, done.stdout.splitlines())}


def compare(a, b, threads, args):
    """Rows of (case, median of A, median of B) over alternating rounds, in the order of A's output."""
    if args.isolate:
        quick = argparse.Namespace(**{**vars(args), "seconds": 0})
        cases = list(run(a, threads, quick))
        rounds = [tuple({case: run(program, threads, args, case)[case] for case in cases} for program in (a, b))
                  for _ in range(args.rounds)]
    else:
        rounds = [(run(a, threads, args), run(b, threads, args)) for _ in range(args.rounds)]
    rows = []
    for name in rounds[0][0]:
        if all(name in first and name in second for first, second in rounds):
            median = [statistics.median(r[side][name]["median_us"] for r in rounds) for side in (0, 1)]
            fastest = [min(r[side][name]["min_us"] for r in rounds) for side in (0, 1)]
            peak = [max(r[side][name]["peak_mb"] for r in rounds) for side in (0, 1)]
            rows.append({"case": name, "threads": threads, "a_us": median[0], "b_us": median[1],
                         "ratio": median[1] / median[0], "fastest": fastest[1] / fastest[0],
                         "a_peak_mb": peak[0], "b_peak_mb": peak[1]})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("a")
    parser.add_argument("b", nargs="?")
    parser.add_argument("--peer", action="store_true", help="build B from the same source against libtorch")
    parser.add_argument("--torch", metavar="PYTHON", help="the same against the libtorch of this Python's torch")
    parser.add_argument("--threads", default="1,2", help="comma-separated (default 1,2)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.3, help="of measurement per case and round")
    parser.add_argument("--filter", default="", help="only cases whose name contains this")
    parser.add_argument("--isolate", action="store_true",
                        help="a process for each case, so that peak memory is the case's own")
    parser.add_argument("--json", help="file for the rows")
    args = parser.parse_args()
    if bool(args.b) == bool(args.peer or args.torch):
        parser.error("give a second program, --peer or --torch")
    b = args.b or build_peer(args.a, args.torch)
    rows = []
    print(f"{'case':44} {'threads':>7} {'A us':>12} {'B us':>12} {'B/A':>7} {'fastest':>7} {'A MB':>7} {'B MB':>7}")
    for threads in map(int, args.threads.split(",")):
        for row in compare(args.a, b, threads, args):
            rows.append(row)
            print(f"{row['case']:44} {threads:7} {row['a_us']:12.2f} {row['b_us']:12.2f} {row['ratio']:7.2f}"
                  f" {row['fastest']:7.2f}"
                  f" {row['a_peak_mb']:7.0f} {row['b_peak_mb']:7.0f}", flush=True)
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
