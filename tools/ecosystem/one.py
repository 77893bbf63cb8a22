"""Runs programs of a package and prints their numbers, JSON: {program: numbers, or what went wrong}.

    python one.py package program...
    python one.py --seconds package program     # a run, and one more for each line that it reads: prints the processor time of each
"""

import importlib
import json
import sys
import tempfile
import time
import traceback
import warnings


def once(run):
    import torch
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        return run(folder)


def timed(run):
    """Prints the time of a run for each line that is asked; what programs print goes nowhere."""
    asked, sys.stdout = sys.stdout, sys.stderr
    once(run)
    print("ready", file=asked, flush=True)
    for _ in sys.stdin:
        start = time.process_time()
        once(run)
        print(time.process_time() - start, file=asked, flush=True)


def main(*names):
    warnings.simplefilter("ignore")
    import torch
    torch.set_num_threads(1)
    if names[0] == "--seconds":
        return timed(getattr(importlib.import_module(f"programs.{names[1]}"), names[2]))
    package, *names = names
    found = {}
    try:
        programs = importlib.import_module(f"programs.{package}")
    except Exception:
        programs, found = None, dict.fromkeys(names, traceback.format_exc())
    for name in names if programs else ():
        try:
            run = getattr(programs, name)
            found[name] = once(run)
        except Exception:
            found[name] = traceback.format_exc()
    print("\n" + json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
