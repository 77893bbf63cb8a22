"""Runs programs of a package and prints their numbers, JSON: {program: numbers, or what went wrong}.

    python one.py package program...
    python one.py --seconds package program...     # instead of numbers the least processor time of several runs, behind a first
"""

import importlib
import json
import sys
import tempfile
import time
import traceback
import warnings

RUNS = 5


def once(run):
    import torch
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        return run(folder)


def seconds(run):
    start = time.process_time()
    once(run)
    return time.process_time() - start


def main(*names):
    warnings.simplefilter("ignore")
    timed = names[0] == "--seconds"
    package, *names = names[1:] if timed else names
    import torch
    torch.set_num_threads(1)
    found = {}
    try:
        programs = importlib.import_module(f"programs.{package}")
    except Exception:
        programs, found = None, dict.fromkeys(names, traceback.format_exc())
    for name in names if programs else ():
        try:
            run = getattr(programs, name)
            found[name] = once(run)
            if timed:
                found[name] = min(seconds(run) for _ in range(RUNS))
        except Exception:
            found[name] = traceback.format_exc()
    print("\n" + json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
