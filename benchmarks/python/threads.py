#!/usr/bin/env python3
"""What a second thread gains of the training steps of training.py, on a machine that is busy with other work, too.

    PYTHONPATH=build/python benchmarks/python/threads.py [--filter TEXT] [--seconds S] [--bfloat16]

Threads that wait sleep here (OMP_WAIT_POLICY=passive), so the processor time of the thread that begins a step is what it
computes itself: on one thread all, on two its share. The fastest of many steps are compared. To wake a thread takes about
10 us, which one that spins would not take: of steps of a few milliseconds the ratio is too low.
"""

import argparse
import os
import sys
import time

import training


def fastest(step, seconds):
    best, end = float("inf"), time.perf_counter() + seconds
    for _ in range(3):
        step()
    while time.perf_counter() < end:
        start = time.thread_time()
        step()
        best = min(best, time.thread_time() - start)
    return best * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filter", default="train/", help="only cases whose name contains this")
    parser.add_argument("--seconds", type=float, default=3, help="for a case on a number of threads")
    parser.add_argument("--bfloat16", action="store_true", help="under autocast")
    arguments = parser.parse_args()
    if os.environ.get("OMP_WAIT_POLICY") != "passive":  # it is read when the library is loaded
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "OMP_WAIT_POLICY": "passive"})
    import taeda
    for name in training.CASES:
        if arguments.filter not in name:
            continue
        step, _ = training.make_step(taeda, "taeda", name, "bfloat16" if arguments.bfloat16 else "float32")
        taeda.set_num_threads(1)
        alone = fastest(step, arguments.seconds)
        taeda.set_num_threads(2)
        share = fastest(step, arguments.seconds)
        print(f"{name:28} alone {alone:.3f} ms, share {share:.3f} ms, gain {alone / share:.2f}", flush=True)


if __name__ == "__main__":
    main()
