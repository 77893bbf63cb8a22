"""Runs programs of a package and prints their numbers, JSON: {program: numbers, or what went wrong}.

    python one.py package program...
"""

import importlib
import json
import sys
import tempfile
import traceback
import warnings


def main(package, *names):
    warnings.simplefilter("ignore")
    import torch
    torch.set_num_threads(1)
    found = {}
    try:
        programs = importlib.import_module(f"programs.{package}")
    except Exception:
        programs, found = None, dict.fromkeys(names, traceback.format_exc())
    for name in names if programs else ():
        torch.manual_seed(0)
        try:
            with tempfile.TemporaryDirectory() as folder:
                found[name] = getattr(programs, name)(folder)
        except Exception:
            found[name] = traceback.format_exc()
    print("\n" + json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
